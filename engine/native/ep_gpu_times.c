/* Instants of kernels are those of the GPU's clock, which is compared with the host's before and
 * after the timed part. */
#include <errno.h>
#include <stdlib.h>

#include "ep_gpu.h"

#define ASKED 64
#define LOOKS 4096 /* in vain between two questions whether the kernel still runs */

struct between { /* by how much the GPU's clock is ahead: what all answers leave of it */
    int64_t least, most;
};

/* Asks for the time once: it was told after the question, and before the answer was there. */
static int ask(struct ep_run *u, uint64_t i, struct between *ahead)
{
    u64    *w = u->gpu->words;
    int     rc;
    int64_t from = weir_monotonic(), until;
    __atomic_store_n(&w[EP_WORD_ASKED], i, __ATOMIC_RELEASE);
    for (u32 looks = 1; __atomic_load_n(&w[EP_WORD_ANSWERED], __ATOMIC_ACQUIRE) != i; looks++) {
        if ((rc = rank_tick(u->r)) < 0)
            return rc;
        if (looks % LOOKS == 0 && cuda.cuStreamQuery(u->gpu->stream) != CU_NOT_READY &&
            __atomic_load_n(&w[EP_WORD_ANSWERED], __ATOMIC_ACQUIRE) != i)
            return rank_fail(u->r, -EIO, "clock", -1, "the kernel that tells the GPU's time ended");
    }
    until        = weir_monotonic();
    int64_t told = (int64_t)w[EP_WORD_TIME];
    ahead->least = told - until > ahead->least ? told - until : ahead->least;
    ahead->most  = told - from < ahead->most ? told - from : ahead->most;
    return 0;
}

int ep_gpu_clocks(struct ep_run *u, int again)
{
    struct ep_gpu *g     = u->gpu;
    u64            times = ASKED, patience = ep_gpu_patience(u);
    void          *values[] = {&g->words_there, &times, &patience};
    struct between b = {INT64_MIN, INT64_MAX};
    int            rc;
    g->words[EP_WORD_ASKED] = g->words[EP_WORD_ANSWERED] = 0;
    if ((rc = ep_gpu_launch(u, KERNEL_EP_CLOCK, 1, 1, values)) < 0)
        return rc;
    for (uint64_t i = 1; i <= ASKED; i++)
        if ((rc = ask(u, i, &b)) < 0)
            return rc;
    if ((rc = ep_gpu_finish(u)) < 0)
        return rc;
    g->step = (double)g->words[EP_WORD_STEP];
    int64_t ahead = b.least + (b.most - b.least) / 2, bound = llabs(b.most - b.least) / 2;
    if (again) {
        bound = (bound > g->bound ? bound : g->bound) + llabs(ahead - g->ahead) / 2;
        ahead = g->ahead + (ahead - g->ahead) / 2;
    }
    g->ahead = ahead;
    g->bound = bound;
    return 0;
}

static int64_t between(u64 from, u64 to) { return to > from ? (int64_t)(to - from) : 0; }

static void take(struct ep_run *u, uint64_t i, int o, const struct ep_stamps *s)
{
    struct weir_ep_times *t = &u->times[i * EP_OPERATIONS + (uint64_t)o];
    struct weir_ep_wait  *w = u->waits + (size_t)o * (size_t)u->r->cfg.ranks;
    u64                   start = ~s->start;
    *t = (struct weir_ep_times){.start = (int64_t)start - u->gpu->ahead,
                                .end   = (int64_t)s->at[EP_ENDED] - u->gpu->ahead};
    u64 worked = s->at[EP_WORKED] > start ? s->at[EP_WORKED] : start;
    u64 sent   = s->at[EP_SENT] > worked ? s->at[EP_SENT] : worked;
    u64 come   = s->at[EP_COME] > sent ? s->at[EP_COME] : sent;
    if (o == EP_DISPATCH)
        t->work = between(start, worked);
    t->send   = between(o == EP_DISPATCH ? worked : start, sent);
    t->wait   = between(sent, come);
    t->reduce = between(come, s->at[EP_ENDED]);
    for (int q = 0; q < u->r->cfg.ranks; q++) {
        int64_t took = between(start, s->came[q]);
        w[q].sum += (double)took;
        w[q].max = took > w[q].max ? took : w[q].max;
    }
}

int ep_gpu_times(struct ep_run *u)
{
    struct ep_gpu    *g = u->gpu;
    uint64_t          n = u->e->of.iterations;
    struct ep_stamps *all = calloc(n * EP_OPERATIONS, sizeof *all);
    struct weir_err   e = {0};
    float             ms = 0;
    int               rc;
    if (!all)
        return rank_fail(u->r, -ENOMEM, "run", -1, "no memory for the stamps of %llu iterations",
                         (unsigned long long)n);
    rc = u->r->cfg.source->copy_out(all, (const void *)(uintptr_t)g->args.stamps,
                                    n * EP_OPERATIONS * sizeof *all, &e);
    if (rc < 0)
        rc = rank_fail(u->r, rc, "run", -1, "%s", e.text);
    for (uint64_t i = 0; i < n && rc == 0; i++)
        for (int o = 0; o < EP_OPERATIONS; o++)
            if (ep_does(u, (enum weir_ep_operation)o))
                take(u, i, o, &all[i * EP_OPERATIONS + (uint64_t)o]);
    free(all);
    if (rc < 0 || (rc = cuda_failed(u->r->err, "cuEventElapsedTime",
                                    cuda.cuEventElapsedTime(&ms, g->begun, g->ended))) < 0)
        return rc;
    g->loop_events = (double)ms * 1e6;
    return 0;
}
