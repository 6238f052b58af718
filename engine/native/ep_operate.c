/* The measured part of dispatch and combine. An operation of a rank ends when it has all
 * that peers send in it: each peer writes a word behind its messages, also where it has
 * none. No rank is more than one operation ahead of another, because none ends without a word
 * of each; so two halves of a sink, which iterations take in turns, are enough without barriers in
 * between. */
#include "ep_gpu.h"

#include <errno.h>
#include <string.h>

#include "loop.h"

#define IDLE 1  /* pending of a request that no loop hears of */
#define STEPS 16 /* tokens or sums between two posts */

static char *source(const struct ep_run *u, uint64_t at) { return u->source + at; }

/* ---- steps: quantising tokens, or adding up rows before they are sent ---- */

static void write_message(struct ep_run *u, uint32_t token, char *to)
{
    const struct weir_ep *e = u->e;
    const uint16_t       *x = u->x + (size_t)token * (size_t)e->channels;
    char                 *at = to + EP_HEADER + e->row;
    memset(to, 0, EP_HEADER);
    memcpy(to, &token, sizeof token);
    if (e->fp8) {
        rows_quantise(x, e->channels, (enum weir_scales)e->scales, (uint8_t *)to + EP_HEADER, at);
        at += rows_scales_bytes(e->channels, (enum weir_scales)e->scales);
    } else {
        memcpy(to + EP_HEADER, x, e->row);
    }
    if (e->layout != EP_RANK)
        return;
    for (int k = 0; k < e->top_k; k++, at += 8) {
        size_t i = (size_t)token * (size_t)e->top_k + (size_t)k;
        int32_t number = ep_number(e, e->experts[u->r->cfg.rank][i]);
        memcpy(at, &number, 4);
        memcpy(at + 4, &e->weights[u->r->cfg.rank][i], 4);
    }
}

/* Messages of the tokens from one to another; *at goes through their copies. */
static void write_messages(struct ep_run *u, uint32_t until, uint32_t *at)
{
    const struct weir_ep *e = u->e;
    while (*at < e->ncopies && e->copies[*at].token < until) {
        const struct weir_ep_copy *c = &e->copies[(*at)++];
        char                      *first = source(u, c->at);
        write_message(u, c->token, first);
        for (; *at < e->ncopies && e->copies[*at].token == c->token; (*at)++)
            memcpy(source(u, e->copies[*at].at), first, e->message);
    }
}

void ep_prepare(struct ep_run *u) { write_messages(u, (uint32_t)u->e->tokens, &(uint32_t){0}); }

static void add_up(struct ep_run *u, const struct weir_ep_sums *s, uint32_t i, const char *from,
                   char *to)
{
    const struct weir_ep_sum *sum = &s->list[i];
    const uint16_t           *rows[64];
    float                     weights[64];
    for (uint32_t k = 0; k < sum->n; k++) {
        const struct weir_ep_term *t = &s->terms[sum->first + k];
        rows[k]    = (const uint16_t *)(from + t->at);
        weights[k] = t->weight;
    }
    rows_reduce((uint16_t *)(to + sum->to), u->e->channels, (int)sum->n, rows, weights);
}

static void work(struct ep_run *u, enum weir_ep_operation o, uint32_t from, uint32_t until,
                 uint32_t *at)
{
    if (o == EP_DISPATCH)
        write_messages(u, until, at);
    for (uint32_t i = from; o == EP_COMBINE && i < until; i++)
        add_up(u, &u->e->partial, i, source(u, 0), source(u, 0));
}

/* ---- sending ---- */

struct sending {
    struct ep_run             *u;
    const struct weir_ep_part *part;
    uint64_t                   half;
    int                        delivered; /* what is complete is at its target */
    uint32_t                   posts;     /* since the last turn */
    size_t                     posted;
};

static int breathe(struct sending *s, size_t n)
{
    struct weir_rank *r = s->u->r;
    int               rc;
    s->posted += n;
    if (++s->posts < POSTS_PER_TURN && s->posted < BYTES_PER_TURN)
        return 0;
    s->posts  = 0;
    s->posted = 0;
    return (rc = r->fab->progress(r)) < 0 ? rc : rank_tick(r);
}

static int post(struct sending *s, const struct weir_ep_put *p)
{
    struct weir_rank *r = s->u->r;
    uint64_t          at = s->part->sink + s->half + p->remote;
    if (r->absent[p->peer])
        return 0;
    if (p->peer == r->cfg.rank) {
        memcpy(s->u->sink + at, source(s->u, p->local), p->bytes);
        return breathe(s, p->bytes);
    }
    struct weir_req *q = &s->u->requests[p->peer];
    q->pending++;
    int rc = r->fab->put(r, p->peer, source(s->u, p->local), at, p->bytes, q);
    if (rc < 0)
        return rc;
    if (rc == WEIR_DONE)
        q->pending--;
    size_t done = rc == WEIR_DONE ? p->bytes : 0;
    return (rc = r->fab->post(r)) < 0 ? rc : breathe(s, done);
}

int ep_silent(struct ep_run *u, int peer)
{
    u->missing[peer] = 1;
    return rank_fail(u->r, -ETIMEDOUT, "silence", peer, "nothing came of rank %d for %.3g s", peer,
                     (double)u->silence / 1e9);
}

static int settle(struct ep_run *u, int peer)
{
    struct weir_req *q     = &u->requests[peer];
    int64_t          start = u->silence ? weir_monotonic() : 0;
    int              rc;
    while (q->pending != IDLE) {
        if (u->silence && weir_monotonic() - start > u->silence)
            return ep_silent(u, peer);
        if ((rc = rank_turn(u->r, peer, "send")) < 0)
            return rc;
    }
    return q->failed ? rank_fail(u->r, q->failed, "send", peer, "a request failed with status %d",
                                 q->failed)
                     : 0;
}

/* Peers in the order in which this rank comes to them: the next one first. */
static int peer_at(const struct weir_rank *r, int i) { return (r->cfg.rank + i) % r->cfg.ranks; }

/* All that was put is delivered, and each peer is told so. */
static int publish(struct sending *s, uint64_t word)
{
    struct weir_rank *r = s->u->r;
    int               rc;
    for (int i = 1; i < r->cfg.ranks && !s->delivered; i++) {
        struct weir_req *q = &s->u->requests[peer_at(r, i)];
        if (!rank_is_peer(r, peer_at(r, i)))
            continue;
        q->pending++;
        if ((rc = r->fab->flush(r, peer_at(r, i), q)) < 0)
            return rc;
        if (rc == WEIR_DONE)
            q->pending--;
    }
    for (int i = 1; i < r->cfg.ranks; i++)
        if (rank_is_peer(r, peer_at(r, i)) &&
            ((rc = settle(s->u, peer_at(r, i))) < 0 ||
             (rc = r->fab->signal(r, peer_at(r, i), rank_flag_of(r->cfg.rank), word)) < 0))
            return rc;
    return 0;
}

static int send_all(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration,
                    struct weir_ep_times *t)
{
    const struct weir_ep      *e = u->e;
    const struct weir_ep_part *p = &e->parts[o];
    struct sending s = {.u = u, .part = p, .half = ep_half_of(u, iteration) * p->half,
                        .delivered = u->r->fab->caps & CAP_REMOTE_COMPLETION};
    uint32_t steps = o == EP_DISPATCH && e->before ? 0 : p->steps, done = 0, next = 0, copies = 0;
    int            rc;
    for (int i = 0; i < u->r->cfg.ranks; i++)
        u->requests[i] = (struct weir_req){.pending = IDLE, .peer = i};
    while (done < steps || next < p->nputs) {
        if (done < steps) {
            uint32_t until = steps - done < STEPS ? steps : done + STEPS;
            int64_t  t0    = weir_monotonic();
            work(u, o, done, until, &copies);
            t->work += weir_monotonic() - t0;
            done = until;
        }
        for (; next < p->nputs && (steps == 0 || p->puts[next].ready <= done); next++)
            if ((u->end == (int)o && next >= p->nputs / 2 && (rc = ep_end(u)) < 0) ||
                (rc = post(&s, &p->puts[next])) < 0)
                return rc;
    }
    if (u->end == (int)o && (rc = ep_end(u)) < 0)
        return rc;
    return publish(&s, ++u->r->flags_sent);
}

/* ---- receiving ---- */

static int has_come(struct weir_rank *r, int peer, uint64_t word)
{
    return atomic_load_explicit(rank_word(r, rank_flag_of(peer)), memory_order_acquire) >= word;
}

/* Waits for the word of each peer; all are looked at in each turn, so that who comes late
 * hides nobody. */
static int receive_all(struct ep_run *u, enum weir_ep_operation o, int64_t start)
{
    struct weir_rank    *r = u->r;
    struct weir_ep_wait *w = u->waits + (size_t)o * (size_t)r->cfg.ranks;
    int                  rc, left = r->all.n - 1;
    for (int i = 0; i < r->cfg.ranks; i++)
        u->requests[i].stamped = !rank_is_peer(r, i); /* its word has come */
    while (left) {
        int missing = -1;
        for (int i = 1; i < r->cfg.ranks; i++) {
            int peer = peer_at(r, i);
            if (u->requests[peer].stamped)
                continue;
            if (!has_come(r, peer, r->flags_sent)) {
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
        if (missing >= 0 && u->silence && weir_monotonic() - start > u->silence)
            return ep_silent(u, missing);
        if (missing >= 0 &&
            (rc = rank_turn(r, missing, o == EP_DISPATCH ? "dispatch" : "combine")) < 0)
            return rc;
    }
    return 0;
}

static int operate(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration,
                   struct weir_ep_times *t)
{
    int rc;
    *t = (struct weir_ep_times){.start = weir_monotonic()};
    if ((rc = send_all(u, o, iteration, t)) < 0)
        return rc;
    int64_t sent = weir_monotonic();
    if ((rc = receive_all(u, o, t->start)) < 0)
        return rc;
    int64_t come = weir_monotonic();
    for (uint32_t i = 0; o == EP_COMBINE && i < u->e->total.n; i++)
        add_up(u, &u->e->total, i, ep_half(u, o, iteration), (char *)u->out);
    t->end    = o == EP_COMBINE ? weir_monotonic() : come;
    t->send   = sent - t->start - t->work;
    t->wait   = come - sent;
    t->reduce = t->end - come;
    return 0;
}

int ep_iterate(struct ep_run *u, uint64_t iteration)
{
    struct weir_ep_times *t = u->times + (u->timed ? iteration * EP_OPERATIONS : 0);
    int                   rc;
    if (u->gpu)
        return ep_gpu_iterate(u, iteration);
    for (int o = 0; o < EP_OPERATIONS; o++)
        if (ep_does(u, (enum weir_ep_operation)o) &&
            (rc = operate(u, (enum weir_ep_operation)o, iteration, &t[o])) < 0)
            return rc;
    return 0;
}

int ep_finish(struct ep_run *u) { return u->gpu ? ep_gpu_finish(u) : 0; }
