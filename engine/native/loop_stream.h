/* loop_stream.h: a stream of requests with a window, and how one of them is posted. loop_stream.c
 * posts requests of any kind one by one, loop_bursts.c those of one block to one place. */
#ifndef WEIR_LOOP_STREAM_H
#define WEIR_LOOP_STREAM_H

#include "loop_record.h"
#include "loop_role.h"

struct path { /* to a target: its region at both ends */
    int peer;
    char *local;
    uint64_t remote;
};

/* The requests of the window and their paths, prepared before anything is posted. */
struct window {
    struct weir_req *slots;
    struct path *paths;
};

/* The function that moves a block: put or get, the other one is NULL. */
struct mover {
    int (*put)(struct weir_rank *, int, const void *, uint64_t, size_t, struct weir_req *);
    int (*get)(struct weir_rank *, int, void *, uint64_t, size_t, struct weir_req *);
};

/* A stream in progress. */
struct stream {
    struct weir_loop *l;
    const struct weir_case *c;
    const struct weir_role *o;
    struct mover m;
    struct window w;
    /* requests; after the common end, the number posted before it */
    uint64_t n;
    int64_t end; /* tick: the common end; 0: none */
    int timed;
    int delivered;  /* a completed request is at its target */
    int deferred;   /* the fabric posts only when post is called */
    int cpu_stores; /* a request is stores of this processor */
    int32_t share;  /* see poll_share */
    int32_t until_poll;
    uint32_t until_stamp;
};

/* Posts requests of one block to one place, some of which are stamped. */
int stream_bursts(struct stream *s);

/* Like stream_bursts, where each request is stamped, and at its target when it completes. */
int stream_stamped_bursts(struct stream *s);

/* Puts or gets one block at an offset of a path. */
static inline int move(const struct mover *m, struct weir_rank *r, const struct path *p,
                       uint64_t off, size_t n, struct weir_req *q)
{
    return m->get ? m->get(r, p->peer, p->local + off, p->remote + off, n, q)
                  : m->put(r, p->peer, p->local + off, p->remote + off, n, q);
}

/* Reads the clock before and after a post; with stores of this CPU, waits for them first. */
static inline int64_t stamp(const struct stream *s)
{
    return s->cpu_stores ? weir_ticks_serialized() : weir_ticks();
}

/* Waits until the window has space. */
static inline int await_place(struct stream *s)
{
    int rc;
    while (!s->l->free) {
        if ((rc = loop_await(s->l)) < 0) {
            return rc;
        }
    }
    return 0;
}

/* Polls, and resets the number of posts until the next poll. */
static inline int poll_now(struct stream *s)
{
    s->until_poll = POSTS_PER_POLL;
    return loop_poll(s->l);
}

/* Called before request i is posted. Returns 1 if it must not be, because the common end has
 * passed. A stamped request starts when the one before it ended, if nothing happened since, or
 * now. */
static inline int begin(struct stream *s, struct weir_req *q, uint64_t i, int64_t before)
{
    q->stamped = s->timed && s->until_stamp-- == 0;
    if (!q->stamped) {
        return 0;
    }
    s->until_stamp = loop_until_stamp(s->l);
    q->posted = before ? before : stamp(s);
    if (!s->end || q->posted < s->end || i < (uint64_t)s->o->ntargets) {
        return 0;
    }
    s->n = i;
    return 1;
}

/* Subtracts the time in which the fabric prepared the request. */
static inline int submit(struct weir_rank *r, struct weir_req *q)
{
    int64_t prep = r->rec.prep.prep_time;
    int rc = r->fab->post(r);
    q->posted += r->rec.prep.prep_time - prep;
    return rc;
}

/* Posts the blocks of a request. */
static inline int post_blocks(struct stream *s, struct weir_req *q, const struct path *p,
                              uint64_t at)
{
    const struct weir_case *c = s->c;
    struct weir_rank *r = s->l->r;
    int rc;
    for (uint64_t d = 0; d < c->batch; d++) {
        if ((rc = move(&s->m, r, p, at + d * c->block, c->block, q)) < 0) {
            return rc;
        }
        if (rc == WEIR_DONE) {
            q->pending--;
        }
    }
    return s->deferred ? submit(r, q) : 0;
}

/* What is timed is delivery, not local completion. */
static inline int post_flush(struct stream *s, struct weir_req *q)
{
    q->pending++;
    int rc = s->l->r->fab->flush(s->l->r, q->peer, q);
    if (rc == WEIR_DONE) {
        q->pending--;
    }
    return rc < 0 ? rc : 0;
}

/* Posts the blocks of a started request. *ended: its completion time, if every request is stamped
 * and it was complete when posted. */
static inline __attribute__((always_inline)) int post_request(struct stream *s, struct weir_req *q,
                                                              const struct path *p, uint64_t at,
                                                              int64_t *ended)
{
    struct weir_loop *l = s->l;
    int64_t now = 0;
    int rc;
    l->free = q->next;
    q->peer = p->peer;
    q->pending = (uint32_t)s->c->batch + 1; /* one more until all are posted */
    if ((rc = post_blocks(s, q, p, at)) < 0) {
        return rc;
    }
    if (q->stamped) {
        now = q->returned = stamp(s);
        if (!s->delivered) {
            if ((rc = post_flush(s, q)) < 0) {
                return rc;
            }
            now = weir_ticks();
        }
    }
    *ended = 0;
    s->until_poll--;
    if (--q->pending == 0) {
        complete(l, q, now);
        /* saves the second of two consecutive clock reads */
        *ended = loop_stamps_each(l) ? now : 0;
        s->until_poll -= s->share - 1;
    }
    return 0;
}

#endif
