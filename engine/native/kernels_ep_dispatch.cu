/* Dispatch: offsets and messages of a rank's tokens, and the reception of others'. */

/* Computes the destination of the message of each selection of a token: after those of its rank's
 * experts before it, and in its bucket (an expert with EP_GPU_MESSAGE, otherwise a rank) after
 * those of earlier ranks and tokens, and of the token's earlier selections. With EP_GPU_RANK only
 * the first selection of a bucket has one. A warp has a selection. First the local part, while the
 * counts of the others arrive. */
DEVICE void prepare_places(const struct op *o, struct dispatch_shared *s, u64 half)
{
    const struct ep_args *a = o->a;
    u32 lane = threadIdx.x % LANES;
    int whole = a->layout != EP_GPU_MESSAGE;
    ROLLED for (int k = (int)(threadIdx.x / LANES); k < a->top_k; k += (int)(blockDim.x / LANES)) {
        int e = s->selected[k], same = 0;
        u32 rank = e < 0 ? 0 : rank_of(a, e),
            bucket = whole ? (u32)(a->ranks * a->per_rank) + rank : (u32)e;
        ROLLED for (int i = (int)lane; i < k; i += LANES)
            same += s->selected[i] >= 0 &&
                    (whole ? rank_of(a, s->selected[i]) == rank : s->selected[i] == e);
        same = (int)sum_of_warp((u32)same);
        if (lane)
            continue;
        u64 first = a->sinks[rank] + a->dispatch_at + half * a->dispatch_half +
                    (whole ? (u64)a->rank * a->count_room : 0);
        s->to[k]     = e < 0 || (same && a->layout == EP_GPU_RANK)
                           ? 0
                           : first + (u64)a->room * ((u32)same + before_of(s, bucket));
        s->bucket[k] = bucket;
        s->first[k]  = whole ? bucket : rank * (u32)a->per_rank;
    }
}

/* Then adds the counts of all ranks before it; all loads of a lane are in flight at once. */
DEVICE void choose_places(const struct op *o, struct dispatch_shared *s)
{
    u32 lane = threadIdx.x % LANES, top_k = (u32)o->a->top_k;
    ROLLED for (u32 k = threadIdx.x / LANES; k < top_k; k += blockDim.x / LANES) {
        u32 bucket = s->bucket[k], rows = 0;
        u64 to     = s->to[k];
        if (!to)
            continue;
        ROLLED for (u32 x = s->first[k] + lane; x < bucket; x += LOADS * LANES)
            for (u32 j = 0; j < LOADS; j++)
                rows += x + j * LANES < bucket ? s->total[x + j * LANES] : 0;
        rows = sum_of_warp(rows) + s->earlier[bucket];
        if (lane == 0)
            s->to[k] = to + (u64)o->a->room * rows;
    }
}

/* Sends the same image to all destinations of a token. Messages are aligned to whole memory lines,
 * so that neighbouring threads write whole lines. */
DEVICE void send_message(const struct ep_args *a, const struct dispatch_shared *s,
                         const char *image)
{
    u32 units = a->room / EP_GPU_UNIT, at = threadIdx.x;
    ROLLED for (int k = 0; k < a->top_k; k++) {
        u64 to = s->to[k];
        if (!to)
            continue;
        UNROLLED for (; at < units; at += blockDim.x)
            AT(uint4, to)[at] = ((const uint4 *)image)[at];
        at -= units;
    }
}

/* Waits for all data of a source, and records its counts. */
DEVICE void receive(const struct op *o, struct dispatch_shared *s, u64 source, u64 half)
{
    const struct ep_args *a = o->a;
    u64 sink = a->sinks[a->rank], each = (u64)a->per_rank, experts = (u64)a->ranks * each;
    u64 rows = 0, own = (u64)a->rank;
    u32 blocks, n;
    if (a->layout == EP_GPU_MESSAGE)
        rows = all_here(a, s);
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

/* The last threads of the block set the flags, while the first ones wait for others'. */
DEVICE void signal_sent(const struct op *o)
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

/* Two blocks are resident on a multiprocessor if there is more than one token for each. */
PAIR_KERNEL weir_ep_dispatch(ARGS a, u64 number, u64 half, u64 slot, u64 timeout)
{
    SHARED(struct dispatch_shared, s);
    SHARED_BYTES(image);
    struct op   o = begin(&a, number, slot, timeout);
    u32         words = (u32)words_of(&a) - 1;
    u64         t = blockIdx.x, tokens = (u64)a.tokens;
    u32         stopped = threadIdx.x == 0 ? load_relaxed(AT(u32, a.error)) : 0;
    uint4       ahead   = load_selections(&a, threadIdx.x);
    struct held row;
    hold_row(&a, t, &row);
    ROLLED for (u32 i = threadIdx.x; i < words; i += blockDim.x)
        s->counts[i] = 0;
    if (threadIdx.x == 0)
        s->failed = 0;
    barrier();
    ROLLED for (int first = 1; first || t < tokens; first = 0, t += gridDim.x) {
        u64 from = first ? 0 : t - gridDim.x;
        if (!first)
            ahead = load_selections(&a, (u32)from * (u32)a.top_k / SELECTIONS + threadIdx.x);
        count(&a, s, first, from, t, ahead);
        if (threadIdx.x == 0)
            s->stopped = stopped;
        barrier();
        if (s->stopped)
            return;
        if (first)
            send_counts(&o, s);
        if (t < tokens) {
            make_message(&a, t, s->selected, s->weight, &row, image);
            prepare_places(&o, s, half);
        }
        if (first) {
            stamp(&o, EP_WORKED);
            gather_counts(&o, s);
        }
        barrier();
        if (s->failed)
            return;
        if (t >= tokens)
            break;
        choose_places(&o, s);
        hold_row(&a, t + gridDim.x, &row);
        barrier();
        if (first)
            stamp(&o, EP_PLACED);
        send_message(&a, s, image); /* nothing changes what it reads before the next barrier */
    }
    signal_sent(&o);
    let_next_kernel_start();
    ROLLED for (u64 source = blockIdx.x; source < (u64)a.ranks; source += gridDim.x)
        receive(&o, s, source, half);
    if (blockIdx.x < (u64)a.ranks)
        stamp(&o, EP_COME);
    stamp(&o, EP_ENDED);
}
