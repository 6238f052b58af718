/* libfabric: one endpoint (FI_EP_RDM) with remote memory access over whatever
 * provider does that here. What tells the target that something came is data that
 * travels with a write and shows in its completion queue when the write is in its
 * memory; nothing relies on the order of bytes or of writes. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ceiling.h"
#include "libfabric.h"
#include "rank.h"
#include "unsupported.h"

#ifdef WEIR_HAS_LIBFABRIC

/* The data of a write: what it is, who wrote, which message it belongs to. */
#define KIND_PING 1u
#define KIND_WORD 2u
#define SEQ_BITS 20
#define SEQ_MASK ((1u << SEQ_BITS) - 1)
_Static_assert(WEIR_MAX_RANKS <= 1024, "a rank has 10 bits of the data of a write");

static inline uint32_t note(uint32_t kind, int rank, uint64_t seq)
{
    return kind << 30 | (uint32_t)rank << SEQ_BITS | (uint32_t)(seq & SEQ_MASK);
}

/* What stands in the line of pings that a rank keeps for a peer, or in its own, into which
 * no peer writes. The first word is the loops': they reset it, and no other. */
#define FLUSHED 8   /* what a flush reads */
#define HELLO 16    /* what is written to connect, and to see whether a peer is there */
#define WORD 24     /* of a signal for the slot, then those for the ping slot and the flag */
_Static_assert(WORD >= sizeof(uint64_t), "the loops reset the first word, and a signal may come early");
static inline size_t beside(const struct weir_rank *r, int rank) { return rank_ping_of(r, rank); }
static inline char *own(const struct weir_rank *r, size_t what)
{
    return r->regions[REGION_CONTROL].base + beside(r, r->cfg.rank) + what;
}

#define EVENTS 16
#define PARTING_NS 250000000 /* how long a last signal may take to be confirmed */

/* Where a signal of a rank belongs, by the number of its place. */
enum { FOR_SLOT, FOR_PING, FOR_FLAG, PLACES };
static size_t place_of(const struct weir_rank *r, uint32_t which, int rank)
{
    return which == FOR_SLOT   ? rank_slot_of(rank)
           : which == FOR_PING ? rank_ping_of(r, rank)
                               : rank_flag_of(rank);
}

static void take_word(struct weir_rank *r, int peer, uint32_t which)
{
    if (which >= PLACES)
        return;
    uint64_t value = atomic_load_explicit(
        rank_word(r, beside(r, peer) + WORD + which * sizeof value), memory_order_relaxed);
    atomic_store_explicit(rank_word(r, place_of(r, which, peer)), value, memory_order_release);
}

static void arrive(struct weir_rank *r, uint32_t data)
{
    struct libfabric_rank *f    = r->fs;
    int                    peer = data >> SEQ_BITS & 1023;
    uint32_t               seq  = data & SEQ_MASK;
    if (peer >= r->cfg.ranks)
        return;
    struct libfabric_peer *p = &f->peers[peer];
    /* it was written beside its place, so that nobody sees a part of it */
    if (data >> 30 == KIND_WORD)
        take_word(r, peer, seq);
    else if (p->pieces && p->ping == seq)
        p->pieces++;
    else
        p->ping = seq, p->pieces = 1;
}

static struct libfabric_op *op_of(struct libfabric_rank *f, void *context)
{
    struct libfabric_op *op = context;
    return op >= f->ops && op < f->ops + f->nops ? op : NULL;
}

static inline void release(struct libfabric_rank *f, struct libfabric_op *op)
{
    op->next = f->free;
    f->free  = op;
}

static void finish(struct libfabric_rank *f, struct libfabric_op *op)
{
    struct libfabric_op   *whole = op->whole;
    struct libfabric_peer *p     = &f->peers[op->peer];
    if (op != whole)
        release(f, op);
    if (--whole->left == 0) {
        struct weir_req *q = whole->q;
        release(f, whole);
        if (q)
            weir_part_done(q, 0);
    }
    if (--p->outstanding == 0 && p->flush) {
        struct weir_req *q = p->flush;
        p->flush           = NULL;
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
    char                   text[128];
    ssize_t                rc = fi_cq_readerr(f->cq, &e, 0);
    if (rc == -FI_EAGAIN)
        return 0;
    struct libfabric_op *op = rc > 0 ? op_of(f, e.op_context) : NULL;
    if (r->closing) { /* a peer that goes away now is no fault */
        if (op)
            finish(f, op);
        return 0;
    }
    if (!op && r->cfg.outlives) /* a peer that is gone; who is, others say */
        return 0;
    struct weir_err *b = &f->broken;
    /* of two, there is but one it can be about */
    b->peer            = op ? op->peer : r->cfg.ranks == 2 ? 1 - r->cfg.rank : -1;
    snprintf(b->op, sizeof b->op, "%s", op ? op->name : "fi_cq_read");
    if (rc < 0) {
        b->code = (int)rc;
        snprintf(b->text, sizeof b->text, "reading an error: %s", libfabric.fi_strerror((int)-rc));
        return again(r, b);
    }
    const char *why = fi_cq_strerror(f->cq, e.prov_errno, e.err_data, text, sizeof text);
    b->code         = e.err ? -e.err : -EIO;
    snprintf(b->text, sizeof b->text, "%s (the provider: %s, %d)", libfabric.fi_strerror(e.err),
             why ? why : "no word", e.prov_errno);
    return again(r, b);
}

static inline int take_events(struct weir_rank *r, const struct fi_cq_data_entry *events, ssize_t n,
                              const char *call)
{
    struct libfabric_rank *f = r->fs;
    if (n == -FI_EAGAIN || n == 0)
        return 0;
    if (n == -FI_EAVAIL)
        return queue_error(r);
    if (n < 0)
        return rank_fail(r, (int)n, call, -1, "%s", libfabric.fi_strerror((int)-n));
    for (ssize_t i = 0; i < n; i++) {
        struct libfabric_op *op = op_of(f, events[i].op_context);
        if (op)
            finish(f, op);
        else if (events[i].flags & FI_REMOTE_CQ_DATA)
            arrive(r, (uint32_t)events[i].data);
    }
    return 0;
}

int libfabric_progress(struct weir_rank *r)
{
    struct libfabric_rank  *f = r->fs;
    struct fi_cq_data_entry events[EVENTS];
    return f->broken.code ? again(r, &f->broken)
                          : take_events(r, events, fi_cq_read(f->cq, events, EVENTS), "fi_cq_read");
}

/* By the queue's file, and not by fi_cq_sread, which some providers do not end in time. */
static int libfabric_wait(struct weir_rank *r)
{
    struct libfabric_rank  *f = r->fs;
    struct fi_cq_data_entry events[EVENTS];
    struct fid             *fid = &f->cq->fid;
    if (!r->cfg.sleeps || f->broken.code)
        return libfabric_progress(r);
    ssize_t n = fi_cq_read(f->cq, events, EVENTS);
    if (n != -FI_EAGAIN)
        return take_events(r, events, n, "fi_cq_read");
    /* whether it may be slept: it is not if something has come */
    int rc = fi_trywait(f->fabric, &fid, 1);
    if (rc < 0)
        return rc == -FI_EAGAIN
                   ? 0
                   : rank_fail(r, rc, "fi_trywait", -1, "%s", libfabric.fi_strerror(-rc));
    return rank_sleep(r, f->file);
}

static int take_op(struct weir_rank *r, int peer, const char *name, struct libfabric_op **op)
{
    struct libfabric_rank *f = r->fs;
    int                    rc;
    while (!f->free)
        if ((rc = rank_turn(r, peer, name)) < 0)
            return rc;
    *op     = f->free;
    f->free = (*op)->next;
    return 0;
}

struct post { /* one operation */
    enum { POST_WRITE, POST_READ, POST_FLUSH, POST_NOTE, POST_INJECT } kind;
    enum weir_region_name here, there; /* the regions of both ends */
    const void *local;
    size_t      n;
    uint64_t    roff;
    uint32_t    note;
};

#define OF_DATA .here = REGION_SOURCE, .there = REGION_SINK
#define OF_WORD .here = REGION_CONTROL, .there = REGION_CONTROL

static const char *const names[] = {"fi_write", "fi_read", "fi_readmsg", "fi_writemsg",
                                    "fi_inject_writedata"};

static ssize_t post_message(struct libfabric_rank *f, struct libfabric_peer *p,
                            const struct post *o, void *context)
{
    struct iovec      iov    = {(void *)o->local, o->n};
    struct fi_rma_iov remote = {p->regions[o->there].base + o->roff, o->n,
                                p->regions[o->there].key};
    struct fi_msg_rma m      = {.msg_iov       = &iov,
                                .desc          = &f->desc[o->here],
                                .iov_count     = 1,
                                .addr          = p->address,
                                .rma_iov       = &remote,
                                .rma_iov_count = 1,
                                .context       = context,
                                .data          = o->note};
    if (o->kind == POST_FLUSH)
        return fi_readmsg(f->ep, &m,
                          FI_COMPLETION | (f->delivery == DELIVERY_FENCE ? FI_FENCE : 0));
    return fi_writemsg(f->ep, &m,
                       FI_COMPLETION |
                           (o->kind == POST_NOTE ? FI_REMOTE_CQ_DATA : FI_DELIVERY_COMPLETE));
}

static inline ssize_t post_once(struct libfabric_rank *f, struct libfabric_peer *p,
                                const struct post *o, void *context)
{
    const struct libfabric_there *there = &p->regions[o->there];
    switch (o->kind) {
    case POST_WRITE:
        /* said with each: net takes the endpoint's default in vain */
        if (f->delivery == DELIVERY_COMPLETION)
            return post_message(f, p, o, context);
        return fi_write(f->ep, o->local, o->n, f->desc[o->here], p->address, there->base + o->roff,
                        there->key, context);
    case POST_READ:
        return fi_read(f->ep, (void *)o->local, o->n, f->desc[o->here], p->address,
                       there->base + o->roff, there->key, context);
    case POST_INJECT:
        return fi_inject_writedata(f->ep, o->local, o->n, o->note, p->address,
                                   there->base + o->roff, there->key);
    default:
        return post_message(f, p, o, context);
    }
}

/* Posts until the provider takes it: a full queue, or a connection that is being
 * made, empties by progress. */
static inline int post(struct weir_rank *r, int peer, const struct post *o, void *context)
{
    struct libfabric_rank *f = r->fs;
    ssize_t                n;
    int                    rc;
    while ((n = post_once(f, &f->peers[peer], o, context)) == -FI_EAGAIN)
        if ((rc = rank_turn(r, peer, names[o->kind])) < 0)
            return rc;
    return n < 0 ? rank_fail(r, (int)n, names[o->kind], peer, "%s", libfabric.fi_strerror((int)-n))
                 : 0;
}

/* Posts a request, in pieces if it is longer than one operation may be. */
static int post_all(struct weir_rank *r, int peer, struct post o, struct weir_req *q)
{
    struct libfabric_rank *f     = r->fs;
    struct libfabric_peer *p     = &f->peers[peer];
    struct libfabric_op   *whole = NULL, *op;
    size_t                 n     = o.n;
    int                    rc;
    do {
        if ((rc = take_op(r, peer, names[o.kind], &op)) < 0)
            return rc;
        if (!whole) {
            whole       = op;
            whole->left = n > f->piece ? (uint32_t)((n + f->piece - 1) / f->piece) : 1;
            whole->q    = q;
        }
        op->whole = whole;
        op->peer  = peer;
        op->name  = names[o.kind];
        o.n       = n < f->piece ? n : f->piece;
        p->outstanding++;
        if ((rc = post(r, peer, &o, op)) < 0)
            return rc;
        o.local = (const char *)o.local + o.n;
        o.roff += o.n;
        n -= o.n;
    } while (n);
    return WEIR_PENDING;
}

static int put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q)
{
    return post_all(r, peer, (struct post){.kind = POST_WRITE, OF_DATA, .local = local, .n = n,
                                           .roff = roff}, q);
}

static int get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
               struct weir_req *q)
{
    return post_all(r, peer, (struct post){.kind = POST_READ, OF_DATA, .local = local, .n = n,
                                           .roff = roff}, q);
}

static int flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct libfabric_rank *f = r->fs;
    struct libfabric_peer *p = &f->peers[peer];
    if (f->delivery != DELIVERY_COMPLETION)
        return post_all(r, peer, (struct post){.kind = POST_FLUSH, .here = REGION_CONTROL,
                                               .there = REGION_SINK, .local = own(r, FLUSHED),
                                               .n = 8}, q);
    if (!p->outstanding)
        return WEIR_DONE;
    if (p->flush)
        return rank_fail(r, -EBUSY, "flush", peer, "another flush waits already");
    p->flush = q;
    return WEIR_PENDING;
}

/* Posts and waits; after at most so long, if it is not 0, what happened is let be. */
static int await(struct weir_rank *r, int peer, struct post o, int64_t patience)
{
    struct weir_req *q     = &((struct libfabric_rank *)r->fs)->peers[peer].awaited;
    int64_t          until = patience ? weir_monotonic() + patience : 0;
    /* never falls to 0, so no loop hears of it */
    *q                     = (struct weir_req){.pending = 2};
    int rc                 = post_all(r, peer, o, q);
    while (rc >= 0 && q->pending == 2) {
        if (until && weir_monotonic() > until)
            return 0;
        rc = rank_turn(r, peer, names[o.kind]);
    }
    return rc < 0 ? rc : 0;
}

/* A write that nobody reads, to see whether the peer is there. */
static struct post hello(struct weir_rank *r)
{
    return (struct post){.kind = POST_WRITE,
                         OF_WORD,
                         .local = own(r, HELLO),
                         .n = 8,
                         .roff = beside(r, r->cfg.rank) + HELLO};
}

/* Until the lower rank has connected, or has said nothing for a while. */
static int listen_for(struct weir_rank *r, int peer)
{
    struct libfabric_rank *f     = r->fs;
    _Atomic uint64_t      *said  = rank_word(r, beside(r, peer) + HELLO);
    int64_t                until = weir_monotonic() + libfabric_listening;
    uint64_t               word;
    int                    rc;
    while ((word = atomic_load_explicit(said, memory_order_acquire)) == f->heard[peer]) {
        if (weir_monotonic() > until)
            return 0;
        if ((rc = rank_turn(r, peer, "connect")) < 0)
            return rc;
    }
    f->heard[peer] = word;
    return 0;
}

/* Connections are made by the first write, here, so that no measured one makes them. Of two ranks
 * the lower one begins: of connections that both sides begin at once provider tcp may keep none
 * (issues 7396 and 9052 of libfabric). */
int libfabric_meet(struct weir_rank *r)
{
    int64_t word = weir_monotonic(); /* another one for each connection */
    int     rc;
    memcpy(own(r, HELLO), &word, sizeof word);
    for (int p = r->cfg.rank + 1; p < r->cfg.ranks; p++)
        if (rank_is_peer(r, p) && (rc = await(r, p, hello(r), 0)) < 0)
            return rc;
    for (int p = 0; p < r->cfg.rank; p++)
        if (rank_is_peer(r, p) &&
            ((rc = listen_for(r, p)) < 0 || (rc = await(r, p, hello(r), 0)) < 0))
            return rc;
    return 0;
}

static int send_word(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    struct libfabric_rank *f    = r->fs;
    uint32_t               which = FOR_SLOT;
    while (which < PLACES && place_of(r, which, r->cfg.rank) != place)
        which++;
    if (which == PLACES)
        return rank_fail(r, -EINVAL, "signal", peer, "no signal is for the word at %llu",
                         (unsigned long long)place);
    size_t      at = WORD + which * sizeof value;
    struct post o  = {.kind = POST_NOTE, OF_WORD, .local = own(r, at), .n = sizeof value,
                      .roff = beside(r, r->cfg.rank) + at,
                      .note = note(KIND_WORD, r->cfg.rank, which)};
    memcpy(own(r, at), &value, sizeof value);
    if (f->inject >= sizeof value && !r->closing) { /* taken when it is posted */
        o.kind = POST_INJECT;
        return post(r, peer, &o, NULL);
    }
    return await(r, peer, o, r->closing ? PARTING_NS : 0);
}

/* The flush is of the control region, which is other memory than that of data. */
static int tell(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    char *from = rank_told(r, peer);
    memcpy(from, &value, sizeof value);
    int rc = await(r, peer, (struct post){.kind = POST_WRITE, OF_WORD, .local = from,
                                          .n = sizeof value, .roff = place}, 0);
    if (rc < 0 || ((struct libfabric_rank *)r->fs)->delivery == DELIVERY_COMPLETION)
        return rc;
    return await(r, peer, (struct post){.kind = POST_FLUSH, OF_WORD, .local = own(r, FLUSHED),
                                        .n = 8, .roff = beside(r, peer) + FLUSHED}, 0);
}

static int ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct libfabric_rank *f = r->fs;
    struct post            o = {.kind = POST_NOTE, OF_DATA, .local = local, .n = n,
                                .note = note(KIND_PING, r->cfg.rank, seq)};
    if (n <= f->inject && n <= f->piece) {
        o.kind = POST_INJECT;
        return post(r, peer, &o, NULL);
    }
    /* its answer says that it came: nobody waits for its completion */
    int rc = post_all(r, peer, o, NULL);
    return rc < 0 ? rc : 0;
}

/* Who only waits for a message hears nothing of its sender's death. After so many
 * looks in vain, some tens of milliseconds, a write finds out. */
static inline uint32_t looks(const struct weir_rank *r) { return r->cfg.sleeps ? 8 : 1u << 18; }

static int arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    struct libfabric_rank *f    = r->fs;
    struct libfabric_peer *p    = &f->peers[peer];
    uint32_t               need = n > f->piece ? (uint32_t)((n + f->piece - 1) / f->piece) : 1;
    if (p->pieces == need && p->ping == (seq & SEQ_MASK)) {
        p->pieces = 0; /* the next message may have the same number: each case counts anew */
        p->looks  = 0;
        return 1;
    }
    int rc = libfabric_wait(r);
    if (rc == 0 && ++p->looks % looks(r) == 0 && !p->outstanding)
        rc = post_all(r, peer, hello(r), NULL);
    return rc < 0 ? rc : 0;
}

const struct weir_fabric weir_fab_libfabric = {
    .name = "libfabric", .library = "libfabric.so", .caps = CAP_NETWORK, .probe = libfabric_probe,
    .open = libfabric_open, .attach = libfabric_attach, .address = libfabric_address,
    .connect = libfabric_connect, .put = put, .get = get, .post = posts_itself,
    .progress = libfabric_progress, .wait = libfabric_wait, .flush = flush, .signal = send_word,
    .tell = tell, .expect = expects_nothing, .ping = ping,
    .arrived = arrived, .ceiling = ceiling_raw, .transport = libfabric_transport,
    .carriers = libfabric_carriers, .disconnect = libfabric_disconnect,
    .close = libfabric_close,
};

#else
static void fabric_probe(struct weir_info *out)
{
    snprintf(out->reason, sizeof out->reason, "weir was built without libfabric's headers (install libfabric-dev and build again)");
}

const struct weir_fabric weir_fab_libfabric = {
    .name = "libfabric", .caps = CAP_NETWORK, .probe = fabric_probe, .open = unsupported_open,
    .attach = unsupported_attach, .address = unsupported_address,
    .connect = unsupported_connect, .put = unsupported_put, .get = unsupported_get,
    .post = posts_itself, .progress = unsupported_progress, .wait = unsupported_progress,
    .flush = unsupported_flush,
    .signal = unsupported_signal, .tell = unsupported_tell, .expect = expects_nothing,
    .ping = unsupported_ping, .arrived = unsupported_arrived, .ceiling = ceiling_is_memcpy,
    .transport = unsupported_transport, .carriers = unsupported_carriers,
    .disconnect = unsupported_disconnect, .close = unsupported_close,
};
#endif
