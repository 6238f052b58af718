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

DEVICE void barrier(void) { __syncthreads(); }
DEVICE void looked_in_vain(void) {}
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
DEVICE void quantise(const struct ep_args *a, const uint4 *x, char *fp8, char *scales)
{
    u32 groups = (u32)a->channels / GROUP, lane = threadIdx.x % GROUP_LANES;
    for (u32 g = threadIdx.x / GROUP_LANES; g < groups; g += blockDim.x / GROUP_LANES) {
        uint4 v[VECTORS];
        u32   most = 0;
        for (u32 i = 0; i < VECTORS; i++) {
            v[i] = x[g * (GROUP / 8) + lane + i * GROUP_LANES];
            most = larger_of_pair(larger_of_pair(most, v[i].x), v[i].y);
            most = larger_of_pair(larger_of_pair(most, v[i].z), v[i].w);
        }
        float times = group_scale(most_of_group(most), a->scales, scales, g, lane == 0);
        for (u32 i = 0; i < VECTORS; i++)
            pack_fp8(&v[i], times, (u32 *)(fp8 + g * GROUP + (lane + i * GROUP_LANES) * 8));
    }
}

#define HEADER 16

/* The message of a token, in shared memory. */
DEVICE void make_message(const struct ep_args *a, u64 token, char *to)
{
    u64 units = a->room / EP_GPU_UNIT, scales = HEADER + a->row;
    if (a->prepared) {
        const uint4 *from = AT(const uint4, a->source + AT(const u64, a->prepared)[token]);
        for (u64 i = threadIdx.x; i < units; i += blockDim.x)
            ((uint4 *)to)[i] = from[i];
        return;
    }
    const uint4 *x = AT(const uint4, a->x + token * (u64)a->channels * 2);
    if (threadIdx.x == 0) {
        uint4 header = {(u32)token, 0, 0, 0};
        *(uint4 *)to = header;
    }
    if (a->fp8)
        quantise(a, x, to + HEADER, to + scales);
    else
        for (u64 i = threadIdx.x; i < a->row / EP_GPU_UNIT; i += blockDim.x)
            ((uint4 *)(to + HEADER))[i] = x[i];
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
    u32 all[MOST_WORDS];    /* of this rank: of each expert, then messages to each rank */
    u32 before[MOST_WORDS]; /* the same before a token */
    u32 total[MOST_WORDS];  /* of all ranks */
    u32 place[MOST_WORDS];  /* where this rank's begin at their destination, in units */
    u32 run[MOST_WORDS];    /* of all ranks, of some experts of a rank */
    u64 to[EP_GPU_SELECTED]; /* of the selections of a token; 0: no message */
    int selected[EP_GPU_SELECTED];
    u32 stopped;      /* before it began */
    u32 failed, here; /* here: all messages that come to this rank */
};

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

/* Adds a token to the counts of its experts and, unless each selection has a message of its own, to
 * the counts of messages of their ranks. Several selections are loaded at a time. */
#define SELECTIONS 8
DEVICE void count_token(const struct ep_args *a, const int *experts, u32 *counts, u32 *also)
{
    u32 ranks = (u32)(a->ranks * a->per_rank), told = 0;
    for (u32 first = 0; first < (u32)a->top_k; first += SELECTIONS) {
        int e[SELECTIONS];
        for (u32 i = 0; i < SELECTIONS; i++)
            e[i] = first + i < (u32)a->top_k ? experts[first + i] : -1;
        for (u32 i = 0; i < SELECTIONS; i++) {
            if (e[i] < 0)
                continue;
            u32 rank = rank_of(a, e[i]);
            int message = a->layout == EP_GPU_PACKED ||
                          (a->layout == EP_GPU_RANK && !(told >> rank & 1));
            told |= 1u << rank;
            atomicAdd(&counts[e[i]], 1u);
            if (message)
                atomicAdd(&counts[ranks + rank], 1u);
            if (also) {
                atomicAdd(&also[e[i]], 1u);
                if (message)
                    atomicAdd(&also[ranks + rank], 1u);
            }
        }
    }
}

/* Counts tokens from one to another in all, and those of them below a bound in before too. */
DEVICE void count(const struct ep_args *a, u32 *all, u32 *before, u64 from, u64 until, u64 bound)
{
    for (u64 t = from + threadIdx.x; t < until; t += blockDim.x)
        count_token(a, AT(const int, a->experts) + t * (u64)a->top_k, all, t < bound ? before : 0);
}

DEVICE void tell_counts(const struct op *o, const struct dispatch_shared *s)
{
    const struct ep_args *a = o->a;
    u64 words = words_of(a), ranks = (u64)a->ranks, tag = o->number << COUNT_BITS;
    u64 mine = words > blockIdx.x ? (words - blockIdx.x - 1) / gridDim.x + 1 : 0;
    for (u64 i = threadIdx.x; i < mine * ranks; i += blockDim.x) {
        u64 word = blockIdx.x + i / ranks * gridDim.x, peer = i % ranks;
        u32 n = word == words - 1 ? gridDim.x : s->all[word];
        store_relaxed(AT(u32, count_place(o, a->sinks[peer], (u64)a->rank, word)), (u32)tag | n);
    }
}

/* The counts of all ranks in some words: their sum, and that of the ranks before this one. */
DEVICE void gather_counts(const struct op *o, struct dispatch_shared *s, u64 from, u64 until)
{
    const struct ep_args *a = o->a;
    for (u64 i = from + threadIdx.x; i < until; i += blockDim.x) {
        u32 total = 0, earlier = 0, n = 0;
        for (u64 q = 0; q < (u64)a->ranks; q++) {
            if (q == (u64)a->rank)
                n = s->all[i];
            else if (wait_count(o, q, i, &n))
                shared_set(&s->failed);
            total += n;
            earlier += q < (u64)a->rank ? n : 0;
        }
        s->total[i] = total;
        s->place[i] = earlier;
    }
    barrier();
}

/* With a message for each selection those of an expert lie behind those of its rank's experts
 * before it: their totals are added up by runs. */
#define RUN 16
DEVICE void find_places_of_experts(const struct op *o, struct dispatch_shared *s)
{
    const struct ep_args *a = o->a;
    u32 each = (u32)a->per_rank, runs = (each + RUN - 1) / RUN, ranks = (u32)a->ranks;
    gather_counts(o, s, 0, (u64)ranks * each);
    for (u32 i = threadIdx.x; i < ranks * runs; i += blockDim.x) {
        u32 first = i % runs * RUN, sum = 0;
        for (u32 e = first; e < each && e < first + RUN; e++)
            sum += s->total[i / runs * each + e];
        s->run[i] = sum;
    }
    barrier();
    for (u32 i = threadIdx.x; i < ranks * each; i += blockDim.x) {
        u32 rank = i / each, e = i % each, rows = s->place[i];
        for (u32 r = 0; r < e / RUN; r++)
            rows += s->run[rank * runs + r];
        for (u32 b = e / RUN * RUN; b < e; b++)
            rows += s->total[rank * each + b];
        s->place[i] = rows * (a->room / EP_GPU_UNIT);
    }
    if (threadIdx.x == 0) {
        u32 here = 0;
        for (u32 r = 0; r < runs; r++)
            here += s->run[(u32)a->rank * runs + r];
        s->here = here;
    }
}

/* Waits for the counts that say where the messages of this rank begin. */
DEVICE void find_places(const struct op *o, struct dispatch_shared *s)
{
    const struct ep_args *a = o->a;
    u64 ranks = (u64)a->ranks, experts = ranks * (u64)a->per_rank;
    u32 room = a->room / EP_GPU_UNIT, counts = a->count_room / EP_GPU_UNIT;
    if (a->layout == EP_GPU_MESSAGE) {
        find_places_of_experts(o, s);
        return;
    }
    gather_counts(o, s, experts, experts + ranks);
    for (u64 i = experts + threadIdx.x; i < experts + ranks; i += blockDim.x)
        s->place[i] = s->place[i] * room + (u32)a->rank * counts;
}

/* Where the message of each selection of a token goes. */
DEVICE void choose_places(const struct op *o, struct dispatch_shared *s, u64 half)
{
    const struct ep_args *a = o->a;
    u64 experts = (u64)a->ranks * (u64)a->per_rank;
    for (int k = (int)threadIdx.x; k < a->top_k; k += (int)blockDim.x) {
        s->to[k] = 0;
        if (!has_message(a, s->selected, k))
            continue;
        int e = s->selected[k], whole = a->layout != EP_GPU_MESSAGE;
        u32 rank   = rank_of(a, e);
        u64 bucket = whole ? experts + rank : (u64)e;
        u32 row    = s->before[bucket];
        for (int i = 0; i < k && a->layout != EP_GPU_RANK; i++)
            row += s->selected[i] >= 0 &&
                   (whole ? rank_of(a, s->selected[i]) == rank : s->selected[i] == e);
        s->to[k] = a->sinks[rank] + a->dispatch_at + half * a->dispatch_half +
                   EP_GPU_UNIT * (s->place[bucket] + (u64)row * (a->room / EP_GPU_UNIT));
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

DEVICE void tell_sent(const struct op *o)
{
    const struct ep_args *a = o->a;
    barrier();
    for (u64 peer = threadIdx.x; peer < (u64)a->ranks; peer += blockDim.x)
        store_release(AT(u32, flag_place(a->sinks[peer] + a->sent_at, o->number, EP_GPU_BLOCKS,
                                         (u64)a->ranks, (u64)a->rank, blockIdx.x)),
                      (u32)o->number);
}

TEAM_KERNEL weir_ep_dispatch(ARGS a, u64 number, u64 half, u64 slot, u64 timeout)
{
    SHARED(struct dispatch_shared, s);
    SHARED_BYTES(image);
    struct op o = begin(&a, number, slot, timeout);
    u64       words = words_of(&a) - 1, k = (u64)a.top_k, t = blockIdx.x, tokens = (u64)a.tokens;
    for (u64 i = threadIdx.x; i < words; i += blockDim.x)
        s->all[i] = s->before[i] = 0;
    if (threadIdx.x == 0)
        s->failed = 0;
    barrier();
    if (threadIdx.x == 0)
        s->stopped = load_relaxed(AT(u32, a.error));
    count(&a, s->all, s->before, 0, tokens, t);
    barrier();
    if (s->stopped)
        return;
    tell_counts(&o, s);
    if (t < tokens)
        make_message(&a, t, image);
    find_places(&o, s);
    for (u64 first = t; t < tokens; t += gridDim.x) {
        for (u64 i = threadIdx.x; i < k; i += blockDim.x)
            s->selected[i] = AT(const int, a.experts)[t * k + i];
        if (t != first) {
            count(&a, s->before, 0, t - gridDim.x, t, 0);
            make_message(&a, t, image);
        }
        barrier();
        if (s->failed)
            return;
        choose_places(&o, s, half);
        barrier();
        if (t == first)
            stamp(&o, EP_WORKED);
        send_message(&a, s, image);
        barrier();
    }
    tell_sent(&o);
    stamp(&o, EP_SENT);
    for (u64 source = blockIdx.x; source < (u64)a.ranks; source += gridDim.x)
        receive(&o, s, source, half);
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
DEVICE int is_teller(void) { return threadIdx.x == workers(); }

/* All units of a sum of rows, two of them for each thread at a time: what it waits for is memory. */
#define UNITS_AT_ONCE 2
DEVICE void add_rows(const struct ep_term *terms, u32 n, u64 rows, u64 to, u32 units)
{
    u32 step = workers();
    for (u32 unit = threadIdx.x; threadIdx.x < step && unit < units; unit += UNITS_AT_ONCE * step) {
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
            if (unit + u * step < units)
                AT(uint4, to)[unit + u * step] = to_unit(sum[u]);
    }
}

DEVICE u32 units_of_row(const struct ep_args *a) { return (u32)a->channels * 2 / EP_GPU_UNIT; }

/* Groups of other ranks come first: what they wait for is longer on its way. */
DEVICE u32 group_at(const struct ep_args *a, u32 i)
{
    return i + a->first_group < a->groups ? i + a->first_group : i + a->first_group - a->groups;
}

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
        struct ep_group g = AT(const struct ep_group, a->group)[group_at(a, i)];
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
        s->group[i] = AT(const struct ep_group, a->group)[group_at(a, at)];
        s->item[i]  = AT(const struct ep_item, a->item)[group_at(a, at)];
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

/* Waits for the rows of a token, and adds them up; what was given up is not waited for again. */
DEVICE void add_up(const struct op *o, struct combine_shared *s, u64 token, u64 half)
{
    const struct ep_args *a   = o->a;
    struct ep_sum         sum = AT(const struct ep_sum, a->sum)[token];
    u64                   own = a->sinks[a->rank], row = (u64)a->channels * 2;
    for (u32 i = threadIdx.x; i < sum.n; i += blockDim.x)
        s->total[i] = AT(const struct ep_term, a->term)[sum.first + i];
    for (u64 q = threadIdx.x; q < (u64)a->ranks; q += blockDim.x)
        if ((sum.from >> q & 1) && !shared_get(&s->failed)) {
            if (wait_flag(o, flag_place(own + a->rows_at, o->number, a->most_tokens, (u64)a->ranks,
                                        q, token), EP_FOR_ROWS, (u32)q))
                shared_set(&s->failed);
            else
                stamp_source(o, q);
        }
    barrier();
    stamp(o, EP_COME);
    add_rows(s->total, sum.n, sink_of(a, (u32)a->rank, half), a->out + token * row,
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
    for (u64 q = threadIdx.x; blockIdx.x == 0 && q < ranks; q += blockDim.x)
        (void)wait_flag(&o, begun_place(&o, own, q, 0), EP_FOR_BEGIN, (u32)q);
    barrier();
    stamp(&o, EP_COME);
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
