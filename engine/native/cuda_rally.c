/* A ping-pong of fabric cuda that two kernels play with each other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab_cuda.h"
#include "ping.h"

typedef uint64_t u64;
#include "rally_args.h"

#define MOST RALLY_MOST
#define PATIENCE 2000000000 /* ns: for a kernel that was told to end */
#define NUMBERS 20          /* bits of a word for the number of a message */

struct cuda_rally {
    u64       *words; /* of the host, that the GPU knows too: RALLY_WORDS, then round trips */
    cu_address there;
    cu_event   ended;
};

int cuda_rally_open(struct weir_rank *r)
{
    struct cuda       *c = cuda_of(r);
    struct cuda_rally *b = calloc(1, sizeof *b);
    int                rc;
    if (!(c->rally = b))
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for a ping-pong");
    if ((rc = CUDA_RANK(r, -1, cuMemHostAlloc, (void **)&b->words,
                        (RALLY_WORDS + MOST) * sizeof *b->words, CU_PORTABLE | CU_MAPPED)) < 0 ||
        (rc = CUDA_RANK(r, -1, cuMemHostGetDevicePointer_v2, &b->there, b->words, 0)) < 0)
        return rc;
    return CUDA_RANK(r, -1, cuEventCreate, &b->ended, CU_NO_TIMING);
}

void cuda_rally_close(struct weir_rank *r)
{
    struct cuda_rally *b = cuda_of(r)->rally;
    if (!b)
        return;
    if (b->ended)
        (void)cuda.cuEventDestroy_v2(b->ended);
    if (b->words)
        (void)cuda.cuMemFreeHost(b->words);
    free(b);
    cuda_of(r)->rally = NULL;
}

/* Kernels of two GPUs run at once; and one block of threads moves as much as it can. */
int cuda_rallies(struct weir_rank *r, int peer, size_t bytes)
{
    const struct cuda *c = cuda_of(r);
    enum cuda_path     p = c->peers[peer].path;
    return c->engine == ENGINE_SM && bytes <= RALLY_BYTES && r->cfg.source->gpu &&
           r->cfg.sink->gpu && p != PATH_STAGED && p != PATH_HOST && p != PATH_SAME_GPU;
}

/* The last word of a sink, where no message lies: an area has more than one of them. */
static cu_address word_of(cu_address sink, size_t size) { return sink + size - sizeof(u64); }

static int launch(struct weir_rank *r, int peer, const struct weir_rally *g)
{
    struct cuda       *c    = cuda_of(r);
    struct cuda_peer  *p    = &c->peers[peer];
    struct cuda_rally *b    = c->rally;
    int64_t            left = r->deadline - weir_monotonic();
    cu_address         own  = (cu_address)(uintptr_t)r->regions[REGION_SINK].base;
    unsigned           threads = (unsigned)((g->bytes / 16 + 31) / 32 * 32);
    struct rally_args  a       = {
        .from = c->source_there + r->cfg.layout.first, .to = p->sink_there, .bytes = g->bytes,
        .own     = word_of(own, r->regions[REGION_SINK].size),
        .theirs  = word_of(p->sink_there, c->handover.mapped[peer][1].size),
        .tag     = ++p->rallies << NUMBERS, .n = g->n, .begins = (u64)g->begins,
        .over    = (u64)g->over, .words = b->there,
        .round_trips = b->there + RALLY_WORDS * sizeof(u64),
        .timeout     = left > 0 ? (u64)left / 10 * 9 : 1,
    };
    void *values[] = {&a};
    memset(b->words, 0, RALLY_WORDS * sizeof *b->words);
    threads = threads < 32 ? 32 : threads < RALLY_THREADS ? threads : RALLY_THREADS;
    int rc  = CUDA_RANK(r, peer, cuLaunchKernel, cuda_here()->kernels[KERNEL_RALLY], 1, 1, 1,
                        threads, 1, 1, 0, c->stream, values, NULL);
    return rc < 0 ? rc : CUDA_RANK(r, peer, cuEventRecord, b->ended, c->stream);
}

/* Until the kernel has ended: by itself, or because this rank may not wait any more. */
static int await(struct weir_rank *r, int peer)
{
    struct cuda_rally *b = cuda_of(r)->rally;
    int                code, rc = 0;
    while ((code = cuda.cuEventQuery(b->ended)) == CU_NOT_READY && (rc = rank_tick(r)) == 0)
        rank_pause();
    if (code != CU_NOT_READY)
        return cuda_check(r, peer, "cuEventQuery", code);
    int64_t from = weir_monotonic();
    __atomic_store_n(&b->words[RALLY_ABORT], 1, __ATOMIC_RELEASE);
    while (cuda.cuEventQuery(b->ended) == CU_NOT_READY && weir_monotonic() - from < PATIENCE)
        rank_pause();
    return rc;
}

int64_t cuda_rally(struct weir_rank *r, int peer, const struct weir_rally *g)
{
    struct cuda_rally *b = cuda_of(r)->rally;
    int                rc;
    if ((rc = launch(r, peer, g)) < 0 || (rc = await(r, peer)) < 0)
        return rc;
    if (b->words[RALLY_LATE])
        return rank_fail(r, -ETIMEDOUT, "ping", peer,
                         "the kernel of this ping-pong waited for rank %d until its deadline", peer);
    if (g->begins)
        memcpy(g->round_trips, b->words + RALLY_WORDS, g->n * sizeof *g->round_trips);
    return (int64_t)b->words[RALLY_PLAYED];
}
