/* Streams of requests of one block to one place. If requests complete when posted, one costs little
 * more than the call. Nothing here may allocate, print, lock or call Go while the clock runs. */
#include "loop_stream.h"

/* Returns how many requests from the i-th on may be posted before the next poll. */
static inline uint64_t until_poll(const struct stream *s, uint64_t i)
{
    uint64_t most = (uint64_t)((s->until_poll + s->share - 1) / s->share);
    return s->end || s->n - i > most ? most : s->n - i;
}

static inline int burst_posted(struct stream *s, uint64_t posted, uint64_t done_before)
{
    s->until_poll -= s->l->done > done_before ? (int32_t)posted * s->share : 1;
    return s->until_poll <= 0 ? poll_now(s) : 0;
}

/* Posts unstamped requests, which share one struct while they complete when posted. Invariants are
 * copied to locals to keep them in registers. */
static int burst(struct stream *s, uint64_t most, uint64_t *posted)
{
    const struct mover m = s->m;
    const struct path p = s->w.paths[0];
    const size_t n = s->c->block;
    struct weir_loop *l = s->l;
    struct weir_rank *r = l->r;
    struct weir_req *q = l->free;
    uint64_t done = 0;
    int rc = WEIR_DONE;
    l->free = q->next;
    *q = (struct weir_req){.loop = l, .peer = p.peer, .pending = 1};
    while (done < most && (rc = move(&m, r, &p, 0, n, q)) == WEIR_DONE) {
        done++;
    }
    l->done += done;
    *posted = done + (rc == WEIR_PENDING);
    if (rc == WEIR_DONE) {
        q->next = l->free;
        l->free = q;
    }
    return rc < 0 ? rc : 0;
}

/* Posts stamped requests, where the end of one is the start of the next, until the common end if
 * that is set. Stamps are recorded after the last one: a clock read waits for earlier instructions,
 * which would include each record. */
static int stamped_burst(struct stream *s, uint64_t most, int64_t end, uint64_t *posted)
{
    const struct mover m = s->m;
    const struct path p = s->w.paths[0];
    const size_t n = s->c->block;
    struct weir_loop *l = s->l;
    struct weir_rank *r = l->r;
    struct weir_req *q = l->free;
    uint64_t done = 0;
    int rc = WEIR_DONE;
    int64_t at[POSTS_PER_POLL + 1];
    l->free = q->next;
    *q = (struct weir_req){.loop = l, .peer = p.peer, .pending = 1, .stamped = 1};
    at[0] = stamp(s);
    for (most = most < POSTS_PER_POLL ? most : POSTS_PER_POLL;
         done < most && (!end || at[done] < end); done++) {
        rc = move(&m, r, &p, 0, n, q);
        at[done + 1] = stamp(s);
        if (rc != WEIR_DONE) {
            q->posted = at[done];
            q->returned = at[done + 1];
            break;
        }
    }
    for (uint64_t i = 0; i < done; i++) {
        l->done++;
        record_immediate(l, at[i + 1] - at[i], at[i + 1]);
    }
    *posted = done + (rc == WEIR_PENDING);
    if (rc == WEIR_DONE) {
        q->next = l->free;
        l->free = q;
    }
    return rc < 0 ? rc : 0;
}

/* Requests between two stamps form bursts. */
int stream_bursts(struct stream *s)
{
    struct weir_loop *l = s->l;
    uint64_t posted;
    int64_t ended;
    int rc;
    for (uint64_t i = 0; i < s->n || s->end; i += posted) {
        if ((rc = await_place(s)) < 0) {
            return rc;
        }
        if (s->timed && s->until_stamp == 0) {
            struct weir_req *q = l->free;
            if (begin(s, q, i, 0)) {
                return 0;
            }
            posted = 1;
            if ((rc = post_request(s, q, s->w.paths, 0, &ended)) < 0) {
                return rc;
            }
            if (s->until_poll <= 0) {
                if ((rc = poll_now(s)) < 0) {
                    return rc;
                }
            }
            continue;
        }
        uint64_t done = l->done, most = until_poll(s, i);
        if (s->timed && s->until_stamp < most) {
            most = s->until_stamp;
        }
        if ((rc = burst(s, most, &posted)) < 0) {
            return rc;
        }
        if (s->timed) {
            s->until_stamp -= (uint32_t)posted;
        }
        if ((rc = burst_posted(s, posted, done)) < 0) {
            return rc;
        }
    }
    return 0;
}

int stream_stamped_bursts(struct stream *s)
{
    uint64_t posted;
    int rc;
    for (uint64_t i = 0; i < s->n || s->end; i += posted) {
        if ((rc = await_place(s)) < 0) {
            return rc;
        }
        uint64_t done = s->l->done, most = i ? until_poll(s, i) : 1;
        if ((rc = stamped_burst(s, most, i ? s->end : 0, &posted)) < 0) {
            return rc;
        }
        if (!posted) { /* the common end has passed */
            s->n = i;
            return 0;
        }
        if ((rc = burst_posted(s, posted, done)) < 0) {
            return rc;
        }
    }
    return 0;
}
