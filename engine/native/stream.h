/* stream.h: a stream of requests with a window, and how one of them is posted. loop.c posts
 * any of them one by one, bursts.c those of one block to one place. */
#ifndef WEIR_STREAM_H
#define WEIR_STREAM_H

#include "record.h"

struct path { /* to a target: its region at both ends */
    int      peer;
    char    *local;
    uint64_t remote;
};

/* The requests of the window and the paths that they take: all that is made of them
 * before they are posted. */
struct window {
    struct weir_req *slots;
    struct path     *paths;
};

/* What moves a block: one of them is NULL. */
struct mover {
    int (*put)(struct weir_rank *, int, const void *, uint64_t, size_t, struct weir_req *);
    int (*get)(struct weir_rank *, int, void *, uint64_t, size_t, struct weir_req *);
};

/* A stream under way. */
struct stream {
    struct weir_loop       *l;
    const struct weir_case *c;
    const struct weir_role *o;
    struct mover            m;
    struct window           w;
    /* requests; once the common end has come, those that were posted before it */
    uint64_t                n;
    int64_t                 end;       /* tick: the common end; 0: there is none */
    int                     timed;
    int                     delivered; /* what is complete is at its target */
    int                     deferred;  /* the fabric posts when it is told to */
    int                     settled;   /* a request is this processor's own stores */
    int32_t                 share;     /* see turn_share */
    int32_t                 until_turn;
    uint32_t                until_stamp;
};

/* Requests of one block to one place, of which some are stamped. */
int stream_bursts(struct stream *s);

/* The same where each is stamped, and at its target when it is complete. */
int stream_stamped_bursts(struct stream *s);

static inline int move(const struct mover *m, struct weir_rank *r, const struct path *p,
                       uint64_t off, size_t n, struct weir_req *q)
{
    return m->get ? m->get(r, p->peer, p->local + off, p->remote + off, n, q)
                  : m->put(r, p->peer, p->local + off, p->remote + off, n, q);
}

/* A stamp of a request that is complete when it is posted. */
static inline int64_t stamp(const struct stream *s)
{
    return s->settled ? weir_ticks_settled() : weir_ticks();
}

/* Until there is a place in the window. */
static inline int await_place(struct stream *s)
{
    int rc;
    while (!s->l->free)
        if ((rc = loop_await(s->l)) < 0)
            return rc;
    return 0;
}

static inline int take_turn(struct stream *s)
{
    s->until_turn = POSTS_PER_TURN;
    return loop_turn(s->l);
}

/* Before request i is posted: 1: it is not, because the common end has come. A stamped one
 * begins when the one before it ended, if that was the last thing that happened, or now. */
static inline int begin(struct stream *s, struct weir_req *q, uint64_t i, int64_t before)
{
    q->stamped = s->timed && s->until_stamp-- == 0;
    if (!q->stamped)
        return 0;
    s->until_stamp = s->l->every - 1;
    q->posted      = before ? before : stamp(s);
    if (!s->end || q->posted < s->end || i < (uint64_t)s->o->ntargets)
        return 0;
    s->n = i;
    return 1;
}

/* The fabric may have made the request itself now, which is no part of its time. */
static inline int submit(struct weir_rank *r, struct weir_req *q)
{
    int64_t aside = r->made.aside;
    int     rc    = r->fab->post(r);
    q->posted += r->made.aside - aside;
    return rc;
}

static inline int post_blocks(struct stream *s, struct weir_req *q, const struct path *p,
                              uint64_t at)
{
    const struct weir_case *c = s->c;
    struct weir_rank       *r = s->l->r;
    int                     rc;
    for (uint64_t d = 0; d < c->batch; d++) {
        if ((rc = move(&s->m, r, p, at + d * c->block, c->block, q)) < 0)
            return rc;
        if (rc == WEIR_DONE)
            q->pending--;
    }
    return s->deferred ? submit(r, q) : 0;
}

/* What is timed is delivery, not hand-over. */
static inline int post_flush(struct stream *s, struct weir_req *q)
{
    q->pending++;
    int rc = s->l->r->fab->flush(s->l->r, q->peer, q);
    if (rc == WEIR_DONE)
        q->pending--;
    return rc < 0 ? rc : 0;
}

/* A request of a batch of blocks, that has begun. *ended: when it was complete, if each
 * is stamped and it was so when it was posted. */
static inline __attribute__((always_inline)) int post_request(struct stream *s, struct weir_req *q,
                                                              const struct path *p, uint64_t at,
                                                              int64_t *ended)
{
    struct weir_loop *l   = s->l;
    int64_t           now = 0;
    int               rc;
    l->free    = q->next;
    q->peer    = p->peer;
    q->pending = (uint32_t)s->c->batch + 1; /* one more until all are posted */
    if ((rc = post_blocks(s, q, p, at)) < 0)
        return rc;
    if (q->stamped) {
        now = q->returned = stamp(s);
        if (!s->delivered) {
            if ((rc = post_flush(s, q)) < 0)
                return rc;
            now = weir_ticks();
        }
    }
    *ended = 0;
    s->until_turn--;
    if (--q->pending == 0) {
        complete(l, q, now);
        *ended = l->every == 1 ? now : 0; /* of two reads in a row one is enough */
        s->until_turn -= s->share - 1;
    }
    return 0;
}

#endif
