/* Dispatch and combine of a mixture-of-experts layer between GPUs that map each other's sinks.
 * Compiled after kernels.cu into the same image. Blocks cooperate and wait for other ranks, so all
 * blocks of a kernel must be resident at once. A wait ends when its data arrives, at its deadline,
 * or when the host aborts it; the error word records the first failed wait. A flag is written by
 * one thread, with release, after a barrier of the threads that wrote the data. Flags and counts
 * carry the number of their operation and are double-buffered: a rank is at most one operation
 * ahead of another, because none ends before all have begun. */

#ifndef WEIR_ON_HOST
/* polls without success between two reads of the clock and of the abort and error words */
#define POLLS_PER_CHECK 256
#define GROUP_LANES 16 /* threads that make a group of channels together */
#define LANES 32       /* of a warp */

DEVICE void barrier(void) { __syncthreads(); }
DEVICE void poll_pause(void) {}

/* For kernels launched before their predecessor has ended (kernel_launch dependent): waits for its
 * end and its writes; and allows the next launch. */
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

/* Loads data that another GPU may have, and that is not read again. */
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

/* Sums over a warp. */
DEVICE u32 sum_of_warp(u32 v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, v);
#else
    for (int step = LANES / 2; step; step /= 2)
        v += __shfl_xor_sync(~0u, v, step);
    return v;
#endif
}

DEVICE u32 many_of_warp(int is) { return (u32)__popc(__ballot_sync(~0u, is)); }
#endif

DEVICE u64 least(u64 a, u64 b) { return a < b ? a : b; }

/* Returns the rank of an expert; a division would take as long as ten loads. */
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
    struct ep_stamps     *stamps; /* NULL: not timed */
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

DEVICE int wait_failed(const struct op *o, u32 what, u32 peer)
{
    u32 *error = AT(u32, o->a->error);
    u64  stop;
    if (load_relaxed(error))
        return 1;
    stop = load_word(AT(u64, o->a->abort));
    if (!stop && now() < o->until)
        return 0;
    atomicCAS(error, 0u, (stop ? EP_ABORTED : EP_LATE) | what << 8 | peer);
    return 1;
}

/* Returns 0 if the flag has arrived. */
DEVICE int wait_flag(const struct op *o, u64 at, u32 what, u32 peer)
{
    const u32 *flag = AT(const u32, at);
    for (u32 polls = 1; load_acquire(flag) != (u32)o->number; polls++) {
        poll_pause();
        if (polls % POLLS_PER_CHECK == 0 && wait_failed(o, what, peer))
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

/* Waits for a count that carries the number of its operation; no other data depends on it. */
DEVICE int wait_count(const struct op *o, u64 source, u64 word, u32 *count)
{
    const u32 *p   = AT(const u32, count_place(o, o->a->sinks[o->a->rank], source, word));
    u32        tag = (u32)o->number << COUNT_BITS, is;
    for (u32 polls = 1; (is = load_relaxed(p)) >> COUNT_BITS != tag >> COUNT_BITS; polls++) {
        poll_pause();
        if (polls % POLLS_PER_CHECK == 0 && wait_failed(o, EP_FOR_COUNTS, (u32)source)) {
            *count = 0;
            return 1;
        }
    }
    *count = is & ((1u << COUNT_BITS) - 1);
    return 0;
}

DEVICE u64 begun_place(const struct op *o, u64 sink, u64 source, u64 meeting)
{
    const struct ep_args *a = o->a;
    return flag_place(sink + a->begun_at, o->number, 2, (u64)a->ranks, source, meeting);
}
