/* Steps of a group that changes, by kernels, as ep_operate.c runs them on the host. In kernels,
 * ranks are indices of the group's members. */
#include "ep_gpu.h"

#include <errno.h>

#include "fab_cuda.h"

#define POISON 0x5a
#define SPINNING 1000000 /* ns after which a started kernel is running */

/* A rank that is killed has a kernel waiting for peers; one that falls silent starts no more. */
static int end(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    u64 timeout = ep_gpu_wait_limit(u);
    void *meet[] = {&g->args, &g->number, &timeout};
    int64_t from = weir_monotonic();
    int rc;
    if (u->killed) {
        if ((rc = ep_gpu_launch(u, KERNEL_EP_MEET, 1, 32, meet)) < 0) {
            return rc;
        }
        while (weir_monotonic() - from < SPINNING) {
            rank_pause();
        }
    }
    return ep_end(u);
}

static int operate(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration, cu_event behind)
{
    int rc;
    if (u->end == (int)o) {
        if ((rc = end(u)) < 0) {
            return rc;
        }
    }
    if ((rc = ep_gpu_operate(u, o, iteration)) < 0) {
        return rc;
    }
    return CUDA_EP(u, cuEventRecord, behind, u->gpu->stream);
}

/* Runs the kernels of a step. A rank that fails in the combine has finished its dispatch. */
static int run(struct ep_run *u, uint64_t iteration)
{
    struct ep_gpu *g = u->gpu;
    int rc;
    g->number++;
    if ((rc = CUDA_EP(u, cuEventRecord, g->begun, g->stream)) < 0) {
        return rc;
    }
    if ((rc = operate(u, EP_DISPATCH, iteration, g->turned)) < 0) {
        return rc;
    }
    if (u->end == EP_COMBINE) {
        if ((rc = ep_gpu_await(u, g->turned)) < 0) {
            return rc;
        }
    }
    if ((rc = operate(u, EP_COMBINE, iteration, g->ended)) < 0) {
        return rc;
    }
    return ep_gpu_await(u, g->ended);
}

/* A wait that timed out was for a silent peer. */
static int check_wait(struct ep_run *u)
{
    u32 error;
    int rc = ep_gpu_error(u, &error);
    return rc < 0 || !error ? rc : ep_silent(u, ep_rank_at(u, (int)(error & 0xff)));
}

/* Times between GPU events; the last ends when the host has seen it. */
static int stamp(struct ep_run *u, struct weir_ep_times *t)
{
    struct ep_gpu *g = u->gpu;
    int64_t now = weir_monotonic();
    float dispatch, combine; /* ms */
    int rc;
    if ((rc = CUDA_EP(u, cuEventElapsedTime, &dispatch, g->begun, g->turned)) < 0) {
        return rc;
    }
    if ((rc = CUDA_EP(u, cuEventElapsedTime, &combine, g->turned, g->ended)) < 0) {
        return rc;
    }
    int64_t turn = now - (int64_t)((double)combine * 1e6),
            start = turn - (int64_t)((double)dispatch * 1e6);
    t[EP_DISPATCH] = (struct weir_ep_times){.start = start, .end = turn};
    t[EP_COMBINE] = (struct weir_ep_times){.start = turn, .end = now};
    return 0;
}

/* Copies received bytes to the host and poisons them on the GPU. */
static int take(struct ep_run *u, void *to, cu_address from, size_t n)
{
    int rc = ep_gpu_copy_out(u, to, from, n);
    if (rc < 0 || !n) {
        return rc;
    }
    return CUDA_EP(u, cuMemsetD8Async, from, POISON, n, u->gpu->stream);
}

/* Called before this rank starts the next step: peers write to this half again only after that. */
int ep_gpu_take(struct ep_run *u, uint64_t iteration)
{
    const struct weir_ep *e = u->e;
    struct ep_gpu *g = u->gpu;
    size_t rows = (size_t)e->tokens * ep_row_bytes(e);
    int rc;
    for (int o = 0; o < EP_OPERATIONS; o++) {
        char *to = ep_half(u, (enum weir_ep_operation)o, iteration);
        cu_address from = g->args.sinks[g->args.rank] + (cu_address)(to - u->sink);
        if ((rc = take(u, to, from, e->parts[o].half)) < 0) {
            return rc;
        }
    }
    if ((rc = take(u, u->out, g->args.out, rows)) < 0) {
        return rc;
    }
    return CUDA_EP(u, cuStreamSynchronize, g->stream);
}

int ep_gpu_step(struct ep_run *u, uint64_t iteration, struct weir_ep_times *t)
{
    int rc;
    if ((rc = run(u, iteration)) < 0) {
        return rc;
    }
    if ((rc = check_wait(u)) < 0) {
        return rc;
    }
    if ((rc = stamp(u, t)) < 0) {
        return rc;
    }
    return ep_gpu_take(u, iteration);
}
