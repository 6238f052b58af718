/* First part of dispatch: counts the messages of this rank and of all ranks for each expert and
 * rank. Each block counts all selections, sends its share of the counts, and waits for the
 * others'. */

#define MOST_WORDS (EP_GPU_EXPERTS + EP_GPU_RANKS)
struct dispatch_shared {
    /* Numbers of messages to each expert, then to each rank. This rank's are split into two halves
     * of the word: over all its tokens, and above over those before a token. */
    u32 counts[MOST_WORDS];
    u32 total[MOST_WORDS];   /* of all ranks */
    u32 earlier[MOST_WORDS]; /* of the ranks before this one */
    int   selected[EP_GPU_SELECTED]; /* of a token */
    float weight[EP_GPU_SELECTED];   /* of those, with EP_GPU_RANK */
    u64   to[EP_GPU_SELECTED];       /* destinations of their messages; 0: none */
    u32   bucket[EP_GPU_SELECTED];   /* words of counts: a message's own, and */
    u32   first[EP_GPU_SELECTED];    /* the first of the earlier ones that its offset depends on */
    u32   stopped;                   /* before it began */
    u32   failed;
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

/* Returns the ranks that a token goes to, as bits, and counts its experts if counts is given.
 * Several selections are loaded at a time. */
#define LOADS 8
DEVICE u32 ranks_of(const struct ep_args *a, const int *experts, u32 *counts)
{
    u32 ranks = 0;
    ROLLED for (u32 first = 0; first < (u32)a->top_k; first += LOADS) {
        int e[LOADS];
        for (u32 i = 0; i < LOADS; i++)
            e[i] = first + i < (u32)a->top_k ? experts[first + i] : -1;
        for (u32 i = 0; i < LOADS; i++) {
            if (e[i] < 0)
                continue;
            ranks |= 1u << rank_of(a, e[i]);
            if (counts)
                atomicAdd(&counts[e[i]], 1u);
        }
    }
    return ranks;
}

/* With a message for each token and rank, a warp counts its threads' tokens together. */
DEVICE void count_tokens(const struct ep_args *a, struct dispatch_shared *s, int all, u64 from,
                         u64 until, u64 bound)
{
    const int *experts = AT(const int, a->experts);
    u32 lane = threadIdx.x % LANES, *counts = s->counts + a->ranks * a->per_rank;
    /* experts are counted only for the ranks that receive the counts */
    int of_experts = all && blockIdx.x < words_of(a);
    ROLLED for (u64 t = from + threadIdx.x; t - lane < until; t += blockDim.x) {
        u32 ranks = t >= until ? 0
                               : ranks_of(a, experts + t * (u64)a->top_k,
                                          of_experts ? s->counts : 0);
        ROLLED for (u32 r = 0; r < (u32)a->ranks; r++) {
            u32 n      = many_of_warp(ranks >> r & 1),
                before = many_of_warp((ranks >> r & 1) && t < bound);
            if (lane == r % LANES && n)
                atomicAdd(&counts[r], (all ? n : 0) + (before << BEFORE));
        }
    }
}

DEVICE void count_selection(const struct ep_args *a, int expert, u32 *counts, u32 one)
{
    if (expert < 0)
        return;
    atomicAdd(&counts[expert], one);
    if (a->layout == EP_GPU_PACKED)
        atomicAdd(&counts[(u32)(a->ranks * a->per_rank) + rank_of(a, expert)], one);
}

#define SELECTIONS 4 /* of a thread at a time */
DEVICE uint4 load_selections(const struct ep_args *a, u32 at)
{
    const uint4 none = {0, 0, 0, 0};
    return SELECTIONS * at < (u32)(a->tokens * a->top_k) ? AT(const uint4, a->experts)[at] : none;
}

/* Counts selections from one to another; those before the bound in the high half too. A thread
 * loads the next selections before it counts the current ones; the first are already loaded. */
DEVICE void count_selections(const struct ep_args *a, struct dispatch_shared *s, u32 one, u32 from,
                             u32 until, u32 bound, uint4 next)
{
    ROLLED for (u32 at = from / SELECTIONS + threadIdx.x; SELECTIONS * at < until;
                at += blockDim.x) {
        const u32 e[SELECTIONS] = {next.x, next.y, next.z, next.w};
        next                    = load_selections(a, at + blockDim.x);
        for (u32 i = 0; i < SELECTIONS; i++) {
            u32 of = SELECTIONS * at + i;
            if (of >= from && of < until)
                count_selection(a, (int)e[i], s->counts, one + (of < bound ? 1u << BEFORE : 0));
        }
    }
}

/* Takes the selections of a token, by the last warp, since it counts least. */
DEVICE void take_selections(const struct ep_args *a, struct dispatch_shared *s, u64 token)
{
    u64 first = token * (u64)a->top_k;
    ROLLED for (u32 k = blockDim.x - 1 - threadIdx.x; k < (u32)a->top_k; k += blockDim.x) {
        s->selected[k] = AT(const int, a->experts)[first + k];
        if (a->layout == EP_GPU_RANK)
            s->weight[k] = AT(const float, a->weights)[first + k];
    }
}

/* Counts all tokens, those of them below a token in the high half too, or (not all) in that one
 * those from another token to it. Takes the selections of the token. */
DEVICE void count(const struct ep_args *a, struct dispatch_shared *s, int all, u64 from, u64 token,
                  uint4 next)
{
    u32 k = (u32)a->top_k;
    if (token < (u64)a->tokens)
        take_selections(a, s, token);
    if (a->layout == EP_GPU_RANK)
        count_tokens(a, s, all, from, all ? (u64)a->tokens : token, token);
    else
        count_selections(a, s, all != 0, (u32)from * k, (u32)(all ? (u64)a->tokens : token) * k,
                         (u32)token * k, next);
}

/* Each block sends some words to all ranks. */
DEVICE void send_counts(const struct op *o, const struct dispatch_shared *s)
{
    const struct ep_args *a = o->a;
    u32 words = (u32)words_of(a), tag = (u32)o->number << COUNT_BITS, word;
    ROLLED for (u32 i = threadIdx.x; (word = blockIdx.x + i / EP_GPU_RANKS * gridDim.x) < words;
         i += blockDim.x) {
        u32 n = word == words - 1 ? gridDim.x : all_of(s, word), peer = i % EP_GPU_RANKS;
        if (peer < (u32)a->ranks)
            store_relaxed(AT(u32, count_place(o, a->sinks[peer], (u64)a->rank, word)), tag | n);
    }
}

/* Waits for the counts of all ranks that determine the offsets of this rank's messages: of experts,
 * where each selection has a message for its expert, or of ranks. */
DEVICE void gather_counts(const struct op *o, struct dispatch_shared *s)
{
    const struct ep_args *a = o->a;
    u32 ranks = (u32)a->ranks, experts = ranks * (u32)a->per_rank, own = (u32)a->rank,
        from  = a->layout == EP_GPU_MESSAGE ? 0 : experts,
        until = a->layout == EP_GPU_MESSAGE ? experts : experts + ranks;
    ROLLED for (u32 i = from + threadIdx.x; i < until; i += blockDim.x) {
        u32 total = 0, earlier = 0, n = 0;
        ROLLED for (u32 q = 0; q < ranks; q++) {
            if (q == own)
                n = all_of(s, i);
            else if (wait_count(o, q, i, &n))
                shared_set(&s->failed);
            total += n;
            earlier += q < own ? n : 0;
        }
        s->total[i]   = total;
        s->earlier[i] = earlier;
    }
}

/* Returns the number of messages that arrive at this rank. Each warp adds them up for itself,
 * without a barrier. */
DEVICE u32 all_here(const struct ep_args *a, const struct dispatch_shared *s)
{
    u32 here = 0, first = (u32)(a->rank * a->per_rank);
    ROLLED for (u32 e = threadIdx.x % LANES; e < (u32)a->per_rank; e += LANES)
        here += s->total[first + e];
    return sum_of_warp(here);
}
