/* Combine, where ranks send the rows, or sums of rows, that their experts made. */

#define HEADS 8 /* groups of a block that are looked up together */
struct combine_shared {
    u32             stopped, failed;
    struct ep_group group[HEADS];
    struct ep_item  item[HEADS];
    struct ep_term  term[HEADS][EP_GPU_SELECTED];
    struct ep_sum   sum; /* of a token */
    struct ep_term  total[EP_GPU_SELECTED], own[EP_GPU_SELECTED];
};

/* Returns the weighted sum of 8 channels of rows, each product and each sum rounded. */
#define AT_ONCE 4
DEVICE void add_row(float *sum, uint4 v, float weight)
{
    const u32 w[4] = {v.x, v.y, v.z, v.w};
    for (int i = 0; i < 4; i++) {
        sum[2 * i]     = add(sum[2 * i], multiply(weight, of_bf16(w[i] & 0xffff)));
        sum[2 * i + 1] = add(sum[2 * i + 1], multiply(weight, of_bf16(w[i] >> 16)));
    }
}

DEVICE uint4 to_unit(const float *sum)
{
    uint4 out = {to_bf16(sum[0]) | to_bf16(sum[1]) << 16, to_bf16(sum[2]) | to_bf16(sum[3]) << 16,
                 to_bf16(sum[4]) | to_bf16(sum[5]) << 16, to_bf16(sum[6]) | to_bf16(sum[7]) << 16};
    return out;
}

/* The last threads of a block set flags while all others go on. */
DEVICE u32 workers(void) { return blockDim.x - EP_GPU_SIGNALERS; }
DEVICE int is_of_tellers(void) { return threadIdx.x >= workers(); }
DEVICE int is_teller(void) { return threadIdx.x == workers(); }

/* Units of a sum of rows that a thread processes at a time, to hide memory latency. */
#define UNITS_AT_ONCE 2
DEVICE void add_units(const struct ep_term *terms, u32 n, u64 rows, u32 unit, u32 units, uint4 *out)
{
    u32   step = workers();
    float sum[UNITS_AT_ONCE][8] = {{0}};
    for (u32 first = 0; first < n; first += AT_ONCE) {
        uint4 v[UNITS_AT_ONCE][AT_ONCE];
        for (u32 i = 0; i < AT_ONCE; i++)
            for (u32 u = 0; u < UNITS_AT_ONCE; u++)
                if (first + i < n && unit + u * step < units)
                    v[u][i] = AT(const uint4, rows + terms[first + i].at)[unit + u * step];
        for (u32 i = 0; i < AT_ONCE; i++)
            for (u32 u = 0; u < UNITS_AT_ONCE; u++)
                if (first + i < n && unit + u * step < units)
                    add_row(sum[u], v[u][i], terms[first + i].weight);
    }
    for (u32 u = 0; u < UNITS_AT_ONCE; u++)
        out[u] = to_unit(sum[u]);
}

DEVICE void store_units(u64 to, u32 unit, u32 units, const uint4 *v)
{
    for (u32 u = 0; u < UNITS_AT_ONCE; u++)
        if (unit + u * workers() < units)
            AT(uint4, to)[unit + u * workers()] = v[u];
}

/* Adds up all units of a sum of rows. */
DEVICE void add_rows(const struct ep_term *terms, u32 n, u64 rows, u64 to, u32 units)
{
    for (u32 unit = threadIdx.x; !is_of_tellers() && unit < units;
         unit += UNITS_AT_ONCE * workers()) {
        uint4 out[UNITS_AT_ONCE];
        add_units(terms, n, rows, unit, units, out);
        store_units(to, unit, units, out);
    }
}

DEVICE u32 units_of_row(const struct ep_args *a) { return (u32)a->channels * 2 / EP_GPU_UNIT; }

DEVICE u64 sink_of(const struct ep_args *a, u32 peer, u64 half)
{
    return a->sinks[peer] + a->combine_at + half * a->combine_half;
}

DEVICE void tell_rows(const struct op *o, const struct ep_group *g)
{
    const struct ep_args *a = o->a;
    barrier();
    if (!is_teller())
        return;
    store_release(AT(u32, flag_place(a->sinks[g->peer] + a->rows_at, o->number, a->most_tokens,
                                     (u64)a->ranks, (u64)a->rank, g->token)), (u32)o->number);
    if (o->stamps)
        atomicMax(&o->stamps->at[EP_SENT], now());
}

/* Sends unmodified rows: all items of a group. */
DEVICE void send_rows(const struct ep_args *a, const struct ep_group *g, u64 half)
{
    const struct ep_item *items = AT(const struct ep_item, a->item) + g->first;
    const struct ep_term *terms = AT(const struct ep_term, a->term);
    u64 sink = sink_of(a, g->peer, half);
    u32 units = units_of_row(a), all = g->n * units, step = workers();
    for (u32 i = threadIdx.x; threadIdx.x < step && i < all; i += AT_ONCE * step) {
        uint4 v[AT_ONCE];
        u64   to[AT_ONCE];
        for (u32 j = 0; j < AT_ONCE; j++)
            if (i + j * step < all) {
                const struct ep_item *it = &items[(i + j * step) / units];
                u64 at = EP_GPU_UNIT * (u64)((i + j * step) % units);
                v[j]   = *AT(const uint4, a->source + terms[it->first].at + at);
                to[j]  = sink + it->to + at;
            }
        for (u32 j = 0; j < AT_ONCE; j++)
            if (i + j * step < all)
                *AT(uint4, to[j]) = v[j];
    }
}

DEVICE void send_all_rows(const struct op *o, u64 half)
{
    const struct ep_args *a = o->a;
    for (u32 i = blockIdx.x; i < a->groups; i += gridDim.x) {
        struct ep_group g = AT(const struct ep_group, a->group)[i];
        send_rows(a, &g, half);
        tell_rows(o, &g);
    }
}

/* Looks up the sum of a token, and with EP_GPU_RANK the groups of this block from one on: a group
 * and its only item have the same number. Both at once, because each waits for memory twice. */
DEVICE void look_up(const struct ep_args *a, struct combine_shared *s, u32 from, u64 token)
{
    u32 groups = a->layout == EP_GPU_RANK && from < a->groups ? HEADS : 0;
    for (u32 i = threadIdx.x; i < groups; i += blockDim.x) {
        u32 at = from + i * gridDim.x;
        s->item[i].n = 0;
        if (at >= a->groups)
            continue;
        s->group[i] = AT(const struct ep_group, a->group)[at];
        s->item[i]  = AT(const struct ep_item, a->item)[at];
    }
    if (threadIdx.x == blockDim.x - 1 && token < (u64)a->tokens)
        s->sum = AT(const struct ep_sum, a->sum)[token];
    barrier();
    for (u32 i = threadIdx.x; i < groups * EP_GPU_SELECTED; i += blockDim.x) {
        const struct ep_item *it = &s->item[i / EP_GPU_SELECTED];
        u32                   k  = i % EP_GPU_SELECTED;
        if (k < it->n)
            s->term[i / EP_GPU_SELECTED][k] = AT(const struct ep_term, a->term)[it->first + k];
    }
    for (u32 k = blockDim.x - 1 - threadIdx.x; k < EP_GPU_SELECTED; k += blockDim.x) {
        if (token < (u64)a->tokens && k < s->sum.n)
            s->total[k] = AT(const struct ep_term, a->term)[s->sum.first + k];
        if (token < (u64)a->tokens && k < s->sum.own_n)
            s->own[k] = AT(const struct ep_term, a->term)[s->sum.own_first + k];
    }
    barrier();
}

/* Sends the sum of each group's rows. The first groups are already looked up. */
DEVICE void send_sums(const struct op *o, struct combine_shared *s, u64 half)
{
    const struct ep_args *a = o->a;
    for (u32 from = blockIdx.x; from < a->groups; from += HEADS * gridDim.x) {
        if (from != blockIdx.x) {
            barrier();
            look_up(a, s, from, (u64)a->tokens);
        }
        for (u32 i = 0; i < HEADS && from + i * gridDim.x < a->groups; i++) {
            const struct ep_item *it = &s->item[i];
            add_rows(s->term[i], it->n, a->source, sink_of(a, s->group[i].peer, half) + it->to,
                     units_of_row(a));
            tell_rows(o, &s->group[i]);
        }
    }
}

/* Waits for the rows of a token from other ranks. A failed wait is not repeated. */
DEVICE void wait_rows(const struct op *o, struct combine_shared *s, u64 token)
{
    const struct ep_args *a = o->a;
    u64 own = a->sinks[a->rank];
    for (u64 q = threadIdx.x; q < (u64)a->ranks; q += blockDim.x) {
        int own_sum = q == (u64)a->rank && a->layout == EP_GPU_RANK;
        if (!(s->sum.from >> q & 1) || shared_get(&s->failed))
            continue;
        if (!own_sum && wait_flag(o, flag_place(own + a->rows_at, o->number, a->most_tokens,
                                             (u64)a->ranks, q, token), EP_FOR_ROWS, (u32)q))
            shared_set(&s->failed);
        else
            stamp_source(o, q);
    }
    barrier();
    stamp(o, EP_COME);
}

/* Adds units of a token's row. This rank's own sum is given, and stored beside the others' sums. */
DEVICE void total_units(const struct op *o, const struct combine_shared *s, u64 rows, u32 unit,
                        const uint4 *own, uint4 *out)
{
    const struct ep_args *a = o->a;
    float sum[UNITS_AT_ONCE][8] = {{0}};
    u32   units = units_of_row(a);
    for (u32 i = 0; i < s->sum.n; i++) {
        const struct ep_term *term = &s->total[i];
        for (u32 u = 0; u < UNITS_AT_ONCE; u++) {
            u32   at = unit + u * workers();
            uint4 v  = own[u];
            if (at < units && term->rank != (u32)a->rank)
                v = AT(const uint4, rows + term->at)[at];
            if (at < units)
                add_row(sum[u], v, term->weight);
        }
        if (term->rank == (u32)a->rank)
            store_units(rows + term->at, unit, units, own);
    }
    for (u32 u = 0; u < UNITS_AT_ONCE; u++)
        out[u] = to_unit(sum[u]);
}

/* Adds up the sums of all ranks for a token; this rank makes its own while the others' arrive. */
DEVICE void add_sums(const struct op *o, struct combine_shared *s, u64 token, u64 half)
{
    const struct ep_args *a = o->a;
    u64 rows = sink_of(a, (u32)a->rank, half), to = a->out + token * (u64)a->channels * 2;
    u32 units = units_of_row(a), unit = threadIdx.x;
    for (int waited = 0;; waited = 1, unit += UNITS_AT_ONCE * workers()) {
        uint4 own[UNITS_AT_ONCE], out[UNITS_AT_ONCE];
        int   works = !is_of_tellers() && unit < units;
        if (works)
            add_units(s->own, s->sum.own_n, a->source, unit, units, own);
        if (!waited)
            wait_rows(o, s, token);
        if (!works)
            break;
        total_units(o, s, rows, unit, own, out);
        store_units(to, unit, units, out);
    }
    barrier();
}

/* Adds up the rows of a token. */
DEVICE void add_up(const struct op *o, struct combine_shared *s, u64 token, u64 half)
{
    const struct ep_args *a = o->a;
    wait_rows(o, s, token);
    add_rows(s->total, s->sum.n, sink_of(a, (u32)a->rank, half),
             a->out + token * (u64)a->channels * 2, units_of_row(a));
    barrier();
}

TEAM_KERNEL weir_ep_combine(ARGS a, u64 number, u64 half, u64 slot, u64 timeout)
{
    SHARED(struct combine_shared, s);
    struct op o = begin(&a, number, slot, timeout);
    u64       ranks = (u64)a.ranks, own = a.sinks[a.rank];
    if (threadIdx.x == 0) {
        s->stopped = load_relaxed(AT(u32, a.error));
        s->failed  = 0;
    }
    look_up(&a, s, blockIdx.x, blockIdx.x);
    if (s->stopped)
        return;
    for (u64 q = threadIdx.x; blockIdx.x == 0 && q < ranks; q += blockDim.x)
        store_relaxed(AT(u32, begun_place(&o, a.sinks[q], (u64)a.rank, 0)), (u32)number);
    if (a.layout == EP_GPU_RANK)
        send_sums(&o, s, half);
    else
        send_all_rows(&o, half);
    for (u64 t = blockIdx.x; t < (u64)a.tokens; t += gridDim.x) {
        if (t != blockIdx.x)
            look_up(&a, s, a.groups, t); /* after the barrier of the token before */
        if (a.layout == EP_GPU_RANK)
            add_sums(&o, s, t, half);
        else
            add_up(&o, s, t, half);
    }
    let_next_kernel_start();
    for (u64 q = threadIdx.x; blockIdx.x == 0 && q < ranks; q += blockDim.x)
        (void)wait_flag(&o, begun_place(&o, own, q, 0), EP_FOR_BEGIN, (u32)q);
    barrier();
    stamp(&o, EP_ENDED);
}
