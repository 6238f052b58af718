/* The measured part of dispatch and combine on GPUs, as ep_operate.c is for the host. */
#include "ep_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fab_cuda.h"

#define EVENT_INTERVAL 64          /* iterations between two events that are waited for */
#define STOP_TIMEOUT_NS 2000000000 /* ns: for kernels to end once they are told to stop */

static unsigned shared(const struct ep_run *u, enum cuda_kernel kernel)
{
    return kernel == KERNEL_EP_DISPATCH || kernel == KERNEL_EP_PACK ? u->gpu->shared : 0;
}

/* Launches before the preceding kernel has ended; the kernel waits for that itself. */
static int launch_early(struct ep_run *u, enum cuda_kernel kernel, unsigned blocks,
                        unsigned threads, void **values)
{
    struct cu_launch_attribute early = {.what = CU_BEFORE_ITS_LAST_ENDED, .value = 1};
    struct cu_launch how = {.blocks = {blocks, 1, 1},
                            .threads = {threads, 1, 1},
                            .shared = shared(u, kernel),
                            .stream = u->gpu->stream,
                            .attributes = &early,
                            .n = 1};
    return CUDA_EP(u, cuLaunchKernelEx, &how, cuda_current()->kernels[kernel], values, NULL);
}

int ep_gpu_launch(struct ep_run *u, enum cuda_kernel kernel, unsigned blocks, unsigned threads,
                  void **values)
{
    if (u->e->launch & EP_DEPENDENT && kernel <= KERNEL_EP_VERIFY) {
        return launch_early(u, kernel, blocks, threads, values);
    }
    return CUDA_EP(u, cuLaunchKernel, cuda_current()->kernels[kernel], blocks, 1, 1, threads, 1, 1,
                   shared(u, kernel), u->gpu->stream, values, NULL);
}

/* Formats what a kernel waited for when it gave up; "": none did. */
void ep_gpu_waited(struct ep_run *u, u32 error, char *text, size_t cap)
{
    static const char *const what[] = {"something", "counts",  "messages", "rows",
                                       "combine",   "meeting", "clock"};
    u32 of = error >> 8 & 0xff;
    *text = 0;
    if (error) {
        snprintf(text, cap, "the kernel of rank %d waited for the %s of rank %d", u->r->cfg.rank,
                 what[of < sizeof what / sizeof *what ? of : 0],
                 ep_rank_at(u, (int)(error & 0xff)));
    }
}

int ep_gpu_error(struct ep_run *u, u32 *error)
{
    *error = 0;
    return ep_gpu_copy_out(u, error, u->gpu->args.error, sizeof *error);
}

/* Stops all kernels, and adds to the error what they waited for. */
static int stop(struct ep_run *u, int rc)
{
    struct ep_gpu *g = u->gpu;
    int64_t from = weir_monotonic();
    u32 error;
    char text[128];
    __atomic_store_n(&g->words[EP_WORD_ABORT], 1, __ATOMIC_RELEASE);
    int code = cuda.cuStreamQuery(g->stream);
    while (code == CU_NOT_READY && weir_monotonic() - from < STOP_TIMEOUT_NS) {
        rank_pause();
        code = cuda.cuStreamQuery(g->stream);
    }
    u->stopped = weir_monotonic() - from;
    if (code != CU_DONE || ep_gpu_error(u, &error) < 0 || !error || !u->r->err) {
        return rc;
    }
    size_t at = strlen(u->r->err->text);
    ep_gpu_waited(u, error, text, sizeof text);
    u->r->err->peer = ep_rank_at(u, (int)(error & 0xff));
    snprintf(u->r->err->text + at, sizeof u->r->err->text - at,
             "; %s, and ended %.3g ms after it was told to stop", text, (double)u->stopped / 1e6);
    return rc;
}

int ep_gpu_await(struct ep_run *u, cu_event event)
{
    int code = cuda.cuEventQuery(event), rc;
    while (code == CU_NOT_READY) {
        if ((rc = rank_tick(u->r)) < 0) {
            return stop(u, rc);
        }
        rank_pause();
        code = cuda.cuEventQuery(event);
    }
    return cuda_check(u->r, -1, "cuEventQuery", code);
}

/* Every EVENT_INTERVAL iterations waits for earlier ones, so that the stream is neither empty nor
 * full. */
static int limit_queue(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    int rc;
    if (++g->queued % EVENT_INTERVAL) {
        return 0;
    }
    uint64_t k = g->queued / EVENT_INTERVAL;
    if (k > 1) {
        if ((rc = ep_gpu_await(u, g->passed[(k - 1) % 2])) < 0) {
            return rc;
        }
    }
    return CUDA_EP(u, cuEventRecord, g->passed[k % 2], g->stream);
}

/* Ends before the rank's deadline, so that the kernel's more specific error is reported; in a group
 * that changes, after the limit for a peer's silence. */
u64 ep_gpu_wait_limit(const struct ep_run *u)
{
    int64_t left = u->r->wait.deadline - weir_monotonic();
    u64 most = left > 0 ? (u64)left / 10 * 9 : 1, silence = (u64)u->silence;
    return silence && silence < most ? silence : most;
}

#ifdef WEIR_TEST
_Atomic int ep_gpu_hung_rank = -1;
#endif

int ep_gpu_operate(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration)
{
    struct ep_gpu *g = u->gpu;
    u64 half = ep_half_of(u, iteration), timeout = ep_gpu_wait_limit(u),
        slot = u->timed ? iteration * EP_OPERATIONS + (u64)o : ~0ull;
    void *values[] = {&g->args, &g->number, &half, &slot, &timeout};
#ifdef WEIR_TEST
    if (ep_gpu_hung_rank == u->r->cfg.rank) {
        return 0;
    }
#endif
    if (o == EP_DISPATCH) {
        return ep_gpu_launch(u, KERNEL_EP_DISPATCH, g->senders, g->threads, values);
    }
    if (ep_pulls(u)) {
        values[2] = &g->pull_each;
        return ep_gpu_launch(u, KERNEL_EP_PULL, g->pullers, g->threads, values);
    }
    return ep_gpu_launch(u, KERNEL_EP_COMBINE, g->blocks, g->threads + EP_GPU_SIGNALERS, values);
}

/* Flushes the caches, then synchronises the ranks. */
int ep_gpu_prepare(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    u64 timeout = ep_gpu_wait_limit(u);
    void *meet[] = {&g->args, &g->number, &timeout};
    int rc;
    g->number++;
    if (u->e->flushed) {
        if ((rc = ep_gpu_set(u, g->flush, (unsigned char)g->number, EP_GPU_FLUSH)) < 0) {
            return rc;
        }
    }
    return u->e->aligned ? ep_gpu_launch(u, KERNEL_EP_MEET, 1, 32, meet) : 0;
}

static int operate_all(struct ep_run *u, uint64_t iteration)
{
    int rc;
    if ((rc = ep_gpu_prepare(u)) < 0) {
        return rc;
    }
    for (int o = 0; o < EP_OPERATIONS; o++) {
        if (ep_does(u, (enum weir_ep_operation)o)) {
            if ((rc = ep_gpu_operate(u, (enum weir_ep_operation)o, iteration)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

int ep_gpu_record(struct ep_run *u, uint64_t n, int (*put)(struct ep_run *u, uint64_t iteration))
{
    struct ep_gpu *g = u->gpu;
    int rc;
    if ((rc = CUDA_EP(u, cuStreamBeginCapture_v2, g->stream, CU_OF_THIS_THREAD)) < 0) {
        return rc;
    }
    for (uint64_t i = 0; rc >= 0 && i < n; i++) {
        rc = put(u, i);
    }
    if (rc < 0) { /* the stream may be used again, and the first error stands */
        cuda.cuStreamEndCapture(g->stream, &g->graph);
        return rc;
    }
    if ((rc = CUDA_EP(u, cuStreamEndCapture, g->stream, &g->graph)) < 0) {
        return rc;
    }
    if ((rc = CUDA_EP(u, cuGraphInstantiateWithFlags, &g->made, g->graph, 0)) < 0) {
        return rc;
    }
    if ((rc = CUDA_EP(u, cuGraphUpload, g->made, g->stream)) < 0) {
        return rc;
    }
    return CUDA_EP(u, cuStreamSynchronize, g->stream);
}

void ep_gpu_drop_graph(struct ep_gpu *g)
{
    if (g->made) {
        (void)cuda.cuGraphExecDestroy(g->made);
    }
    if (g->graph) {
        (void)cuda.cuGraphDestroy(g->graph);
    }
    g->made = NULL;
    g->graph = NULL;
}

int ep_gpu_capture(struct ep_run *u)
{
    if (!(u->e->launch & EP_GRAPH)) {
        return 0;
    }
    u->timed = 1;
    int rc = ep_gpu_record(u, u->e->of.iterations, operate_all);
    u->timed = 0;
    return rc;
}

/* The first iteration enqueues all timed ones. */
static int launch_graph(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    int rc = CUDA_EP(u, cuGraphLaunch, g->made, g->stream);
    return rc < 0 ? rc : CUDA_EP(u, cuEventRecord, g->ended, g->stream);
}

int ep_gpu_iterate(struct ep_run *u, uint64_t iteration)
{
    struct ep_gpu *g = u->gpu;
    int rc;
    if (u->timed && iteration == 0) {
        g->first = weir_monotonic();
        if ((rc = CUDA_EP(u, cuEventRecord, g->begun, g->stream)) < 0) {
            return rc;
        }
    }
    if (u->timed && g->made) {
        return iteration == 0 ? launch_graph(u) : 0;
    }
    if ((rc = operate_all(u, iteration)) < 0) {
        return rc;
    }
    if (u->timed && iteration + 1 == u->e->of.iterations) {
        if ((rc = CUDA_EP(u, cuEventRecord, g->ended, g->stream)) < 0) {
            return rc;
        }
    }
    return limit_queue(u);
}

int ep_gpu_finish(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    u32 error;
    char text[128];
    int rc;
    if ((rc = CUDA_EP(u, cuEventRecord, g->passed[0], g->stream)) < 0) {
        return rc;
    }
    if ((rc = ep_gpu_await(u, g->passed[0])) < 0) {
        return rc;
    }
    g->queued = 0;
    if (u->timed) {
        g->loop_wall = (double)(weir_monotonic() - g->first);
    }
    if ((rc = ep_gpu_error(u, &error)) < 0) {
        return rc;
    }
    if (!error) {
        return rc;
    }
    ep_gpu_waited(u, error, text, sizeof text);
    return rank_fail(u->r, -ETIMEDOUT, "wait", ep_rank_at(u, (int)(error & 0xff)),
                     "%s until its deadline", text);
}
