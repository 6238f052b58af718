/* Message processing of fabric tcp: sends queued messages and executes received ones. */
#define _GNU_SOURCE
#include "fab_tcp_pump.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rank.h"

#define MAGIC 0x72696577u
#define FEW_PEERS 4
#define IOVS 64
#define LARGE 16384 /* bytes: from this size, copying a payload costs more than a system call */
#define ROUNDS 16   /* maximum of system calls per poll */

/* With many sockets, one epoll call finds the ready ones: ranks that share cores could not afford a
 * call for each. */
int tcp_watch(struct weir_rank *r)
{
    struct tcp *t = r->fs;
    if (r->cfg.ranks - 1 <= FEW_PEERS) {
        return 0;
    }
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll < 0) {
        return rank_fail(r, -errno, "connect", -1, "epoll_create1: %s", strerror(errno));
    }
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct epoll_event e = {.events = EPOLLIN, .data.fd = p};
        if (t->peers[p].fd >= 0 && epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->peers[p].fd, &e) < 0) {
            return rank_fail(r, -errno, "connect", p, "epoll_ctl: %s", strerror(errno));
        }
    }
    return 0;
}

static int broken(struct weir_rank *r, int peer, const char *op, ssize_t n)
{
    int e = n == 0 ? ECONNRESET : errno;
    return rank_fail(r, -e, op, peer, "%s",
                     n == 0 ? "the peer closed the connection" : strerror(e));
}

/* Sends what the socket takes, in a bounded number of calls: a fast peer would otherwise keep this
 * side from everything else. */
int tcp_pump_out(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    for (int round = 0; round < ROUNDS && p->out.head < p->out.tail; round++) {
        struct iovec iov[IOVS];
        int n = 0;
        size_t skip = p->sent;
        for (uint64_t i = p->out.head; i < p->out.tail && n + 2 <= IOVS; i++) {
            struct tcp_out *o = ring_at(&p->out, i);
            if (skip < sizeof o->h) {
                iov[n++] = (struct iovec){(char *)&o->h + skip, sizeof o->h - skip};
            }
            size_t done = skip > sizeof o->h ? skip - sizeof o->h : 0;
            if (o->payload && o->h.len > done) {
                iov[n++] = (struct iovec){(char *)o->payload + done, o->h.len - done};
            }
            skip = 0;
        }
        struct msghdr m = {.msg_iov = iov, .msg_iovlen = (size_t)n};
        ssize_t sent = sendmsg(p->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == EINTR ? 0 : broken(r, peer, "send", sent);
        }
        p->sent += (size_t)sent;
        ((struct tcp *)r->fs)->moves++;
        while (p->out.head < p->out.tail) {
            struct tcp_out *o = ring_at(&p->out, p->out.head);
            size_t total = sizeof o->h + (o->payload ? o->h.len : 0);
            if (p->sent < total) {
                break;
            }
            p->sent -= total;
            p->out.head++;
        }
    }
    return 0;
}

int tcp_queue(struct weir_rank *r, int peer, struct tcp_header h, const void *payload)
{
    struct tcp_out *o = ring_push(&((struct tcp *)r->fs)->peers[peer].out);
    if (!o) {
        return rank_fail(r, -ENOMEM, "send", peer, "no memory to queue a message");
    }
    h.magic = MAGIC;
    *o = (struct tcp_out){h, payload};
    return 0;
}

static int bad(struct weir_rank *r, int peer, const struct tcp_header *h)
{
    return rank_fail(r, -EPROTO, "receive", peer,
                     "malformed message: type %u, offset %llu, %llu bytes", h->type,
                     (unsigned long long)h->off, (unsigned long long)h->len);
}

/* Handles a complete header: executes it, or sets the destination of its payload. */
static int begin_message(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    struct tcp_header *h = &p->cur;
    if (h->magic != MAGIC) {
        return bad(r, peer, h);
    }
    const struct weir_region *sink = &r->regions[REGION_SINK];
    int inside = h->off <= sink->size && h->len <= sink->size - h->off;
    switch (h->type) {
    case MSG_PUT:
    case MSG_PING:
        if (!inside || h->len == 0) {
            return bad(r, peer, h);
        }
        p->to = sink->base + h->off;
        p->left = h->len;
        return 0;
    case MSG_GET:
        if (!inside || h->len == 0) {
            return bad(r, peer, h);
        }
        return tcp_queue(r, peer, (struct tcp_header){.type = MSG_DATA, .len = h->len},
                         sink->base + h->off);
    case MSG_DATA: {
        struct tcp_pending *g =
            p->gets.head < p->gets.tail ? ring_at(&p->gets, p->gets.head) : NULL;
        if (!g || g->n != h->len) {
            return bad(r, peer, h);
        }
        p->to = g->to;
        p->left = h->len;
        return 0;
    }
    case MSG_ACK:
        if (h->arg > p->puts.tail) {
            return bad(r, peer, h);
        }
        while (p->puts.head < h->arg) {
            struct tcp_pending *o = ring_at(&p->puts, p->puts.head++);
            if (o->q) {
                weir_part_done(o->q, 0);
            }
        }
        return 0;
    case MSG_WORD:
    case MSG_NOTIFY:
        if (!rank_has_word(r, h->off)) {
            return bad(r, peer, h);
        }
        atomic_store_explicit(rank_word(r, h->off), h->arg, memory_order_release);
        p->executed += h->type == MSG_NOTIFY;
        return 0;
    }
    return bad(r, peer, h);
}

static void end_message(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    if (p->cur.type == MSG_DATA) {
        struct tcp_pending *g = ring_at(&p->gets, p->gets.head++);
        weir_part_done(g->q, 0);
        return;
    }
    if (p->cur.type == MSG_PING) {
        atomic_store_explicit(rank_ping_slot(r, peer), p->cur.arg, memory_order_release);
    }
    p->executed++;
}

/* Parses messages from what was read beyond the last payload. */
static int parse_stage(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    int rc;
    for (;;) {
        if (p->left) {
            size_t n = p->to_end - p->from < p->left ? p->to_end - p->from : p->left;
            memcpy(p->to, p->stage + p->from, n);
            p->from += n;
            p->to += n;
            p->left -= n;
            if (p->left) {
                return 0;
            }
            end_message(r, peer);
        }
        if (p->to_end - p->from < sizeof p->cur) {
            return 0;
        }
        memcpy(&p->cur, p->stage + p->from, sizeof p->cur);
        p->from += sizeof p->cur;
        if ((rc = begin_message(r, peer)) < 0) {
            return rc;
        }
    }
}

/* Reads received data: payloads directly into place, the rest into the stage. */
static int pump_in(struct weir_rank *r, int peer)
{
    struct tcp_peer *p = &((struct tcp *)r->fs)->peers[peer];
    int rc;
    for (int round = 0; round < ROUNDS; round++) {
        size_t keep = p->to_end - p->from; /* an incomplete header */
        memmove(p->stage, p->stage + p->from, keep);
        p->from = 0;
        p->to_end = keep;
        /* after a large payload come a header and probably another large payload, which the next
         * call reads directly into place */
        size_t room = p->left >= LARGE ? sizeof p->cur : sizeof p->stage - keep;
        struct iovec iov[2] = {{p->to, p->left}, {p->stage + keep, room}};
        size_t want = p->left + room;
        struct msghdr m = {.msg_iov = p->left ? iov : iov + 1, .msg_iovlen = p->left ? 2 : 1};
        ssize_t n = recvmsg(p->fd, &m, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        }
        if (n == 0 && r->closing) {
            close(p->fd);
            p->fd = -1;
            return 0;
        }
        ((struct tcp *)r->fs)->moves++;
        if (n <= 0) {
            return broken(r, peer, "receive", n);
        }
        size_t direct = (size_t)n < p->left ? (size_t)n : p->left;
        if (direct) {
            p->to += direct;
            p->left -= direct;
            if (!p->left) {
                end_message(r, peer);
            }
        }
        p->to_end += (size_t)n - direct;
        if ((rc = parse_stage(r, peer)) < 0) {
            return rc;
        }
        if ((size_t)n < want) {
            break;
        }
    }
    if (p->executed > p->acked) {
        if ((rc = tcp_queue(r, peer, (struct tcp_header){.type = MSG_ACK, .arg = p->executed},
                            NULL)) < 0) {
            return rc;
        }
        p->acked = p->executed;
    }
    return 0;
}

static int pump_in_ready(struct weir_rank *r)
{
    struct epoll_event ready[64];
    int rc, n = epoll_wait(((struct tcp *)r->fs)->epoll, ready, sizeof ready / sizeof *ready, 0);
    for (int i = 0; i < n; i++) {
        if ((rc = pump_in(r, ready[i].data.fd)) < 0) {
            return rc;
        }
    }
    return 0; /* peers that were not ready or did not fit are retried in the next poll */
}

int tcp_progress(struct weir_rank *r)
{
    struct tcp *t = r->fs;
    int rc = t->epoll < 0 ? 0 : pump_in_ready(r);
    if (rc < 0) {
        return rc;
    }
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct tcp_peer *q = &t->peers[p];
        if (q->fd < 0) {
            continue;
        }
        if (t->epoll < 0) {
            if ((rc = pump_in(r, p)) < 0) {
                return rc;
            }
        }
        if (q->out.head < q->out.tail) {
            if ((rc = tcp_pump_out(r, p)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

#define LONG_WAIT_NS 2000000
#define REST_MS 1

/* Ranks may share cores unknowingly, in containers. Spinning then blocks the awaited rank for a
 * whole time slice, and a yield reaches only threads of the same scheduler group: a step of four
 * ranks on two cores took up to 5 s. */
int tcp_idle_wait(struct weir_rank *r)
{
    struct tcp *t = r->fs;
    if (t->moves != t->seen || !t->idle) {
        t->seen = t->moves;
        t->idle = weir_monotonic();
        return 0;
    }
    if (weir_monotonic() - t->idle < LONG_WAIT_NS) {
        return 0;
    }
    struct pollfd wakes[FEW_PEERS + 1] = {{.fd = t->epoll, .events = POLLIN}};
    nfds_t n = 1;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (t->peers[p].out.head < t->peers[p].out.tail) {
            return 0; /* a socket will take it soon */
        }
        if (t->epoll < 0 && t->peers[p].fd >= 0 && n <= FEW_PEERS) {
            wakes[n++] = (struct pollfd){.fd = t->peers[p].fd, .events = POLLIN};
        }
    }
    if (poll(wakes, n, REST_MS) < 0 && errno != EINTR) {
        return rank_fail(r, -errno, "poll", -1, "%s", strerror(errno));
    }
    /* check the clock in the next iteration: this one was long */
    r->wait.polls = r->wait.poll_mask;
    return 0;
}
