/* Ranks of one host exchange handles of their control regions and sinks, which the memory kinds
 * import. Descriptors travel over an abstract socket: it has no name in any file system, works
 * between containers that share a network namespace, and disappears with its rank. */
#define _GNU_SOURCE
#include "rank_handover.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rank.h"

static const enum weir_region_name exchanged[EXCHANGED] = {REGION_CONTROL, REGION_SINK};

struct blob {
    uint64_t cookie;
    uint32_t addrlen;
    struct sockaddr_un addr;
};

struct hello { /* sent with the descriptors; handles without one send none */
    uint64_t cookie, sizes[EXCHANGED];
    int64_t rank; /* as wide as the others: padding would carry what was on the stack */
    struct weir_handle handles[EXCHANGED];
};

int handover_open(struct weir_rank *r, struct handover *h)
{
    h->mapped = calloc((size_t)r->cfg.ranks, sizeof *h->mapped);
    if (!h->mapped) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    h->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un any = {.sun_family = AF_UNIX};
    /* no name given: the kernel picks a free abstract one */
    if (h->listener < 0 || bind(h->listener, (struct sockaddr *)&any, sizeof any.sun_family) < 0 ||
        listen(h->listener, r->cfg.ranks) < 0 ||
        getrandom(&h->cookie, sizeof h->cookie, 0) != sizeof h->cookie) {
        return rank_fail(r, -errno, "open", -1, "creating an abstract socket: %s", strerror(errno));
    }
    return 0;
}

int handover_attach(struct weir_rank *r, struct handover *h, enum weir_region_name name)
{
    struct weir_region *g = &r->regions[name];
    struct weir_err e = {0};
    for (int i = 0; i < EXCHANGED; i++) {
        if (exchanged[i] == name && g->kind->export(g, &h->handles[i], &e) < 0) {
            return rank_fail(r, e.code, "register", -1, "%s", e.text);
        }
    }
    return 0;
}

int64_t handover_address(struct weir_rank *r, struct handover *h, void *buf, size_t cap)
{
    struct blob b = {.cookie = h->cookie};
    socklen_t n = sizeof b.addr;
    if (cap < sizeof b || getsockname(h->listener, (struct sockaddr *)&b.addr, &n) < 0) {
        return rank_fail(r, -errno, "address", -1, "reading the socket's name: %s",
                         strerror(errno));
    }
    b.addrlen = n;
    memcpy(buf, &b, sizeof b);
    return sizeof b;
}

size_t handover_address_bytes(void) { return sizeof(struct blob); }

union ancillary {
    char space[CMSG_SPACE(EXCHANGED * sizeof(int))];
    struct cmsghdr align;
};

static int send_memory(struct weir_rank *r, struct handover *h, int peer, const struct blob *b)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;
    int e = fd < 0 || connect(fd, (const struct sockaddr *)&b->addr, b->addrlen) < 0 ? errno : 0;
    while (e == EAGAIN) { /* the peer's queue is full: it drains it after sending to all */
        poll(NULL, 0, 1);
        if ((rc = rank_expired(r)) < 0) {
            close(fd);
            return rc;
        }
        e = connect(fd, (const struct sockaddr *)&b->addr, b->addrlen) < 0 ? errno : 0;
    }
    if (e) {
        if (fd >= 0) {
            close(fd);
        }
        return rank_fail(r, -e, "connect", peer,
                         "connecting to its socket: %s (a rank in another network namespace?)",
                         strerror(e));
    }
    struct hello out = {b->cookie,
                        {r->regions[REGION_CONTROL].size, r->regions[REGION_SINK].size},
                        r->cfg.rank,
                        {h->handles[0], h->handles[1]}};
    out.handles[0].populated = out.sizes[0];
    out.handles[1].populated = r->cfg.layout.used;
    int fds[EXCHANGED], nfds = 0;
    for (int i = 0; i < EXCHANGED; i++) {
        if (h->handles[i].fd >= 0) {
            fds[nfds++] = h->handles[i].fd;
        }
    }
    struct iovec iov = {&out, sizeof out};
    union ancillary ctl = {0};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = ctl.space,
                       .msg_controllen = CMSG_SPACE((size_t)nfds * sizeof *fds)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN((size_t)nfds * sizeof *fds);
    memcpy(CMSG_DATA(c), fds, (size_t)nfds * sizeof *fds);
    ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);
    e = errno;
    close(fd); /* data already sent stays in the peer's queue */
    if (n != sizeof out) {
        return rank_fail(r, -e, "connect", peer, "sending memory handles: %s", strerror(e));
    }
    return 0;
}

/* Descriptor numbers in a handle are the sender's: received descriptors come in the same order. */
static int map_peer(struct weir_rank *r, struct handover *h, struct hello *from, const int *fds,
                    size_t n)
{
    struct weir_region *m = h->mapped[from->rank];
    struct weir_err e = {0};
    size_t next = 0;
    for (int i = 0; i < EXCHANGED; i++) {
        if (from->handles[i].fd >= 0 && next == n) {
            return rank_fail(r, -EPROTO, "connect", (int)from->rank,
                             "it sent too few descriptors of its memory");
        }
        from->handles[i].fd = from->handles[i].fd >= 0 ? fds[next++] : -1;
        if (r->regions[exchanged[i]].kind->import(&from->handles[i], from->sizes[i], &m[i], &e) <
            0) {
            return rank_fail(r, e.code, "connect", (int)from->rank, "%s", e.text);
        }
    }
    return 0;
}

/* Takes the descriptors of one peer. Returns 0 with its memory, or 1 after dropping a foreign
 * connection. */
static int take_memory(struct weir_rank *r, struct handover *h, int conn)
{
    struct hello from;
    struct iovec iov = {&from, sizeof from};
    union ancillary ctl = {0};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = ctl.space,
                       .msg_controllen = sizeof ctl.space};
    struct timeval tv = {.tv_sec = 1};
    setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    ssize_t n = recvmsg(conn, &m, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    int fds[EXCHANGED], rc = 1;
    size_t got = 0;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        got = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
    }
    memcpy(fds, CMSG_DATA(&ctl.align), sizeof fds);
    if (n == (ssize_t)sizeof from && got <= EXCHANGED && from.cookie == h->cookie &&
        from.rank >= 0 && from.rank < r->cfg.ranks && !h->mapped[from.rank][0].base) {
        rc = map_peer(r, h, &from, fds, got);
    }
    while (got > 0) {
        close(fds[--got]);
    }
    return rc;
}

int handover_connect(struct weir_rank *r, struct handover *h, const char *const *blobs,
                     const size_t *lens)
{
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct blob b;
        if (!rank_is_peer(r, p)) {
            continue;
        }
        if (lens[p] != sizeof b) {
            return rank_fail(r, -EPROTO, "connect", p, "its address has %zu bytes, not %zu",
                             lens[p], sizeof b);
        }
        memcpy(&b, blobs[p], sizeof b);
        if (b.addrlen > sizeof b.addr) {
            return rank_fail(r, -EPROTO, "connect", p, "its address is malformed");
        }
        int rc = send_memory(r, h, p, &b);
        if (rc < 0) {
            return rc;
        }
    }
    for (int got = 1; got < r->barrier.all.n;) {
        int rc, conn = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
        if ((rc = rank_expired(r)) < 0) { /* in each iteration: foreign connections take time too */
            if (conn >= 0) {
                close(conn);
            }
            return rc;
        }
        if (conn < 0) {
            struct pollfd pfd = {h->listener, POLLIN, 0};
            poll(&pfd, 1, 1);
            continue;
        }
        rc = take_memory(r, h, conn);
        close(conn);
        if (rc < 0) {
            return rc;
        }
        got += rc == 0;
    }
    return 0;
}

void handover_disconnect(struct weir_rank *r, struct handover *h)
{
    for (int p = 0; p < r->cfg.ranks; p++) {
        for (int i = 0; i < EXCHANGED; i++) {
            if (h->mapped[p][i].base) {
                h->mapped[p][i].kind->free(&h->mapped[p][i]);
                h->mapped[p][i] = (struct weir_region){.fd = -1};
            }
        }
    }
}

void handover_close(struct weir_rank *r, struct handover *h)
{
    handover_disconnect(r, h);
    close(h->listener);
    free(h->mapped);
}
