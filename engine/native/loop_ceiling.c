#include "loop_ceiling.h"

#include <stdlib.h>

#include "rank.h"
#include "loop_role.h"
#include "sys_copy.h"

#define SPAN_COPIES 2
#define TRIALS 3

#ifdef WEIR_TEST
int64_t ceiling_span_ns = CEILING_SPAN_NS, ceiling_time_ns = CEILING_TIME_NS;
_Atomic uint64_t ceiling_spans;
#endif

struct slot_cursor { /* over the slots of a region, in the order of the case's requests */
    const struct weir_case *c;
    const struct weir_role *o;
    uint64_t slot;
};

static void copy_request(struct weir_rank *r, const struct weir_copy *m, struct slot_cursor *w)
{
    size_t at = w->slot * w->o->stride, block = w->c->block;
    char *to = rank_probe(r) + at, *from = rank_source(r) + at;
    for (uint64_t i = 0; i < w->c->batch; i++) {
        m->fn(to + i * block, from + i * block, block);
        __asm__ volatile("" ::: "memory");
    }
    w->slot = w->slot + 1 == w->o->slots ? 0 : w->slot + 1;
}

/* Returns the copy rate over a span of at least ns, in bytes/s. */
static double span(struct weir_rank *r, const struct weir_copy *m, struct slot_cursor *w,
                   int64_t ns)
{
    size_t copies = 0, per = 1 + (64 << 10) / w->o->request; /* makes clock reads negligible */
    int64_t t0 = weir_ticks(), t1;
    do {
        for (size_t k = 0; k < per; k++) {
            copy_request(r, m, w);
        }
        copies += per;
        t1 = weir_ticks();
    } while (weir_ticks_to_ns(&r->clk, t1 - t0) < ns || copies < SPAN_COPIES);
    return (double)copies * (double)w->o->request / (double)weir_ticks_to_ns(&r->clk, t1 - t0) *
           1e9;
}

/* Returns whether this processor can copy between the two regions. */
static int can_copy(const struct weir_rank *r) { return r->cfg.source->host && r->cfg.sink->host; }

int ceiling_choose(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   const struct weir_copy **best)
{
    size_t methods;
    const struct weir_copy *m = weir_copies(&methods);
    struct slot_cursor w = {c, o, 0};
    double top = 0;
    for (size_t i = 0; i < methods && can_copy(r); i++) {
        double of = 0;
        for (int k = 0; k < TRIALS; k++) {
            double rate = span(r, &m[i], &w, ceiling_span_ns);
            int rc = rank_tick(r);
            if (rc < 0) {
                return rc;
            }
            of = rate > of ? rate : of;
        }
        /* libc comes first and is kept unless another method is clearly faster: a smaller
         * difference is noise, or disappears in a loop that does more than copy */
        if (of > top * (i ? 1.15 : 1)) {
            top = of;
            *best = &m[i];
        }
    }
    return 0;
}

/* Ranks with large and with small cells have the same kind of path: for a matrix, use the better of
 * a request and of a large copy, as ceiling_by_requests does. */
static int widen(struct weir_rank *r, struct weir_case *c, struct weir_role *o)
{
    struct weir_case large = *c;
    struct weir_role whole = *o;
    double own = 0, other = 0;
    if (c->mode != MODE_MATRIX || o->request >= CEILING_LARGE) {
        return 0;
    }
    large.block = CEILING_LARGE;
    whole.request = CEILING_LARGE;
    for (int k = 0; k < TRIALS; k++) {
        double a = span(r, r->copy, &(struct slot_cursor){c, o, 0}, ceiling_span_ns),
               b = span(r, r->copy, &(struct slot_cursor){&large, &whole, 0}, ceiling_span_ns);
        int rc = rank_tick(r);
        if (rc < 0) {
            return rc;
        }
        own = a > own ? a : own;
        other = b > other ? b : other;
    }
    if (other > own) {
        *c = large;
        *o = whole;
    }
    return 0;
}

int ceiling_memcpy(struct weir_rank *r, const struct weir_case *of, const struct weir_role *as,
                   struct ceiling *out)
{
    struct weir_case c = *of;
    struct weir_role o = *as;
    struct slot_cursor w = {&c, &o, 0};
    int rc;
    if (!can_copy(r)) {
        return 0;
    }
    if ((rc = widen(r, &c, &o)) < 0) {
        return rc;
    }
    if (o.request >= CEILING_SETTLES) {
        span(r, r->copy, &w, CEILING_SETTLE * ceiling_span_ns);
    }
    for (int k = 0; k < CEILING_SPANS; k++) {
        if ((rc = rank_tick(r)) < 0) {
            return rc;
        }
        ceiling_add(out, span(r, r->copy, &w, ceiling_span_ns));
    }
    return 0;
}

void ceiling_add(struct ceiling *c, double rate)
{
#ifdef WEIR_TEST
    ceiling_spans++;
#endif
    if (c->n < sizeof c->rate / sizeof *c->rate) {
        c->rate[c->n++] = rate;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ceiling_rate(struct ceiling *c)
{
    if (!c->n) {
        return 0;
    }
    qsort(c->rate, c->n, sizeof *c->rate, ascending);
    return (c->rate[(c->n - 1) / 2] + c->rate[c->n / 2]) / 2;
}

double ceiling_best(const struct ceiling *c)
{
    double best = 0;
    for (size_t i = 0; i < c->n; i++) {
        best = c->rate[i] > best ? c->rate[i] : best;
    }
    return best;
}

int ceiling_is_memcpy(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                      struct ceiling *c)
{
    return 0;
}

/* Runs before and after the timed part, so that noise of the host affects the ceilings alike. A
 * ping-pong's path is probed only afterwards: a TCP connection that has moved much data in one
 * direction delays its acknowledgements differently, which made 4 KiB messages a seventh slower. */
int ceiling_probe(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                  int after, struct ceiling *copies, struct ceiling *path)
{
    int rc;
    rank_phase(r, PH_CEILING, 0);
    if (o->initiator) {
        if ((rc = ceiling_memcpy(r, c, o, copies)) < 0) {
            return rc;
        }
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    if ((c->mode == MODE_PINGPONG && !after)) {
        return rc;
    }
    /* links one after the other: two that share a rank would halve each other's rate */
    const struct weir_flows *f = &r->cfg.flows[c->flows];
    /* as many spans as other modes take before and after */
    int rounds = c->mode == MODE_PINGPONG ? 2 : 1;
    for (int i = 0; i < rounds * f->nprobes; i++) {
        const struct weir_link_probe *t = &f->probes[i % f->nprobes];
        int sleeps = r->cfg.sleeps;
        r->cfg.sleeps = 0; /* the capacity of the path, also for ranks that block */
        rc = r->fab->ceiling(r, t->peer, t->initiator, c,
                             t->initiator ? path : &(struct ceiling){.n = 0});
        r->cfg.sleeps = sleeps;
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}
