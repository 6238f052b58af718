/* Combine: sums of rows that are pushed, and of rows that are read where they are. */

#define HEADS 8 /* groups of a block that are looked up together */
struct combine_shared {
    u32             stopped, failed;
    struct ep_group group[HEADS];
    struct ep_item  item[HEADS];
    struct ep_term  term[HEADS][EP_GPU_SELECTED];
    struct ep_term  total[EP_GPU_SELECTED]; /* of a token */
};

/* The weighted sum of 8 channels of rows, each product and each sum rounded. */
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
DEVICE u32 workers(void) { return blockDim.x - EP_GPU_TELLERS; }
DEVICE int is_of_tellers(void) { return threadIdx.x >= workers(); }
DEVICE int is_teller(void) { return threadIdx.x == workers(); }

/* Units of a sum of rows, two for each thread at a time: what it waits for is memory. */
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

/* All units of a sum of rows. */
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

/* Rows as they are: all items of a group. */
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

/* A group and its only item have the same number. Looks up those of this block from one on. */
DEVICE void look_up(const struct ep_args *a, struct combine_shared *s, u32 from)
{
    for (u32 i = threadIdx.x; i < HEADS; i += blockDim.x) {
        u32 at = from + i * gridDim.x;
        s->item[i].n = 0;
        if (at >= a->groups)
            continue;
        s->group[i] = AT(const struct ep_group, a->group)[at];
        s->item[i]  = AT(const struct ep_item, a->item)[at];
    }
    barrier();
    for (u32 i = threadIdx.x; i < HEADS * EP_GPU_SELECTED; i += blockDim.x) {
        const struct ep_item *it = &s->item[i / EP_GPU_SELECTED];
        u32                   k  = i % EP_GPU_SELECTED;
        if (k < it->n)
            s->term[i / EP_GPU_SELECTED][k] = AT(const struct ep_term, a->term)[it->first + k];
    }
    barrier();
}

/* The sum of each group's rows. */
DEVICE void send_sums(const struct op *o, struct combine_shared *s, u64 half)
{
    const struct ep_args *a = o->a;
    for (u32 from = blockIdx.x; from < a->groups; from += HEADS * gridDim.x) {
        look_up(a, s, from);
        for (u32 i = 0; i < HEADS && from + i * gridDim.x < a->groups; i++) {
            const struct ep_item *it = &s->item[i];
            add_rows(s->term[i], it->n, a->source, sink_of(a, s->group[i].peer, half) + it->to,
                     units_of_row(a));
            tell_rows(o, &s->group[i]);
        }
        barrier();
    }
}

DEVICE struct ep_sum look_up_token(const struct ep_args *a, struct combine_shared *s, u64 token)
{
    struct ep_sum of = AT(const struct ep_sum, a->sum)[token];
    for (u32 i = threadIdx.x; i < of.n; i += blockDim.x)
        s->total[i] = AT(const struct ep_term, a->term)[of.first + i];
    barrier();
    return of;
}

/* Waits for the rows of a token; what was given up is not waited for again. */
DEVICE void wait_rows(const struct op *o, struct combine_shared *s, u32 from, u64 token)
{
    const struct ep_args *a = o->a;
    u64 own = a->sinks[a->rank];
    for (u64 q = threadIdx.x; q < (u64)a->ranks; q += blockDim.x)
        if ((from >> q & 1) && !shared_get(&s->failed)) {
            if (wait_flag(o, flag_place(own + a->rows_at, o->number, a->most_tokens, (u64)a->ranks,
                                        q, token), EP_FOR_ROWS, (u32)q))
                shared_set(&s->failed);
            else
                stamp_source(o, q);
        }
    barrier();
    stamp(o, EP_COME);
}

/* Adds up the rows of a token. */
DEVICE void add_up(const struct op *o, struct combine_shared *s, u64 token, u64 half)
{
    const struct ep_args *a = o->a;
    struct ep_sum of = look_up_token(a, s, token);
    wait_rows(o, s, of.from, token);
    add_rows(s->total, of.n, sink_of(a, (u32)a->rank, half), a->out + token * (u64)a->channels * 2,
             units_of_row(a));
    barrier();
}

DEVICE u64 begun_place(const struct op *o, u64 sink, u64 source, u64 meeting)
{
    const struct ep_args *a = o->a;
    return flag_place(sink + a->begun_at, o->number, 2, (u64)a->ranks, source, meeting);
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
    barrier();
    if (s->stopped)
        return;
    for (u64 q = threadIdx.x; blockIdx.x == 0 && q < ranks; q += blockDim.x)
        store_relaxed(AT(u32, begun_place(&o, a.sinks[q], (u64)a.rank, 0)), (u32)number);
    if (a.layout == EP_GPU_RANK)
        send_sums(&o, s, half);
    else
        send_all_rows(&o, half);
    for (u64 t = blockIdx.x; t < (u64)a.tokens; t += gridDim.x)
        add_up(&o, s, t, half);
    let_next_kernel_start();
    for (u64 q = threadIdx.x; blockIdx.x == 0 && q < ranks; q += blockDim.x)
        (void)wait_flag(&o, begun_place(&o, own, q, 0), EP_FOR_BEGIN, (u32)q);
    barrier();
    stamp(&o, EP_COME);
    stamp(&o, EP_ENDED);
}

/* ---- combine of rows that are read where they are ---- */

struct pull_shared {
    u32            stopped, failed, n[2];
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

/* A unit of the sum of rows that lie anywhere: all loads of several rows are under way before the
 * first is waited for, those of other ranks' first. */
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

/* Says that this rank's rows are there, and waits until those of all others are. */
DEVICE void wait_ready(const struct op *o, struct pull_shared *s)
{
    const struct ep_args *a = o->a;
    for (u64 q = threadIdx.x; q < (u64)a->ranks; q += blockDim.x) {
        if (blockIdx.x == 0)
            store_release(AT(u32, begun_place(o, a->sinks[q], (u64)a->rank, 0)), (u32)o->number);
        if (wait_flag(o, begun_place(o, a->sinks[a->rank], q, 0), EP_FOR_ROWS, (u32)q))
            shared_set(&s->failed);
    }
    barrier();
}

/* A block has a part of a token's row, as many units as it has threads. */
PAIR_KERNEL weir_ep_pull(ARGS a, u64 number, u64 parts, u64 slot, u64 timeout)
{
    SHARED(struct pull_shared, s);
    struct op o = begin(&a, number, slot, timeout);
    u32       units = units_of_row(&a), each = (units + (u32)parts - 1) / (u32)parts, which = 0;
    u64       all = (u64)a.tokens * parts;
    if (threadIdx.x == 0) {
        s->stopped = load_relaxed(AT(u32, a.error));
        s->failed  = 0;
    }
    look_up_terms(&a, s, blockIdx.x / parts, which);
    barrier();
    if (s->stopped)
        return;
    wait_ready(&o, s);
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
