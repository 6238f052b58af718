/* The measured loops. Nothing here may allocate, print, lock or call Go while the
 * clock runs. Two clock reads, the recorder and the flush that shows delivery cost
 * some 60 ns. Of requests to which that is something only one in so many is stamped,
 * which keeps it below 2 % of a copy at memory speed. */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t stamp_one_in(uint64_t bytes)
{
    return bytes >= 262144 ? 1 : bytes >= 65536 ? 4 : bytes >= 512 ? 16 : 64;
}

#define POSTS_PER_TICK 256

static inline void complete(struct weir_loop *l, struct weir_req *q)
{
    l->done++;
    if (q->stamped) {
        int64_t now = weir_ticks();
        /* one clock read lies between the two stamps: it is not the fabric's time */
        hist_record(l->r->hist, weir_span(&l->r->clk, now - q->posted) - (int64_t)l->r->clk.cost_ns);
        if (l->done >= l->next_point && l->r->npoints < WEIR_POINTS) {
            l->r->points[l->r->npoints++] = (struct weir_point){now, l->done * l->request_bytes};
            l->next_point += l->point_step;
        }
    }
    q->next = l->free;
    l->free = q;
}

void weir_part_done(struct weir_req *q, int status)
{
    if (status < 0 && !q->loop->status)
        q->loop->status = status;
    if (--q->pending == 0)
        complete(q->loop, q);
}

static int turn(struct weir_loop *l)
{
    int rc = l->r->fab->progress(l->r);
    if (rc < 0)
        return rc;
    if (l->status)
        return rank_fail(l->r, l->status, "transfer", l->peer, "a request failed with status %d", l->status);
    atomic_store_explicit(&l->r->cfg.control->done, l->done, memory_order_relaxed);
    return rank_tick(l->r);
}

static void begin(struct weir_loop *l, uint64_t bytes, uint64_t n)
{
    l->done          = 0;
    l->status        = 0;
    l->every         = stamp_one_in(bytes);
    l->request_bytes = bytes;
    l->point_step    = n / (WEIR_POINTS - 2) + 1;
    l->next_point    = l->point_step;
    l->r->npoints    = 0;
}

int loop_stream(struct weir_loop *l, const struct weir_case *c, uint64_t n, int timed)
{
    struct weir_rank *r  = l->r;
    uint64_t          in = c->in_flight < n ? c->in_flight : n;
    struct weir_req  *slots = calloc(in ? in : 1, sizeof *slots);
    int               rc    = 0;
    if (!slots)
        return rank_fail(r, -ENOMEM, "start", -1, "no memory for %llu requests in flight", (unsigned long long)in);
    begin(l, c->block * c->batch, n);
    l->free = NULL;
    for (uint64_t i = in; i-- > 0;)
        slots[i] = (struct weir_req){.loop = l, .next = l->free}, l->free = &slots[i];

    char    *local       = rank_local(r);
    uint64_t roff        = r->exposed;
    uint32_t until_stamp = 0;
    int      delivered   = r->fab->caps & CAP_REMOTE_COMPLETION || c->op == OP_READ;
    int (*post)(struct weir_rank *, int, const void *, uint64_t, size_t, struct weir_req *) = r->fab->put;

    l->start = weir_ticks();
    for (uint64_t i = 0; i < n; i++) {
        while (!l->free)
            if ((rc = turn(l)) < 0)
                goto out;
        struct weir_req *q = l->free;
        l->free            = q->next;
        q->pending         = (uint32_t)c->batch + 1; /* one more until all are posted */
        q->stamped         = timed && until_stamp-- == 0;
        if (q->stamped) {
            until_stamp = l->every - 1;
            q->posted   = weir_ticks();
        }
        for (uint64_t d = 0; d < c->batch; d++) {
            uint64_t off = d * c->block;
            rc = c->op == OP_WRITE ? post(r, l->peer, local + off, roff + off, c->block, q)
                                   : r->fab->get(r, l->peer, local + off, roff + off, c->block, q);
            if (rc < 0)
                goto out;
            if (rc == WEIR_DONE)
                q->pending--;
        }
        if (q->stamped && !delivered) { /* what is timed is delivery, not hand-over */
            q->pending++;
            if ((rc = r->fab->flush(r, l->peer, q)) < 0)
                goto out;
            if (rc == WEIR_DONE)
                q->pending--;
        }
        if (--q->pending == 0)
            complete(l, q);
        if (i % POSTS_PER_TICK == POSTS_PER_TICK - 1) {
            if ((rc = turn(l)) < 0)
                goto out;
        }
    }
    while (l->done < n)
        if ((rc = turn(l)) < 0)
            goto out;
    if (!delivered && (rc = rank_flush(r, l->peer)) < 0)
        goto out;
    l->end = weir_ticks();
    if (timed && r->npoints < WEIR_POINTS)
        r->points[r->npoints++] = (struct weir_point){l->end, n * l->request_bytes};
    atomic_store_explicit(&r->cfg.control->done, l->done, memory_order_relaxed);
    rc = 0;
out:
    if (rc == 0)
        free(slots); /* after an error the fabric may still write to them; the process ends anyway */
    return rc;
}

int loop_pingpong(struct weir_loop *l, const struct weir_case *c, int initiator, uint64_t skip, uint64_t n)
{
    struct weir_rank *r     = l->r;
    char             *local = rank_local(r);
    int               rc;
    uint32_t          until_stamp = 0;
    begin(l, 2 * c->block, n);
    for (uint64_t i = 0; i < skip + n; i++) {
        int64_t t0    = 0;
        int     timed = i >= skip && until_stamp-- == 0;
        if (i == skip)
            l->start = weir_ticks();
        if (timed) {
            until_stamp = l->every - 1;
            t0          = weir_ticks();
        }
        if (initiator && (rc = r->fab->ping(r, l->peer, local, c->block, i + 1)) < 0)
            return rc;
        while (!(rc = r->fab->arrived(r, l->peer, c->block, i + 1)))
            if ((rc = rank_tick(r)) < 0)
                return rc;
        if (rc < 0)
            return rc;
        if (!initiator && (rc = r->fab->ping(r, l->peer, local, c->block, i + 1)) < 0)
            return rc;
        if (timed && initiator) {
            int64_t now = weir_ticks();
            hist_record(r->hist, (weir_span(&r->clk, now - t0) - (int64_t)r->clk.cost_ns) / 2);
            if (i - skip + 1 >= l->next_point && r->npoints < WEIR_POINTS) {
                r->points[r->npoints++] = (struct weir_point){now, (i - skip + 1) * l->request_bytes};
                l->next_point += l->point_step;
            }
        }
        if (i % POSTS_PER_TICK == POSTS_PER_TICK - 1) {
            atomic_store_explicit(&r->cfg.control->done, i < skip ? 0 : i - skip, memory_order_relaxed);
            if ((rc = rank_tick(r)) < 0)
                return rc;
        }
    }
    l->end  = weir_ticks();
    l->done = n;
    if (initiator && r->npoints < WEIR_POINTS)
        r->points[r->npoints++] = (struct weir_point){l->end, n * l->request_bytes};
    return rank_flush(r, l->peer);
}
