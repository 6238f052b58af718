/* The kernels of weir: contents and their check, and two ways to copy. scripts/kernels compiles
 * this into kernels_*.cubin and kernels_*.ptx. The tests' libcuda compiles it for the host and runs
 * the threads of a kernel one after the other: so no thread may wait for another. */
#ifdef WEIR_ON_HOST
#include "testdata/cuda/on_host.h"
#else
typedef unsigned long long u64;
typedef unsigned int       u32;
#define DEVICE static __device__ __forceinline__
#define KERNEL extern "C" __global__ void
/* blocks of cooperating threads; all blocks must be resident at once */
#define TEAM_KERNEL extern "C" __global__ void __launch_bounds__(EP_GPU_THREADS + EP_GPU_SIGNALERS, 1)
/* the same, with two blocks per multiprocessor */
#define PAIR_KERNEL extern "C" __global__ void __launch_bounds__(EP_GPU_THREADS, 2)
#define ARGS const __grid_constant__ struct ep_args
#define PINGPONG_ARGS const __grid_constant__ struct pingpong_args
/* Controls loop unrolling. Code that runs once per kernel is slowed by instruction fetches. */
#define ROLLED _Pragma("unroll 1")
#define UNROLLED _Pragma("unroll 4")
#define SHARED(type, name)       \
    __shared__ type name##_here; \
    type           *name = &name##_here
#define SHARED_BYTES(name) extern __shared__ __align__(128) char name[]
#define AT(type, address) ((type *)(address))
#define THREAD ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS ((u64)gridDim.x * blockDim.x)
#define BULK_SHARED(stages, barriers, pieces)               \
    extern __shared__ __align__(128) char stages[];         \
    __shared__ u64                        barriers[STAGES]; \
    __shared__ struct piece               pieces[STAGES]
#endif

/* As in pattern.c: of a key and a word's index. */
DEVICE u64 pattern_word(u64 key, u64 i)
{
    u64 x = (key + i) * 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 29);
}

DEVICE char byte_of(u64 word, u64 k) { return (char)(word >> (8 * k)); }

KERNEL weir_fill(u64 to, u64 n, u64 key)
{
    char *p       = AT(char, to);
    u64   words   = n / 8;
    int   aligned = to % 8 == 0;
    for (u64 i = THREAD; i < words; i += THREADS) {
        u64 w = pattern_word(key, i);
        if (aligned)
            ((u64 *)p)[i] = w;
        else
            for (u64 k = 0; k < 8; k++)
                p[8 * i + k] = byte_of(w, k);
    }
    for (u64 at = 8 * words; THREAD == 0 && at < n; at++)
        p[at] = byte_of(pattern_word(key, words), at % 8);
}

/* Writes the smallest differing offset to the word at found. */
KERNEL weir_check(u64 from, u64 n, u64 key, u64 found)
{
    const char *p       = AT(const char, from);
    u64         words   = n / 8, first = ~0ull;
    int         aligned = from % 8 == 0;
    for (u64 i = THREAD; i < words && first == ~0ull; i += THREADS) {
        u64 w = pattern_word(key, i);
        if (aligned && ((const u64 *)p)[i] == w)
            continue;
        for (u64 k = 8; k-- > 0;)
            if (p[8 * i + k] != byte_of(w, k))
                first = 8 * i + k;
    }
    for (u64 at = n; THREAD == 0 && first == ~0ull && at-- > 8 * words;)
        if (p[at] != byte_of(pattern_word(key, words), at % 8))
            first = at;
    if (first != ~0ull)
        atomicMin(AT(u64, found), first);
}

struct block {
    u64 to, from, n;
};

/* Returns the leading bytes of a copy up to 16-byte alignment at both ends; all of them if the ends
 * cannot be aligned together. */
DEVICE u64 bytes_before(const struct block *b)
{
    u64 head = (16 - b->to % 16) % 16;
    return b->to % 16 != b->from % 16 || head > b->n ? b->n : head;
}

DEVICE void copy_bytes(const struct block *b, u64 from, u64 to, u64 lane, u64 lanes)
{
    char       *out = AT(char, b->to);
    const char *in  = AT(const char, b->from);
    for (u64 i = from + lane; i < to; i += lanes)
        out[i] = in[i];
}

/* Copies the part of one of `lanes` lanes. */
DEVICE void copy_part(const struct block *b, u64 lane, u64 lanes)
{
    u64          head = bytes_before(b), words = (b->n - head) / 16, i = lane;
    uint4       *out = AT(uint4, b->to + head);
    const uint4 *in  = AT(const uint4, b->from + head);
    for (; i + 3 * lanes < words; i += 4 * lanes) {
        uint4 v0 = in[i], v1 = in[i + lanes], v2 = in[i + 2 * lanes], v3 = in[i + 3 * lanes];
        out[i] = v0, out[i + lanes] = v1, out[i + 2 * lanes] = v2, out[i + 3 * lanes] = v3;
    }
    for (; i < words; i += lanes)
        out[i] = in[i];
    copy_bytes(b, 0, head, lane, lanes);
    copy_bytes(b, head + 16 * words, b->n, lane, lanes);
}

/* Copies the blocks of a list, or the one in the arguments (list 0); `team` threads share a block,
 * and teams cycle over the list. */
KERNEL weir_copy(u64 list, u64 count, u64 team, u64 to, u64 from, u64 n)
{
    u64 teams = THREADS / team;
    if (!list) {
        struct block one = {to, from, n};
        copy_part(&one, THREAD, THREADS);
        return;
    }
    const struct block *blocks = AT(const struct block, list);
    for (u64 i = THREAD / team; i < count; i += teams) {
        struct block b = blocks[i];
        copy_part(&b, THREAD % team, team);
    }
}

/* ---- copies by the bulk copy engine of each multiprocessor, through its shared memory ---- */

#define STAGES 4
#define AHEAD 2 /* loads in flight while an earlier piece is stored */
#define PIECE 16384ull

#if defined(WEIR_ON_HOST) || __CUDA_ARCH__ >= 900

#ifndef WEIR_ON_HOST
DEVICE u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

DEVICE void barrier_init(u64 *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier))
                 : "memory");
}

DEVICE void barriers_ready(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DEVICE void bulk_load(char *to, u64 from, u32 n, u64 *barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(n)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(n), "r"(shared_address(barrier))
                 : "memory");
}

DEVICE void barrier_wait(u64 *barrier, u32 phase)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra AGAIN;\n}" ::"r"(shared_address(barrier)),
                 "r"(phase)
                 : "memory");
}

DEVICE void bulk_store(u64 to, const char *from, u32 n)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(n)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until the shared memory of all stores, except the last ones that may still be read when a
 * load reuses their place, may be overwritten. */
DEVICE void stores_read(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(STAGES - 1 - AHEAD) : "memory");
}

DEVICE void stores_done(void) { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
#endif

struct piece {
    u64 to, n;
};

struct ring { /* in shared memory, except the counts */
    char         *stages;
    u64          *barriers;
    struct piece *pieces;
    u64           loaded, stored;
};

DEVICE void store_next(struct ring *r)
{
    u64 k = r->stored++ % STAGES;
    barrier_wait(&r->barriers[k], (u32)((r->stored - 1) / STAGES & 1));
    bulk_store(r->pieces[k].to, r->stages + k * PIECE, (u32)r->pieces[k].n);
}

DEVICE void load_next(struct ring *r, u64 to, u64 from, u32 n)
{
    u64 k = r->loaded++ % STAGES;
    stores_read();
    r->pieces[k].to = to, r->pieces[k].n = n;
    bulk_load(r->stages + k * PIECE, from, n, &r->barriers[k]);
    if (r->loaded - r->stored > AHEAD)
        store_next(r);
}

/* Copies pieces first, first + step, … of a block. The first call also moves the bytes that bulk
 * copies cannot move. */
DEVICE void bulk_part(struct ring *r, const struct block *b, u64 first, u64 step)
{
    u64 head = bytes_before(b), body = (b->n - head) / 16 * 16;
    for (u64 at = first * PIECE; at < body; at += step * PIECE)
        load_next(r, b->to + head + at, b->from + head + at,
                  (u32)(body - at < PIECE ? body - at : PIECE));
    if (first == 0) {
        copy_bytes(b, 0, head, 0, 1);
        copy_bytes(b, head + body, b->n, 0, 1);
    }
}

/* One thread of each thread block drives the engine of its multiprocessor. */
KERNEL weir_bulk(u64 list, u64 count, u64 to, u64 from, u64 n)
{
    BULK_SHARED(stages, barriers, pieces);
    if (threadIdx.x)
        return;
    struct ring r = {stages, barriers, pieces, 0, 0};
    for (int i = 0; i < STAGES; i++)
        barrier_init(&barriers[i]);
    barriers_ready();
    struct block        one    = {to, from, n};
    const struct block *blocks = list ? AT(const struct block, list) : &one;
    u64 team = count < gridDim.x ? gridDim.x / count : 1, teams = gridDim.x / team;
    for (u64 i = blockIdx.x / team; i < count; i += teams) {
        struct block b = blocks[i];
        bulk_part(&r, &b, blockIdx.x % team, team);
    }
    while (r.stored < r.loaded)
        store_next(&r);
    stores_done();
}
#endif
