/* Dispatch: counts, places and messages of the tokens of a rank, and what comes of others. */

#define MOST_WORDS (EP_GPU_EXPERTS + EP_GPU_RANKS)
struct dispatch_shared {
    /* Numbers of messages to each expert, then to each rank. Of this rank, in two halves: of all
     * its tokens, and above of those before a token. */
    u32 counts[MOST_WORDS];
    u32 total[MOST_WORDS];   /* of all ranks */
    u32 earlier[MOST_WORDS]; /* of the ranks before this one */
    u64 to[EP_GPU_SELECTED]; /* of the selections of a token; 0: no message */
    int selected[EP_GPU_SELECTED];
    u32 stopped;      /* before it began */
    u32 failed, here; /* here: all messages that come to this rank */
};

#define BEFORE 16 /* bits below the count before a token */
DEVICE u32 all_of(const struct dispatch_shared *s, u64 word)
{
    return s->counts[word] & ((1u << BEFORE) - 1);
}

DEVICE u32 before_of(const struct dispatch_shared *s, u64 word)
{
    return s->counts[word] >> BEFORE;
}

static_assert(sizeof(struct dispatch_shared) + 1024 <= EP_GPU_SHARED, "two blocks fit");

/* Whether a selection has a message of its own: with EP_GPU_RANK the first of its rank. */
DEVICE int has_message(const struct ep_args *a, const int *experts, int k)
{
    if (experts[k] < 0)
        return 0;
    for (int i = 0; a->layout == EP_GPU_RANK && i < k; i++)
        if (experts[i] >= 0 && rank_of(a, experts[i]) == rank_of(a, experts[k]))
            return 0;
    return 1;
}

/* The ranks that a token goes to, as bits; its experts are counted where counts are given. Several
 * selections are loaded at a time. */
#define SELECTIONS 8
DEVICE u32 ranks_of(const struct ep_args *a, const int *experts, u32 *counts)
{
    u32 ranks = 0;
    for (u32 first = 0; first < (u32)a->top_k; first += SELECTIONS) {
        int e[SELECTIONS];
        for (u32 i = 0; i < SELECTIONS; i++)
            e[i] = first + i < (u32)a->top_k ? experts[first + i] : -1;
        for (u32 i = 0; i < SELECTIONS; i++) {
            if (e[i] < 0)
                continue;
            ranks |= 1u << rank_of(a, e[i]);
            if (counts)
                atomicAdd(&counts[e[i]], 1u);
        }
    }
    return ranks;
}

/* With a message for each token and rank a warp counts its threads' tokens together. */
DEVICE void count_tokens(const struct ep_args *a, struct dispatch_shared *s, int all, u64 from,
                         u64 until, u64 bound)
{
    const int *experts = AT(const int, a->experts);
    u32 lane = threadIdx.x % LANES, *counts = s->counts + a->ranks * a->per_rank;
    /* experts are counted for those who are told of them */
    int of_experts = all && blockIdx.x < words_of(a);
    for (u64 t = from + threadIdx.x; t - lane < until; t += blockDim.x) {
        u32 ranks = t >= until ? 0
                               : ranks_of(a, experts + t * (u64)a->top_k,
                                          of_experts ? s->counts : 0);
        for (u32 r = 0; r < (u32)a->ranks; r++) {
            u32 n      = many_of_warp(ranks >> r & 1),
                before = many_of_warp((ranks >> r & 1) && t < bound);
            if (lane == r % LANES && n)
                atomicAdd(&counts[r], (all ? n : 0) + (before << BEFORE));
        }
    }
    for (u64 i = threadIdx.x; bound < (u64)a->tokens && i < (u64)a->top_k; i += blockDim.x)
        s->selected[i] = experts[bound * (u64)a->top_k + i];
}

DEVICE void count_selection(const struct ep_args *a, int expert, u32 *counts, u32 one)
{
    if (expert < 0)
        return;
    atomicAdd(&counts[expert], one);
    if (a->layout == EP_GPU_PACKED)
        atomicAdd(&counts[(u32)(a->ranks * a->per_rank) + rank_of(a, expert)], one);
}

/* Counts all tokens, those of them below a bound in the high half too, or (not all) in that one
 * those from a token to the bound. Takes the selections of the bound's token. */
DEVICE void count(const struct ep_args *a, struct dispatch_shared *s, int all, u64 from, u64 bound)
{
    const int *experts = AT(const int, a->experts);
    u64        k = (u64)a->top_k, until = all || bound >= (u64)a->tokens ? (u64)a->tokens : bound;
    if (a->layout == EP_GPU_RANK) {
        count_tokens(a, s, all, from, until, bound);
        return;
    }
    until += until == bound && bound < (u64)a->tokens;
    for (u64 at = from * k + threadIdx.x; at < until * k; at += SELECTIONS * blockDim.x) {
        int e[SELECTIONS];
        for (u32 i = 0; i < SELECTIONS; i++)
            e[i] = at + i * blockDim.x < until * k ? experts[at + i * blockDim.x] : -1;
        for (u32 i = 0; i < SELECTIONS; i++) {
            u64 of = at + i * blockDim.x;
            if (of >= bound * k && of < bound * k + k && of < until * k)
                s->selected[of - bound * k] = e[i];
            if (all || of < bound * k)
                count_selection(a, e[i], s->counts,
                                (all ? 1u : 0u) + (of < bound * k ? 1u << BEFORE : 0u));
        }
    }
}

DEVICE void tell_counts(const struct op *o, const struct dispatch_shared *s)
{
    const struct ep_args *a = o->a;
    u64 words = words_of(a), ranks = (u64)a->ranks, tag = o->number << COUNT_BITS;
    u64 mine = words > blockIdx.x ? (words - blockIdx.x - 1) / gridDim.x + 1 : 0;
    for (u64 i = threadIdx.x; i < mine * ranks; i += blockDim.x) {
        u64 word = blockIdx.x + i / ranks * gridDim.x, peer = i % ranks;
        u32 n = word == words - 1 ? gridDim.x : all_of(s, word);
        store_relaxed(AT(u32, count_place(o, a->sinks[peer], (u64)a->rank, word)), (u32)tag | n);
    }
}

/* Waits for the counts of all ranks that say where the messages of this rank begin: of experts, where
 * each selection has a message for its expert, or of ranks. */
DEVICE void gather_counts(const struct op *o, struct dispatch_shared *s)
{
    const struct ep_args *a = o->a;
    u64 ranks = (u64)a->ranks, each = (u64)a->per_rank, experts = ranks * each, own = (u64)a->rank,
        from  = a->layout == EP_GPU_MESSAGE ? 0 : experts,
        until = a->layout == EP_GPU_MESSAGE ? experts : experts + ranks;
    for (u64 i = from + threadIdx.x; i < until; i += blockDim.x) {
        u32 total = 0, earlier = 0, n = 0;
        for (u64 q = 0; q < ranks; q++) {
            if (q == own)
                n = all_of(s, i);
            else if (wait_count(o, q, i, &n))
                shared_set(&s->failed);
            total += n;
            earlier += q < own ? n : 0;
        }
        s->total[i]   = total;
        s->earlier[i] = earlier;
        if (blockIdx.x < ranks && i >= own * each && i < own * each + each)
            atomicAdd(&s->here, total);
    }
    barrier();
}

/* Which message of a bucket (an expert, or behind them a rank) a selection of a token has, counted
 * from the first of this rank. */
DEVICE u32 place_in_bucket(const struct ep_args *a, const struct dispatch_shared *s, int k)
{
    int e     = s->selected[k], whole = a->layout != EP_GPU_MESSAGE;
    u32 rank  = rank_of(a, e), same = 0;
    u64 at    = whole ? (u64)a->ranks * (u64)a->per_rank + rank : (u64)e;
    for (int i = 0; i < k && a->layout != EP_GPU_RANK; i++)
        same += s->selected[i] >= 0 &&
                (whole ? rank_of(a, s->selected[i]) == rank : s->selected[i] == e);
    return s->earlier[at] + before_of(s, at) + same;
}

/* Where the message of each selection of a token goes. A warp has a selection: with a message for
 * each, those of an expert lie behind those of its rank's experts before it, which are added up. */
DEVICE void choose_places(const struct op *o, struct dispatch_shared *s, u64 half)
{
    const struct ep_args *a = o->a;
    for (int k = (int)(threadIdx.x / LANES); k < a->top_k; k += (int)(blockDim.x / LANES)) {
        int e = s->selected[k], has = has_message(a, s->selected, k);
        u32 rank = has ? rank_of(a, e) : 0, lane = threadIdx.x % LANES, rows = 0;
        for (int x = (int)rank * a->per_rank + (int)lane;
             has && a->layout == EP_GPU_MESSAGE && x < e; x += LANES)
            rows += s->total[x];
        rows = sum_of_warp(rows);
        if (lane)
            continue;
        s->to[k] = 0;
        if (!has)
            continue;
        u64 counts = a->layout == EP_GPU_MESSAGE ? 0 : (u64)a->rank * a->count_room;
        s->to[k]   = a->sinks[rank] + a->dispatch_at + half * a->dispatch_half + counts +
                   (u64)a->room * (rows + place_in_bucket(a, s, k));
    }
}

/* The same image to all places of a token. */
DEVICE void send_message(const struct ep_args *a, const struct dispatch_shared *s,
                         const char *image)
{
    u32 units = a->room / EP_GPU_UNIT, at = threadIdx.x;
    for (int k = 0; k < a->top_k; at -= units, k++)
        for (; at < units; at += blockDim.x)
            if (s->to[k])
                AT(uint4, s->to[k])[at] = ((const uint4 *)image)[at];
}

/* Waits for all that comes of a source, and writes down its counts. */
DEVICE void receive(const struct op *o, struct dispatch_shared *s, u64 source, u64 half)
{
    const struct ep_args *a = o->a;
    u64 sink = a->sinks[a->rank], each = (u64)a->per_rank, experts = (u64)a->ranks * each;
    u64 rows = 0, own = (u64)a->rank;
    u32 blocks, n;
    if (a->layout == EP_GPU_MESSAGE)
        rows = s->here;
    for (u64 q = 0; q <= source && a->layout != EP_GPU_MESSAGE; q++) {
        if (wait_count(o, q, experts + own, &n))
            shared_set(&s->failed);
        rows += n;
    }
    u64 to = sink + a->dispatch_at + half * a->dispatch_half + rows * a->room +
             source * a->count_room;
    for (u64 e = threadIdx.x; e < each; e += blockDim.x) {
        if (wait_count(o, source, own * each + e, &n))
            shared_set(&s->failed);
        else
            AT(u32, to)[e] = n;
    }
    if (wait_count(o, source, experts + (u64)a->ranks, &blocks))
        shared_set(&s->failed);
    for (u64 i = threadIdx.x; i < least(blocks, EP_GPU_BLOCKS); i += blockDim.x)
        if (wait_flag(o, flag_place(sink + a->sent_at, o->number, EP_GPU_BLOCKS, (u64)a->ranks,
                                    source, i), EP_FOR_MESSAGES, (u32)source))
            shared_set(&s->failed);
    barrier();
    if (threadIdx.x == 0)
        stamp_source(o, source);
}

/* The last threads of the block set the flags: the first ones wait for others' meanwhile. */
DEVICE void tell_sent(const struct op *o)
{
    const struct ep_args *a = o->a;
    barrier();
    for (u64 peer = blockDim.x - 1 - threadIdx.x; peer < (u64)a->ranks; peer += blockDim.x)
        store_release(AT(u32, flag_place(a->sinks[peer] + a->sent_at, o->number, EP_GPU_BLOCKS,
                                         (u64)a->ranks, (u64)a->rank, blockIdx.x)),
                      (u32)o->number);
    if (o->stamps && threadIdx.x == blockDim.x - 1)
        atomicMax(&o->stamps->at[EP_SENT], now());
}

/* Two blocks run at once on a multiprocessor, where there is more than one token for each. */
PAIR_KERNEL weir_ep_dispatch(ARGS a, u64 number, u64 half, u64 slot, u64 timeout)
{
    SHARED(struct dispatch_shared, s);
    SHARED_BYTES(image);
    struct op   o = begin(&a, number, slot, timeout);
    u64         words = words_of(&a) - 1, t = blockIdx.x, tokens = (u64)a.tokens;
    u32         stopped = threadIdx.x == 0 ? load_relaxed(AT(u32, a.error)) : 0;
    struct held row;
    hold_row(&a, t, &row);
    for (u64 i = threadIdx.x; i < words; i += blockDim.x)
        s->counts[i] = 0;
    if (threadIdx.x == 0)
        s->failed = s->here = 0;
    barrier();
    count(&a, s, 1, 0, t);
    if (threadIdx.x == 0)
        s->stopped = stopped;
    barrier();
    if (s->stopped)
        return;
    tell_counts(&o, s);
    if (t < tokens)
        make_message(&a, t, &row, image);
    gather_counts(&o, s);
    for (u64 first = t; t < tokens; t += gridDim.x) {
        if (t != first) {
            count(&a, s, 0, t - gridDim.x, t);
            make_message(&a, t, &row, image);
            barrier();
        }
        if (s->failed)
            return;
        hold_row(&a, t + gridDim.x, &row);
        choose_places(&o, s, half);
        barrier();
        if (t == first)
            stamp(&o, EP_WORKED);
        send_message(&a, s, image);
        barrier();
    }
    tell_sent(&o);
    let_next_kernel_start();
    for (u64 source = blockIdx.x; source < (u64)a.ranks; source += gridDim.x)
        receive(&o, s, source, half);
    if (blockIdx.x < (u64)a.ranks)
        stamp(&o, EP_COME);
    stamp(&o, EP_ENDED);
}
