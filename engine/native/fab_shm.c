/* shm: ranks of one host map each other's control regions and sinks, and copy. A put is complete
 * when the copy is: both ends share the memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loop_ceiling.h"
#include "rank_handover.h"
#include "rank.h"
#include "loop_role.h"
#include "fabric_unsupported.h"
#include "sys_copy.h"

/* Ping-pong messages alternate, so one cache line in the lower rank's memory has the sequence words
 * of both directions: the rank that read it writes it next, and its ownership moves once per
 * message. With two lines each write would take one back from the poller. Small messages are sent
 * inside the line. */
struct shm_line {
    _Atomic uint64_t to_lower, to_higher; /* number of the last message */
    char message[WEIR_LINE - 2 * sizeof(uint64_t)];
};
_Static_assert(sizeof(struct shm_line) == WEIR_LINE, "fills a cache line");

struct shm_peer {
    char *sink;
    char *control; /* including this rank's own */
    struct shm_line *line;
    _Atomic uint64_t *peer_seq, *own_seq; /* their sequence words */
};

struct shm {
    struct handover handover;
    struct shm_peer peers[];
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
    struct shm *s = weir_alloc_page_aligned(sizeof *s + (size_t)r->cfg.ranks * sizeof *s->peers);
    if (!s) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    r->fs = s;
    return handover_open(r, &s->handover);
}

static int shm_attach(struct weir_rank *r, enum weir_region_name name)
{
    struct shm *s = r->fs;
    if (name == REGION_CONTROL) {
        s->peers[r->cfg.rank].control = r->regions[name].base;
    }
    return handover_attach(r, &s->handover, name);
}

static int64_t shm_address(struct weir_rank *r, void *buf, size_t cap)
{
    return handover_address(r, &((struct shm *)r->fs)->handover, buf, cap);
}

static void set_lines(struct weir_rank *r, int peer)
{
    struct shm_peer *all = ((struct shm *)r->fs)->peers, *p = &all[peer];
    int lower = peer < r->cfg.rank ? peer : r->cfg.rank, higher = peer + r->cfg.rank - lower;
    p->line = (struct shm_line *)(all[lower].control + rank_ping_of(r, higher));
    p->peer_seq = peer == lower ? &p->line->to_lower : &p->line->to_higher;
    p->own_seq = peer == lower ? &p->line->to_higher : &p->line->to_lower;
}

static int shm_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    struct shm *s = r->fs;
    int rc = handover_connect(r, &s->handover, blobs, lens);
    for (int p = 0; p < r->cfg.ranks && rc == 0; p++) {
        if (!rank_is_peer(r, p)) {
            continue;
        }
        s->peers[p].control = s->handover.mapped[p][0].base;
        s->peers[p].sink = s->handover.mapped[p][1].base;
        set_lines(r, p);
    }
    return rc;
}

static inline char *sink_of(struct weir_rank *r, int peer)
{
    return ((struct shm *)r->fs)->peers[peer].sink;
}

static int shm_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                   struct weir_req *q)
{
    r->copy->fn(sink_of(r, peer) + roff, local, n);
    return WEIR_DONE;
}

static int shm_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                   struct weir_req *q)
{
    r->copy->fn(local, sink_of(r, peer) + roff, n);
    return WEIR_DONE;
}

static int shm_progress(struct weir_rank *r)
{
    rank_pause();
    return 0;
}

static int shm_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    atomic_thread_fence(memory_order_seq_cst);
    return WEIR_DONE;
}

static int shm_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    char *control = ((struct shm *)r->fs)->peers[peer].control;
    atomic_store_explicit((_Atomic uint64_t *)(control + place), value, memory_order_release);
    return 0;
}

/* Copies within a line without calling memcpy for a length unknown at compile time, which would
 * take a fifth of a message's time. */
static inline void copy_short(char *to, const char *from, size_t n)
{
    if (n < 8) {
        while (n--) {
            to[n] = from[n];
        }
        return;
    }
    for (size_t at = 0; at + 8 < n; at += 8) {
        memcpy(to + at, from + at, 8);
    }
    memcpy(to + n - 8, from + n - 8, 8);
}

static int shm_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct shm_peer *p = &((struct shm *)r->fs)->peers[peer];
    if (n <= sizeof p->line->message) {
        copy_short(p->line->message, local, n);
    } else {
        r->copy->fn(p->sink, local, n);
    }
    atomic_store_explicit(p->peer_seq, seq, memory_order_release);
    return 0;
}

/* Each case restarts message numbers at 1. */
static int shm_prepost(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    if (c && c->mode == MODE_PINGPONG) {
        atomic_store(((struct shm *)r->fs)->peers[o->from].own_seq, 0);
    }
    return 0;
}

/* Polls several times per call: a call takes as long as a short message. */
#define POLLS 16

static int shm_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    struct shm_peer *p = &((struct shm *)r->fs)->peers[peer];
    for (int i = 0; atomic_load_explicit(p->own_seq, memory_order_acquire) != seq; i++) {
        if (i == POLLS) {
            return 0;
        }
        rank_pause();
    }
    if (n <= sizeof p->line->message) {
        copy_short(rank_sink(r), p->line->message, n);
    }
    return 1;
}

static void shm_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    snprintf(buf, cap, "shm (memfd, copies by %s)", r->copy->name);
}

static void shm_carriers(struct weir_rank *r, int peer, char *list)
{
    carrier_add(list, CARRIES_DATA, "shm", "");
}

static int shm_disconnect(struct weir_rank *r)
{
    struct shm *s = r->fs;
    handover_disconnect(r, &s->handover);
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (p != r->cfg.rank) {
            s->peers[p] = (struct shm_peer){.sink = NULL};
        }
    }
    return 0;
}

static int shm_close(struct weir_rank *r)
{
    handover_close(r, &((struct shm *)r->fs)->handover);
    free(r->fs);
    return 0;
}

const struct weir_fabric weir_fab_shm = {
    .name = "shm",
    .caps = CAP_REMOTE_COMPLETION | CAP_NEEDS_HOST | CAP_COPIES,
    .probe = shm_probe,
    .open = shm_open_,
    .attach = shm_attach,
    .address = shm_address,
    .connect = shm_connect,
    .put = shm_put,
    .get = shm_get,
    .post = posts_itself,
    .progress = shm_progress,
    .poll = shm_progress,
    .idle_wait = no_idle_wait,
    .flush = shm_flush,
    .signal = shm_signal,
    .notify = shm_signal,
    .prepost = shm_prepost,
    .ping = shm_ping,
    .arrived = shm_arrived,
    .runs_pingpong = runs_no_pingpong,
    .run_pingpong = unsupported_run_pingpong,
    .ceiling = ceiling_is_memcpy,
    .transport = shm_transport,
    .carriers = shm_carriers,
    .disconnect = shm_disconnect,
    .close = shm_close,
};
