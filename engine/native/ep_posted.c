/* Dispatch and combine in the memory of GPUs, with puts that the host posts over any fabric that
 * moves such memory. Kernels make the messages and the sums, and copy what stays on its rank; the
 * host waits for them before it posts, and again at the end of an operation. A kernel that is
 * launched after data has arrived sees it. */
#include <errno.h>
#include <stdlib.h>

#include "ep_gpu.h"
#include "fab_cuda.h"

#define COPY_THREADS 256
#define COPY_TEAM 32 /* threads that copy a block together, at least */

enum { PACK, PARTIAL, TOTAL }; /* kernels of an iteration that are timed: EP_POSTED_KERNELS */

struct ep_posted {
    u64 places, first; /* of messages, see kernels_ep_pack.cu */
    /* struct cuda_block: what this rank sends to itself, by half of its sink */
    u64 own[EP_OPERATIONS][2];
    u32 nown[EP_OPERATIONS];
    struct ep_args partial, total[2]; /* of kernels that add up rows; total: by half */
    cu_address memory;                /* has all these tables */
};

/* ---- tables ---- */

struct filling { /* of tables: the first pass, without memory, finds their size */
    char *host;
    u64 device;
    size_t used;
};

static void *reserve(struct filling *f, size_t n, u64 *address)
{
    u64 at = ep_gpu_reserve(&f->used, n);
    *address = f->device + at;
    return f->host ? f->host + at : NULL;
}

static u64 source_of(const struct ep_run *u) { return u->gpu->args.source; }

static u64 sink_of(const struct ep_run *u, enum weir_ep_operation o, int half)
{
    const struct ep_args *a = &u->gpu->args;
    return a->sinks[a->rank] + u->e->parts[o].sink + (u64)half * u->e->parts[o].half;
}

static void add_places(const struct ep_run *u, struct ep_posted *p, struct filling *f)
{
    const struct weir_ep *e = u->e;
    u64 *places = reserve(f, e->ncopies * sizeof *places, &p->places);
    u32 *first = reserve(f, ((size_t)e->tokens + 1) * sizeof *first, &p->first), at = 0;
    for (u32 t = 0; first && t <= (u32)e->tokens; t++) {
        first[t] = at;
        for (; at < e->ncopies && e->copies[at].token == t; at++) {
            places[at] = source_of(u) + e->copies[at].at;
        }
    }
}

static void add_own(const struct ep_run *u, struct ep_posted *p, struct filling *f,
                    enum weir_ep_operation o, int half)
{
    const struct weir_ep_part *part = &u->e->parts[o];
    struct cuda_block *blocks = reserve(f, part->nputs * sizeof *blocks, &p->own[o][half]);
    u32 n = 0;
    for (u32 i = 0; i < part->nputs; i++) {
        const struct weir_ep_put *put = &part->puts[i];
        if (put->peer != u->r->cfg.rank) {
            continue;
        }
        if (blocks) {
            blocks[n] = (struct cuda_block){sink_of(u, o, half) + put->remote,
                                            source_of(u) + put->local, put->bytes};
        }
        n++;
    }
    p->nown[o] = n;
}

/* Fills in the arguments of a kernel that adds up rows of this rank's own memory. */
static void add_sums(const struct ep_run *u, struct filling *f, const struct weir_ep_sums *s,
                     u64 from, u64 to, struct ep_args *a)
{
    u32 n = s->n ? s->list[s->n - 1].first + s->list[s->n - 1].n : 0;
    *a = u->gpu->args;
    a->sinks[0] = a->sinks[a->rank];
    a->rank = 0;
    a->ranks = 1;
    a->tokens = (int)s->n;
    a->out = to + (s->n ? s->list[0].to : 0); /* sums lie one behind the other */
    struct ep_sum *sums = reserve(f, s->n * sizeof *sums, &a->sum);
    struct ep_term *terms = reserve(f, n * sizeof *terms, &a->term);
    for (u32 i = 0; sums && i < s->n; i++) {
        sums[i] = (struct ep_sum){.first = s->list[i].first, .n = s->list[i].n};
    }
    for (u32 i = 0; terms && i < n; i++) {
        terms[i] = (struct ep_term){from + s->terms[i].at, s->terms[i].weight, 0};
    }
}

static void fill(const struct ep_run *u, struct ep_posted *p, struct filling *f)
{
    const struct weir_ep *e = u->e;
    f->used = 0;
    add_places(u, p, f);
    add_sums(u, f, &e->partial, source_of(u), source_of(u), &p->partial);
    for (int half = 0; half < 2; half++) {
        add_own(u, p, f, EP_DISPATCH, half);
        add_own(u, p, f, EP_COMBINE, half);
        add_sums(u, f, &e->total, sink_of(u, EP_COMBINE, half), u->gpu->args.out, &p->total[half]);
    }
}

int ep_posted_make(struct ep_run *u)
{
    struct ep_posted *p = u->gpu->posted = calloc(1, sizeof *p);
    struct filling f = {.used = 0};
    int rc;
    if (!p) {
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for the state of kernels");
    }
    fill(u, p, &f);
    if ((rc = CUDA_EP(u, cuMemAlloc_v2, &p->memory, f.used + 1)) < 0) {
        return rc;
    }
    f.device = p->memory;
    f.host = calloc(1, f.used + 1);
    if (!f.host) {
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for places of rows");
    }
    fill(u, p, &f);
    rc = ep_gpu_copy_in(u, p->memory, f.host, f.used);
    free(f.host);
    return rc < 0 ? rc
                  : CUDA_EP(u, cuFuncSetAttribute, cuda_current()->kernels[KERNEL_EP_PACK],
                            CU_DYNAMIC_SHARED, (int)u->gpu->shared);
}

void ep_posted_drop(struct ep_gpu *g)
{
    if (g->posted && g->posted->memory) {
        (void)cuda.cuMemFree_v2(g->posted->memory);
    }
    free(g->posted);
    g->posted = NULL;
}

/* ---- kernels ---- */

static unsigned blocks_for(u64 n)
{
    u64 most = 2 * (u64)cuda_current()->multiprocessors;
    most = most < EP_GPU_BLOCKS ? most : EP_GPU_BLOCKS;
    return (unsigned)(n < most ? n : most);
}

/* Returns where a kernel writes its times; groups that change have none. */
static u64 slot_of(const struct ep_run *u, uint64_t iteration, int kernel)
{
    return u->timed && !u->e->places ? iteration * EP_POSTED_KERNELS + (u64)kernel : ~0ull;
}

static int pack(struct ep_run *u, uint64_t iteration)
{
    struct ep_gpu *g = u->gpu;
    u64 slot = slot_of(u, iteration, PACK);
    void *values[] = {&g->args, &g->posted->places, &g->posted->first, &slot};
    return u->e->before || !u->e->tokens
               ? 0
               : ep_gpu_launch(u, KERNEL_EP_PACK, blocks_for((u64)u->e->tokens), g->threads,
                               values);
}

static int add_up(struct ep_run *u, struct ep_args *a, u64 slot)
{
    struct ep_gpu *g = u->gpu;
    u64 timeout = ep_gpu_wait_limit(u);
    void *values[] = {a, &g->number, &g->pull_each, &slot, &timeout};
    g->number++;
    return a->tokens ? ep_gpu_launch(u, KERNEL_EP_PULL, blocks_for((u64)a->tokens * g->pull_each),
                                     g->threads, values)
                     : 0;
}

static int copy_own(struct ep_run *u, enum weir_ep_operation o, uint64_t half)
{
    struct ep_posted *p = u->gpu->posted;
    u64 list = p->own[o][half], n = p->nown[o], none = 0,
        threads = (u64)cuda_current()->multiprocessors * COPY_THREADS,
        teams = n < threads / COPY_TEAM ? n : threads / COPY_TEAM,
        team = n ? threads / teams / COPY_TEAM * COPY_TEAM : 0;
    void *values[] = {&list, &n, &team, &none, &none, &none};
    return n ? ep_gpu_launch(u, KERNEL_COPY, (unsigned)cuda_current()->multiprocessors,
                             COPY_THREADS, values)
             : 0;
}

static int record(struct ep_run *u)
{
    return CUDA_EP(u, cuEventRecord, u->gpu->passed[0], u->gpu->stream);
}

static int await(struct ep_run *u) { return ep_gpu_await(u, u->gpu->passed[0]); }

int ep_posted_work(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration)
{
    int rc = o == EP_DISPATCH ? pack(u, iteration)
                              : add_up(u, &u->gpu->posted->partial, slot_of(u, iteration, PARTIAL));
    if (rc < 0) {
        return rc;
    }
    if ((rc = record(u)) < 0) {
        return rc;
    }
    if ((rc = copy_own(u, o, ep_half_of(u, iteration))) < 0) {
        return rc;
    }
    return await(u);
}

int ep_posted_end(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration)
{
    struct ep_args *total = &u->gpu->posted->total[ep_half_of(u, iteration)];
    int rc = o == EP_COMBINE ? add_up(u, total, slot_of(u, iteration, TOTAL)) : 0;
    if (rc < 0) {
        return rc;
    }
    if ((rc = record(u)) < 0) {
        return rc;
    }
    return await(u);
}

int ep_posted_flush(struct ep_run *u, uint64_t iteration)
{
    int rc;
    if (!u->e->flushed) {
        return 0;
    }
    if ((rc = ep_gpu_set(u, u->gpu->flush, (unsigned char)iteration, EP_GPU_FLUSH)) < 0) {
        return rc;
    }
    if ((rc = record(u)) < 0) {
        return rc;
    }
    if ((rc = await(u)) < 0) {
        return rc;
    }
    return rank_barrier(u->r, 0, NULL);
}

/* ---- times ---- */

int ep_posted_times(struct ep_run *u)
{
    size_t n = u->e->of.iterations * EP_POSTED_KERNELS;
    struct ep_stamps *all = calloc(n + 1, sizeof *all);
    if (!all) {
        return rank_fail(u->r, -ENOMEM, "run", -1, "no memory for the stamps of %zu kernels", n);
    }
    int rc = ep_gpu_copy_out(u, all, u->gpu->args.stamps, n * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        u64 start = ~all[i].start, end = all[i].at[EP_ENDED];
        u->spent.kernel += end > start ? (double)(end - start) : 0;
    }
    for (size_t i = 0; i < u->e->of.iterations * EP_OPERATIONS; i++) {
        u->spent.launch += (double)(u->times[i].work + u->times[i].reduce);
    }
    u->spent.launch -= u->spent.kernel;
    free(all);
    return rc;
}
