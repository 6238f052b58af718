/* The measured part of dispatch and combine. An operation ends on a rank when it has all data of
 * its peers: each peer writes a word after its messages, even if it has none. No rank is more than
 * one operation ahead of another, since none ends without a word of each; so two alternating halves
 * of a sink suffice, without barriers. */
#include "ep_gpu.h"
#include "ep_pool.h"

#include <errno.h>
#include <string.h>

#include "loop.h"

#define IDLE 1   /* pending of a request that belongs to no loop */
#define STEPS 16 /* tokens or sums between two posts */

static char *source(const struct ep_run *u, uint64_t at) { return u->source + at; }

/* ---- steps: quantising tokens, or partial sums ---- */

static void work(struct ep_run *u, enum weir_ep_operation o, uint32_t from, uint32_t until,
                 uint32_t *at)
{
    if (o == EP_DISPATCH) {
        ep_write_messages(u, until, at);
    }
    for (uint32_t i = from; o == EP_COMBINE && i < until; i++) {
        ep_add_up(u, &u->e->partial, i, source(u, 0), source(u, 0));
    }
}

/* ---- sending ---- */

struct sending {
    struct ep_run *u;
    const struct weir_ep_part *part;
    uint64_t half;
    int delivered; /* a completed request is at its target */
    struct loop_posts since_poll;
};

static int post(void *arg, const struct weir_ep_put *p)
{
    struct sending *s = arg;
    struct weir_rank *r = s->u->r;
    uint64_t at = s->part->sink + s->half + p->remote;
    if (r->barrier.absent[p->peer]) {
        return 0;
    }
    if (p->peer == r->cfg.rank && s->u->gpu) {
        return 0; /* a kernel copies it */
    }
    if (p->peer == r->cfg.rank) {
        memcpy(s->u->sink + at, source(s->u, p->local), p->bytes);
        return loop_poll_after(r, &s->since_poll, p->bytes);
    }
    struct weir_req *q = &s->u->requests[p->peer];
    q->pending++;
    int rc = r->fab->put(r, p->peer, rank_source(r) + p->local, at, p->bytes, q);
    if (rc < 0) {
        return rc;
    }
    if (rc == WEIR_DONE) {
        q->pending--;
    }
    size_t done = rc == WEIR_DONE ? p->bytes : 0;
    rc = r->fab->post(r);
    return rc < 0 ? rc : loop_poll_after(r, &s->since_poll, done);
}

int ep_silent(struct ep_run *u, int peer)
{
    u->missing[peer] = 1;
    return rank_fail(u->r, -ETIMEDOUT, "silence", peer, "received nothing from rank %d for %.3g s",
                     peer, (double)u->silence / 1e9);
}

static int await_peer(struct ep_run *u, int peer)
{
    struct weir_req *q = &u->requests[peer];
    int64_t start = u->silence ? weir_monotonic() : 0;
    int rc;
    while (q->pending != IDLE) {
        if (u->silence && weir_monotonic() - start > u->silence) {
            return ep_silent(u, peer);
        }
        if ((rc = rank_poll_for(u->r, peer, "send")) < 0) {
            return rc;
        }
    }
    return q->failed ? rank_fail(u->r, q->failed, "send", peer, "a request failed with status %d",
                                 q->failed)
                     : 0;
}

/* The i-th peer to send to; each rank starts with the next rank. */
static int peer_at(const struct weir_rank *r, int i) { return (r->cfg.rank + i) % r->cfg.ranks; }

/* Tells a peer that everything for it is delivered. */
static int notify(struct ep_run *u, int peer, uint64_t word)
{
    struct weir_rank *r = u->r;
    int rc = r->fab->signal(r, peer, rank_flag_of(r->cfg.rank), word);
    if (rc == -ETIMEDOUT && u->silence && weir_monotonic() < r->wait.deadline) {
        return ep_silent(u, peer);
    }
    return rc;
}

/* Waits until all puts are delivered, and tells each peer. */
static int publish(struct sending *s, uint64_t word)
{
    struct weir_rank *r = s->u->r;
    int rc;
    for (int i = 1; i < r->cfg.ranks && !s->delivered; i++) {
        struct weir_req *q = &s->u->requests[peer_at(r, i)];
        if (!rank_is_peer(r, peer_at(r, i))) {
            continue;
        }
        q->pending++;
        if ((rc = r->fab->flush(r, peer_at(r, i), q)) < 0) {
            return rc;
        }
        if (rc == WEIR_DONE) {
            q->pending--;
        }
    }
    for (int i = 1; i < r->cfg.ranks; i++) {
        if (rank_is_peer(r, peer_at(r, i))) {
            if ((rc = await_peer(s->u, peer_at(r, i))) < 0) {
                return rc;
            }
            if ((rc = notify(s->u, peer_at(r, i), word)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* Alternates steps and puts on one thread. */
static int send_alone(struct sending *s, enum weir_ep_operation o, uint32_t steps,
                      struct weir_ep_times *t)
{
    struct ep_run *u = s->u;
    const struct weir_ep_part *p = s->part;
    uint32_t done = 0, next = 0, copies = 0;
    int rc;
    while (done < steps || next < p->nputs) {
        if (done < steps) {
            uint32_t until = steps - done < STEPS ? steps : done + STEPS;
            int64_t t0 = weir_monotonic();
            work(u, o, done, until, &copies);
            t->work += weir_monotonic() - t0;
            done = until;
        }
        for (; next < p->nputs && (steps == 0 || p->puts[next].ready <= done); next++) {
            if (u->end == (int)o && next >= p->nputs / 2) {
                if ((rc = ep_end(u)) < 0) {
                    return rc;
                }
            }
            if ((rc = post(s, &p->puts[next])) < 0) {
                return rc;
            }
        }
    }
    return u->end == (int)o ? ep_end(u) : 0;
}

/* ---- sending with several threads ---- */

static uint32_t first_copy_of(const struct weir_ep *e, uint32_t token)
{
    uint32_t low = 0, high = e->ncopies;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (e->copies[middle].token < token) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void write_some(struct ep_run *u, void *arg, uint32_t from, uint32_t until)
{
    uint32_t at = first_copy_of(u->e, from);
    ep_write_messages(u, until, &at);
}

static void add_up_some(struct ep_run *u, void *arg, uint32_t from, uint32_t until)
{
    work(u, EP_COMBINE, from, until, NULL);
}

static int copied(const struct ep_run *u, const struct weir_ep_put *p)
{
    return p->peer == u->r->cfg.rank || u->r->fab->caps & CAP_COPIES;
}

static void copy(struct ep_run *u, void *arg, const struct weir_ep_put *p, uint64_t at, size_t n)
{
    const struct sending *s = arg;
    struct weir_rank *r = u->r;
    uint64_t to = s->part->sink + s->half + p->remote + at;
    if (p->peer == r->cfg.rank) {
        memcpy(u->sink + to, source(u, p->local + at), n);
    } else if (!r->barrier.absent[p->peer]) {
        (void)r->fab->put(r, p->peer, source(u, p->local + at), to, n, NULL);
    }
}

static int send_pooled(struct sending *s, enum weir_ep_operation o, uint32_t steps,
                       struct weir_ep_times *t)
{
    struct ep_pool_job all = {.u = s->u,
                              .steps = steps,
                              .nputs = s->part->nputs,
                              .puts = s->part->puts,
                              .arg = s,
                              .step = o == EP_DISPATCH ? write_some : add_up_some,
                              .copied = copied,
                              .copy = copy,
                              .post = post};
    int rc = ep_pool_run(&all);
    t->work = all.work;
    return rc;
}

struct totals { /* of a combine */
    const char *from;
};

static void total_some(struct ep_run *u, void *arg, uint32_t from, uint32_t until)
{
    const struct totals *t = arg;
    for (uint32_t i = from; i < until; i++) {
        ep_add_up(u, &u->e->total, i, t->from, (char *)u->out);
    }
}

static int total(struct ep_run *u, uint64_t iteration)
{
    struct totals t = {ep_half(u, EP_COMBINE, iteration)};
    struct ep_pool_job all = {.u = u, .steps = u->e->total.n, .arg = &t, .step = total_some};
    if (u->pool) {
        return ep_pool_run(&all);
    }
    total_some(u, &t, 0, u->e->total.n);
    return 0;
}

static int send_all(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration,
                    struct weir_ep_times *t)
{
    const struct weir_ep *e = u->e;
    const struct weir_ep_part *p = &e->parts[o];
    struct sending s = {.u = u,
                        .part = p,
                        .half = ep_half_of(u, iteration) * p->half,
                        .delivered = u->r->fab->caps & CAP_REMOTE_COMPLETION};
    uint32_t steps = u->gpu || (o == EP_DISPATCH && e->before) ? 0 : p->steps;
    int64_t start = weir_monotonic();
    int rc;
    if (u->gpu) {
        if ((rc = ep_posted_work(u, o, iteration)) < 0) {
            return rc;
        }
        t->work = weir_monotonic() - start;
    }
    for (int i = 0; i < u->r->cfg.ranks; i++) {
        u->requests[i] = (struct weir_req){.pending = IDLE, .peer = i};
    }
    if ((rc = (u->pool ? send_pooled : send_alone)(&s, o, steps, t)) < 0) {
        return rc;
    }
    u->spent.post += u->timed ? (double)(weir_monotonic() - start - t->work) : 0;
    return publish(&s, ++u->flags_sent);
}

/* ---- receiving ---- */

static int has_come(struct weir_rank *r, int peer, uint64_t word)
{
    return atomic_load_explicit(rank_word(r, rank_flag_of(peer)), memory_order_acquire) >= word;
}

/* Waits for the word of each peer; polls all of them in each iteration, so that a late peer does
 * not delay seeing others. */
static int receive_all(struct ep_run *u, enum weir_ep_operation o, int64_t start)
{
    struct weir_rank *r = u->r;
    struct weir_ep_wait *w = u->waits + (size_t)o * (size_t)r->cfg.ranks;
    int rc, left = r->barrier.all.n - 1;
    for (int i = 0; i < r->cfg.ranks; i++) {
        u->requests[i].stamped = !rank_is_peer(r, i); /* its word has arrived */
    }
    while (left) {
        int missing = -1;
        for (int i = 1; i < r->cfg.ranks; i++) {
            int peer = peer_at(r, i);
            if (u->requests[peer].stamped) {
                continue;
            }
            if (!has_come(r, peer, u->flags_sent)) {
                missing = missing < 0 ? peer : missing;
                continue;
            }
            u->requests[peer].stamped = 1;
            left--;
            int64_t took = weir_monotonic() - start;
            if (u->timed) {
                w[peer].sum += (double)took;
                w[peer].max = took > w[peer].max ? took : w[peer].max;
            }
        }
        if (missing >= 0 && u->silence && weir_monotonic() - start > u->silence) {
            return ep_silent(u, missing);
        }
        if (missing >= 0) {
            if ((rc = rank_poll_for(r, missing, o == EP_DISPATCH ? "dispatch" : "combine")) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

int ep_operate(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration,
               struct weir_ep_times *t)
{
    int rc;
    *t = (struct weir_ep_times){.start = weir_monotonic()};
    if ((rc = send_all(u, o, iteration, t)) < 0) {
        return rc;
    }
    int64_t sent = weir_monotonic();
    if ((rc = receive_all(u, o, t->start)) < 0) {
        return rc;
    }
    int64_t arrived = weir_monotonic();
    if (u->gpu || o == EP_COMBINE) {
        if ((rc = u->gpu ? ep_posted_end(u, o, iteration) : total(u, iteration)) < 0) {
            return rc;
        }
    }
    t->end = u->gpu || o == EP_COMBINE ? weir_monotonic() : arrived;
    t->send = sent - t->start - t->work;
    t->wait = (o == EP_COMBINE ? arrived : t->end) - sent;
    t->reduce = o == EP_COMBINE ? t->end - arrived : 0;
    return 0;
}

int ep_iterate(struct ep_run *u, uint64_t iteration)
{
    struct weir_ep_times *t = u->times + (u->timed ? iteration * EP_OPERATIONS : 0);
    int rc;
    if (ep_by_kernels(u)) {
        return ep_gpu_iterate(u, iteration);
    }
    if (u->gpu) {
        if ((rc = ep_posted_flush(u, iteration)) < 0) {
            return rc;
        }
    }
    for (int o = 0; o < EP_OPERATIONS; o++) {
        if (ep_does(u, (enum weir_ep_operation)o)) {
            if ((rc = ep_operate(u, (enum weir_ep_operation)o, iteration, &t[o])) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

int ep_finish(struct ep_run *u) { return u->gpu ? ep_gpu_finish(u) : 0; }
