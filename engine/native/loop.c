/* The measured loops. Nothing here may allocate, print, lock or call Go while the
 * clock runs. A clock read and the recorder cost some 15 ns, a second read and the flush
 * that shows delivery up to 60. Of requests to which that is something only one in so
 * many is stamped, which keeps it below 2 % of a copy at the speed of a cache. */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>

uint32_t loop_stamp_one_in;

#define FEWEST_STAMPS 64

/* Of so many requests; 0: nobody knows how many. engine.StampedOneIn is the same. */
static uint32_t stamp_one_in(uint64_t bytes, uint64_t n)
{
    if (loop_stamp_one_in)
        return loop_stamp_one_in;
    uint32_t every = bytes >= 1 << 20 ? 1 : bytes >= 1 << 18 ? 4 : bytes >= 1 << 16 ? 16 : bytes >= 512 ? 64 : 256;
    while (n && every > 1 && n / every < FEWEST_STAMPS)
        every /= 4;
    return every;
}

/* What a request takes off the POSTS_PER_TURN that lie between two turns, if it is
 * complete when it is posted; one that is not takes 1, however long it is: its bytes
 * move in turns, and a window is to be full before the first. */
static int32_t turn_share(size_t bytes)
{
    return bytes >= BYTES_PER_TURN ? POSTS_PER_TURN : (int32_t)(bytes / (BYTES_PER_TURN / POSTS_PER_TURN)) + 1;
}

static inline void note_progress(struct weir_loop *l, int64_t now)
{
    struct weir_rank *r = l->r;
    if (__builtin_expect((l->until ? (uint64_t)now : l->done) >= l->next_point, 0) && r->npoints < WEIR_POINTS) {
        r->points[r->npoints++] = (struct weir_point){now, l->done * l->request_bytes};
        l->next_point += l->point_step;
    }
}

/* Of a stamped request so many clock reads lie between posting and completion: they
 * are not the fabric's time. One that was complete when its post returned, so many ticks
 * after it began, is not stamped again, and is recorded once: posting it was all. */
static inline void record_at_once(struct weir_loop *l, int64_t ticks, int64_t now)
{
    int64_t post = weir_short_span(&l->r->clk, ticks) - l->read;
    hist_record_at_once(l->r->hist, post);
    l->at_once += post > 0 ? (uint64_t)post : 0;
    note_progress(l, now);
}

static inline void record(struct weir_loop *l, struct weir_req *q, int64_t now)
{
    if (now == q->returned) {
        record_at_once(l, now - q->posted, now);
        return;
    }
    int64_t post     = weir_short_span(&l->r->clk, q->returned - q->posted) - l->read;
    int64_t transfer = weir_short_span(&l->r->clk, now - q->returned) - l->read;
    hist_record(l->r->hist, post + transfer);
    stage_record(&l->post, post);
    stage_record(&l->transfer, transfer);
    note_progress(l, now);
}

static inline void complete(struct weir_loop *l, struct weir_req *q, int64_t now)
{
    l->done++;
    if (q->stamped)
        record(l, q, now);
    q->next = l->free;
    l->free = q;
}

void weir_part_done(struct weir_req *q, int status)
{
    struct weir_loop *l = q->loop;
    if (status < 0) {
        q->failed = status;
        if (l && !l->status)
            l->status = status, l->failed = q->peer;
    }
    if (--q->pending == 0)
        complete(l, q, q->stamped ? weir_ticks() : 0);
}

static inline int after_progress(struct weir_loop *l, int rc)
{
    if (rc < 0)
        return rc;
    if (l->status)
        return rank_fail(l->r, l->status, "transfer", l->failed, "a request failed with status %d", l->status);
    atomic_store_explicit(&l->r->cfg.control->done, l->done, memory_order_relaxed);
    return rank_tick(l->r);
}

static int turn(struct weir_loop *l) { return after_progress(l, l->r->fab->progress(l->r)); }

/* Of who cannot go on before a request is complete. */
static int await(struct weir_loop *l) { return after_progress(l, l->r->fab->wait(l->r)); }

/* Where delivery must be flushed, a stamp may cost a message there and one back: 1 % of a
 * stream of 4 KiB as tagged messages. One in four of those of small requests is enough,
 * as long as their tail is still seen. */
#define FEWEST_FLUSHED 256

static void flush_less(struct weir_loop *l, uint64_t n)
{
    const uint32_t sparse = 256;
    if (!loop_stamp_one_in && l->every == 64 && (!n || n / sparse >= FEWEST_FLUSHED))
        l->every = sparse;
}

/* Points of progress are counted in requests, or with a duration in ticks. */
void loop_begin(struct weir_loop *l, uint64_t bytes, uint64_t n)
{
    int64_t now      = weir_ticks();
    l->done          = 0;
    l->status        = 0;
    l->at_once       = 0;
    l->read          = (int64_t)l->r->clk.cost_ns;
    l->every         = stamp_one_in(bytes, l->until ? 0 : n);
    l->request_bytes = bytes;
    l->point_step    = (l->until > now ? (uint64_t)(l->until - now) : n) / (WEIR_POINTS - 2) + 1;
    l->next_point    = (l->until ? (uint64_t)now : 0) + l->point_step;
    l->r->npoints    = 0;
    stage_reset(&l->post);
    stage_reset(&l->transfer);
}

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

static int make_window(struct weir_loop *l, const struct weir_role *o, uint64_t in, struct window *w)
{
    struct weir_rank *r  = l->r;
    int64_t           t0 = weir_ticks();
    w->slots             = calloc(in, sizeof *w->slots);
    w->paths             = calloc((size_t)o->ntargets, sizeof *w->paths);
    if (!w->slots || !w->paths)
        return rank_fail(r, -ENOMEM, "start", -1, "no memory for %llu requests in flight to %d peers", (unsigned long long)in, o->ntargets);
    l->free = NULL;
    for (uint64_t i = in; i-- > 0;)
        w->slots[i] = (struct weir_req){.loop = l, .next = l->free}, l->free = &w->slots[i];
    for (int k = 0; k < o->ntargets; k++)
        w->paths[k] = (struct path){o->targets[k].peer, rank_source(r) + role_local(o, k), role_remote(o, k)};
    l->prep_s = (double)weir_span(&r->clk, weir_ticks() - t0) / (double)in / 1e9;
    return 0;
}

/* What moves a block: one of them is NULL. */
struct mover {
    int (*put)(struct weir_rank *, int, const void *, uint64_t, size_t, struct weir_req *);
    int (*get)(struct weir_rank *, int, void *, uint64_t, size_t, struct weir_req *);
};

static inline int move(const struct mover *m, struct weir_rank *r, const struct path *p, uint64_t off, size_t n, struct weir_req *q)
{
    return m->get ? m->get(r, p->peer, p->local + off, p->remote + off, n, q) : m->put(r, p->peer, p->local + off, p->remote + off, n, q);
}

/* With a fabric that does not post what it is given until it is told to. */
static int submit(struct weir_rank *r, struct weir_req *q)
{
    int64_t aside = r->made.aside;
    int     rc    = r->fab->post(r);
    q->posted += r->made.aside - aside;
    return rc;
}

/* Requests of one block to one place that are not stamped, with one struct as long as
 * they are complete when they are posted: small ones take no longer than that. */
static int burst(struct weir_loop *l, const struct mover *m, const struct path *p, size_t n, uint64_t most, uint64_t *posted)
{
    struct weir_req *q    = l->free;
    uint64_t         done = 0;
    int              rc   = WEIR_DONE;
    l->free               = q->next;
    *q                    = (struct weir_req){.loop = l, .peer = p->peer, .pending = 1};
    while (done < most && (rc = move(m, l->r, p, 0, n, q)) == WEIR_DONE)
        done++;
    l->done += done;
    *posted = done + (rc == WEIR_PENDING);
    if (rc == WEIR_DONE)
        q->next = l->free, l->free = q;
    return rc < 0 ? rc : 0;
}

/* The same of requests of which each is stamped, where the end of one is the beginning of
 * the next; until the common end, if that is set. Stamps are recorded after the last of
 * them: a clock read waits for what comes before it, and would for each record. */
static int stamped_burst(struct weir_loop *l, const struct mover *m, const struct path *p, size_t n, uint64_t most, int64_t end, uint64_t *posted)
{
    struct weir_req *q    = l->free;
    uint64_t         done = 0;
    int              rc   = WEIR_DONE;
    int64_t          at[POSTS_PER_TURN + 1];
    l->free               = q->next;
    *q                    = (struct weir_req){.loop = l, .peer = p->peer, .pending = 1, .stamped = 1};
    at[0]                 = weir_ticks();
    for (most = most < POSTS_PER_TURN ? most : POSTS_PER_TURN; done < most && (!end || at[done] < end); done++) {
        rc           = move(m, l->r, p, 0, n, q);
        at[done + 1] = weir_ticks();
        if (rc != WEIR_DONE) {
            q->posted = at[done], q->returned = at[done + 1];
            break;
        }
    }
    for (uint64_t i = 0; i < done; i++) {
        l->done++;
        record_at_once(l, at[i + 1] - at[i], at[i + 1]);
    }
    *posted = done + (rc == WEIR_PENDING);
    if (rc == WEIR_DONE)
        q->next = l->free, l->free = q;
    return rc < 0 ? rc : 0;
}

int loop_stream(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o, uint64_t n, int timed)
{
    struct weir_rank *r   = l->r;
    int64_t           end = timed ? l->until : 0;
    uint64_t          in  = c->in_flight < n || end ? c->in_flight : n;
    struct window     w;
    int               rc = make_window(l, o, in ? in : 1, &w);
    if (rc < 0)
        return rc;
    loop_begin(l, o->request, n);

    int      next = 0, last = o->ntargets - 1;
    uint64_t slot = 0, at = 0;
    uint32_t until_stamp = 0;
    int32_t  share = turn_share(o->request), until_turn = POSTS_PER_TURN;
    int64_t  before      = 0; /* when the request before ended, if it is the last thing that happened */
    int      delivered    = r->fab->caps & CAP_REMOTE_COMPLETION || c->op == OP_READ;
    int      deferred     = r->fab->post != NULL;
    int      plain        = c->batch == 1 && last == 0 && o->slots == 1 && !deferred;
    int      each         = plain && timed && l->every == 1 && delivered;
    if (!delivered)
        flush_less(l, l->until ? 0 : n);
    const struct mover m  = {c->op == OP_WRITE ? r->fab->put : NULL, c->op == OP_READ ? r->fab->get : NULL};

    l->start = weir_ticks();
    for (uint64_t i = 0; i < n || end;) {
        while (!l->free) {
            before = 0;
            if ((rc = await(l)) < 0)
                goto out;
        }
        if (each || (plain && !(timed && until_stamp == 0))) {
            uint64_t room = (uint64_t)((until_turn + share - 1) / share), most = timed && !each && until_stamp < room ? until_stamp : room, posted, done = l->done;
            before        = 0;
            most          = end || n - i > most ? most : n - i;
            if ((rc = each ? stamped_burst(l, &m, w.paths, c->block, i ? most : 1, i ? end : 0, &posted) : burst(l, &m, w.paths, c->block, most, &posted)) < 0)
                goto out;
            if (!posted) { /* the common end has come */
                n = i;
                break;
            }
            i += posted;
            until_turn -= l->done > done ? (int32_t)posted * share : 1;
            until_stamp -= timed && !each ? (uint32_t)posted : 0;
            if (until_turn <= 0) {
                until_turn = POSTS_PER_TURN;
                if ((rc = turn(l)) < 0)
                    goto out;
            }
            continue;
        }
        struct weir_req   *q = l->free;
        const struct path *p = &w.paths[next];
        q->stamped           = timed && until_stamp-- == 0;
        if (q->stamped) {
            until_stamp = l->every - 1;
            q->posted   = before ? before : weir_ticks();
            if (end && q->posted >= end && i > (uint64_t)last) {
                n = i;
                break;
            }
        }
        l->free    = q->next;
        q->peer    = p->peer;
        q->pending = (uint32_t)c->batch + 1; /* one more until all are posted */
        for (uint64_t d = 0; d < c->batch; d++) {
            if ((rc = move(&m, r, p, at + d * c->block, c->block, q)) < 0)
                goto out;
            if (rc == WEIR_DONE)
                q->pending--;
        }
        if (deferred && (rc = submit(r, q)) < 0)
            goto out;
        int64_t now = 0;
        if (q->stamped) {
            now = q->returned = weir_ticks();
            if (!delivered) { /* what is timed is delivery, not hand-over */
                q->pending++;
                if ((rc = r->fab->flush(r, p->peer, q)) < 0)
                    goto out;
                if (rc == WEIR_DONE)
                    q->pending--;
                now = weir_ticks();
            }
        }
        before = 0;
        until_turn--;
        if (--q->pending == 0) {
            complete(l, q, now);
            before = l->every == 1 ? now : 0; /* of two reads in a row one is enough */
            until_turn -= share - 1;
        }
        if (next++ == last) {
            next = 0;
            slot = slot + 1 == o->slots ? 0 : slot + 1;
            at   = slot * o->stride;
        }
        i++;
        if (until_turn <= 0) {
            until_turn = POSTS_PER_TURN;
            before     = 0;
            if ((rc = turn(l)) < 0)
                goto out;
        }
    }
    while (l->done < n)
        if ((rc = await(l)) < 0)
            goto out;
    for (int k = 0; !delivered && k <= last; k++)
        if ((rc = rank_flush(r, w.paths[k].peer)) < 0)
            goto out;
    l->end = weir_ticks();
    if (timed && r->npoints < WEIR_POINTS)
        r->points[r->npoints++] = (struct weir_point){l->end, n * l->request_bytes};
    atomic_store_explicit(&r->cfg.control->done, l->done, memory_order_relaxed);
    rc = 0;
out:
    if (rc == 0)
        free(w.slots); /* after an error the fabric may still write to them; the process ends anyway */
    free(w.paths);
    return rc;
}

