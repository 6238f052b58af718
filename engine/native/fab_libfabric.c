/* libfabric: one endpoint (FI_EP_RDM) with RMA over whichever provider supports that here. The
 * target learns of arrivals from remote CQ data: the entry shows up when the write is in its
 * memory. Nothing relies on the order of bytes or of writes. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "loop_ceiling.h"
#include "fab_libfabric.h"
#include "rank.h"
#include "fabric_unsupported.h"

#ifdef WEIR_HAS_LIBFABRIC
#include "fab_libfabric_words.h"

#define LAST_SIGNAL_NS 250000000 /* limit for the confirmation of a last signal */

static int take_op(struct weir_rank *r, int peer, const char *name, struct libfabric_op **op)
{
    struct libfabric_rank *f = r->fs;
    int rc;
    while (!f->free) {
        if ((rc = rank_poll_for(r, peer, name)) < 0) {
            return rc;
        }
    }
    *op = f->free;
    f->free = (*op)->next;
    return 0;
}

struct post { /* one operation */
    enum { POST_WRITE, POST_READ, POST_FLUSH, POST_NOTE, POST_INJECT } kind;
    enum weir_region_name local_region, remote_region; /* the regions at both ends */
    const void *local;
    size_t n;
    uint64_t roff;
    uint32_t note;
};

#define OF_DATA .local_region = REGION_SOURCE, .remote_region = REGION_SINK
#define OF_WORD .local_region = REGION_CONTROL, .remote_region = REGION_CONTROL

static const char *const names[] = {"fi_write", "fi_read", "fi_readmsg", "fi_writemsg",
                                    "fi_inject_writedata"};

static ssize_t post_message(struct libfabric_rank *f, struct libfabric_peer *p,
                            const struct post *o, void *context)
{
    struct iovec iov = {(void *)o->local, o->n};
    struct fi_rma_iov remote = {p->regions[o->remote_region].base + o->roff, o->n,
                                p->regions[o->remote_region].key};
    struct fi_msg_rma m = {.msg_iov = &iov,
                           .desc = &f->desc[o->local_region],
                           .iov_count = 1,
                           .addr = p->address,
                           .rma_iov = &remote,
                           .rma_iov_count = 1,
                           .context = context,
                           .data = o->note};
    if (o->kind == POST_FLUSH) {
        return fi_readmsg(f->ep, &m,
                          FI_COMPLETION | (f->delivery == DELIVERY_FENCE ? FI_FENCE : 0));
    }
    return fi_writemsg(f->ep, &m,
                       FI_COMPLETION |
                           (o->kind == POST_NOTE ? FI_REMOTE_CQ_DATA : FI_DELIVERY_COMPLETE));
}

static inline ssize_t post_once(struct libfabric_rank *f, struct libfabric_peer *p,
                                const struct post *o, void *context)
{
    const struct libfabric_remote_region *region = &p->regions[o->remote_region];
    switch (o->kind) {
    case POST_WRITE:
        /* set per operation: provider net ignores the endpoint's default */
        if (f->delivery == DELIVERY_COMPLETION) {
            return post_message(f, p, o, context);
        }
        return fi_write(f->ep, o->local, o->n, f->desc[o->local_region], p->address,
                        region->base + o->roff, region->key, context);
    case POST_READ:
        return fi_read(f->ep, (void *)o->local, o->n, f->desc[o->local_region], p->address,
                       region->base + o->roff, region->key, context);
    case POST_INJECT:
        return fi_inject_writedata(f->ep, o->local, o->n, o->note, p->address,
                                   region->base + o->roff, region->key);
    default:
        return post_message(f, p, o, context);
    }
}

/* Retries until the provider accepts it: progress drains a full queue and completes a pending
 * connection. */
static inline int post(struct weir_rank *r, int peer, const struct post *o, void *context)
{
    struct libfabric_rank *f = r->fs;
    ssize_t n = post_once(f, &f->peers[peer], o, context);
    int rc;
    while (n == -FI_EAGAIN) {
        if ((rc = rank_poll_for(r, peer, names[o->kind])) < 0) {
            return rc;
        }
        n = post_once(f, &f->peers[peer], o, context);
    }
    return n < 0 ? rank_fail(r, (int)n, names[o->kind], peer, "%s", libfabric.fi_strerror((int)-n))
                 : 0;
}

/* Posts a request, split into pieces if it exceeds the limit of one operation. */
static int post_all(struct weir_rank *r, int peer, struct post o, struct weir_req *q)
{
    struct libfabric_rank *f = r->fs;
    struct libfabric_peer *p = &f->peers[peer];
    struct libfabric_op *parent = NULL, *op;
    size_t n = o.n;
    int rc;
    do {
        if ((rc = take_op(r, peer, names[o.kind], &op)) < 0) {
            return rc;
        }
        if (!parent) {
            parent = op;
            parent->left = n > f->piece ? (uint32_t)((n + f->piece - 1) / f->piece) : 1;
            parent->q = q;
        }
        op->parent = parent;
        op->peer = peer;
        op->name = names[o.kind];
        o.n = n < f->piece ? n : f->piece;
        p->outstanding++;
        if ((rc = post(r, peer, &o, op)) < 0) {
            return rc;
        }
        o.local = (const char *)o.local + o.n;
        o.roff += o.n;
        n -= o.n;
    } while (n);
    return WEIR_PENDING;
}

static int put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q)
{
    return post_all(
        r, peer, (struct post){.kind = POST_WRITE, OF_DATA, .local = local, .n = n, .roff = roff},
        q);
}

static int get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
               struct weir_req *q)
{
    return post_all(r, peer,
                    (struct post){.kind = POST_READ, OF_DATA, .local = local, .n = n, .roff = roff},
                    q);
}

static int flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct libfabric_rank *f = r->fs;
    struct libfabric_peer *p = &f->peers[peer];
    if (f->delivery != DELIVERY_COMPLETION) {
        return post_all(r, peer,
                        (struct post){.kind = POST_FLUSH,
                                      .local_region = REGION_CONTROL,
                                      .remote_region = REGION_SINK,
                                      .local = own_line(r, FLUSHED),
                                      .n = 8},
                        q);
    }
    if (!p->outstanding) {
        return WEIR_DONE;
    }
    if (p->flush) {
        return rank_fail(r, -EBUSY, "flush", peer, "another flush is already pending");
    }
    p->flush = q;
    return WEIR_PENDING;
}

/* Posts and waits; limit: abandons the wait after this time; 0: none. */
static int await(struct weir_rank *r, int peer, struct post o, int64_t limit)
{
    struct weir_req *q = &((struct libfabric_rank *)r->fs)->peers[peer].awaited;
    int64_t until = limit ? weir_monotonic() + limit : 0;
    /* never reaches 0, so no loop is notified */
    *q = (struct weir_req){.pending = 2};
    int rc = post_all(r, peer, o, q);
    while (rc >= 0 && q->pending == 2) {
        if (until && weir_monotonic() > until) {
            return 0;
        }
        rc = rank_poll_for(r, peer, names[o.kind]);
    }
    return rc < 0 ? rc : 0;
}

/* A write that is ignored, to test whether the peer is alive. */
static struct post hello(struct weir_rank *r)
{
    return (struct post){.kind = POST_WRITE,
                         OF_WORD,
                         .local = own_line(r, HELLO),
                         .n = 8,
                         .roff = rank_ping_of(r, r->cfg.rank) + HELLO};
}

/* Waits until the lower rank has connected, or its timeout has passed. */
static int listen_for(struct weir_rank *r, int peer)
{
    struct libfabric_rank *f = r->fs;
    _Atomic uint64_t *hello = rank_word(r, rank_ping_of(r, peer) + HELLO);
    int64_t until = weir_monotonic() + libfabric_listening;
    int rc;
    for (;;) {
        uint64_t word = atomic_load_explicit(hello, memory_order_acquire);
        if (word != f->last_hello[peer]) {
            f->last_hello[peer] = word;
            return 0;
        }
        if (weir_monotonic() > until) {
            return 0;
        }
        if ((rc = rank_poll_for(r, peer, "connect")) < 0) {
            return rc;
        }
    }
}

/* Connects by a first write, outside measured parts. The lower of two ranks goes first: with
 * connections started on both sides at once provider tcp may keep none (libfabric issues 7396 and
 * 9052). */
int libfabric_connect_peers(struct weir_rank *r)
{
    int64_t word = weir_monotonic(); /* a different one for each connection */
    int rc;
    memcpy(own_line(r, HELLO), &word, sizeof word);
    for (int p = r->cfg.rank + 1; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = await(r, p, hello(r), 0)) < 0) {
                return rc;
            }
        }
    }
    for (int p = 0; p < r->cfg.rank; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = listen_for(r, p)) < 0) {
                return rc;
            }
            if ((rc = await(r, p, hello(r), 0)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int send_word(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    struct libfabric_rank *f = r->fs;
    uint32_t which = FOR_SLOT;
    while (which < PLACES && place_of(r, which, r->cfg.rank) != place) {
        which++;
    }
    if (which == PLACES) {
        return rank_fail(r, -EINVAL, "signal", peer, "signal to an invalid offset %llu",
                         (unsigned long long)place);
    }
    size_t at = WORD + which * sizeof value;
    struct post o = {.kind = POST_NOTE,
                     OF_WORD,
                     .local = own_line(r, at),
                     .n = sizeof value,
                     .roff = rank_ping_of(r, r->cfg.rank) + at,
                     .note = note(KIND_WORD, r->cfg.rank, which)};
    memcpy(own_line(r, at), &value, sizeof value);
    if (f->inject >= sizeof value && !r->closing) { /* complete when posted */
        o.kind = POST_INJECT;
        return post(r, peer, &o, NULL);
    }
    return await(r, peer, o, r->closing ? LAST_SIGNAL_NS : 0);
}

/* Flushes the control region, which is separate from data memory. */
static int notify(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    char *from = rank_outbox(r, peer);
    memcpy(from, &value, sizeof value);
    int rc = await(
        r, peer,
        (struct post){.kind = POST_WRITE, OF_WORD, .local = from, .n = sizeof value, .roff = place},
        0);
    if (rc < 0 || ((struct libfabric_rank *)r->fs)->delivery == DELIVERY_COMPLETION) {
        return rc;
    }
    return await(r, peer,
                 (struct post){.kind = POST_FLUSH,
                               OF_WORD,
                               .local = own_line(r, FLUSHED),
                               .n = 8,
                               .roff = rank_ping_of(r, peer) + FLUSHED},
                 0);
}

static int ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct libfabric_rank *f = r->fs;
    struct post o = {.kind = POST_NOTE,
                     OF_DATA,
                     .local = local,
                     .n = n,
                     .note = note(KIND_PING, r->cfg.rank, seq)};
    if (n <= f->inject && n <= f->piece) {
        o.kind = POST_INJECT;
        return post(r, peer, &o, NULL);
    }
    /* the reply confirms it: its completion is not awaited */
    int rc = post_all(r, peer, o, NULL);
    return rc < 0 ? rc : 0;
}

/* A rank that only waits for a message is not notified of its sender's death. After this many polls
 * without success (tens of milliseconds) it probes the peer by a write. */
static inline uint32_t probe_after_polls(const struct weir_rank *r)
{
    return r->cfg.sleeps ? 8 : 1u << 18;
}

static int arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    struct libfabric_rank *f = r->fs;
    struct libfabric_peer *p = &f->peers[peer];
    uint32_t need = n > f->piece ? (uint32_t)((n + f->piece - 1) / f->piece) : 1;
    if (p->pieces == need && p->ping == (seq & SEQ_MASK)) {
        p->pieces = 0; /* the next message may have the same number: each case restarts the count */
        p->polls = 0;
        return 1;
    }
    int rc = libfabric_poll(r);
    if (rc == 0 && ++p->polls % probe_after_polls(r) == 0 && !p->outstanding) {
        rc = post_all(r, peer, hello(r), NULL);
    }
    return rc < 0 ? rc : 0;
}

const struct weir_fabric weir_fab_libfabric = {
    .name = "libfabric",
    .library = "libfabric.so",
    .version = libfabric_version,
    .caps = CAP_NETWORK,
    .probe = libfabric_probe,
    .open = libfabric_open,
    .attach = libfabric_attach,
    .address = libfabric_address,
    .connect = libfabric_connect,
    .put = put,
    .get = get,
    .post = posts_itself,
    .progress = libfabric_progress,
    .poll = libfabric_poll,
    .idle_wait = no_idle_wait,
    .flush = flush,
    .signal = send_word,
    .notify = notify,
    .prepost = preposts_nothing,
    .ping = ping,
    .arrived = arrived,
    .runs_pingpong = runs_no_pingpong,
    .run_pingpong = unsupported_run_pingpong,
    .ceiling = ceiling_by_requests,
    .transport = libfabric_transport,
    .carriers = libfabric_carriers,
    .disconnect = libfabric_disconnect,
    .close = libfabric_close,
};

#else
static void fabric_probe(struct weir_info *out)
{
    snprintf(
        out->reason, sizeof out->reason,
        "weir was built without libfabric's headers (install libfabric-dev, then go build -a)");
}

const struct weir_fabric weir_fab_libfabric = {
    .name = "libfabric",
    .caps = CAP_NETWORK,
    .probe = fabric_probe,
    .open = unsupported_open,
    .attach = unsupported_attach,
    .address = unsupported_address,
    .connect = unsupported_connect,
    .put = unsupported_put,
    .get = unsupported_get,
    .post = posts_itself,
    .progress = unsupported_progress,
    .poll = unsupported_progress,
    .idle_wait = no_idle_wait,
    .flush = unsupported_flush,
    .signal = unsupported_signal,
    .notify = unsupported_notify,
    .prepost = preposts_nothing,
    .ping = unsupported_ping,
    .arrived = unsupported_arrived,
    .runs_pingpong = runs_no_pingpong,
    .run_pingpong = unsupported_run_pingpong,
    .ceiling = ceiling_is_memcpy,
    .transport = unsupported_transport,
    .carriers = unsupported_carriers,
    .disconnect = unsupported_disconnect,
    .close = unsupported_close,
};
#endif
