/* Resources of a case of dispatch and combine on GPUs: memory, tables, events, and copies of
 * rows. */
#include "ep_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fab_cuda.h"

#define POISON 0xa5

/* ---- resources of a case ---- */

static int reaches_all(struct ep_run *u)
{
    struct weir_rank *r = u->r;
    struct cuda *c = u->e->posted ? NULL : cuda_of(r);
    if (!r->cfg.source->gpu || (c && strcmp(r->fab->name, "cuda"))) {
        return rank_fail(r, -EOPNOTSUPP, "start", -1,
                         "kernels that send in dispatch and combine are those of fabric cuda");
    }
    for (int p = 0; c && p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p) && c->peers[p].path == PATH_STAGED) {
            return rank_fail(r, -EHOSTUNREACH, "start", p,
                             "GPU %s does not reach the memory of GPU %s, which the kernels of "
                             "dispatch and combine need",
                             cuda_current()->bus, c->peers[p].bus);
        }
    }
    return 0;
}

/* Ranks that share a GPU share its multiprocessors: their kernels wait for each other, so all must
 * be resident at once. */
static unsigned multiprocessors(const struct ep_run *u)
{
    const struct cuda *c = cuda_of(u->r);
    if (u->e->posted) {
        return (unsigned)cuda_current()->multiprocessors;
    }
    unsigned all = (unsigned)(c->sms ? c->sms : cuda_current()->multiprocessors), ranks = 1;
    for (int p = 0; p < u->r->cfg.ranks; p++) {
        ranks += rank_is_peer(u->r, p) && c->peers[p].path == PATH_SAME_GPU;
    }
    return all > ranks ? all / ranks : 1;
}

static unsigned least(uint64_t a, uint64_t b) { return (unsigned)(a < b ? a : b); }

static unsigned in_warps(unsigned threads) { return (threads + 31) / 32 * 32; }

/* Returns in *fit whether two blocks of a dispatch fit on a multiprocessor. */
static int choose_pairs(struct ep_run *u, int *fit)
{
    int has, rc = CUDA_EP(u, cuDeviceGetAttribute, &has, CU_SHARED_OF_MULTIPROCESSOR,
                          cuda_current()->device);
    *fit = rc == 0 && 2 * (u->gpu->shared + EP_GPU_SHARED) <= (unsigned)has;
    return rc;
}

/* Chooses grids whose blocks are all resident at once: one block per multiprocessor, two for a
 * dispatch with enough tokens, and no more than there are tokens. Threads of a block split a row
 * evenly. Blocks that pull rows take a part of a row each, and wait for no other block. */
static int choose_shape(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    unsigned most = multiprocessors(u), tokens = u->gpu->args.most_tokens,
             words = (unsigned)u->e->channels * 2 / EP_GPU_UNIT,
             each = (words + EP_GPU_THREADS - 1) / EP_GPU_THREADS;
    int pairs, rc, limited = !u->e->posted && cuda_of(u->r)->sms;
    g->threads = in_warps((words + each - 1) / each);
    g->shared = (g->args.room + 127) / 128 * 128;
    if ((rc = choose_pairs(u, &pairs)) < 0) {
        return rc;
    }
    pairs = pairs && !limited;
    tokens = tokens ? tokens : 1;
    g->blocks = least(least(most, EP_GPU_BLOCKS), tokens);
    g->senders = least(least(pairs ? 2 * most : most, EP_GPU_BLOCKS), tokens);
    g->pull_each = each;
    g->pullers = least(least(limited ? most : 2 * most, EP_GPU_BLOCKS), (u64)tokens * each);
    return 0;
}

static int make_events(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    int rc;
    for (int i = 0; i < 2; i++) {
        if ((rc = CUDA_EP(u, cuEventCreate, &g->passed[i], CU_NO_TIMING)) < 0) {
            return rc;
        }
    }
    if ((rc = CUDA_EP(u, cuEventCreate, &g->begun, 0)) < 0) {
        return rc;
    }
    if ((rc = CUDA_EP(u, cuEventCreate, &g->turned, 0)) < 0) {
        return rc;
    }
    return CUDA_EP(u, cuEventCreate, &g->ended, 0);
}

static int allocate(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    int rc;
    if ((rc = CUDA_EP(u, cuStreamCreate, &g->stream, CU_NON_BLOCKING)) < 0) {
        return rc;
    }
    if ((rc = make_events(u)) < 0) {
        return rc;
    }
    if ((rc = CUDA_EP(u, cuMemAlloc_v2, &g->memory, g->bytes)) < 0) {
        return rc;
    }
    if ((rc = CUDA_EP(u, cuMemHostAlloc, (void **)&g->words, EP_WORDS * sizeof *g->words,
                      CU_PORTABLE | CU_MAPPED)) < 0) {
        return rc;
    }
    memset(g->words, 0, EP_WORDS * sizeof *g->words);
    return CUDA_EP(u, cuMemHostGetDevicePointer_v2, &g->words_dev, g->words, 0);
}

int ep_gpu_copy_in(struct ep_run *u, cu_address to, const void *from, size_t n)
{
    struct weir_err e = {0};
    if (n && u->r->cfg.source->copy_in((void *)(uintptr_t)to, from, n, &e) < 0) {
        return rank_fail(u->r, e.code, "start", -1, "%s", e.text);
    }
    return 0;
}

int ep_gpu_copy_out(struct ep_run *u, void *to, cu_address from, size_t n)
{
    struct weir_err e = {0};
    if (n && u->r->cfg.source->copy_out(to, (const void *)(uintptr_t)from, n, &e) < 0) {
        return rank_fail(u->r, e.code, "verify", -1, "%s", e.text);
    }
    return 0;
}

int ep_gpu_set(struct ep_run *u, cu_address at, unsigned char byte, size_t n)
{
    return n ? CUDA_EP(u, cuMemsetD8Async, at, byte, n, u->gpu->stream) : 0;
}

/* Clears flags and stamps. */
static int clear(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    struct ep_args *a = &g->args;
    int rc;
    uint64_t bytes = weir_ep_signal_bytes(a->ranks, a->ranks * a->per_rank, (int)a->most_tokens);
    if ((rc = ep_gpu_set(u, a->sinks[a->rank] + a->counts_at, 0, bytes)) < 0) {
        return rc;
    }
    if ((rc = ep_gpu_set(u, a->stamps, 0, ep_gpu_stamps(u->e) * sizeof(struct ep_stamps))) < 0) {
        return rc;
    }
    if ((rc = ep_gpu_set(u, a->error, 0, sizeof(u32))) < 0) {
        return rc;
    }
    return CUDA_EP(u, cuStreamSynchronize, g->stream);
}

static int copy_tables(struct ep_run *u)
{
    char *all = calloc(1, u->gpu->in + 1);
    if (!all) {
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for places of rows");
    }
    ep_tables_copy(u, all);
    int rc = ep_gpu_copy_in(u, u->gpu->memory, all, u->gpu->in);
    free(all);
    return rc;
}

/* Returns whether kernels are launched before their predecessors have ended. */
static int launches_early(struct ep_run *u)
{
    int major = 0, rc;
    if (!(u->e->launch & EP_DEPENDENT)) {
        return 0;
    }
    if (!cuda.cuLaunchKernelEx) {
        return rank_fail(u->r, -EOPNOTSUPP, "start", -1,
                         "dependent launches need a driver of CUDA 11.8 or later");
    }
    if ((rc = CUDA_EP(u, cuDeviceGetAttribute, &major, CU_CAPABILITY_MAJOR,
                      cuda_current()->device)) < 0) {
        return rc;
    }
    return major >= 9 ? 0
                      : rank_fail(u->r, -EOPNOTSUPP, "start", -1,
                                  "dependent launches need a GPU of compute capability 9.0 or "
                                  "later, and %s has %d.x: use kernel_launch each or graph",
                                  cuda_current()->name, major);
}

int ep_gpu_make(struct ep_run *u)
{
    int rc;
    if (!u->r->cfg.sink->gpu) {
        return 0;
    }
    if ((rc = reaches_all(u)) < 0) {
        return rc;
    }
    u->gpu = calloc(1, sizeof *u->gpu);
    if (!u->gpu) {
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for the state of kernels");
    }
    if ((rc = ep_tables_make(u)) < 0) {
        return rc;
    }
    if ((rc = launches_early(u)) < 0) {
        return rc;
    }
    if ((rc = choose_shape(u)) < 0) {
        return rc;
    }
    if ((rc = allocate(u)) < 0) {
        return rc;
    }
    ep_tables_place(u);
    if ((rc = copy_tables(u)) < 0) {
        return rc;
    }
    if ((rc = clear(u)) < 0) {
        return rc;
    }
    ep_tables_drop(u->gpu);
    if (u->e->posted) {
        return ep_posted_make(u);
    }
    return CUDA_EP(u, cuFuncSetAttribute, cuda_current()->kernels[KERNEL_EP_DISPATCH],
                   CU_DYNAMIC_SHARED, (int)u->gpu->shared);
}

void ep_gpu_drop(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    if (!g) {
        return;
    }
    if (g->words) {
        __atomic_store_n(&g->words[EP_WORD_ABORT], 1, __ATOMIC_RELEASE);
    }
    if (g->stream) {
        (void)cuda.cuStreamSynchronize(g->stream);
    }
    cu_event events[] = {g->begun, g->turned, g->ended, g->passed[0], g->passed[1]};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (events[i]) {
            (void)cuda.cuEventDestroy_v2(events[i]);
        }
    }
    ep_gpu_drop_graph(g);
    ep_gpu_drop_chain(g);
    ep_posted_drop(g);
    if (g->words) {
        (void)cuda.cuMemFreeHost(g->words);
    }
    if (g->memory) {
        (void)cuda.cuMemFree_v2(g->memory);
    }
    if (g->stream) {
        (void)cuda.cuStreamDestroy_v2(g->stream);
    }
    ep_tables_drop(g);
    free(g);
    u->gpu = NULL;
}

/* ---- rows to and from the GPU ---- */

int ep_gpu_upload(struct ep_run *u)
{
    const struct weir_ep *e = u->e;
    struct ep_args *a = &u->gpu->args;
    size_t rows = (size_t)e->tokens * ep_row_bytes(e);
    int rc;
    for (int o = 0; o < EP_OPERATIONS; o++) {
        cu_address at = a->sinks[a->rank] + e->parts[o].sink;
        if ((rc = ep_gpu_set(u, at, POISON, 2 * e->parts[o].half)) < 0) {
            return rc;
        }
    }
    if ((rc = ep_gpu_set(u, a->out, POISON, rows)) < 0) {
        return rc;
    }
    if ((rc = CUDA_EP(u, cuStreamSynchronize, u->gpu->stream)) < 0) {
        return rc;
    }
    if ((rc = ep_gpu_copy_in(u, a->x, u->x, rows)) < 0) {
        return rc;
    }
    if ((rc = ep_gpu_copy_in(u, a->source, u->source, u->used)) < 0) {
        return rc;
    }
    return ep_pulls(u) && e->nmade
               ? ep_gpu_copy_in(u, a->sinks[a->rank] + e->parts[EP_COMBINE].sink,
                                u->source + e->made[0].at, e->nmade * ep_row_bytes(e))
               : 0;
}

int ep_gpu_download(struct ep_run *u)
{
    const struct weir_ep *e = u->e;
    struct ep_args *a = &u->gpu->args;
    int rc;
    for (int o = 0; o < EP_OPERATIONS; o++) {
        if ((rc = ep_gpu_copy_out(u, u->sink + e->parts[o].sink,
                                  a->sinks[a->rank] + e->parts[o].sink, 2 * e->parts[o].half)) <
            0) {
            return rc;
        }
    }
    return ep_gpu_copy_out(u, u->out, a->out, (size_t)e->tokens * ep_row_bytes(e));
}
