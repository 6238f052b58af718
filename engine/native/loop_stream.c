/* The measured loops. Nothing here may allocate, print, lock or call Go while the clock runs. The
 * case says which requests are stamped (move.Stamped). */
#include "loop_stream.h"
#include "fabric_unsupported.h"

#include <errno.h>
#include <stdlib.h>

/* Returns how much a request that completes when posted takes off the POSTS_PER_POLL between two
 * polls. Other requests take 1, whatever their size: their bytes move while polling, and the window
 * should fill before the first poll. */
static int32_t poll_share(size_t bytes)
{
    return bytes >= BYTES_PER_POLL ? POSTS_PER_POLL
                                   : (int32_t)(bytes / (BYTES_PER_POLL / POSTS_PER_POLL)) + 1;
}

void weir_part_done(struct weir_req *q, int status)
{
    struct weir_loop *l = q->loop;
    if (status < 0) {
        q->failed = status;
        if (l && !l->status) {
            l->status = status;
            l->failed = q->peer;
        }
    }
    if (--q->pending == 0) {
        complete(l, q, q->stamped ? weir_ticks() : 0);
    }
}

static inline int after_progress(struct weir_loop *l, int rc)
{
    if (rc < 0) {
        return rc;
    }
    if (l->status) {
        return rank_fail(l->r, l->status, "transfer", l->failed, "a request failed with status %d",
                         l->status);
    }
    atomic_store_explicit(&l->r->cfg.control->done, l->done, memory_order_relaxed);
    return rank_tick(l->r);
}

int loop_poll(struct weir_loop *l) { return after_progress(l, l->r->fab->progress(l->r)); }

int loop_await(struct weir_loop *l) { return after_progress(l, l->r->fab->poll(l->r)); }

/* Points of progress are counted in requests, or with a duration in ticks. */
void loop_begin(struct weir_loop *l, const struct weir_case *c, uint64_t bytes, uint64_t n)
{
    int64_t now = weir_ticks();
    l->done = 0;
    l->status = 0;
    l->immediate_ns = 0;
    l->took = 0;
    l->resolution = 0;
    l->clock_ns = l->immediate_clock_ns = (int64_t)l->r->clk.cost_ns;
    l->stamp_every = c->stamp_every;
    l->stamps = c->stamps;
    l->stamp_rest = c->stamps ? c->iterations % c->stamps : 0;
    l->stamp_carry = 0;
    l->request_bytes = bytes;
    l->point_step = (l->until > now ? (uint64_t)(l->until - now) : n) / (WEIR_MAX_POINTS - 2) + 1;
    l->next_point = (l->until ? (uint64_t)now : 0) + l->point_step;
    l->r->rec.npoints = 0;
    stage_reset(&l->post);
    stage_reset(&l->transfer);
}

static int make_window(struct weir_loop *l, const struct weir_role *o, uint64_t in,
                       struct window *w)
{
    struct weir_rank *r = l->r;
    int64_t t0 = weir_ticks();
    w->slots = calloc(in, sizeof *w->slots);
    w->paths = calloc((size_t)o->ntargets, sizeof *w->paths);
    if (!w->slots || !w->paths) {
        return rank_fail(r, -ENOMEM, "start", -1,
                         "no memory for %llu requests in flight to %d peers",
                         (unsigned long long)in, o->ntargets);
    }
    l->free = NULL;
    for (uint64_t i = in; i-- > 0;) {
        w->slots[i] = (struct weir_req){.loop = l, .next = l->free};
        l->free = &w->slots[i];
    }
    for (int k = 0; k < o->ntargets; k++) {
        w->paths[k] =
            (struct path){o->targets[k].peer, rank_source(r) + role_local(o, k), role_remote(o, k)};
    }
    l->prep_s = (double)weir_ticks_to_ns(&r->clk, weir_ticks() - t0) / (double)in / 1e9;
    return 0;
}

/* Posts requests of any kind one by one, cycling over the targets and their slots. */
static int stream_requests(struct stream *s)
{
    const struct weir_role *o = s->o;
    int next = 0, rc;
    uint64_t slot = 0, at = 0;
    int64_t before = 0;
    for (uint64_t i = 0; i < s->n || s->end; i++) {
        if (!s->l->free) {
            before = 0;
            if ((rc = await_place(s)) < 0) {
                return rc;
            }
        }
        struct weir_req *q = s->l->free;
        if (begin(s, q, i, before)) {
            return 0;
        }
        if ((rc = post_request(s, q, &s->w.paths[next], at, &before)) < 0) {
            return rc;
        }
        if (++next == o->ntargets) {
            next = 0;
            slot = slot + 1 == o->slots ? 0 : slot + 1;
            at = slot * o->stride;
        }
        if (s->until_poll <= 0) {
            before = 0;
            if ((rc = poll_now(s)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int post_all(struct stream *s)
{
    int one_place = s->c->batch == 1 && s->o->ntargets == 1 && s->o->slots == 1 && !s->deferred;
    int each = s->timed && loop_stamps_each(s->l);
    if (!one_place || (each && !s->delivered)) {
        return stream_requests(s);
    }
    return each ? stream_stamped_bursts(s) : stream_bursts(s);
}

/* Waits until everything posted is at its target. */
static int drain(struct stream *s)
{
    struct weir_loop *l = s->l;
    struct weir_rank *r = l->r;
    int rc;
    while (l->done < s->n) {
        if ((rc = loop_await(l)) < 0) {
            return rc;
        }
    }
    for (int k = 0; !s->delivered && k < s->o->ntargets; k++) {
        if ((rc = rank_flush(r, s->w.paths[k].peer)) < 0) {
            return rc;
        }
    }
    l->end = weir_ticks();
    if (s->timed && r->rec.npoints < WEIR_MAX_POINTS) {
        r->rec.points[r->rec.npoints++] = (struct weir_point){l->end, s->n * l->request_bytes};
    }
    atomic_store_explicit(&r->cfg.control->done, l->done, memory_order_relaxed);
    return 0;
}

int loop_stream(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                uint64_t n, int timed)
{
    struct weir_rank *r = l->r;
    const struct weir_fabric *fab = r->fab;
    struct stream s = {
        .l = l,
        .c = c,
        .o = o,
        .n = n,
        .timed = timed,
        .end = timed ? l->until : 0,
        .m.put = c->op == OP_WRITE ? fab->put : NULL,
        .m.get = c->op == OP_READ ? fab->get : NULL,
        .delivered = fab->caps & CAP_REMOTE_COMPLETION || c->op == OP_READ,
        .deferred = fab->post != posts_itself,
        .cpu_stores = fab->caps & CAP_COPIES,
        .share = poll_share(o->request),
        .until_poll = POSTS_PER_POLL,
    };
    uint64_t in = c->in_flight < n || s.end ? c->in_flight : n;
    int rc = make_window(l, o, in ? in : 1, &s.w);
    if (rc < 0) {
        return rc;
    }
    loop_begin(l, c, o->request, n);
    if (s.cpu_stores) {
        l->immediate_clock_ns = (int64_t)r->clk.serialized_ns;
    }
    l->start = weir_ticks();
    rc = post_all(&s);
    if (rc == 0) {
        rc = drain(&s);
    }
    if (rc == 0) {
        /* not freed after an error: the fabric may still write to them; the process ends */
        free(s.w.slots);
    }
    free(s.w.paths);
    return rc;
}
