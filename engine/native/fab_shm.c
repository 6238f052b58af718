/* shm: ranks of one host map each other's control regions and sinks, and copy. The
 * memory is exported as descriptors, which are handed over an abstract socket: it has no
 * name in any file system, works between containers that share a network name space, and
 * dies with its ranks. A put is complete when the copy is: the target's memory is the
 * same memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ceiling.h"
#include "rank.h"
#include "role.h"
#include "unsupported.h"

/* The messages of two ranks take turns, so one cache line in the lower rank's memory has
 * the marks of both directions: whoever has read it writes to it next, and it changes
 * hands once for each message; of two lines, each would have to be taken back from the
 * one who looks. A message small enough travels in it too. */
struct shm_turns {
    _Atomic uint64_t to_lower, to_higher; /* the number of the last message */
    char             message[WEIR_LINE - 2 * sizeof(uint64_t)];
};
_Static_assert(sizeof(struct shm_turns) == WEIR_LINE, "turns fill a line");

#define SHARED 2 /* regions that peers map: control and sink */
static const enum weir_region_name shared[SHARED] = {REGION_CONTROL, REGION_SINK};

struct shm_peer {
    char             *sink;
    char             *control; /* of this rank itself too */
    struct shm_turns *turns;
    _Atomic uint64_t *there, *here; /* of their marks */
};

struct shm {
    int              listener;
    int              fds[SHARED];
    uint64_t         cookie; /* a peer that knows it has our address blob from the session */
    struct weir_region (*mapped)[SHARED]; /* by peer */
    struct shm_peer  peers[];
};

struct shm_blob {
    uint64_t           cookie;
    uint32_t           addrlen;
    struct sockaddr_un addr;
};

struct shm_hello { /* travels with the descriptors */
    uint64_t cookie, sizes[SHARED];
    int64_t  rank; /* as wide as the others: padding would carry what was on the stack */
};

static void shm_probe(struct weir_info *out)
{
    int fd = memfd_create("weir-probe", MFD_CLOEXEC);
    if (fd < 0) {
        snprintf(out->reason, sizeof out->reason, "memfd_create: %s", strerror(errno));
        return;
    }
    close(fd);
    out->available = 1;
    snprintf(out->version, sizeof out->version, "built in");
}

static int shm_open_(struct weir_rank *r)
{
    struct shm *s = weir_alloc_at_page(sizeof *s + (size_t)r->cfg.ranks * sizeof *s->peers);
    if (!s || !(s->mapped = calloc((size_t)r->cfg.ranks, sizeof *s->mapped)))
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    r->fs       = s;
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un any = {.sun_family = AF_UNIX};
    /* binding with no name: the kernel picks a free abstract one */
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&any, sizeof any.sun_family) < 0 ||
        listen(s->listener, r->cfg.ranks) < 0 ||
        getrandom(&s->cookie, sizeof s->cookie, 0) != sizeof s->cookie)
        return rank_fail(r, -errno, "open", -1, "making an abstract socket: %s", strerror(errno));
    return 0;
}

static int shm_attach(struct weir_rank *r, enum weir_region_name name)
{
    struct shm         *s = r->fs;
    struct weir_region *g = &r->regions[name];
    struct weir_err     e = {0};
    for (int i = 0; i < SHARED; i++)
        if (shared[i] == name && g->kind->export(g, &s->fds[i], &e) < 0)
            return rank_fail(r, e.code, "register", -1, "%s", e.text);
    if (name == REGION_CONTROL)
        s->peers[r->cfg.rank].control = g->base;
    return 0;
}

static int64_t shm_address(struct weir_rank *r, void *buf, size_t cap)
{
    struct shm     *s = r->fs;
    struct shm_blob b = {.cookie = s->cookie};
    socklen_t       n = sizeof b.addr;
    if (cap < sizeof b || getsockname(s->listener, (struct sockaddr *)&b.addr, &n) < 0)
        return rank_fail(r, -errno, "address", -1, "reading the socket's name: %s",
                         strerror(errno));
    b.addrlen = n;
    memcpy(buf, &b, sizeof b);
    return sizeof b;
}

union shm_ancillary {
    char           space[CMSG_SPACE(SHARED * sizeof(int))];
    struct cmsghdr align;
};

static int send_memory(struct weir_rank *r, int peer, const struct shm_blob *b)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;
    int e  = fd < 0 || connect(fd, (const struct sockaddr *)&b->addr, b->addrlen) < 0 ? errno : 0;
    while (e == EAGAIN) { /* its queue is full: it takes from it when it has sent to all */
        poll(NULL, 0, 1);
        if ((rc = rank_expired(r)) < 0) {
            close(fd);
            return rc;
        }
        e = connect(fd, (const struct sockaddr *)&b->addr, b->addrlen) < 0 ? errno : 0;
    }
    if (e) {
        if (fd >= 0)
            close(fd);
        return rank_fail(r, -e, "connect", peer,
                         "connecting to its socket: %s (a rank in another network name space?)",
                         strerror(e));
    }
    const struct shm *s = r->fs;
    struct shm_hello  h = {
        b->cookie, {r->regions[REGION_CONTROL].size, r->regions[REGION_SINK].size}, r->cfg.rank};
    struct iovec        iov = {&h, sizeof h};
    union shm_ancillary ctl = {0};
    struct msghdr   m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl.space,
                         .msg_controllen = sizeof ctl.space};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level     = SOL_SOCKET;
    c->cmsg_type      = SCM_RIGHTS;
    c->cmsg_len       = CMSG_LEN(sizeof s->fds);
    memcpy(CMSG_DATA(c), s->fds, sizeof s->fds);
    ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);
    e         = errno;
    close(fd); /* what was sent stays in the peer's queue */
    if (n != sizeof h)
        return rank_fail(r, -e, "connect", peer, "handing over memory: %s", strerror(e));
    return 0;
}

static int map_peer(struct weir_rank *r, const struct shm_hello *h, const int fds[SHARED])
{
    struct shm         *s = r->fs;
    struct weir_region *m = s->mapped[h->rank];
    struct weir_err     e = {0};
    for (int i = 0; i < SHARED; i++)
        if (r->regions[shared[i]].kind->import(fds[i], h->sizes[i], &m[i], &e) < 0)
            return rank_fail(r, e.code, "connect", (int)h->rank, "%s", e.text);
    s->peers[h->rank].control = m[0].base;
    s->peers[h->rank].sink    = m[1].base;
    return 0;
}

/* Takes the descriptors of one peer; 0: got its memory, 1: a stranger, dropped. */
static int take_memory(struct weir_rank *r, int conn)
{
    struct shm         *s = r->fs;
    struct shm_hello    h;
    struct iovec        iov = {&h, sizeof h};
    union shm_ancillary ctl = {0};
    struct msghdr  m  = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl.space,
                         .msg_controllen = sizeof ctl.space};
    struct timeval tv = {.tv_sec = 1};
    setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    ssize_t         n = recvmsg(conn, &m, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    int             fds[SHARED], rc = 1;
    size_t          got = 0;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        got = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
    memcpy(fds, CMSG_DATA(&ctl.align), sizeof fds);
    if (n == (ssize_t)sizeof h && got == SHARED && h.cookie == s->cookie && h.rank >= 0 &&
        h.rank < r->cfg.ranks && !s->peers[h.rank].control)
        rc = map_peer(r, &h, fds);
    while (got > 0)
        close(fds[--got]);
    return rc;
}

static void take_turns(struct weir_rank *r, int peer)
{
    struct shm_peer *all = ((struct shm *)r->fs)->peers, *p = &all[peer];
    int lower = peer < r->cfg.rank ? peer : r->cfg.rank, higher = peer + r->cfg.rank - lower;
    p->turns = (struct shm_turns *)(all[lower].control + rank_ping_of(r, higher));
    p->there = peer == lower ? &p->turns->to_lower : &p->turns->to_higher;
    p->here  = peer == lower ? &p->turns->to_higher : &p->turns->to_lower;
}

static int shm_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    struct shm *s = r->fs;
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct shm_blob b;
        if (!rank_is_peer(r, p))
            continue;
        if (lens[p] != sizeof b)
            return rank_fail(r, -EPROTO, "connect", p, "its address has %zu bytes, not %zu",
                             lens[p], sizeof b);
        memcpy(&b, blobs[p], sizeof b);
        if (b.addrlen > sizeof b.addr)
            return rank_fail(r, -EPROTO, "connect", p, "its address is malformed");
        int rc = send_memory(r, p, &b);
        if (rc < 0)
            return rc;
    }
    for (int got = 1; got < r->all.n;) {
        int rc, conn = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        if ((rc = rank_expired(r)) < 0) { /* in each round: strangers take time too */
            if (conn >= 0)
                close(conn);
            return rc;
        }
        if (conn < 0) {
            struct pollfd pfd = {s->listener, POLLIN, 0};
            poll(&pfd, 1, 1);
            continue;
        }
        rc = take_memory(r, conn);
        close(conn);
        if (rc < 0)
            return rc;
        got += rc == 0;
    }
    for (int p = 0; p < r->cfg.ranks; p++)
        if (rank_is_peer(r, p))
            take_turns(r, p);
    return 0;
}

static inline char *sink_of(struct weir_rank *r, int peer)
{
    return ((struct shm *)r->fs)->peers[peer].sink;
}

static int shm_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                   struct weir_req *q)
{
    (void)q;
    r->copy->fn(sink_of(r, peer) + roff, local, n);
    return WEIR_DONE;
}

static int shm_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                   struct weir_req *q)
{
    (void)q;
    r->copy->fn(local, sink_of(r, peer) + roff, n);
    return WEIR_DONE;
}

static int shm_progress(struct weir_rank *r)
{
    (void)r;
    rank_pause();
    return 0;
}

static int shm_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    (void)r, (void)peer, (void)q;
    atomic_thread_fence(memory_order_seq_cst);
    return WEIR_DONE;
}

static int shm_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    char *control = ((struct shm *)r->fs)->peers[peer].control;
    atomic_store_explicit((_Atomic uint64_t *)(control + place), value, memory_order_release);
    return 0;
}

/* What fits into a line, without the call that memcpy is for a length that nobody knows
 * beforehand: it would be a fifth of a message's time. */
static inline void copy_short(char *to, const char *from, size_t n)
{
    if (n < 8) {
        while (n--)
            to[n] = from[n];
        return;
    }
    for (size_t at = 0; at + 8 < n; at += 8)
        memcpy(to + at, from + at, 8);
    memcpy(to + n - 8, from + n - 8, 8);
}

static int shm_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct shm_peer *p = &((struct shm *)r->fs)->peers[peer];
    if (n <= sizeof p->turns->message)
        copy_short(p->turns->message, local, n);
    else
        r->copy->fn(p->sink, local, n);
    atomic_store_explicit(p->there, seq, memory_order_release);
    return 0;
}

/* Each case starts its messages at 1 again. */
static int shm_expect(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    if (c && c->mode == MODE_PINGPONG)
        atomic_store(((struct shm *)r->fs)->peers[o->from].here, 0);
    return 0;
}

/* Looks a few times: a call for each would be as long as a short message takes. */
#define LOOKS 16

static int shm_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    struct shm_peer *p = &((struct shm *)r->fs)->peers[peer];
    for (int i = 0; atomic_load_explicit(p->here, memory_order_acquire) != seq; i++) {
        if (i == LOOKS)
            return 0;
        rank_pause();
    }
    if (n <= sizeof p->turns->message)
        copy_short(rank_sink(r), p->turns->message, n);
    return 1;
}

static void shm_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    (void)peer;
    snprintf(buf, cap, "shm (memfd, copies by %s)", r->copy->name);
}

static void shm_carriers(struct weir_rank *r, int peer, char *list)
{
    (void)r, (void)peer;
    carrier_add(list, CARRIES_DATA, "shm", "");
}

static int shm_disconnect(struct weir_rank *r)
{
    struct shm *s = r->fs;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (p == r->cfg.rank || !s->peers[p].control)
            continue;
        for (int i = 0; i < SHARED; i++)
            r->regions[shared[i]].kind->free(&s->mapped[p][i]);
        s->peers[p] = (struct shm_peer){.sink = NULL};
    }
    return 0;
}

static int shm_close(struct weir_rank *r)
{
    struct shm *s = r->fs;
    (void)shm_disconnect(r);
    close(s->listener);
    free(s->mapped);
    free(s);
    return 0;
}

const struct weir_fabric weir_fab_shm = {
    .name = "shm", .caps = CAP_REMOTE_COMPLETION | CAP_NEEDS_HOST, .probe = shm_probe,
    .open = shm_open_, .attach = shm_attach, .address = shm_address,
    .connect = shm_connect, .put = shm_put, .get = shm_get, .post = posts_itself,
    .progress = shm_progress, .wait = shm_progress, .flush = shm_flush, .signal = shm_signal,
    .tell = shm_signal, .expect = shm_expect,
    .ping = shm_ping, .arrived = shm_arrived, .ceiling = ceiling_is_memcpy,
    .transport = shm_transport, .carriers = shm_carriers, .disconnect = shm_disconnect,
    .close = shm_close,
};
