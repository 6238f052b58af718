/* on_host.h: runs kernels.cu on the host, one thread after the other, and kernels_ep*.cu with
 * concurrent threads. Asynchronous operations run as late as a GPU may run them: a load when its
 * barrier is waited for, a store when its end is. */
#ifndef WEIR_ON_HOST_H
#define WEIR_ON_HOST_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long long u64;
typedef unsigned int       u32;
typedef struct {
    u32 x, y, z, w;
} __attribute__((aligned(16))) uint4;

struct three {
    unsigned x;
};
extern _Thread_local struct three threadIdx, blockIdx, blockDim, gridDim;

/* Returns the memory at an address of a GPU; a wrong address ends the kernel. */
void *fake_at(u64 address);

#define DEVICE static inline
#define KERNEL __attribute__((visibility("hidden"))) void
#define AT(type, address) ((type *)fake_at(address))
#define THREAD ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS ((u64)gridDim.x * blockDim.x)

static inline void atomicMin(u64 *p, u64 v)
{
    u64 is = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (v < is && !__atomic_compare_exchange_n(p, &is, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static inline void atomicMax(u64 *p, u64 v)
{
    u64 is = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (v > is && !__atomic_compare_exchange_n(p, &is, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static inline void atomicAdd(u32 *p, u32 v) { __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
static inline void atomicCAS(u32 *p, u32 is, u32 v)
{
    __atomic_compare_exchange_n(p, &is, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* ---- cooperating threads: fewer than the launch requests, which is equally correct ---- */

#define TEAM_KERNEL KERNEL
#define PAIR_KERNEL KERNEL
#define ARGS const struct ep_args
#define PINGPONG_ARGS const struct pingpong_args
#define POLLS_PER_CHECK 16
#define GROUP_LANES 1
#define LANES 1
#define static_assert _Static_assert
#define FAKE_TEAM 4 /* threads of a block */
#define EP_GPU_SIGNALERS 1
#define FAKE_SHARED 65536

void  fake_barrier(void); /* of the block */
void *fake_shared(void);  /* memory of the block: FAKE_SHARED bytes twice */

#define ROLLED
#define UNROLLED
#define SHARED(type, name) type *name = fake_shared()
#define SHARED_BYTES(name) char *name = (char *)fake_shared() + FAKE_SHARED
#define barrier() fake_barrier()

static inline void poll_pause(void) { sched_yield(); }
static inline void wait_for_kernel_before(void) {}
static inline void let_next_kernel_start(void) {}
u64                fake_clock(u64 host); /* of the GPU that runs the kernel */
static inline u64  now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return fake_clock((u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec);
}

static inline u32 load_relaxed(const u32 *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline u32 load_acquire(const u32 *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void store_relaxed(u32 *p, u32 v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline void store_release(u32 *p, u32 v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline u64  load_word(const u64 *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static inline void store_word(u64 *p, u64 v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
static inline void store_word_relaxed(u64 *p, u64 v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
static inline void shared_set(u32 *p) { __atomic_store_n(p, 1u, __ATOMIC_RELAXED); }
static inline u32  shared_get(const u32 *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }

static inline float float_of(u32 bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline u32 bits_of(float f)
{
    u32 bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float multiply(float a, float b) { return a * b; }
static inline float add(float a, float b) { return a + b; }
static inline u32   most_of_group(u32 v) { return v; }
static inline u32   sum_of_warp(u32 v) { return v; }
static inline u32   many_of_warp(int is) { return is != 0; }
static inline uint4 load_once(u64 at) { return *AT(const uint4, at); }

/* ---- the bulk copy engine of a multiprocessor ---- */

#define BULK_SHARED(stages, barriers, pieces)                        \
    static _Thread_local char stages[STAGES * PIECE] __attribute__((aligned(128))); \
    static _Thread_local u64          barriers[STAGES];              \
    static _Thread_local struct piece pieces[STAGES]

struct fake_load {
    char *to;
    u64   from;
    u32   n, phase;
    u64  *barrier; /* NULL: none in flight */
};
struct fake_store {
    u64         to;
    const char *from;
    u32         n;
};
#define MOST_STORES 8
static _Thread_local struct fake_load  fake_loads[MOST_STORES];
static _Thread_local struct fake_store fake_stores[MOST_STORES];
static _Thread_local int               fake_nstores;

static inline void wrong_order(const char *what)
{
    fprintf(stderr, "stand-in of CUDA: %s\n", what);
    abort();
}

static inline void barrier_init(u64 *barrier) { *barrier = 0; }
static inline void barriers_ready(void) { memset(fake_loads, 0, sizeof fake_loads); }

static inline void bulk_load(char *to, u64 from, u32 n, u64 *barrier)
{
    if (from % 16 || n % 16 || (u64)(size_t)to % 16)
        wrong_order("a bulk load of what is not aligned to 16 bytes");
    for (int i = 0; i < fake_nstores; i++)
        if (fake_stores[i].from == to)
            wrong_order("a bulk load to where a store still reads");
    for (int i = 0; i < MOST_STORES; i++)
        if (!fake_loads[i].barrier) {
            fake_loads[i] = (struct fake_load){to, from, n, (u32)(*barrier & 1), barrier};
            return;
        }
    wrong_order("too many bulk loads under way");
}

static inline void barrier_wait(u64 *barrier, u32 phase)
{
    for (int i = 0; i < MOST_STORES; i++)
        if (fake_loads[i].barrier == barrier && fake_loads[i].phase == phase) {
            memcpy(fake_loads[i].to, fake_at(fake_loads[i].from), fake_loads[i].n);
            fake_loads[i].barrier = NULL;
            ++*barrier;
            return;
        }
    wrong_order("a wait for a bulk load that is not under way");
}

static inline void stores_but(int last)
{
    int done = fake_nstores > last ? fake_nstores - last : 0;
    for (int i = 0; i < done; i++)
        memcpy(fake_at(fake_stores[i].to), fake_stores[i].from, fake_stores[i].n);
    memmove(fake_stores, fake_stores + done, (size_t)(fake_nstores - done) * sizeof *fake_stores);
    fake_nstores -= done;
}

static inline void bulk_store(u64 to, const char *from, u32 n)
{
    if (to % 16 || n % 16 || fake_nstores == MOST_STORES)
        wrong_order("a bulk store that is not aligned, or one too many");
    fake_stores[fake_nstores++] = (struct fake_store){to, from, n};
}

#define stores_read() stores_but(STAGES - 1 - AHEAD)
#define stores_done() stores_but(0)

#endif
