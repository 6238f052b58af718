/* A rank's life outside the measured loops: opening, connecting, meeting, closing. */
#include "rank.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ep.h"
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
            return rank_fail(r, -ETIMEDOUT, "wait", -1, "the time of %.3g s is up",
                             (double)r->limit / 1e9);
        return rank_fail(r, -ETIMEDOUT, "wait", -1,
                         "the time of %.3g s is up after %llu of %llu iterations",
                         (double)r->limit / 1e9, (unsigned long long)atomic_load(&ctl->done),
                         (unsigned long long)atomic_load(&ctl->total));
    }
    return 0;
}

int rank_sleep(struct weir_rank *r, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, WEIR_NAP_MS) < 0 && errno != EINTR)
        return rank_fail(r, -errno, "poll", -1, "%s", strerror(errno));
    if (p.revents & (POLLNVAL | POLLERR | POLLHUP) && !(p.revents & POLLIN))
        return rank_fail(r, p.revents & POLLNVAL ? -EBADF : -EIO, "poll", -1,
                         "the file that wakes this rank is %s",
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
    snprintf(
        r->err->text, sizeof r->err->text,
        "rank %d did not let it complete within %.3g s: it is gone, does not answer, or cannot be reached",
        peer, (double)r->limit / 1e9);
    return rc;
}

/* Waits for one part that a fabric has pending. It must not end before: the fabric
 * would write to what is gone. */
int rank_await(struct weir_rank *r, const char *op, int peer, struct weir_req *q)
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
    return rc == WEIR_PENDING ? rank_await(r, "flush", peer, &q) : rc;
}

/* What the process has used so far: all its threads, because a library's own work
 * for the same bytes. */
void rank_usage(double *cpu_s, uint64_t *switches)
{
    struct rusage u = {0};
    (void)getrusage(RUSAGE_SELF, &u); /* fails only for a bad address */
    *cpu_s    = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    *switches = (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
}

/* ---- the functions for Go, each a call on the rank's thread ---- */

#define ARRAYS 4 /* of lines in the control region */

static uint64_t array_bytes(int ranks)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return ((uint64_t)ranks * WEIR_LINE + page - 1) / page * page;
}

uint64_t weir_control_bytes(int ranks) { return ARRAYS * array_bytes(ranks); }

/* The first, the middle and the last page of a region are where they were to be. */
static int placed(struct weir_rank *r, const struct weir_region *of)
{
    struct weir_err e    = {0};
    size_t          at[] = {0, of->size / 2, of->size - 1};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (node_check(&r->binding, of->base + at[i], &e) < 0)
            return rank_fail(r, e.code, "alloc", -1, "%s", e.text);
    return 0;
}

/* Memory that is registered, whoever allocates it. */
static int make_region(struct weir_rank *r, enum weir_region_name name,
                       const struct weir_memory *kind, uint64_t bytes, int pages)
{
    struct weir_region *g = &r->regions[name];
    struct weir_err     e = {0};
    int                 rc;
    *g         = (struct weir_region){.size = bytes, .fd = -1, .kind = kind};
    int64_t t1 = weir_monotonic();
    if (!(r->fab->caps & CAP_ALLOCATES && kind->by_fabric) &&
        (rc = kind->alloc(bytes, pages, g, &e)) < 0)
        return rank_fail(r, rc, "alloc", -1, "%s", e.text);
    int64_t t2 = weir_monotonic();
    if ((rc = r->fab->attach(r, name)) < 0)
        return rc;
    /* a fabric that allocates cannot tell one from the other: all of it is registration */
    r->alloc_s += (double)(t2 - t1) / 1e9;
    r->register_s += (double)(weir_monotonic() - t2) / 1e9;
    return 0;
}

static int make_regions(struct weir_rank *r)
{
    const struct weir_layout *l = &r->cfg.layout;
    struct weir_err           e = {0};
    int                       rc;
    if (node_bind(r->cfg.numa, &r->binding, &e) < 0)
        return rank_fail(r, e.code, "alloc", -1, "%s", e.text);
    if ((rc = make_region(r, REGION_CONTROL, &weir_mem_dram, weir_control_bytes(r->cfg.ranks),
                          PAGES_DEFAULT)) < 0 ||
        (rc = make_region(r, REGION_SOURCE, r->cfg.source, l->source, r->cfg.pages)) < 0 ||
        (rc = make_region(r, REGION_SINK, r->cfg.sink, l->sink, r->cfg.pages)) < 0)
        return rc;
    if (node_release(&r->binding, &e) < 0)
        return rank_fail(r, e.code, "alloc", -1, "%s", e.text);
    for (int i = 0; i < REGIONS; i++)
        if ((rc = placed(r, &r->regions[i])) < 0)
            return rc;
    return 0;
}

/* What probes of ceilings need, which cases do not. */
static int room_to_probe(struct weir_rank *r)
{
    const struct weir_layout *l = &r->cfg.layout;
    if (l->source >= WEIR_LEAST && l->first <= l->source - WEIR_LEAST && l->sink >= WEIR_LEAST &&
        l->probe <= l->sink - WEIR_LEAST)
        return 0;
    return rank_fail(
        r, -EINVAL, "alloc", -1,
        "a source of %llu bytes from %llu on, or a sink of %llu from %llu on, leaves too few to probe with",
        (unsigned long long)l->source, (unsigned long long)l->first, (unsigned long long)l->sink,
        (unsigned long long)l->probe);
}

static int do_open(struct weir_rank *r, void *arg)
{
    (void)arg;
    int rc;
    rank_phase(r, PH_READY, 0);
    weir_clock_calibrate(&r->clk);
    r->pings   = array_bytes(r->cfg.ranks);
    r->tallies = 2 * r->pings;
    r->told    = 3 * r->pings;
    if ((rc = room_to_probe(r)) < 0 || (rc = r->fab->open(r)) < 0 ||
        (rc = options_all_known(r)) < 0 || (rc = make_regions(r)) < 0)
        return rc;
    rank_choose_pings(r);
    if (!(r->hist = hist_new()) || !(r->sinks = calloc((size_t)r->cfg.ranks, sizeof *r->sinks)))
        return rank_fail(r, -ENOMEM, "alloc", -1, "no memory for the recorder");
    return 0;
}

void *weir_alloc_at_page(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    void  *p    = aligned_alloc(page, whole);
    return p ? memset(p, 0, whole) : NULL;
}

int weir_open(const struct weir_config *cfg, struct weir_rank **out, struct weir_err *err)
{
    struct weir_rank *r = weir_alloc_at_page(sizeof *r);
    memset(err, 0, sizeof *err);
    err->peer = -1;
    if (!r) {
        err->code = -ENOMEM;
        snprintf(err->text, sizeof err->text, "no memory for a rank");
        return err->code;
    }
    r->cfg = *cfg;
    uint32_t busy = (uint32_t)(cfg->ranks * (cfg->team ? cfg->team->threads : 1));
    for (r->turn_mask = 255; r->turn_mask > 7 && (r->turn_mask + 1) * busy > 512;
         r->turn_mask >>= 1)
        ;
    r->copy   = weir_copies(&(size_t){0});
    r->err    = err;
    r->fab    = weir_fabric_find(cfg->fabric);
    rank_phase(r, PH_START, 0);
    if (!r->fab)
        rank_fail(r, -EINVAL, "open", -1, "this version of weir has no fabric %s", cfg->fabric);
    else if (!cfg->one_host && !(r->fab->caps & CAP_NETWORK))
        rank_fail(r, -EHOSTUNREACH, "open", -1, "fabric %s does not reach other hosts",
                  cfg->fabric);
    else if (r->fab->caps & CAP_NEEDS_HOST && !(cfg->source->host && cfg->sink->host))
        rank_fail(r, -EOPNOTSUPP, "open", -1,
                  "fabric %s moves host memory only, and kind %s is none", cfg->fabric,
                  cfg->source->host ? cfg->sink->name : cfg->source->name);
    else if (cfg->ranks < 2 || cfg->ranks > WEIR_MAX_RANKS || cfg->rank < 0 ||
             cfg->rank >= cfg->ranks)
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

int weir_confirms_delivery(const struct weir_rank *r)
{
    return (r->fab->caps & CAP_REMOTE_COMPLETION) != 0;
}

struct address_args {
    void   *buf;
    size_t  cap, len;
};

/* Before the fabric's part of an address. */
struct extent {
    uint64_t sink; /* bytes of it that peers may use */
};

static int do_address(struct weir_rank *r, void *arg)
{
    struct address_args      *a = arg;
    const struct weir_layout *l = &r->cfg.layout;
    struct extent             e = {l->probe ? l->probe : l->sink};
    int64_t                   n;
    if (a->cap < sizeof e)
        return rank_fail(r, -ENOBUFS, "address", -1, "%zu bytes are too few for an address",
                         a->cap);
    memcpy(a->buf, &e, sizeof e);
    if ((n = r->fab->address(r, (char *)a->buf + sizeof e, a->cap - sizeof e)) < 0)
        return (int)n;
    a->len = sizeof e + (size_t)n;
    return 0;
}

/* Takes the part before the fabric's off the addresses. */
static int take_extents(struct weir_rank *r, const char **blobs, size_t *lens)
{
    for (int i = 0; i < r->cfg.ranks; i++) {
        struct extent e;
        if (lens[i] < sizeof e)
            return rank_fail(r, -EPROTO, "connect", i, "its address has only %zu bytes", lens[i]);
        memcpy(&e, blobs[i], sizeof e);
        r->sinks[i] = e.sink;
        blobs[i] += sizeof e;
        lens[i] -= sizeof e;
    }
    return 0;
}

static int call(struct weir_rank *r, int (*fn)(struct weir_rank *, void *), void *arg,
                struct weir_err *err)
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
    const char **blobs;
    size_t      *lens;
    int64_t      timeout;
};

static int do_connect(struct weir_rank *r, void *arg)
{
    struct connect_args *a = arg;
    int64_t              t0 = weir_monotonic();
    int                  rc;
    rank_phase(r, PH_CONNECT, 0);
    r->limit    = a->timeout;
    r->deadline = t0 + a->timeout;
    if ((rc = take_extents(r, a->blobs, a->lens)) < 0 ||
        (rc = r->fab->connect(r, a->blobs, a->lens)) < 0)
        return rc;
    r->connect_s = (double)(weir_monotonic() - t0) / 1e9;
    /* wire-up of many fabrics is lazy and needs both sides' progress: finish it here */
    return rank_meet_peers(r, 0, NULL);
}

int weir_connect(struct weir_rank *r, const void *blobs, const size_t *lens, int64_t timeout,
                 struct weir_err *err)
{
    const char **at = calloc((size_t)r->cfg.ranks, sizeof *at);
    size_t      *n  = calloc((size_t)r->cfg.ranks, sizeof *n);
    if (!at || !n) {
        free(at), free(n);
        *err = (struct weir_err){.code = -ENOMEM, .peer = -1, .op = "connect", .phase = PH_CONNECT};
        snprintf(err->text, sizeof err->text, "no memory for the addresses of %d ranks",
                 r->cfg.ranks);
        return err->code;
    }
    const char *p = blobs;
    for (int i = 0; i < r->cfg.ranks; p += lens[i], i++)
        at[i] = p, n[i] = lens[i];
    struct connect_args a  = {at, n, timeout};
    int                 rc = call(r, do_connect, &a, err);
    free(at);
    free(n);
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

int weir_run(struct weir_rank *r, const struct weir_case *c, struct weir_result *out,
             struct weir_err *err)
{
    struct run_args a = {c, out};
    memset(out, 0, sizeof *out);
    int rc = call(r, do_run, &a, err);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}

struct ep_args {
    const struct weir_ep  *e;
    struct weir_ep_result *out;
};

static int do_run_ep(struct weir_rank *r, void *arg)
{
    struct ep_args *a = arg;
    return rank_ep(r, a->e, a->out);
}

int weir_run_ep(struct weir_rank *r, const struct weir_ep *e, struct weir_ep_result *out,
                struct weir_err *err)
{
    struct ep_args a = {e, out};
    memset(out, 0, sizeof *out);
    int rc = call(r, do_run_ep, &a, err);
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

int weir_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_playing *out,
              struct weir_err *err)
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
    for (int i = 0; i < REGIONS; i++)
        r->regions[i].kind->free(&r->regions[i]);
    return 0;
}

int weir_close(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    int rc = call(r, do_close, &timeout, err);
    if (rc < 0)
        return rc; /* abandoned: the process must end */
    thread_stop(r->thread);
    lists_drop(r);
    rank_forget_ep(r);
    rank_forget_play(r);
    free(r->hist);
    free(r->sinks);
    free(r);
    return 0;
}
