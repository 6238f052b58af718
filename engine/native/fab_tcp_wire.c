#define _GNU_SOURCE
#include "fab_tcp_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop_ceiling.h"
#include "rank.h"

#define MAX_ADDRS 8
#define CONNECT_TRY_NS 2000000000 /* per address of a peer, if it has several */
#define BACKLOG 1024              /* for connections, also foreign ones, before the first accept */

struct tcp_wire {
    int listener;
    uint64_t cookie;
    uint16_t port; /* network order */
};

struct blob {
    uint64_t cookie;
    uint16_t port, count;
    struct in_addr addrs[MAX_ADDRS];
};

struct hello {
    uint64_t cookie; /* of the listener: proves that a peer has its address from the session */
    int32_t rank, lane;
};

struct tcp_wire *tcp_wire_listen(struct weir_rank *r)
{
    struct tcp_wire *w = calloc(1, sizeof *w);
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t n = sizeof a;
    if (!w) {
        rank_fail(r, -ENOMEM, "open", -1, "no memory");
        return NULL;
    }
    /* ranks of one host need no port reachable from other hosts */
    a.sin_addr.s_addr = htonl(r->cfg.one_host ? INADDR_LOOPBACK : INADDR_ANY);
    w->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (w->listener < 0 || bind(w->listener, (struct sockaddr *)&a, sizeof a) < 0 ||
        listen(w->listener, 2 * r->cfg.ranks + BACKLOG) < 0 ||
        getsockname(w->listener, (struct sockaddr *)&a, &n) < 0 ||
        getrandom(&w->cookie, sizeof w->cookie, 0) != sizeof w->cookie) {
        rank_fail(r, -errno, "open", -1, "listening on tcp: %s", strerror(errno));
        if (w->listener >= 0) {
            close(w->listener);
        }
        free(w);
        return NULL;
    }
    w->port = a.sin_port;
    return w;
}

int64_t tcp_wire_address(struct weir_rank *r, struct tcp_wire *w, void *buf, size_t cap)
{
    struct blob b = {.cookie = w->cookie, .port = w->port};
    struct ifaddrs *list;
    if (cap < sizeof b) {
        return rank_fail(r, -ENOBUFS, "address", -1, "%zu bytes are too few for an address", cap);
    }
    if (r->cfg.one_host) {
        b.addrs[b.count++].s_addr = htonl(INADDR_LOOPBACK);
    } else if (getifaddrs(&list) == 0) {
        for (struct ifaddrs *i = list; i && b.count < MAX_ADDRS; i = i->ifa_next) {
            if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP &&
                !(i->ifa_flags & IFF_LOOPBACK)) {
                b.addrs[b.count++] = ((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr;
            }
        }
        freeifaddrs(list);
    }
    if (!b.count) {
        return rank_fail(r, -EADDRNOTAVAIL, "address", -1,
                         "no network interface is up that other hosts could reach");
    }
    memcpy(buf, &b, sizeof b);
    return sizeof b;
}

/* Sends or receives a few bytes over a non-blocking socket, before the deadline. */
static int exchange(struct weir_rank *r, int fd, void *p, size_t n, int sending, int64_t until)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = sending ? send(fd, (char *)p + at, n - at, MSG_NOSIGNAL)
                            : recv(fd, (char *)p + at, n - at, 0);
        if (k > 0) {
            at += (size_t)k;
            continue;
        }
        if (k == 0) {
            return -ECONNRESET;
        }
        if (errno != EAGAIN && errno != EINTR) {
            return -errno;
        }
        struct pollfd pfd = {fd, sending ? POLLOUT : POLLIN, 0};
        poll(&pfd, 1, 1);
        int rc = rank_expired(r);
        if (rc < 0) {
            return rc;
        }
        if (weir_monotonic() > until) {
            return -ETIMEDOUT;
        }
    }
    return 0;
}

static int dial(struct weir_rank *r, struct in_addr to, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = to, .sin_port = port};
    int64_t until = weir_monotonic() + CONNECT_TRY_NS;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), e = 0;
    socklen_t n = sizeof e;
    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0 && errno != EINPROGRESS) {
        e = errno;
    }
    while (!e) {
        struct pollfd pfd = {fd, POLLOUT, 0};
        if (poll(&pfd, 1, 1) == 1) {
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n);
            break;
        }
        if (rank_expired(r) < 0) {
            e = ECANCELED;
        } else if (weir_monotonic() > until) {
            e = ETIMEDOUT;
        }
    }
    if (!e) {
        return fd;
    }
    close(fd);
    return -e;
}

static void tune(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/* Connects one lane to a peer of higher rank, by the first of its addresses that answers. */
static int reach(struct weir_rank *r, int peer, const struct blob *b, int lane)
{
    int fd = -EADDRNOTAVAIL;
    for (int i = 0; i < b->count && i < MAX_ADDRS && fd < 0; i++) {
        fd = dial(r, b->addrs[i], b->port);
        if (fd < 0) {
            continue;
        }
        struct hello h = {b->cookie, r->cfg.rank, lane};
        int rc = exchange(r, fd, &h, sizeof h, 1, weir_monotonic() + CONNECT_TRY_NS);
        if (rc < 0) {
            close(fd);
            fd = rc;
        }
    }
    if (fd < 0) {
        return rank_fail(r, fd, "connect", peer, "none of its %d addresses answers on port %u: %s",
                         b->count, ntohs(b->port), strerror(-fd));
    }
    tune(fd);
    return fd;
}

/* A connection that has not sent its whole hello yet. */
struct pending {
    int fd;
    size_t at; /* bytes of the hello received */
    int64_t until;
    struct hello h;
};

#define MAX_PENDING 256 /* concurrently */

/* Reads a part of a hello. Returns 1 if it is complete, 0 if not yet, negative if the connection is
 * not from a rank. */
static int read_hello(struct pending *g, uint64_t cookie)
{
    ssize_t k = recv(g->fd, (char *)&g->h + g->at, sizeof g->h - g->at, 0);
    if (k > 0) {
        g->at += (size_t)k;
    } else if (k == 0 || (errno != EAGAIN && errno != EINTR)) {
        return -1;
    }
    /* a connection with a wrong cookie is not read any further */
    if (g->at >= sizeof g->h.cookie && g->h.cookie != cookie) {
        return -1;
    }
    if (g->at == sizeof g->h) {
        return 1;
    }
    return weir_monotonic() > g->until ? -1 : 0;
}

/* Accepts connections and reads their hellos concurrently, so that a silent one delays no other.
 * If there are too many, drops the oldest; no more than half arrive at once, so each is read
 * before. */
static void accept_pending(struct tcp_wire *w, struct pending *pending, int *n)
{
    for (int accepted = 0; accepted < MAX_PENDING / 2; accepted++) {
        int fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            return;
        }
        if (*n == MAX_PENDING) { /* the oldest has had the most time */
            close(pending[0].fd);
            memmove(pending, pending + 1, (size_t)(--*n) * sizeof *pending);
        }
        pending[(*n)++] = (struct pending){.fd = fd, .until = weir_monotonic() + CONNECT_TRY_NS};
    }
}

/* Waits for the lanes of the lower ranks. */
static int accept_peers(struct weir_rank *r, struct tcp_wire *w, int (*fds)[2])
{
    struct pending *pending = calloc(MAX_PENDING, sizeof *pending);
    struct pollfd polled[MAX_PENDING + 1];
    int n = 0, rc = 0, missing = 0;
    for (int p = 0; p < r->cfg.rank; p++) {
        missing += rank_is_peer(r, p) ? 2 : 0;
    }
    if (!pending) {
        return rank_fail(r, -ENOMEM, "connect", -1, "no memory");
    }
    while (missing > 0) {
        if ((rc = rank_expired(r)) < 0) {
            break;
        }
        polled[0] = (struct pollfd){w->listener, POLLIN, 0};
        for (int i = 0; i < n; i++) {
            polled[i + 1] = (struct pollfd){pending[i].fd, POLLIN, 0};
        }
        poll(polled, (nfds_t)n + 1, 1);
        for (int i = 0; i < n;) {
            struct pending *g = &pending[i];
            int complete = read_hello(g, w->cookie);
            if (complete == 0) {
                i++;
                continue;
            }
            struct hello h = g->h;
            if (complete < 0 || h.rank < 0 || h.rank >= r->cfg.rank || h.lane < 0 || h.lane > 1 ||
                fds[h.rank][h.lane] >= 0) {
                close(g->fd); /* a foreign connection */
            } else {
                tune(g->fd);
                fds[h.rank][h.lane] = g->fd;
                missing--;
            }
            memmove(g, g + 1, (size_t)(--n - i) * sizeof *g);
        }
        accept_pending(w, pending, &n);
    }
    for (int i = 0; i < n; i++) {
        close(pending[i].fd);
    }
    free(pending);
    return rc < 0 ? rc : 0;
}

int tcp_wire_connect(struct weir_rank *r, struct tcp_wire *w, const char *const *blobs,
                     const size_t *lens, int (*fds)[2])
{
    for (int p = 0; p < r->cfg.ranks; p++) {
        fds[p][0] = fds[p][1] = -1;
    }
    for (int p = r->cfg.rank + 1; p < r->cfg.ranks; p++) {
        struct blob b;
        if (!rank_is_peer(r, p)) {
            continue;
        }
        if (lens[p] != sizeof b) {
            return rank_fail(r, -EPROTO, "connect", p, "its address has %zu bytes, not %zu",
                             lens[p], sizeof b);
        }
        memcpy(&b, blobs[p], sizeof b);
        for (int lane = 0; lane < 2; lane++) {
            fds[p][lane] = reach(r, p, &b, lane);
            if (fds[p][lane] < 0) {
                return fds[p][lane];
            }
        }
    }
    return accept_peers(r, w, fds);
}

/* Bytes per system call: fewer calls against a warm cache; a round with each decides. */
static const size_t pieces[] = {64 << 10, 256 << 10, 1 << 20, TCP_WIRE_PIECE_MAX};
#define SPAN_BYTES (8u << 20)

/* Moves total bytes in pieces, spinning as the fabric does. */
static int stream(struct weir_rank *r, int fd, int peer, char *buf, size_t piece, size_t total,
                  int sending)
{
    for (size_t at = 0; at < total;) {
        size_t in = at % piece, want = piece - in < total - at ? piece - in : total - at;
        ssize_t k = sending ? send(fd, buf + in, want, MSG_DONTWAIT | MSG_NOSIGNAL)
                            : recv(fd, buf + in, want, MSG_DONTWAIT);
        if (k > 0) {
            at += (size_t)k;
            continue;
        }
        if (k == 0 || (errno != EAGAIN && errno != EINTR)) {
            return rank_fail(r, k == 0 ? -ECONNRESET : -errno, "probe the link", peer, "%s",
                             k == 0 ? "the peer closed the connection" : strerror(errno));
        }
        int rc = rank_tick(r);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Measures one span: the last byte has arrived when the reply does, which says whether the receiver
 * is past its deadline. */
static int round_trip(struct weir_rank *r, int fd, int peer, int initiator, size_t piece,
                      int64_t until, double *rate, char *late)
{
    int rc;
    int64_t t0 = weir_ticks();
    if ((rc = stream(r, fd, peer, initiator ? rank_source(r) : rank_probe(r), piece, SPAN_BYTES,
                     initiator)) < 0) {
        return rc;
    }
    *late = weir_monotonic() > until;
    if ((rc = stream(r, fd, peer, late, 1, 1, !initiator)) < 0) {
        return rc;
    }
    *rate = (double)SPAN_BYTES / (double)weir_ticks_to_ns(&r->clk, weir_ticks() - t0) * 1e9;
    return 0;
}

int tcp_wire_ceiling(struct weir_rank *r, int fd, int peer, int initiator, struct ceiling *c)
{
    double rate, top = 0;
    size_t best = 0;
    int64_t until = weir_monotonic() + ceiling_time_ns;
    char late;
    int rc;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if ((rc = round_trip(r, fd, peer, initiator, pieces[i], until, &rate, &late)) < 0) {
            return rc;
        }
        if (rate > top) { /* each end decides for itself: the receiver takes any size */
            top = rate;
            best = pieces[i];
        }
    }
    for (int k = 0; k < CEILING_SPANS && (k < CEILING_MIN_SPANS || !late); k++) {
        if ((rc = round_trip(r, fd, peer, initiator, best, until, &rate, &late)) < 0) {
            return rc;
        }
        ceiling_add(c, rate);
    }
    return 0;
}

/* Writes an address in digits. Not inet_ntop: with fortified headers it needs glibc 2.42. */
static void in_digits(const struct sockaddr_in *of, socklen_t n, char *text, socklen_t cap)
{
    if (getnameinfo((const struct sockaddr *)of, n, text, cap, NULL, 0, NI_NUMERICHOST) != 0) {
        snprintf(text, cap, "?");
    }
}

void tcp_wire_describe(int fd, char *buf, size_t cap)
{
    struct sockaddr_in a, b;
    socklen_t na = sizeof a, nb = sizeof b;
    char from[INET_ADDRSTRLEN] = "?", to[INET_ADDRSTRLEN] = "?";
    if (getsockname(fd, (struct sockaddr *)&a, &na) == 0) {
        in_digits(&a, na, from, sizeof from);
    }
    if (getpeername(fd, (struct sockaddr *)&b, &nb) == 0) {
        in_digits(&b, nb, to, sizeof to);
    }
    snprintf(buf, cap, "tcp (%s to %s, one stream)", from, to);
}

void tcp_wire_close(struct tcp_wire *w)
{
    close(w->listener);
    free(w);
}
