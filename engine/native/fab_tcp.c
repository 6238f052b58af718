/* tcp: one-sided operations over plain sockets. The target's progress carries
 * them out: it reads a put's bytes straight into their place and acknowledges
 * them in order, so a put is complete when it is in the target's memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rank.h"
#include "tcp_ring.h"
#include "tcp_wire.h"
#include "unsupported.h"

enum { MSG_PUT = 1, MSG_PING, MSG_GET, MSG_DATA, MSG_ACK, MSG_WORD };

struct header {
    uint32_t type, magic;
    uint64_t off, len; /* place in the target's memory, bytes that follow */
    uint64_t arg;      /* ping: its number; ack: puts carried out; word: the value */
};
#define MAGIC 0x72696577u

struct out { /* a message to send */
    struct header h;
    const char   *payload;
};

struct pending { /* an operation that a message from the peer will complete */
    struct weir_req *q;
    char            *to; /* of a get */
    size_t           n;
};

struct tcp_peer {
    int         fd, probe;
    struct ring out, puts, gets; /* struct out, struct pending, struct pending */
    size_t      sent;            /* bytes of the message at out.head already sent */
    uint64_t    carried, acked;  /* puts of the peer's: carried out, told so */
    /* incoming: what is left of the current payload, then what was read beyond it */
    char         *to;
    size_t        left;
    struct header cur;
    char          stage[65536];
    size_t        from, to_end;
};

struct tcp {
    struct tcp_wire *wire;
    struct tcp_peer *peers;
    int              epoll; /* of all peers; -1: they are few enough to look at each */
};

#define IOVS 64
#define FEW_PEERS 4
#define ROUNDS 16 /* of system calls before the rank's loop turns again */

static void tcp_probe(struct weir_info *out)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        snprintf(out->reason, sizeof out->reason, "socket: %s", strerror(errno));
        return;
    }
    close(fd);
    out->available = 1;
    snprintf(out->version, sizeof out->version, "built in");
}

static int tcp_open(struct weir_rank *r)
{
    struct tcp *t = calloc(1, sizeof *t);
    if (!t || !(t->peers = calloc((size_t)r->cfg.ranks, sizeof *t->peers)))
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    for (int p = 0; p < r->cfg.ranks; p++) {
        t->peers[p].fd = t->peers[p].probe = -1;
        t->peers[p].out.size               = sizeof(struct out);
        t->peers[p].puts.size = t->peers[p].gets.size = sizeof(struct pending);
    }
    r->fs    = t;
    t->epoll = -1;
    t->wire = tcp_wire_listen(r);
    return t->wire ? 0 : -1;
}

static int tcp_attach(struct weir_rank *r, size_t bytes)
{
    (void)r, (void)bytes;
    return 0; /* sockets take any memory */
}

static int64_t tcp_address(struct weir_rank *r, void *buf, size_t cap) { return tcp_wire_address(r, ((struct tcp *)r->fs)->wire, buf, cap); }

/* Of many sockets one call tells which have something: a call for each would be all
 * that ranks which share cores have time for. */
static int watch_all(struct weir_rank *r)
{
    struct tcp *t = r->fs;
    if ((t->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return rank_fail(r, -errno, "connect", -1, "epoll_create1: %s", strerror(errno));
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct epoll_event e = {.events = EPOLLIN, .data.fd = p};
        if (t->peers[p].fd >= 0 && epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->peers[p].fd, &e) < 0)
            return rank_fail(r, -errno, "connect", p, "epoll_ctl: %s", strerror(errno));
    }
    return 0;
}

static int tcp_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    struct tcp *t = r->fs;
    int         rc, (*fds)[2] = calloc((size_t)r->cfg.ranks, sizeof *fds);
    if (!fds)
        return rank_fail(r, -ENOMEM, "connect", -1, "no memory for %d peers", r->cfg.ranks);
    rc = tcp_wire_connect(r, t->wire, blobs, lens, fds);
    for (int p = 0; p < r->cfg.ranks && rc == 0; p++)
        t->peers[p].fd = fds[p][0], t->peers[p].probe = fds[p][1];
    free(fds);
    return rc < 0 || r->cfg.ranks - 1 <= FEW_PEERS ? rc : watch_all(r);
}

static int broken(struct weir_rank *r, int peer, const char *op, ssize_t n)
{
    int e = n == 0 ? ECONNRESET : errno;
    return rank_fail(r, -e, op, peer, "%s", n == 0 ? "the peer closed the connection" : strerror(e));
}

/* Sends what the socket takes, in a bounded number of calls: a peer that drains it
 * as fast would otherwise keep this side from everything else. */
static int pump_out(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    for (int round = 0; round < ROUNDS && p->out.head < p->out.tail; round++) {
        struct iovec iov[IOVS];
        int          n    = 0;
        size_t       skip = p->sent;
        for (uint64_t i = p->out.head; i < p->out.tail && n + 2 <= IOVS; i++) {
            struct out *o = ring_at(&p->out, i);
            if (skip < sizeof o->h)
                iov[n++] = (struct iovec){(char *)&o->h + skip, sizeof o->h - skip};
            size_t done = skip > sizeof o->h ? skip - sizeof o->h : 0;
            if (o->payload && o->h.len > done)
                iov[n++] = (struct iovec){(char *)o->payload + done, o->h.len - done};
            skip = 0;
        }
        struct msghdr m    = {.msg_iov = iov, .msg_iovlen = (size_t)n};
        ssize_t       sent = sendmsg(p->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : broken(r, peer, "send", sent);
        p->sent += (size_t)sent;
        while (p->out.head < p->out.tail) {
            struct out *o     = ring_at(&p->out, p->out.head);
            size_t      whole = sizeof o->h + (o->payload ? o->h.len : 0);
            if (p->sent < whole)
                break;
            p->sent -= whole;
            p->out.head++;
        }
    }
    return 0;
}

static int queue(struct weir_rank *r, int peer, struct header h, const void *payload)
{
    struct out *o = ring_push(&((struct tcp *)r->fs)->peers[peer].out);
    if (!o)
        return rank_fail(r, -ENOMEM, "send", peer, "no memory to queue a message");
    h.magic = MAGIC;
    *o      = (struct out){h, payload};
    return 0;
}

static int bad(struct weir_rank *r, int peer, const struct header *h)
{
    return rank_fail(r, -EPROTO, "receive", peer, "malformed message: type %u, offset %llu, %llu bytes", h->type, (unsigned long long)h->off,
                     (unsigned long long)h->len);
}

/* A header is complete: act, or say where its payload goes. */
static int begin_message(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    struct header   *h = &p->cur;
    if (h->magic != MAGIC)
        return bad(r, peer, h);
    int inside = h->off <= r->mem.size && h->len <= r->mem.size - h->off;
    switch (h->type) {
    case MSG_PUT:
    case MSG_PING:
        if (!inside || h->len == 0)
            return bad(r, peer, h);
        p->to   = r->mem.base + h->off;
        p->left = h->len;
        return 0;
    case MSG_GET:
        if (!inside || h->len == 0)
            return bad(r, peer, h);
        return queue(r, peer, (struct header){.type = MSG_DATA, .len = h->len}, r->mem.base + h->off);
    case MSG_DATA: {
        struct pending *g = p->gets.head < p->gets.tail ? ring_at(&p->gets, p->gets.head) : NULL;
        if (!g || g->n != h->len)
            return bad(r, peer, h);
        p->to   = g->to;
        p->left = h->len;
        return 0;
    }
    case MSG_ACK:
        if (h->arg > p->puts.tail)
            return bad(r, peer, h);
        while (p->puts.head < h->arg) {
            struct pending *o = ring_at(&p->puts, p->puts.head++);
            if (o->q)
                weir_part_done(o->q, 0);
        }
        return 0;
    case MSG_WORD:
        atomic_store_explicit(rank_slot(r, peer), h->arg, memory_order_release);
        return 0;
    }
    return bad(r, peer, h);
}

static void end_message(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    if (p->cur.type == MSG_DATA) {
        struct pending *g = ring_at(&p->gets, p->gets.head++);
        weir_part_done(g->q, 0);
        return;
    }
    if (p->cur.type == MSG_PING)
        atomic_store_explicit(rank_ping_slot(r, peer), p->cur.arg, memory_order_release);
    p->carried++;
}

/* Takes messages out of what was read beyond the last payload. */
static int parse_stage(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    int              rc;
    for (;;) {
        if (p->left) {
            size_t n = p->to_end - p->from < p->left ? p->to_end - p->from : p->left;
            memcpy(p->to, p->stage + p->from, n);
            p->from += n, p->to += n, p->left -= n;
            if (p->left)
                return 0;
            end_message(r, peer);
        }
        if (p->to_end - p->from < sizeof p->cur)
            return 0;
        memcpy(&p->cur, p->stage + p->from, sizeof p->cur);
        p->from += sizeof p->cur;
        if ((rc = begin_message(r, peer)) < 0)
            return rc;
    }
}

/* Reads what has come: payloads straight into their place, the rest into the stage. */
static int pump_in(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    int              rc;
    for (int round = 0; round < ROUNDS; round++) {
        size_t keep = p->to_end - p->from; /* the beginning of a header */
        memmove(p->stage, p->stage + p->from, keep);
        p->from = 0, p->to_end = keep;
        struct iovec iov[2] = {{p->to, p->left}, {p->stage + keep, sizeof p->stage - keep}};
        size_t       want   = p->left + sizeof p->stage - keep;
        struct msghdr m     = {.msg_iov = p->left ? iov : iov + 1, .msg_iovlen = p->left ? 2 : 1};
        ssize_t       n     = recvmsg(p->fd, &m, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (n == 0 && r->closing) {
            close(p->fd);
            p->fd = -1;
            return 0;
        }
        if (n <= 0)
            return broken(r, peer, "receive", n);
        size_t direct = (size_t)n < p->left ? (size_t)n : p->left;
        if (direct) {
            p->to += direct, p->left -= direct;
            if (!p->left)
                end_message(r, peer);
        }
        p->to_end += (size_t)n - direct;
        if ((rc = parse_stage(r, peer)) < 0)
            return rc;
        if ((size_t)n < want)
            break;
    }
    if (p->carried > p->acked) {
        if ((rc = queue(r, peer, (struct header){.type = MSG_ACK, .arg = p->carried}, NULL)) < 0)
            return rc;
        p->acked = p->carried;
    }
    return 0;
}

static int pump_in_ready(struct weir_rank *r)
{
    struct epoll_event ready[64];
    int                rc, n = epoll_wait(((struct tcp *)r->fs)->epoll, ready, sizeof ready / sizeof *ready, 0);
    for (int i = 0; i < n; i++)
        if ((rc = pump_in(r, ready[i].data.fd)) < 0)
            return rc;
    return 0; /* who was not ready, or did not fit, is asked again in the next turn */
}

static int tcp_progress(struct weir_rank *r)
{
    struct tcp *t  = r->fs;
    int         rc = t->epoll < 0 ? 0 : pump_in_ready(r);
    if (rc < 0)
        return rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct tcp_peer *q = &t->peers[p];
        if (q->fd < 0)
            continue;
        if (t->epoll < 0 && (rc = pump_in(r, p)) < 0)
            return rc;
        if (q->out.head < q->out.tail && (rc = pump_out(r, p)) < 0)
            return rc;
    }
    return 0;
}

static int send_put(struct weir_rank *r, int peer, const void *local, struct header h, struct weir_req *q)
{
    struct pending *o = ring_push(&((struct tcp *)r->fs)->peers[peer].puts);
    if (!o)
        return rank_fail(r, -ENOMEM, "put", peer, "no memory to queue a put");
    *o     = (struct pending){.q = q};
    int rc = queue(r, peer, h, local);
    return rc < 0 ? rc : WEIR_PENDING;
}

static int tcp_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n, struct weir_req *q)
{
    return send_put(r, peer, local, (struct header){.type = MSG_PUT, .off = roff, .len = n}, q);
}

static int tcp_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n, struct weir_req *q)
{
    struct pending *g = ring_push(&((struct tcp *)r->fs)->peers[peer].gets);
    if (!g)
        return rank_fail(r, -ENOMEM, "get", peer, "no memory to queue a get");
    *g     = (struct pending){q, local, n};
    int rc = queue(r, peer, (struct header){.type = MSG_GET, .off = roff, .len = n}, NULL);
    return rc < 0 ? rc : WEIR_PENDING;
}

static int tcp_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    if (p->puts.head == p->puts.tail)
        return WEIR_DONE;
    /* acknowledgements come in order: whoever waits for the last put waits for all */
    struct pending *last = ring_at(&p->puts, p->puts.tail - 1);
    if (last->q)
        return rank_fail(r, -EBUSY, "flush", peer, "the last put belongs to a request that is still counted");
    last->q = q;
    return WEIR_PENDING;
}

/* Everything queued is with the kernel when this returns. */
static int drain(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    int              rc;
    while (p->out.head < p->out.tail)
        if ((rc = pump_out(r, peer)) < 0 || (rc = tcp_progress(r)) < 0 || (rc = rank_tick(r)) < 0)
            return rc;
    return 0;
}

static int tcp_signal(struct weir_rank *r, int peer, uint64_t value)
{
    int rc = queue(r, peer, (struct header){.type = MSG_WORD, .arg = value}, NULL);
    return rc < 0 ? rc : drain(r, peer);
}

static int tcp_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    int rc = send_put(r, peer, local, (struct header){.type = MSG_PING, .off = r->exposed, .len = n, .arg = seq}, NULL);
    return rc < 0 ? rc : pump_out(r, peer);
}

static int tcp_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    (void)n;
    int rc = tcp_progress(r);
    if (rc < 0)
        return rc;
    return atomic_load_explicit(rank_ping_slot(r, peer), memory_order_acquire) == seq;
}

static int tcp_ceiling(struct weir_rank *r, int peer, int initiator, const struct weir_case *of, struct ceiling *c)
{
    (void)of; /* any size: a bare socket has no requests */
    return tcp_wire_ceiling(r, ((struct tcp *)r->fs)->peers[peer].probe, peer, initiator, c);
}

int fab_tcp_socket(struct weir_rank *r, int peer) { return ((struct tcp *)r->fs)->peers[peer].fd; }

static void tcp_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    tcp_wire_describe(((struct tcp *)r->fs)->peers[peer].fd, buf, cap);
}

static void tcp_carriers(struct weir_rank *r, int peer, char *list)
{
    (void)r, (void)peer;
    carrier_add(list, CARRIES_DATA, "tcp", "");
}

static int tcp_close(struct weir_rank *r)
{
    struct tcp *t = r->fs;
    for (int i = 0; i < r->cfg.ranks; i++) {
        struct tcp_peer *p = &t->peers[i];
        if (p->fd >= 0)
            close(p->fd);
        if (p->probe >= 0)
            close(p->probe);
        free(p->out.at);
        free(p->puts.at);
        free(p->gets.at);
    }
    if (t->epoll >= 0)
        close(t->epoll);
    tcp_wire_close(t->wire);
    free(t->peers);
    free(t);
    return 0;
}

const struct weir_fabric weir_fab_tcp = {
    .name = "tcp", .caps = CAP_REMOTE_COMPLETION | CAP_NETWORK, .probe = tcp_probe, .open = tcp_open, .attach = tcp_attach, .address = tcp_address,
    .connect = tcp_connect, .put = tcp_put, .get = tcp_get, .progress = tcp_progress, .flush = tcp_flush, .signal = tcp_signal, .expect = expects_nothing,
    .ping = tcp_ping, .arrived = tcp_arrived, .ceiling = tcp_ceiling, .transport = tcp_transport, .carriers = tcp_carriers, .close = tcp_close,
};
