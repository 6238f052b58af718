/* A ping-pong of fabric cuda run by two kernels: each rank's kernel replies to the other's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab_cuda.h"
#include "loop_pingpong_part.h"

typedef uint64_t u64;
#include "kernels_pingpong_args.h"

#define STOP_TIMEOUT_NS 2000000000 /* ns: for a kernel to end once it is told to stop */
#define NUMBER_BITS 20             /* low bits of a word: the message's number within its part */

struct cuda_pingpong {
    u64 *words; /* host memory mapped for the GPU: PINGPONG_WORDS, then round trips */
    cu_address words_dev;
    cu_event ended;
};

int cuda_pingpong_open(struct weir_rank *r)
{
    struct cuda *c = cuda_of(r);
    struct cuda_pingpong *b = calloc(1, sizeof *b);
    int rc;
    c->pingpong = b;
    if (!c->pingpong) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for a ping-pong");
    }
    if ((rc = CUDA_RANK(r, -1, cuMemHostAlloc, (void **)&b->words,
                        (PINGPONG_WORDS + MAX_PART) * sizeof *b->words, CU_PORTABLE | CU_MAPPED)) <
        0) {
        return rc;
    }
    if ((rc = CUDA_RANK(r, -1, cuMemHostGetDevicePointer_v2, &b->words_dev, b->words, 0)) < 0) {
        return rc;
    }
    return CUDA_RANK(r, -1, cuEventCreate, &b->ended, CU_NO_TIMING);
}

void cuda_pingpong_close(struct weir_rank *r)
{
    struct cuda_pingpong *b = cuda_of(r)->pingpong;
    if (!b) {
        return;
    }
    if (b->ended) {
        (void)cuda.cuEventDestroy_v2(b->ended);
    }
    if (b->words) {
        (void)cuda.cuMemFreeHost(b->words);
    }
    free(b);
    cuda_of(r)->pingpong = NULL;
}

/* Two kernels run concurrently only on two GPUs. Larger messages need more than one thread
 * block. */
int cuda_runs_pingpong(struct weir_rank *r, int peer, size_t bytes)
{
    const struct cuda *c = cuda_of(r);
    enum cuda_path p = c->peers[peer].path;
    return c->engine == ENGINE_SM && bytes <= PINGPONG_BYTES && r->cfg.source->gpu &&
           r->cfg.sink->gpu && p != PATH_STAGED && p != PATH_HOST && p != PATH_SAME_GPU;
}

/* Offset of the last word of a sink. Messages of at most PINGPONG_BYTES do not reach it, since a
 * sink has at least WEIR_MIN_AREA bytes. */
_Static_assert(PINGPONG_BYTES < WEIR_MIN_AREA, "a message does not reach the end of a sink");
static cu_address word_of(cu_address sink, size_t size) { return sink + size - sizeof(u64); }

static int launch(struct weir_rank *r, int peer, const struct weir_pingpong *g)
{
    struct cuda *c = cuda_of(r);
    struct cuda_peer *p = &c->peers[peer];
    struct cuda_pingpong *b = c->pingpong;
    int64_t left = r->wait.deadline - weir_monotonic();
    cu_address own = (cu_address)(uintptr_t)r->regions[REGION_SINK].base;
    unsigned threads = (unsigned)((g->bytes / 16 + 31) / 32 * 32);
    struct pingpong_args a = {
        .from = c->source_dev + r->cfg.layout.first,
        .to = p->sink_dev,
        .bytes = g->bytes,
        .own = word_of(own, r->regions[REGION_SINK].size),
        .theirs = word_of(p->sink_dev, c->handover.mapped[peer][1].size),
        .tag = ++p->parts << NUMBER_BITS,
        .n = g->n,
        .begins = (u64)g->begins,
        .over = (u64)g->over,
        .words = b->words_dev,
        .round_trips = b->words_dev + PINGPONG_WORDS * sizeof(u64),
        .timeout = left > 0 ? (u64)left / 10 * 9 : 1,
    };
    void *values[] = {&a};
    memset(b->words, 0, PINGPONG_WORDS * sizeof *b->words);
    threads = threads < 32 ? 32 : threads < PINGPONG_THREADS ? threads : PINGPONG_THREADS;
    int rc = CUDA_RANK(r, peer, cuLaunchKernel, cuda_current()->kernels[KERNEL_PINGPONG], 1, 1, 1,
                       threads, 1, 1, 0, c->stream, values, NULL);
    return rc < 0 ? rc : CUDA_RANK(r, peer, cuEventRecord, b->ended, c->stream);
}

/* Waits until the kernel has ended, or stops it if this rank must not wait any longer. */
static int await(struct weir_rank *r, int peer)
{
    struct cuda_pingpong *b = cuda_of(r)->pingpong;
    int code = cuda.cuEventQuery(b->ended), rc = 0;
    while (code == CU_NOT_READY) {
        if ((rc = rank_tick(r)) < 0) {
            break;
        }
        rank_pause();
        code = cuda.cuEventQuery(b->ended);
    }
    if (code != CU_NOT_READY) {
        return cuda_check(r, peer, "cuEventQuery", code);
    }
    int64_t from = weir_monotonic();
    __atomic_store_n(&b->words[PINGPONG_ABORT], 1, __ATOMIC_RELEASE);
    while (cuda.cuEventQuery(b->ended) == CU_NOT_READY &&
           weir_monotonic() - from < STOP_TIMEOUT_NS) {
        rank_pause();
    }
    return rc;
}

int64_t cuda_run_pingpong(struct weir_rank *r, int peer, struct weir_pingpong *g)
{
    struct cuda_pingpong *b = cuda_of(r)->pingpong;
    int rc;
    if ((rc = launch(r, peer, g)) < 0) {
        return rc;
    }
    if ((rc = await(r, peer)) < 0) {
        return rc;
    }
    if (b->words[PINGPONG_LATE]) {
        return rank_fail(r, -ETIMEDOUT, "ping", peer,
                         "its kernel received no message from rank %d before the deadline", peer);
    }
    if (g->begins) {
        memcpy(g->round_trips, b->words + PINGPONG_WORDS, g->n * sizeof *g->round_trips);
    }
    g->step = (double)b->words[PINGPONG_STEP];
    return (int64_t)b->words[PINGPONG_DONE];
}
