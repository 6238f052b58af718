/* A ping-pong of fabric cuda that is run by two kernels: the kernel of each rank answers that of
 * the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab_cuda.h"
#include "pingpong_part.h"

typedef uint64_t u64;
#include "pingpong_args.h"

#define PATIENCE 2000000000 /* ns: for a kernel that was told to end */
#define NUMBER_BITS 20      /* of a word: the number of a message in its part */

struct cuda_pingpong {
    u64       *words; /* of the host, that the GPU knows too: PINGPONG_WORDS, then round trips */
    cu_address there;
    cu_event   ended;
};

int cuda_pingpong_open(struct weir_rank *r)
{
    struct cuda          *c = cuda_of(r);
    struct cuda_pingpong *b = calloc(1, sizeof *b);
    int                   rc;
    if (!(c->pingpong = b))
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for a ping-pong");
    if ((rc = CUDA_RANK(r, -1, cuMemHostAlloc, (void **)&b->words,
                        (PINGPONG_WORDS + PART_MOST) * sizeof *b->words,
                        CU_PORTABLE | CU_MAPPED)) < 0 ||
        (rc = CUDA_RANK(r, -1, cuMemHostGetDevicePointer_v2, &b->there, b->words, 0)) < 0)
        return rc;
    return CUDA_RANK(r, -1, cuEventCreate, &b->ended, CU_NO_TIMING);
}

void cuda_pingpong_close(struct weir_rank *r)
{
    struct cuda_pingpong *b = cuda_of(r)->pingpong;
    if (!b)
        return;
    if (b->ended)
        (void)cuda.cuEventDestroy_v2(b->ended);
    if (b->words)
        (void)cuda.cuMemFreeHost(b->words);
    free(b);
    cuda_of(r)->pingpong = NULL;
}

/* Two kernels run at once only on two GPUs. Larger messages need more than one block of threads. */
int cuda_runs_pingpong(struct weir_rank *r, int peer, size_t bytes)
{
    const struct cuda *c = cuda_of(r);
    enum cuda_path     p = c->peers[peer].path;
    return c->engine == ENGINE_SM && bytes <= PINGPONG_BYTES && r->cfg.source->gpu &&
           r->cfg.sink->gpu && p != PATH_STAGED && p != PATH_HOST && p != PATH_SAME_GPU;
}

/* The last word of a sink. Messages of PINGPONG_BYTES at most do not reach it: a sink has
 * WEIR_LEAST bytes at least. */
_Static_assert(PINGPONG_BYTES < WEIR_LEAST, "a message does not reach the end of a sink");
static cu_address word_of(cu_address sink, size_t size) { return sink + size - sizeof(u64); }

static int launch(struct weir_rank *r, int peer, const struct weir_pingpong *g)
{
    struct cuda          *c       = cuda_of(r);
    struct cuda_peer     *p       = &c->peers[peer];
    struct cuda_pingpong *b       = c->pingpong;
    int64_t               left    = r->deadline - weir_monotonic();
    cu_address            own     = (cu_address)(uintptr_t)r->regions[REGION_SINK].base;
    unsigned              threads = (unsigned)((g->bytes / 16 + 31) / 32 * 32);
    struct pingpong_args  a       = {
        .from = c->source_there + r->cfg.layout.first, .to = p->sink_there, .bytes = g->bytes,
        .own     = word_of(own, r->regions[REGION_SINK].size),
        .theirs  = word_of(p->sink_there, c->handover.mapped[peer][1].size),
        .tag     = ++p->parts << NUMBER_BITS, .n = g->n, .begins = (u64)g->begins,
        .over    = (u64)g->over, .words = b->there,
        .round_trips = b->there + PINGPONG_WORDS * sizeof(u64),
        .timeout     = left > 0 ? (u64)left / 10 * 9 : 1,
    };
    void *values[] = {&a};
    memset(b->words, 0, PINGPONG_WORDS * sizeof *b->words);
    threads = threads < 32 ? 32 : threads < PINGPONG_THREADS ? threads : PINGPONG_THREADS;
    int rc = CUDA_RANK(r, peer, cuLaunchKernel, cuda_here()->kernels[KERNEL_PINGPONG], 1, 1, 1,
                       threads, 1, 1, 0, c->stream, values, NULL);
    return rc < 0 ? rc : CUDA_RANK(r, peer, cuEventRecord, b->ended, c->stream);
}

/* Until the kernel has ended: by itself, or because this rank may not wait any more. */
static int await(struct weir_rank *r, int peer)
{
    struct cuda_pingpong *b = cuda_of(r)->pingpong;
    int                   code, rc = 0;
    while ((code = cuda.cuEventQuery(b->ended)) == CU_NOT_READY && (rc = rank_tick(r)) == 0)
        rank_pause();
    if (code != CU_NOT_READY)
        return cuda_check(r, peer, "cuEventQuery", code);
    int64_t from = weir_monotonic();
    __atomic_store_n(&b->words[PINGPONG_ABORT], 1, __ATOMIC_RELEASE);
    while (cuda.cuEventQuery(b->ended) == CU_NOT_READY && weir_monotonic() - from < PATIENCE)
        rank_pause();
    return rc;
}

int64_t cuda_run_pingpong(struct weir_rank *r, int peer, struct weir_pingpong *g)
{
    struct cuda_pingpong *b = cuda_of(r)->pingpong;
    int                   rc;
    if ((rc = launch(r, peer, g)) < 0 || (rc = await(r, peer)) < 0)
        return rc;
    if (b->words[PINGPONG_LATE])
        return rank_fail(r, -ETIMEDOUT, "ping", peer,
                         "its kernel waited for a message of rank %d until the deadline", peer);
    if (g->begins)
        memcpy(g->round_trips, b->words + PINGPONG_WORDS, g->n * sizeof *g->round_trips);
    g->step = (double)b->words[PINGPONG_STEP];
    return (int64_t)b->words[PINGPONG_DONE];
}
