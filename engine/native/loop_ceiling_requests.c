/* Probes what a fabric carries at best: its own puts, or gets where the case reads, many in flight,
 * of the request's size or of a large one. */
#include "loop_ceiling.h"
#include "rank.h"

#define WINDOW 32
/* bytes: enough for any path, and few enough for a short span */
#define IN_FLIGHT ((size_t)4 << 20)
#define TRIALS 2

struct probe {
    struct weir_rank *r;
    int peer, reads;
    size_t n; /* bytes of a request */
    int many; /* in flight */
    struct weir_req window[WINDOW];
};

#define IDLE 1 /* pending of a request that belongs to no loop */

static int await_request(struct probe *p, struct weir_req *q)
{
    int rc;
    while (q->pending != IDLE) {
        if ((rc = p->r->fab->progress(p->r)) < 0) {
            return rc;
        }
        if ((rc = rank_tick_for(p->r, p->peer, "probe")) < 0) {
            return rc;
        }
    }
    return q->failed
               ? rank_fail(p->r, q->failed, "probe", p->peer, "failed with status %d", q->failed)
               : 0;
}

/* Between passes a target's sink holds nothing that is still needed, and a source only what its
 * reader may overwrite. */
static int post(struct probe *p, struct weir_req *q)
{
    struct weir_rank *r = p->r;
    q->pending = IDLE + 1;
    q->peer = p->peer;
    int rc = p->reads ? r->fab->get(r, p->peer, rank_source(r), 0, p->n, q)
                      : r->fab->put(r, p->peer, rank_source(r), 0, p->n, q);
    if (rc == WEIR_DONE) {
        q->pending = IDLE;
    }
    return rc < 0 ? rc : rank_tick_for(r, p->peer, "probe");
}

/* Measures a span of at least this time and number of requests; slow paths use fewer requests. */
static int span(struct probe *p, int64_t ns, int requests, double *rate)
{
    int rc;
    size_t bytes = 0;
    int64_t t0 = weir_ticks(), took;
    do {
        requests -= p->many;
        for (int i = 0; i < p->many; i++, bytes += p->n) {
            if ((rc = await_request(p, &p->window[i])) < 0) {
                return rc;
            }
            if ((rc = post(p, &p->window[i])) < 0) {
                return rc;
            }
        }
        took = weir_ticks_to_ns(&p->r->clk, weir_ticks() - t0);
    } while (took < ns || (requests > 0 && took < ceiling_time_ns / 4));
    for (int i = 0; i < p->many; i++) {
        if ((rc = await_request(p, &p->window[i])) < 0) {
            return rc;
        }
    }
    if (!p->reads) {
        if ((rc = rank_flush(p->r, p->peer)) < 0) {
            return rc;
        }
    }
    *rate = (double)bytes / (double)weir_ticks_to_ns(&p->r->clk, weir_ticks() - t0) * 1e9;
    return 0;
}

static void take_size(struct probe *p, size_t n)
{
    p->n = n;
    p->many = n >= IN_FLIGHT ? 1 : IN_FLIGHT / n < WINDOW ? (int)(IN_FLIGHT / n) : WINDOW;
}

static int choose_size(struct probe *p, size_t request)
{
    size_t sizes[2] = {request, CEILING_LARGE}, best = request;
    double rate, top = 0;
    int rc;
    for (int i = 0; i < 2 && request < CEILING_LARGE; i++) {
        take_size(p, sizes[i]);
        for (int k = 0; k < TRIALS; k++) {
            if ((rc = span(p, ceiling_span_ns / 4, 0, &rate)) < 0) {
                return rc;
            }
            if (rate > top) {
                top = rate;
                best = p->n;
            }
        }
    }
    take_size(p, best);
    return 0;
}

/* The peer makes progress until the initiator reports the end of this probe; there is one probe
 * between two barriers. */
int ceiling_by_requests(struct weir_rank *r, int peer, int initiator, const struct weir_case *c,
                        struct ceiling *out)
{
    uint64_t over = (uint64_t)1 << 63 | r->barrier.passed;
    struct probe p = {.r = r, .peer = peer, .reads = c->op == OP_READ};
    int64_t from = weir_monotonic();
    double rate;
    int rc;
    if (!initiator) {
        while (rank_counter(r, peer) != over) {
            if ((rc = r->fab->progress(r)) < 0) {
                return rc;
            }
            if ((rc = rank_tick_for(r, peer, "serve probe")) < 0) {
                return rc;
            }
        }
        return 0;
    }
    for (int i = 0; i < WINDOW; i++) {
        p.window[i].pending = IDLE;
    }
    if ((rc = choose_size(&p, c->block * c->batch)) < 0) {
        return rc;
    }
    if (p.n >= CEILING_SETTLES) {
        if ((rc = span(&p, CEILING_SETTLE * ceiling_span_ns, CEILING_SETTLE, &rate)) < 0) {
            return rc;
        }
    }
    for (int k = 0;
         k < CEILING_SPANS && (k < CEILING_MIN_SPANS || weir_monotonic() - from < ceiling_time_ns);
         k++) {
        if ((rc = span(&p, ceiling_span_ns / 4, 0, &rate)) < 0) {
            return rc;
        }
        ceiling_add(out, rate);
    }
    return rank_notify(r, peer, over);
}
