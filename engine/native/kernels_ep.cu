/* Dispatch and combine of a mixture-of-experts layer between GPUs that map each other's sinks.
 * Behind kernels.cu in the same image. Blocks of threads work together here, and wait for other
 * ranks: so all blocks of a kernel must run at once. A wait ends when what it is for has come, at
 * its deadline, or when the host says so; the word of errors has the first that was given up.
 *
 * A flag is written by one thread, with release, behind a barrier of the threads that wrote the
 * data. Flags and counts carry the number of their operation, and are there twice: a rank is
 * never more than one operation ahead of another, because none ends before all have begun. */

#ifndef WEIR_ON_HOST
/* looks in vain between two at the clock and at the words of abort and errors */
#define TO_LOOK 256
#define GROUP_LANES 16 /* threads that make a group of channels together */
#define LANES 32       /* of a warp */

DEVICE void barrier(void) { __syncthreads(); }
DEVICE void looked_in_vain(void) {}

/* Of kernels that may be launched before the one before them has ended (kernel_launch dependent):
 * until it has, and all that it wrote is there; and the next may be launched now. */
#if __CUDA_ARCH__ >= 900
DEVICE void wait_for_kernel_before(void) { asm volatile("griddepcontrol.wait;" ::: "memory"); }
DEVICE void let_next_kernel_start(void) { asm volatile("griddepcontrol.launch_dependents;"); }
#else
DEVICE void wait_for_kernel_before(void) {}
DEVICE void let_next_kernel_start(void) {}
#endif
DEVICE u64  now(void)
{
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

DEVICE u32 load_relaxed(const u32 *p)
{
    u32 v;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

DEVICE u32 load_acquire(const u32 *p)
{
    u32 v;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

/* What another GPU may have, and is not read again. */
DEVICE uint4 load_once(u64 at)
{
    uint4 v;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at)
                 : "memory");
    return v;
}

DEVICE void store_relaxed(u32 *p, u32 v)
{
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

DEVICE void store_release(u32 *p, u32 v)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

/* words of the host, and of clocks */
DEVICE u64 load_word(const u64 *p)
{
    u64 v;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

DEVICE void store_word(u64 *p, u64 v)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

DEVICE void store_word_relaxed(u64 *p, u64 v)
{
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

/* words of a block */
DEVICE void shared_set(u32 *p) { *(volatile u32 *)p = 1; }
DEVICE u32  shared_get(const u32 *p) { return *(const volatile u32 *)p; }

DEVICE float float_of(u32 bits) { return __uint_as_float(bits); }
DEVICE u32   bits_of(float f) { return __float_as_uint(f); }
DEVICE float multiply(float a, float b) { return __fmul_rn(a, b); }
DEVICE float add(float a, float b) { return __fadd_rn(a, b); }

DEVICE u32 most_of_group(u32 v)
{
    u32 lanes = 0xffffu << (threadIdx.x & 16);
    for (int step = GROUP_LANES / 2; step; step /= 2) {
        u32 other = __shfl_xor_sync(lanes, v, step);
        v         = other > v ? other : v;
    }
    return v;
}

/* Of a whole warp. */
DEVICE u32 sum_of_warp(u32 v)
{
    for (int step = LANES / 2; step; step /= 2)
        v += __shfl_xor_sync(~0u, v, step);
    return v;
}

DEVICE u32 many_of_warp(int is) { return (u32)__popc(__ballot_sync(~0u, is)); }
#endif

DEVICE u64 least(u64 a, u64 b) { return a < b ? a : b; }

/* The rank of an expert; a division takes as long as ten loads. */
DEVICE u32 rank_of(const struct ep_args *a, int expert)
{
    return a->per_rank == 1 ? (u32)expert : (u32)((u64)(u32)expert * a->inverse >> 32);
}

DEVICE u64 flag_place(u64 array, u64 number, u64 each, u64 ranks, u64 source, u64 i)
{
    return array + 4 * (((number & 1) * ranks + source) * each + i);
}

/* ---- waits ---- */

struct op { /* an operation, as each thread has it */
    const struct ep_args *a;
    u64                   number, until;
    struct ep_stamps     *stamps; /* NULL: it is not timed */
};

DEVICE struct op begin(const struct ep_args *a, u64 number, u64 slot, u64 timeout)
{
    wait_for_kernel_before();
    struct op o = {a, number, now() + timeout, 0};
    if (slot != ~0ull) {
        o.stamps = AT(struct ep_stamps, a->stamps) + slot;
        if (threadIdx.x == 0)
            atomicMax(&o.stamps->start, ~now());
    }
    return o;
}

DEVICE void stamp(const struct op *o, int what)
{
    if (o->stamps && threadIdx.x == 0)
        atomicMax(&o->stamps->at[what], now());
}

DEVICE void stamp_source(const struct op *o, u64 source)
{
    if (o->stamps)
        atomicMax(&o->stamps->came[source], now());
}

DEVICE int given_up(const struct op *o, u32 what, u32 who)
{
    u32 *error = AT(u32, o->a->error);
    u64  stop;
    if (load_relaxed(error))
        return 1;
    stop = load_word(AT(u64, o->a->abort));
    if (!stop && now() < o->until)
        return 0;
    atomicCAS(error, 0u, (stop ? EP_ABORTED : EP_LATE) | what << 8 | who);
    return 1;
}

/* 0: the flag has come. */
DEVICE int wait_flag(const struct op *o, u64 at, u32 what, u32 who)
{
    const u32 *flag = AT(const u32, at);
    for (u32 looks = 1; load_acquire(flag) != (u32)o->number; looks++) {
        looked_in_vain();
        if (looks % TO_LOOK == 0 && given_up(o, what, who))
            return 1;
    }
    return 0;
}

#define COUNT_BITS 16
DEVICE u64 words_of(const struct ep_args *a)
{
    return (u64)a->ranks * (u64)a->per_rank + (u64)a->ranks + 1;
}

DEVICE u64 count_place(const struct op *o, u64 sink, u64 source, u64 word)
{
    const struct ep_args *a = o->a;
    return flag_place(sink + a->counts_at, o->number, words_of(a), (u64)a->ranks, source, word);
}

/* A count that carries the number of its operation; nothing else is read behind it. */
DEVICE int wait_count(const struct op *o, u64 source, u64 word, u32 *count)
{
    const u32 *p   = AT(const u32, count_place(o, o->a->sinks[o->a->rank], source, word));
    u32        tag = (u32)o->number << COUNT_BITS, is;
    for (u32 looks = 1; (is = load_relaxed(p)) >> COUNT_BITS != tag >> COUNT_BITS; looks++) {
        looked_in_vain();
        if (looks % TO_LOOK == 0 && given_up(o, EP_FOR_COUNTS, (u32)source)) {
            *count = 0;
            return 1;
        }
    }
    *count = is & ((1u << COUNT_BITS) - 1);
    return 0;
}

/* ---- rows ---- */

DEVICE float of_bf16(u32 bits) { return float_of(bits << 16); }

DEVICE u32 to_bf16(float f)
{
    u32 u = bits_of(f);
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

/* As rows.c has it: of a group whose largest value has these bits as BF16. Gives what values are
 * multiplied by; one of the group's threads stores the scale. */
DEVICE float group_scale(u32 most_bits, int kind, char *scales, u64 group, int stores)
{
    float most  = of_bf16(most_bits), scale, times;
    most        = most < 1e-4f ? 1e-4f : most;
    scale       = most / 448.0f;
    times       = 448.0f / most;
    if (kind != EP_GPU_F32) {
        u32 exponent = (bits_of(scale) + 0x7fffff) >> 23;
        scale        = float_of(exponent << 23);
        times        = float_of((254 - exponent) << 23);
        if (kind == EP_GPU_UE8M0 && stores)
            scales[group] = (char)exponent;
    }
    if (kind != EP_GPU_UE8M0 && stores)
        ((float *)scales)[group] = scale;
    return times;
}

/* To nearest even; at most 448. Values are finite. */
DEVICE u32 to_e4m3(float f)
{
    u32   sign = bits_of(f) >> 24 & 0x80, u = bits_of(f) & 0x7fffffff;
    float size = float_of(u);
    if (size >= 448.0f)
        return sign | 0x7e;
    if (size < 0.015625f) /* subnormal: in steps of 2^-9; 2^23 has steps of 1 */
        return sign | (bits_of(size * 512.0f + 8388608.0f) & 0xf);
    u += 0x7ffff + (u >> 20 & 1);
    return sign | ((u >> 20) - (120u << 3));
}

#if defined(WEIR_ON_HOST) || __CUDA_ARCH__ < 890
DEVICE u32 four_e4m3(float a, float b, float c, float d)
{
    return to_e4m3(a) | to_e4m3(b) << 8 | to_e4m3(c) << 16 | to_e4m3(d) << 24;
}
#else
DEVICE u32 two_e4m3(float a, float b)
{
    unsigned short both;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(b), "f"(a));
    return both;
}

DEVICE u32 four_e4m3(float a, float b, float c, float d)
{
    return two_e4m3(a, b) | two_e4m3(c, d) << 16;
}
#endif

/* 8 channels of BF16 that are multiplied, as 8 bytes of e4m3. */
DEVICE void pack_fp8(const uint4 *v, float times, u32 *out)
{
    const u32 w[4] = {v->x, v->y, v->z, v->w};
    for (int i = 0; i < 2; i++)
        out[i] = four_e4m3(multiply(of_bf16(w[2 * i] & 0xffff), times),
                           multiply(of_bf16(w[2 * i] >> 16), times),
                           multiply(of_bf16(w[2 * i + 1] & 0xffff), times),
                           multiply(of_bf16(w[2 * i + 1] >> 16), times));
}

DEVICE u32 larger_of_pair(u32 most, u32 pair)
{
    u32 low = pair & 0x7fff, high = pair >> 16 & 0x7fff;
    most = low > most ? low : most;
    return high > most ? high : most;
}

#define GROUP 128 /* channels that share a scale */
#define VECTORS (GROUP / 8 / GROUP_LANES) /* of 16 bytes, for each lane of a group */

/* Neighbouring threads make a group together; a block has whole groups of threads. */
DEVICE void load_group(const uint4 *x, u32 g, uint4 *v)
{
    for (u32 i = 0; i < VECTORS; i++)
        v[i] = x[g * (GROUP / 8) + threadIdx.x % GROUP_LANES + i * GROUP_LANES];
}

DEVICE void quantise_group(const struct ep_args *a, u32 g, const uint4 *v, char *fp8, char *scales)
{
    u32 lane = threadIdx.x % GROUP_LANES, most = 0;
    for (u32 i = 0; i < VECTORS; i++) {
        most = larger_of_pair(larger_of_pair(most, v[i].x), v[i].y);
        most = larger_of_pair(larger_of_pair(most, v[i].z), v[i].w);
    }
    float times = group_scale(most_of_group(most), a->scales, scales, g, lane == 0);
    for (u32 i = 0; i < VECTORS; i++)
        pack_fp8(&v[i], times, (u32 *)(fp8 + g * GROUP + (lane + i * GROUP_LANES) * 8));
}

/* A group of the row goes into the message, quantised or as it is. */
DEVICE void put_group(const struct ep_args *a, u32 g, const uint4 *v, char *row, char *scales)
{
    if (a->fp8) {
        quantise_group(a, g, v, row, scales);
        return;
    }
    for (u32 i = 0; i < VECTORS; i++)
        ((uint4 *)row)[g * (GROUP / 8) + threadIdx.x % GROUP_LANES + i * GROUP_LANES] = v[i];
}

#define HEADER 16
#define HELD 2 /* groups of a row that a thread loads before it needs them */

/* The first groups of a token's row, of each thread. */
struct held {
    uint4 v[HELD][VECTORS];
};

DEVICE u32 held_group(u32 i)
{
    return threadIdx.x / GROUP_LANES + i * (blockDim.x / GROUP_LANES);
}

DEVICE const uint4 *row_of(const struct ep_args *a, u64 token)
{
    return AT(const uint4, a->x + token * (u64)a->channels * 2);
}

DEVICE void hold_row(const struct ep_args *a, u64 token, struct held *h)
{
    if (a->prepared || token >= (u64)a->tokens)
        return;
    for (u32 i = 0; i < HELD; i++)
        if (held_group(i) < (u32)a->channels / GROUP)
            load_group(row_of(a, token), held_group(i), h->v[i]);
}

/* The message of a token, in shared memory; its row's first groups are held. */
DEVICE void make_message(const struct ep_args *a, u64 token, const struct held *h, char *to)
{
    u64 units = a->room / EP_GPU_UNIT, scales = HEADER + a->row;
    u32 groups = (u32)a->channels / GROUP;
    if (a->prepared) {
        const uint4 *from = AT(const uint4, a->source + AT(const u64, a->prepared)[token]);
        for (u64 i = threadIdx.x; i < units; i += blockDim.x)
            ((uint4 *)to)[i] = from[i];
        return;
    }
    if (threadIdx.x == 0) {
        uint4 header = {(u32)token, 0, 0, 0};
        *(uint4 *)to = header;
    }
    for (u32 i = 0; i < HELD; i++)
        if (held_group(i) < groups)
            put_group(a, held_group(i), h->v[i], to + HEADER, to + scales);
    for (u32 i = HELD; held_group(i) < groups; i++) {
        uint4 v[VECTORS];
        load_group(row_of(a, token), held_group(i), v);
        put_group(a, held_group(i), v, to + HEADER, to + scales);
    }
    if (a->layout != EP_GPU_RANK)
        return;
    u64 bytes = !a->fp8                     ? 0
                : a->scales == EP_GPU_UE8M0 ? (u64)a->channels / GROUP
                                            : (u64)a->channels / GROUP * 4;
    const char *experts = AT(const char, a->experts + token * (u64)a->top_k * 4),
               *weights = AT(const char, a->weights + token * (u64)a->top_k * 4);
    for (u64 i = threadIdx.x; i < 8 * (u64)a->top_k; i += blockDim.x) /* may be at any byte */
        to[scales + bytes + i] =
            i % 8 < 4 ? experts[i / 8 * 4 + i % 4] : weights[i / 8 * 4 + i % 4];
}

/* ---- dispatch ---- */

#define MOST_WORDS (EP_GPU_EXPERTS + EP_GPU_RANKS)
struct dispatch_shared {
    /* of each expert, then messages to each rank */
    /* of this rank: of all tokens in the low half, before a token in the high one */
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

/* ---- combine ---- */

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

/* ---- meetings and clocks ---- */

/* Ranks whose operations are to start together meet before it. */
TEAM_KERNEL weir_ep_meet(ARGS a, u64 number, u64 timeout)
{
    struct op o = begin(&a, number, ~0ull, timeout);
    if (load_relaxed(AT(u32, a.error)))
        return;
    for (u64 q = threadIdx.x; q < (u64)a.ranks; q += blockDim.x) {
        store_release(AT(u32, begun_place(&o, a.sinks[q], (u64)a.rank, 1)), (u32)number);
        (void)wait_flag(&o, begun_place(&o, a.sinks[a.rank], q, 1), EP_FOR_MEETING, (u32)q);
    }
}

/* One thread tells the time so many times, each when the host asks. */
TEAM_KERNEL weir_ep_clock(u64 words, u64 times, u64 timeout)
{
    u64 *w = AT(u64, words), until = now() + timeout, step = ~0ull;
    for (u64 i = 0, at = now(), next; i < 8; i++, at = next) {
        while ((next = now()) == at)
            continue;
        step = least(step, next - at);
    }
    w[EP_WORD_STEP] = step;
    for (u64 i = 1; i <= times; i++) {
        while (load_word(&w[EP_WORD_ASKED]) != i) {
            looked_in_vain();
            if (load_word(&w[EP_WORD_ABORT]) || now() > until)
                return;
        }
        w[EP_WORD_TIME] = now();
        store_word(&w[EP_WORD_ANSWERED], i);
    }
}

DEVICE u64 *clock_word(const struct op *o, u64 rank, u64 i)
{
    return AT(u64, o->a->sinks[rank] + o->a->clocks_at + 8 * i);
}

/* Waits until a word is (1) or is no longer (0) a value, and gives the word; 0: given up. */
DEVICE u64 wait_word(const struct op *o, const u64 *word, int is, u64 value, u32 who)
{
    u64 v;
    for (u32 looks = 1; ((v = load_word(word)) == value) != is; looks++) {
        looked_in_vain();
        if (looks % TO_LOOK == 0 && given_up(o, EP_FOR_CLOCK, who))
            return 0;
    }
    return v;
}

/* Tells all others by how much this clock is ahead of the host's, and its time; then those that ask,
 * one after the other, its time again. Questions count from first. */
DEVICE void tell_time(const struct op *o, u64 ahead, u64 asking, u64 first)
{
    for (u64 q = 1; q < (u64)o->a->ranks; q++) {
        store_word_relaxed(clock_word(o, q, 1), ahead);
        store_word(clock_word(o, q, 0), now());
    }
    for (u64 q = 1; q < (u64)o->a->ranks; q++)
        for (u64 i = first; (asking >> q & 1) && i < first + EP_QUESTIONS; i++) {
            if (!wait_word(o, clock_word(o, 0, q), 1, i, (u32)q))
                return;
            store_word_relaxed(clock_word(o, q, 0), now());
        }
}

/* The first rank's time was told after the question, and before the answer was there. */
DEVICE void ask_time(const struct op *o, u64 *w, u64 asking, u64 first)
{
    u64       own   = (u64)o->a->rank;
    u64      *heard = clock_word(o, own, 0), *ask = clock_word(o, 0, own);
    u64       told  = wait_word(o, heard, 0, w[EP_WORD_TOLD], 0), until = now();
    long long from_most = 0, until_least = 0;
    if (!told)
        return;
    w[EP_WORD_FIRST] = load_word(clock_word(o, own, 1));
    for (u64 i = first; (asking >> own & 1) && i < first + EP_QUESTIONS; i++) {
        u64 from = now();
        store_word_relaxed(ask, i);
        if (!(told = wait_word(o, heard, 0, told, 0)))
            return;
        until = now();
        long long a = (long long)(from - told), b = (long long)(until - told);
        from_most   = i == first || a > from_most ? a : from_most;
        until_least = i == first || b < until_least ? b : until_least;
    }
    w[EP_WORD_LEAST] = (u64)from_most;
    w[EP_WORD_MOST]  = (u64)until_least;
    w[EP_WORD_TIME]  = until;
    w[EP_WORD_TOLD]  = told;
}

/* One thread of each rank compares its clock with that of the first rank; asking: a bit for each
 * rank whose GPU has another clock. */
TEAM_KERNEL weir_ep_compare(ARGS a, u64 words, u64 ahead, u64 asking, u64 first, u64 timeout)
{
    struct op o = begin(&a, 0, ~0ull, timeout);
    if (load_relaxed(AT(u32, a.error)))
        return;
    if (a.rank == 0)
        tell_time(&o, ahead, asking, first);
    else
        ask_time(&o, AT(u64, words), asking, first);
}
