/* Combine, where ranks read others' rows in place. */

struct pull_shared {
    u32            failed, n[2];
    struct ep_term term[2][EP_GPU_SELECTED]; /* of this part of a sum, and of the next */
};

DEVICE void look_up_terms(const struct ep_args *a, struct pull_shared *s, u64 token, u32 which)
{
    if (token >= (u64)a->tokens)
        return;
    struct ep_sum sum = AT(const struct ep_sum, a->sum)[token];
    for (u32 i = threadIdx.x; i < sum.n; i += blockDim.x)
        s->term[which][i] = AT(const struct ep_term, a->term)[sum.first + i];
    if (threadIdx.x == 0)
        s->n[which] = sum.n;
}

/* Adds a unit of the sum of rows at any addresses: all loads of several rows are in flight before
 * the first is waited for, other ranks' rows first. */
#define PULLED_AT_ONCE 8
DEVICE uint4 pull_unit(const struct ep_term *terms, u32 n, u32 rank, u32 unit)
{
    float sum[8] = {0};
    for (u32 first = 0; first < n; first += PULLED_AT_ONCE) {
        uint4 v[PULLED_AT_ONCE];
        for (u32 own = 0; own < 2; own++)
            for (u32 i = 0; i < PULLED_AT_ONCE; i++)
                if (first + i < n && (terms[first + i].rank == rank) == own)
                    v[i] = load_once(terms[first + i].at + EP_GPU_UNIT * (u64)unit);
        for (u32 i = 0; i < PULLED_AT_ONCE; i++)
            if (first + i < n)
                add_row(sum, v[i], terms[first + i].weight);
    }
    return to_unit(sum);
}

/* Signals that this rank's rows are ready, unless kernels are to stop. */
DEVICE void signal_ready(const struct op *o)
{
    const struct ep_args *a = o->a;
    for (u64 q = threadIdx.x; q < (u64)a->ranks; q += blockDim.x)
        if (!load_relaxed(AT(const u32, a->error)))
            store_release(AT(u32, begun_place(o, a->sinks[q], (u64)a->rank, 0)), (u32)o->number);
}

/* Waits until the rows of all ranks are ready. */
DEVICE void wait_ready(const struct op *o, struct pull_shared *s)
{
    const struct ep_args *a = o->a;
    for (u64 q = threadIdx.x; q < (u64)a->ranks; q += blockDim.x)
        if (load_relaxed(AT(const u32, a->error)) ||
            wait_flag(o, begun_place(o, a->sinks[a->rank], q, 0), EP_FOR_ROWS, (u32)q))
            shared_set(&s->failed);
}

/* A block has a part of a token's row, as many units as it has threads. */
PAIR_KERNEL weir_ep_pull(ARGS a, u64 number, u64 parts, u64 slot, u64 timeout)
{
    SHARED(struct pull_shared, s);
    struct op o = begin(&a, number, slot, timeout);
    u32       units = units_of_row(&a), each = (units + (u32)parts - 1) / (u32)parts, which = 0;
    u64       all = (u64)a.tokens * parts;
    if (blockIdx.x == 0)
        signal_ready(&o);
    if (threadIdx.x == 0)
        s->failed = 0;
    barrier();
    look_up_terms(&a, s, blockIdx.x / parts, which);
    wait_ready(&o, s);
    barrier();
    if (s->failed)
        return;
    for (u64 i = blockIdx.x; i < all; i += gridDim.x, which ^= 1) {
        u64 token = i / parts;
        look_up_terms(&a, s, (i + gridDim.x) / parts, which ^ 1);
        for (u32 at = threadIdx.x, unit = (u32)(i % parts) * each + at; at < each && unit < units;
             at += blockDim.x, unit += blockDim.x)
            AT(uint4, a.out + token * (u64)a.channels * 2)[unit] =
                pull_unit(s->term[which], s->n[which], (u32)a.rank, unit);
        barrier();
    }
    let_next_kernel_start();
    stamp(&o, EP_ENDED);
}
