/* libfabric: reads the completion queue: ends of this rank's operations, and arrivals of writes. */
#define _GNU_SOURCE
#include "fab_libfabric.h"

#ifdef WEIR_HAS_LIBFABRIC
#include <errno.h>
#include <stdio.h>

#include "fab_libfabric_words.h"

#define EVENTS 16 /* read at once */

static void take_word(struct weir_rank *r, int peer, uint32_t which)
{
    if (which >= PLACES) {
        return;
    }
    uint64_t value = atomic_load_explicit(
        rank_word(r, rank_ping_of(r, peer) + WORD + which * sizeof value), memory_order_acquire);
    atomic_store_explicit(rank_word(r, place_of(r, which, peer)), value, memory_order_release);
}

static void arrive(struct weir_rank *r, uint32_t data)
{
    struct libfabric_rank *f = r->fs;
    int peer = data >> SEQ_BITS & 1023;
    uint32_t seq = data & SEQ_MASK;
    if (peer >= r->cfg.ranks) {
        return;
    }
    struct libfabric_peer *p = &f->peers[peer];
    /* it was written to a staging word, so that no reader sees a part of it */
    if (data >> 30 == KIND_WORD) {
        take_word(r, peer, seq);
    } else if (p->pieces && p->ping == seq) {
        p->pieces++;
    } else {
        p->ping = seq;
        p->pieces = 1;
    }
}

static struct libfabric_op *op_of(struct libfabric_rank *f, void *context)
{
    struct libfabric_op *op = context;
    return op >= f->ops && op < f->ops + f->nops ? op : NULL;
}

static inline void release(struct libfabric_rank *f, struct libfabric_op *op)
{
    op->next = f->free;
    f->free = op;
}

static void finish(struct libfabric_rank *f, struct libfabric_op *op)
{
    struct libfabric_op *parent = op->parent;
    struct libfabric_peer *p = &f->peers[op->peer];
    if (op != parent) {
        release(f, op);
    }
    if (--parent->left == 0) {
        struct weir_req *q = parent->q;
        release(f, parent);
        if (q) {
            weir_part_done(q, 0);
        }
    }
    if (--p->outstanding == 0 && p->flush) {
        struct weir_req *q = p->flush;
        p->flush = NULL;
        weir_part_done(q, 0);
    }
}

static int again(struct weir_rank *r, const struct weir_err *e)
{
    return rank_fail(r, e->code, e->op, e->peer, "%s", e->text);
}

static int queue_error(struct weir_rank *r)
{
    struct libfabric_rank *f = r->fs;
    struct fi_cq_err_entry e = {0};
    char text[128];
    ssize_t rc = fi_cq_readerr(f->cq, &e, 0);
    if (rc == -FI_EAGAIN) {
        return 0;
    }
    struct libfabric_op *op = rc > 0 ? op_of(f, e.op_context) : NULL;
    if (r->closing) { /* peers may leave now without error */
        if (op) {
            finish(f, op);
        }
        return 0;
    }
    if (!op && r->cfg.peers_may_fail) { /* a failed peer; the launch names it */
        return 0;
    }
    struct weir_err *b = &f->broken;
    /* with two ranks the failed operation's peer is known */
    b->peer = op ? op->peer : r->cfg.ranks == 2 ? 1 - r->cfg.rank : -1;
    snprintf(b->op, sizeof b->op, "%s", op ? op->name : "fi_cq_read");
    if (rc < 0) {
        b->code = (int)rc;
        snprintf(b->text, sizeof b->text, "reading an error: %s", libfabric.fi_strerror((int)-rc));
        return again(r, b);
    }
    const char *why = fi_cq_strerror(f->cq, e.prov_errno, e.err_data, text, sizeof text);
    b->code = e.err ? -e.err : -EIO;
    snprintf(b->text, sizeof b->text, "%s (the provider: %s, %d)", libfabric.fi_strerror(e.err),
             why ? why : "no word", e.prov_errno);
    return again(r, b);
}

static inline int take_events(struct weir_rank *r, const struct fi_cq_data_entry *events, ssize_t n,
                              const char *call)
{
    struct libfabric_rank *f = r->fs;
    if (n == -FI_EAGAIN || n == 0) {
        return 0;
    }
    if (n == -FI_EAVAIL) {
        return queue_error(r);
    }
    if (n < 0) {
        return rank_fail(r, (int)n, call, -1, "%s", libfabric.fi_strerror((int)-n));
    }
    for (ssize_t i = 0; i < n; i++) {
        struct libfabric_op *op = op_of(f, events[i].op_context);
        if (op) {
            finish(f, op);
        } else if (events[i].flags & FI_REMOTE_CQ_DATA) {
            arrive(r, (uint32_t)events[i].data);
        }
    }
    return 0;
}

int libfabric_progress(struct weir_rank *r)
{
    struct libfabric_rank *f = r->fs;
    struct fi_cq_data_entry events[EVENTS];
    return f->broken.code ? again(r, &f->broken)
                          : take_events(r, events, fi_cq_read(f->cq, events, EVENTS), "fi_cq_read");
}

/* Uses the queue's file descriptor instead of fi_cq_sread, which some providers do not return from
 * in time. */
int libfabric_poll(struct weir_rank *r)
{
    struct libfabric_rank *f = r->fs;
    struct fi_cq_data_entry events[EVENTS];
    struct fid *fid = &f->cq->fid;
    if (!r->cfg.sleeps || f->broken.code) {
        return libfabric_progress(r);
    }
    ssize_t n = fi_cq_read(f->cq, events, EVENTS);
    if (n != -FI_EAGAIN) {
        return take_events(r, events, n, "fi_cq_read");
    }
    /* must not block if an event has arrived already */
    int rc = fi_trywait(f->fabric, &fid, 1);
    if (rc < 0) {
        return rc == -FI_EAGAIN
                   ? 0
                   : rank_fail(r, rc, "fi_trywait", -1, "%s", libfabric.fi_strerror(-rc));
    }
    return rank_sleep(r, f->file);
}
#endif
