/* Converts times of kernels, which are of their GPU's clock. Before and after the timed part the
 * clocks of all ranks' GPUs are compared with the first rank's; offsets in between are
 * interpolated. A path between two GPUs is faster than one through the host. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "ep_gpu.h"
#include "fab_cuda.h"

#define QUERIES 64
#define POLLS 4096 /* polls between two checks that the kernel still runs */

/* Bounds of the GPU clock's offset to the host's, over all replies. */
struct offset_bounds {
    int64_t least, most;
};

/* Queries the time once: it was read after the query and before the reply arrived. */
static int ask(struct ep_run *u, uint64_t i, struct offset_bounds *ahead)
{
    u64 *w = u->gpu->words;
    int rc;
    int64_t from = weir_monotonic(), until;
    __atomic_store_n(&w[EP_WORD_QUERY], i, __ATOMIC_RELEASE);
    for (u32 looks = 1; __atomic_load_n(&w[EP_WORD_ANSWERED], __ATOMIC_ACQUIRE) != i; looks++) {
        if ((rc = rank_tick(u->r)) < 0) {
            return rc;
        }
        if (looks % POLLS == 0 && cuda.cuStreamQuery(u->gpu->stream) != CU_NOT_READY &&
            __atomic_load_n(&w[EP_WORD_ANSWERED], __ATOMIC_ACQUIRE) != i) {
            return rank_fail(u->r, -EIO, "clock", -1,
                             "the kernel that reports the GPU's time ended");
        }
    }
    until = weir_monotonic();
    int64_t reported = (int64_t)w[EP_WORD_TIME];
    ahead->least = reported - until > ahead->least ? reported - until : ahead->least;
    ahead->most = reported - from < ahead->most ? reported - from : ahead->most;
    return 0;
}

static int compare_with_host(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    u64 times = QUERIES, limit = ep_gpu_wait_limit(u);
    void *values[] = {&g->words_dev, &times, &limit};
    struct offset_bounds b = {INT64_MIN, INT64_MAX};
    int rc;
    g->words[EP_WORD_QUERY] = g->words[EP_WORD_ANSWERED] = 0;
    if ((rc = ep_gpu_launch(u, KERNEL_EP_CLOCK, 1, 1, values)) < 0) {
        return rc;
    }
    for (uint64_t i = 1; i <= QUERIES; i++) {
        if ((rc = ask(u, i, &b)) < 0) {
            return rc;
        }
    }
    if ((rc = ep_gpu_finish(u)) < 0) {
        return rc;
    }
    g->step = (double)g->words[EP_WORD_STEP];
    g->ahead = b.least + (b.most - b.least) / 2;
    return 0;
}

/* Returns a bit for each rank on another GPU than the first rank's; other ranks need only their own
 * bit. */
static u64 asking(const struct ep_run *u)
{
    const struct cuda *c = cuda_of(u->r);
    u64 bits = 0;
    if (u->r->cfg.rank) {
        return (u64)(c->peers[0].path != PATH_SAME_GPU) << u->r->cfg.rank;
    }
    for (int q = 1; q < u->r->cfg.ranks; q++) {
        bits |= (u64)(c->peers[q].path != PATH_SAME_GPU) << q;
    }
    return bits;
}

static int compare_with_first(struct ep_run *u, int again)
{
    struct ep_gpu *g = u->gpu;
    u64 ahead = (u64)g->ahead, ask = asking(u), limit = ep_gpu_wait_limit(u),
        first = 1 + (again ? EP_QUERIES : 0);
    void *values[] = {&g->args, &g->words_dev, &ahead, &ask, &first, &limit};
    int rc;
    if ((rc = ep_gpu_launch(u, KERNEL_EP_COMPARE, 1, 1, values)) < 0) {
        return rc;
    }
    if ((rc = ep_gpu_finish(u)) < 0) {
        return rc;
    }
    if (u->r->cfg.rank == 0) {
        return 0;
    }
    if (!again) {
        g->ahead = (int64_t)g->words[EP_WORD_FIRST];
    }
    int64_t from = (int64_t)g->words[EP_WORD_LEAST], until = (int64_t)g->words[EP_WORD_MOST];
    g->compared[again] = (struct ep_clock_offset){
        .at = g->words[EP_WORD_TIME],
        .ahead = from + (until - from) / 2,
        .bound = llabs(until - from) / 2,
    };
    return 0;
}

int ep_gpu_clocks(struct ep_run *u, int again)
{
    int rc = again ? 0 : compare_with_host(u);
    return rc < 0 || u->r->cfg.ranks == 1 ? rc : compare_with_first(u, again);
}

/* Upper bound of the change of the drift rate between two GPU clocks. */
#define RATE_CHANGES 1e-6

int64_t ep_gpu_bound(const struct ep_run *u)
{
    const struct ep_clock_offset *c = u->gpu->compared;
    double apart = fabs((double)(int64_t)(c[1].at - c[0].at)) * RATE_CHANGES;
    return (c[0].bound > c[1].bound ? c[0].bound : c[1].bound) + (int64_t)apart;
}

/* Converts a time of this GPU's clock to the host's clock as the first rank knows it. */
static int64_t instant(const struct ep_gpu *g, u64 at)
{
    const struct ep_clock_offset *c = g->compared;
    double span = (double)(int64_t)(c[1].at - c[0].at), since = (double)(int64_t)(at - c[0].at),
           more = span > 0 ? (double)(c[1].ahead - c[0].ahead) * (since / span) : 0;
    return (int64_t)at - g->ahead - c[0].ahead - (int64_t)more;
}

static int64_t between(u64 from, u64 to) { return to > from ? (int64_t)(to - from) : 0; }

static u64 later(u64 a, u64 b) { return b > a ? b : a; }

static void take(struct ep_run *u, uint64_t i, int o, const struct ep_stamps *s)
{
    struct weir_ep_times *t = &u->times[i * EP_OPERATIONS + (uint64_t)o];
    struct weir_ep_wait *w = u->waits + (size_t)o * (size_t)u->r->cfg.ranks;
    u64 start = ~s->start;
    int pulled = o == EP_COMBINE && ep_pulls(u); /* rows arrive until it ends */
    *t = (struct weir_ep_times){.start = instant(u->gpu, start),
                                .end = instant(u->gpu, s->at[EP_ENDED])};
    u64 worked = later(start, s->at[EP_WORKED]), placed = later(worked, s->at[EP_PLACED]);
    u64 sent = later(placed, s->at[EP_SENT]);
    u64 arrived = pulled ? s->at[EP_ENDED] : later(sent, s->at[EP_COME]);
    t->work = between(start, worked); /* a combine has no such stamps */
    t->send = between(placed, sent);
    t->wait = between(worked, placed) + between(sent, arrived);
    t->reduce = between(arrived, s->at[EP_ENDED]);
    for (int q = 0; q < u->r->cfg.ranks; q++) {
        int64_t took = between(start, pulled ? arrived : s->came[q]);
        w[q].sum += (double)took;
        w[q].max = took > w[q].max ? took : w[q].max;
    }
}

int ep_gpu_times(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    uint64_t n = u->e->of.iterations;
    struct ep_stamps *all = calloc(n * EP_OPERATIONS, sizeof *all);
    struct weir_err e = {0};
    float ms = 0;
    int rc;
    if (!all) {
        return rank_fail(u->r, -ENOMEM, "run", -1, "no memory for the stamps of %llu iterations",
                         (unsigned long long)n);
    }
    rc = u->r->cfg.source->copy_out(all, (const void *)(uintptr_t)g->args.stamps,
                                    n * EP_OPERATIONS * sizeof *all, &e);
    if (rc < 0) {
        rc = rank_fail(u->r, rc, "run", -1, "%s", e.text);
    }
    for (uint64_t i = 0; i < n && rc == 0; i++) {
        for (int o = 0; o < EP_OPERATIONS; o++) {
            if (ep_does(u, (enum weir_ep_operation)o)) {
                take(u, i, o, &all[i * EP_OPERATIONS + (uint64_t)o]);
            }
        }
    }
    free(all);
    if (rc < 0) {
        return rc;
    }
    if ((rc = cuda_failed(u->r->err, "cuEventElapsedTime",
                          cuda.cuEventElapsedTime(&ms, g->begun, g->ended))) < 0) {
        return rc;
    }
    g->loop_events = (double)ms * 1e6;
    return 0;
}
