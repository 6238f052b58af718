/* A rank's life outside the measured loops: opening, connecting, meeting, closing. */
#include "rank.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "tcp_wire.h"
#include "team.h"
#include "thread.h"

int rank_fail(struct weir_rank *r, int code, const char *op, int peer, const char *format, ...)
{
    struct weir_err *e = r->err;
    if (!e || e->code)
        return code;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->code  = code;
    e->peer  = peer;
    e->phase = atomic_load(&r->cfg.control->phase);
    snprintf(e->op, sizeof e->op, "%s", op);
    return code;
}

void rank_phase(struct weir_rank *r, enum weir_phase phase, uint64_t total)
{
    struct weir_control *ctl = r->cfg.control;
    atomic_store(&ctl->done, 0);
    atomic_store(&ctl->total, total);
    atomic_store(&ctl->phase, (uint32_t)phase);
}

int rank_expired(struct weir_rank *r)
{
    atomic_fetch_add_explicit(&r->cfg.control->heartbeat, 1, memory_order_relaxed);
    if (atomic_load(&r->cfg.control->abort) || team_over(r->cfg.team))
        return rank_fail(r, -ECANCELED, "wait", -1, "told to stop");
    if (r->deadline && weir_monotonic() > r->deadline) {
        struct weir_control *ctl = r->cfg.control;
        if (!atomic_load(&ctl->total))
            return rank_fail(r, -ETIMEDOUT, "wait", -1, "the time of %.3g s is up", (double)r->limit / 1e9);
        return rank_fail(r, -ETIMEDOUT, "wait", -1, "the time of %.3g s is up after %llu of %llu iterations", (double)r->limit / 1e9,
                         (unsigned long long)atomic_load(&ctl->done), (unsigned long long)atomic_load(&ctl->total));
    }
    return 0;
}

int rank_sleep(struct weir_rank *r, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, WEIR_NAP_MS) < 0 && errno != EINTR)
        return rank_fail(r, -errno, "poll", -1, "%s", strerror(errno));
    if (p.revents & (POLLNVAL | POLLERR | POLLHUP) && !(p.revents & POLLIN))
        return rank_fail(r, p.revents & POLLNVAL ? -EBADF : -EIO, "poll", -1, "the file that wakes this rank is %s",
                         p.revents & POLLNVAL ? "closed" : "broken");
    r->turns = r->turn_mask; /* the clock is looked at in the next turn: this one was long */
    return 0;
}

int rank_turn(struct weir_rank *r, int peer, const char *op)
{
    int rc = r->fab->wait(r);
    if (rc < 0 || (rc = rank_tick(r)) != -ETIMEDOUT || !r->err || strcmp(r->err->op, "wait"))
        return rc;
    r->err->peer = peer;
    snprintf(r->err->op, sizeof r->err->op, "%s", op);
    snprintf(r->err->text, sizeof r->err->text, "rank %d did not let it complete within %.3g s: it is gone, does not answer, or cannot be reached", peer, (double)r->limit / 1e9);
    return rc;
}

/* Waits for one part that a fabric has pending. It must not end before: the fabric
 * would write to what is gone. */
static int await(struct weir_rank *r, const char *op, int peer, struct weir_req *q)
{
    int rc;
    while (q->pending == 2)
        if ((rc = rank_turn(r, peer, op)) < 0)
            return rc;
    return q->failed ? rank_fail(r, q->failed, op, peer, "failed with status %d", q->failed) : 0;
}

int rank_flush(struct weir_rank *r, int peer)
{
    struct weir_req q  = {.pending = 2}; /* never falls to 0, so no loop hears of it */
    int             rc = r->fab->flush(r, peer, &q);
    return rc == WEIR_PENDING ? await(r, "flush", peer, &q) : rc;
}

int rank_tell(struct weir_rank *r, int peer, uint64_t word)
{
    char           *from = r->mem.base + r->told + (size_t)peer * WEIR_LINE;
    struct weir_req q    = {.pending = 2};
    memcpy(from, &word, sizeof word);
    int rc = r->fab->put(r, peer, from, r->tallies + (size_t)r->cfg.rank * WEIR_LINE, sizeof word, &q);
    if (rc == WEIR_PENDING)
        rc = await(r, "put", peer, &q);
    return rc < 0 ? rc : rank_flush(r, peer);
}

/* ---- the functions for Go, each a call on the rank's thread ---- */

#define SKEW (17 * 4096)
#define MIN_AREA TCP_WIRE_PIECE_MAX /* the link's probe needs it, whatever the block */

static size_t pages(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (n + page - 1) / page * page;
}

/* With cells of a matrix in it, it is of them; any has at least a region. */
static size_t area(const struct weir_rank *r, int regions, uint64_t cells)
{
    size_t n = r->cfg.region * (size_t)(regions > 0 && !cells ? regions : 1);
    if (n < cells)
        n = cells;
    return pages(n > MIN_AREA ? n : MIN_AREA);
}

/* The first, the middle and the last page of each area are where they were to be. */
static int placed(struct weir_rank *r, size_t bytes, struct weir_err *e)
{
    size_t edges[] = {0, r->exposed, r->local, r->probe > r->local ? r->probe : bytes, bytes};
    for (size_t i = 0; i + 1 < sizeof edges / sizeof *edges; i++) {
        size_t from = edges[i], to = edges[i + 1];
        size_t at[] = {from, from + (to - from) / 2, to - 1};
        for (size_t k = 0; from < to && k < sizeof at / sizeof *at; k++)
            if (node_check(&r->binding, r->mem.base + at[k], e) < 0)
                return rank_fail(r, e->code, "alloc", -1, "%s", e->text);
    }
    return 0;
}

/* Memory that peers can reach, whoever allocates it. */
static int make_memory(struct weir_rank *r, size_t bytes)
{
    struct weir_err e = {0};
    int             rc;
    if (node_bind(r->cfg.numa, &r->binding, &e) < 0)
        return rank_fail(r, e.code, "alloc", -1, "%s", e.text);
    int64_t t1 = weir_monotonic();
    if (!(r->fab->caps & CAP_ALLOCATES) && (rc = r->memory->alloc(bytes, r->cfg.pages, &r->mem, &e)) < 0)
        return rank_fail(r, rc, "alloc", -1, "%s", e.text);
    int64_t t2 = weir_monotonic();
    if ((rc = r->fab->attach(r, bytes)) < 0)
        return rc;
    int64_t t3 = weir_monotonic();
    /* a fabric that allocates cannot tell one from the other: all of it is registration */
    r->alloc_s    = (double)(t2 - t1) / 1e9;
    r->register_s = (double)(t3 - t2) / 1e9;
    if (node_release(&r->binding, &e) < 0)
        return rank_fail(r, e.code, "alloc", -1, "%s", e.text);
    return placed(r, bytes, &e);
}

static int do_open(struct weir_rank *r, void *arg)
{
    (void)arg;
    int    rc;
    size_t lines = pages((size_t)r->cfg.ranks * WEIR_LINE);
    rank_phase(r, PH_READY, 0);
    weir_clock_calibrate(&r->clk);
    int targets, sources;
    lists_most(r, &targets, &sources);
    int regions = targets + sources + 1;
    if (r->cfg.region > SIZE_MAX / 4 / (size_t)regions || r->cfg.local > SIZE_MAX / 4 || r->cfg.exposed > SIZE_MAX / 4)
        return rank_fail(r, -E2BIG, "alloc", -1, "%d regions of %llu bytes, or cells of %llu and %llu, do not fit into memory", regions, (unsigned long long)r->cfg.region,
                         (unsigned long long)r->cfg.local, (unsigned long long)r->cfg.exposed);
    r->pings   = lines;
    r->tallies = 2 * lines;
    r->told    = 3 * lines;
    r->exposed = 4 * lines;
    /* an odd number of pages more than a power of two: see weir_map */
    r->local     = r->exposed + area(r, sources, r->cfg.exposed) + SKEW;
    r->probe     = r->exposed;
    size_t bytes = r->local + area(r, targets, r->cfg.local);
    if (sources) { /* peers still need what stands in the exposed area while this rank probes */
        r->probe = bytes + SKEW;
        bytes    = r->probe + (targets ? area(r, 1, 0) : MIN_AREA);
    }

    if ((rc = r->fab->open(r)) < 0 || (rc = options_all_known(r)) < 0)
        return rc;
    if ((rc = make_memory(r, bytes)) < 0)
        return rc;
    if (!(r->hist = hist_new()))
        return rank_fail(r, -ENOMEM, "alloc", -1, "no memory for the recorder");
    return 0;
}

int weir_open(const struct weir_config *cfg, struct weir_rank **out, struct weir_err *err)
{
    struct weir_rank *r = calloc(1, sizeof *r);
    memset(err, 0, sizeof *err);
    err->peer = -1;
    if (!r) {
        err->code = -ENOMEM;
        snprintf(err->text, sizeof err->text, "no memory for a rank");
        return err->code;
    }
    r->cfg    = *cfg;
    r->mem.fd = -1;
    r->memory = cfg->heap ? &weir_mem_heap : &weir_mem_dram;
    uint32_t busy = (uint32_t)(cfg->ranks * (cfg->team ? cfg->team->threads : 1));
    for (r->turn_mask = 255; r->turn_mask > 7 && (r->turn_mask + 1) * busy > 512; r->turn_mask >>= 1)
        ;
    r->copy   = weir_copies(&(size_t){0});
    r->err    = err;
    r->fab    = weir_fabric_find(cfg->fabric);
    rank_phase(r, PH_START, 0);
    if (!r->fab)
        rank_fail(r, -EINVAL, "open", -1, "this version of weir has no fabric %s", cfg->fabric);
    else if (!cfg->one_host && !(r->fab->caps & CAP_NETWORK))
        rank_fail(r, -EHOSTUNREACH, "open", -1, "fabric %s does not reach other hosts", cfg->fabric);
    else if (cfg->ranks < 2 || cfg->ranks > WEIR_MAX_RANKS || cfg->rank < 0 || cfg->rank >= cfg->ranks)
        rank_fail(r, -EINVAL, "open", -1, "rank %d of %d", cfg->rank, cfg->ranks);
    else if (lists_make(r) == 0 && (r->thread = thread_start(r, err)))
        thread_call(r->thread, do_open, NULL, err);
    r->err = NULL;
    if (err->code) {
        fflush(NULL); /* as in call */
        free(r); /* its thread and what the fabric holds go with the process */
        return err->code;
    }
    *out = r;
    return 0;
}

int weir_confirms_delivery(const struct weir_rank *r) { return (r->fab->caps & CAP_REMOTE_COMPLETION) != 0; }

struct address_args {
    void   *buf;
    size_t  cap, len;
};

static int do_address(struct weir_rank *r, void *arg)
{
    struct address_args *a = arg;
    int64_t              n = r->fab->address(r, a->buf, a->cap);
    if (n < 0)
        return (int)n;
    a->len = (size_t)n;
    return 0;
}

static int call(struct weir_rank *r, int (*fn)(struct weir_rank *, void *), void *arg, struct weir_err *err)
{
    memset(err, 0, sizeof *err);
    err->peer       = -1;
    thread_idle_progress(r->thread, 0);
    int rc = thread_call(r->thread, fn, arg, err);
    if (rc < 0 && !err->code) {
        err->code  = rc;
        err->phase = atomic_load(&r->cfg.control->phase);
        snprintf(err->text, sizeof err->text, "failed with %d and no word why", rc);
    }
    if (rc < 0 && r->cfg.team)
        atomic_store(&r->cfg.team->given_up, 1);
    if (rc < 0)
        fflush(NULL); /* libraries log through stdio, and the process ends without flushing it */
    return rc;
}

int weir_address(struct weir_rank *r, void *buf, size_t cap, size_t *len, struct weir_err *err)
{
    struct address_args a  = {buf, cap, 0};
    int                 rc = call(r, do_address, &a, err);
    *len = a.len;
    return rc;
}

struct connect_args {
    const char *const *blobs;
    const size_t      *lens;
    int64_t            timeout;
};

static int do_connect(struct weir_rank *r, void *arg)
{
    struct connect_args *a = arg;
    int64_t              t0 = weir_monotonic();
    int                  rc;
    rank_phase(r, PH_CONNECT, 0);
    r->limit    = a->timeout;
    r->deadline = t0 + a->timeout;
    if ((rc = r->fab->connect(r, a->blobs, a->lens)) < 0)
        return rc;
    r->connect_s = (double)(weir_monotonic() - t0) / 1e9;
    /* wire-up of many fabrics is lazy and needs both sides' progress: finish it here */
    return rank_meet_peers(r, 0, NULL);
}

int weir_connect(struct weir_rank *r, const void *blobs, const size_t *lens, int64_t timeout, struct weir_err *err)
{
    const char **at = calloc((size_t)r->cfg.ranks, sizeof *at);
    if (!at) {
        *err = (struct weir_err){.code = -ENOMEM, .peer = -1, .op = "connect", .phase = PH_CONNECT};
        snprintf(err->text, sizeof err->text, "no memory for the addresses of %d ranks", r->cfg.ranks);
        return err->code;
    }
    const char *p = blobs;
    for (int i = 0; i < r->cfg.ranks; p += lens[i], i++)
        at[i] = p;
    struct connect_args a  = {at, lens, timeout};
    int                 rc = call(r, do_connect, &a, err);
    free(at);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}

struct run_args {
    const struct weir_case *c;
    struct weir_result     *out;
};

static int do_run(struct weir_rank *r, void *arg)
{
    struct run_args *a = arg;
    return rank_case(r, a->c, a->out);
}

int weir_run(struct weir_rank *r, const struct weir_case *c, struct weir_result *out, struct weir_err *err)
{
    struct run_args a = {c, out};
    memset(out, 0, sizeof *out);
    int rc = call(r, do_run, &a, err);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}

struct play_args {
    const struct weir_sequence *s;
    struct weir_playing        *out;
};

static int do_play(struct weir_rank *r, void *arg)
{
    struct play_args *a = arg;
    return rank_play(r, a->s, a->out);
}

int weir_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_playing *out, struct weir_err *err)
{
    struct play_args a = {s, out};
    memset(out, 0, sizeof *out);
    int rc = call(r, do_play, &a, err);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}

static int do_close(struct weir_rank *r, void *arg)
{
    int rc;
    rank_phase(r, PH_TEARDOWN, 0);
    r->closing  = 1;
    r->limit    = *(int64_t *)arg;
    r->deadline = weir_monotonic() + r->limit;
    /* nobody takes memory away while another still uses it */
    if ((rc = rank_meet_peers(r, 0, NULL)) < 0)
        return rc;
    if ((rc = r->fab->close(r)) < 0)
        return rc;
    r->memory->free(&r->mem);
    return 0;
}

int weir_close(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    int rc = call(r, do_close, &timeout, err);
    if (rc < 0)
        return rc; /* abandoned: the process must end */
    thread_stop(r->thread);
    lists_drop(r);
    rank_forget_play(r);
    free(r->hist);
    free(r);
    return 0;
}
