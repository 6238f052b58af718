/* on_host.h: what kernels.cu needs to run on the host, one thread after the other. Asynchronous
 * operations run as late as a GPU may run them: a load when its barrier is waited for, a store
 * when its end is. */
#ifndef WEIR_ON_HOST_H
#define WEIR_ON_HOST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long u64;
typedef unsigned int       u32;
typedef struct {
    u32 x, y, z, w;
} __attribute__((aligned(16))) uint4;

struct three {
    unsigned x;
};
extern _Thread_local struct three threadIdx, blockIdx, blockDim, gridDim;

/* The memory behind an address of a GPU; of a wrong one it ends the kernel. */
void *fake_at(u64 address);

#define DEVICE static inline
#define KERNEL __attribute__((visibility("hidden"))) void
#define AT(type, address) ((type *)fake_at(address))
#define THREAD ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS ((u64)gridDim.x * blockDim.x)

static inline void atomicMin(u64 *p, u64 v)
{
    if (v < *p)
        *p = v;
}

/* ---- the bulk copy engine of a multiprocessor ---- */

#define BULK_SHARED(stages, barriers, pieces)                        \
    static _Thread_local char stages[STAGES * PIECE] __attribute__((aligned(128))); \
    static _Thread_local u64          barriers[STAGES];              \
    static _Thread_local struct piece pieces[STAGES]

struct fake_load {
    char *to;
    u64   from;
    u32   n, phase;
    u64  *barrier; /* NULL: none is under way */
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
