/* tcp: one-sided operations over plain sockets. The target's progress executes them: it reads a
 * put's bytes directly into place and acknowledges them in order, so a completed put is in the
 * target's memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rank.h"
#include "fab_tcp_pump.h"
#include "fab_tcp_wire.h"
#include "fabric_unsupported.h"

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

static void no_peer(struct tcp_peer *p)
{
    memset(p, 0, sizeof *p);
    p->fd = p->probe = -1;
    p->out.size = sizeof(struct tcp_out);
    p->puts.size = p->gets.size = sizeof(struct tcp_pending);
}

static int tcp_open(struct weir_rank *r)
{
    struct tcp *t = calloc(1, sizeof *t);
    if (!t) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    t->peers = calloc((size_t)r->cfg.ranks, sizeof *t->peers);
    if (!t->peers) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    for (int p = 0; p < r->cfg.ranks; p++) {
        no_peer(&t->peers[p]);
    }
    r->fs = t;
    t->epoll = -1;
    t->wire = tcp_wire_listen(r);
    return t->wire ? 0 : -1;
}

static int tcp_attach(struct weir_rank *r, enum weir_region_name name)
{
    return 0; /* sockets take any host memory */
}

static int64_t tcp_address(struct weir_rank *r, void *buf, size_t cap)
{
    return tcp_wire_address(r, ((struct tcp *)r->fs)->wire, buf, cap);
}

static int tcp_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    struct tcp *t = r->fs;
    int rc, (*fds)[2] = calloc((size_t)r->cfg.ranks, sizeof *fds);
    if (!fds) {
        return rank_fail(r, -ENOMEM, "connect", -1, "no memory for %d peers", r->cfg.ranks);
    }
    rc = tcp_wire_connect(r, t->wire, blobs, lens, fds);
    for (int p = 0; p < r->cfg.ranks && rc == 0; p++) {
        t->peers[p].fd = fds[p][0];
        t->peers[p].probe = fds[p][1];
    }
    free(fds);
    return rc < 0 ? rc : tcp_watch(r);
}

static int send_put(struct weir_rank *r, int peer, const void *local, struct tcp_header h,
                    struct weir_req *q)
{
    struct tcp_pending *o = ring_push(&((struct tcp *)r->fs)->peers[peer].puts);
    if (!o) {
        return rank_fail(r, -ENOMEM, "put", peer, "no memory to queue a put");
    }
    *o = (struct tcp_pending){.q = q};
    int rc = tcp_queue(r, peer, h, local);
    return rc < 0 ? rc : WEIR_PENDING;
}

static int tcp_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                   struct weir_req *q)
{
    return send_put(r, peer, local, (struct tcp_header){.type = MSG_PUT, .off = roff, .len = n}, q);
}

static int tcp_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                   struct weir_req *q)
{
    struct tcp_pending *g = ring_push(&((struct tcp *)r->fs)->peers[peer].gets);
    if (!g) {
        return rank_fail(r, -ENOMEM, "get", peer, "no memory to queue a get");
    }
    *g = (struct tcp_pending){q, local, n};
    int rc = tcp_queue(r, peer, (struct tcp_header){.type = MSG_GET, .off = roff, .len = n}, NULL);
    return rc < 0 ? rc : WEIR_PENDING;
}

static int tcp_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    if (p->puts.head == p->puts.tail) {
        return WEIR_DONE;
    }
    /* acknowledgements are in order: the last put completes after all others */
    struct tcp_pending *last = ring_at(&p->puts, p->puts.tail - 1);
    if (last->q) {
        return rank_fail(r, -EBUSY, "flush", peer,
                         "the last put belongs to a request that is still counted");
    }
    last->q = q;
    return WEIR_PENDING;
}

/* Waits until the kernel has taken everything queued. */
static int drain(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    int rc;
    while (p->out.head < p->out.tail) {
        if ((rc = tcp_pump_out(r, peer)) < 0) {
            return rc;
        }
        if ((rc = tcp_progress(r)) < 0) {
            return rc;
        }
        if ((rc = rank_tick_for(r, peer, "signal")) < 0) {
            return rc;
        }
    }
    return 0;
}

static int tcp_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    int rc =
        tcp_queue(r, peer, (struct tcp_header){.type = MSG_WORD, .off = place, .arg = value}, NULL);
    return rc < 0 ? rc : drain(r, peer);
}

static int tcp_notify(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    struct weir_req q = {.pending = 2};
    int rc = send_put(r, peer, NULL,
                      (struct tcp_header){.type = MSG_NOTIFY, .off = place, .arg = value}, &q);
    return rc < 0 ? rc : rank_await(r, "tell", peer, &q);
}

static int tcp_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    int rc =
        send_put(r, peer, local, (struct tcp_header){.type = MSG_PING, .len = n, .arg = seq}, NULL);
    return rc < 0 ? rc : tcp_pump_out(r, peer);
}

static int tcp_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    int rc = tcp_progress(r);
    if (rc < 0) {
        return rc;
    }
    return atomic_load_explicit(rank_ping_slot(r, peer), memory_order_acquire) == seq;
}

static int tcp_ceiling(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                       struct ceiling *c)
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
    carrier_add(list, CARRIES_DATA, "tcp", "");
}

static void drop_peer(struct tcp_peer *p)
{
    if (p->fd >= 0) {
        close(p->fd);
    }
    if (p->probe >= 0) {
        close(p->probe);
    }
    free(p->out.at);
    free(p->puts.at);
    free(p->gets.at);
}

static int tcp_disconnect(struct weir_rank *r)
{
    struct tcp *t = r->fs;
    for (int i = 0; i < r->cfg.ranks; i++) {
        drop_peer(&t->peers[i]);
        no_peer(&t->peers[i]);
    }
    if (t->epoll >= 0) {
        close(t->epoll);
    }
    t->epoll = -1;
    return 0;
}

static int tcp_close(struct weir_rank *r)
{
    struct tcp *t = r->fs;
    (void)tcp_disconnect(r);
    tcp_wire_close(t->wire);
    free(t->peers);
    free(t);
    return 0;
}

const struct weir_fabric weir_fab_tcp = {
    .name = "tcp",
    .caps = CAP_REMOTE_COMPLETION | CAP_NETWORK | CAP_NEEDS_HOST,
    .probe = tcp_probe,
    .open = tcp_open,
    .attach = tcp_attach,
    .address = tcp_address,
    .connect = tcp_connect,
    .put = tcp_put,
    .get = tcp_get,
    .post = posts_itself,
    .progress = tcp_progress,
    .poll = tcp_progress,
    .idle_wait = tcp_idle_wait,
    .flush = tcp_flush,
    .signal = tcp_signal,
    .notify = tcp_notify,
    .prepost = preposts_nothing,
    .ping = tcp_ping,
    .arrived = tcp_arrived,
    .runs_pingpong = runs_no_pingpong,
    .run_pingpong = unsupported_run_pingpong,
    .ceiling = tcp_ceiling,
    .transport = tcp_transport,
    .carriers = tcp_carriers,
    .disconnect = tcp_disconnect,
    .close = tcp_close,
};
