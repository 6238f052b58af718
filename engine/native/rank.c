/* A rank's life outside the measured loops: opening, connecting, meeting, closing. */
#include "rank.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp_wire.h"
#include "thread.h"

static const char *const phase_names[] = {"start", "ready", "connect", "verify", "warmup", "run", "ceiling", "teardown"};

int rank_fail(struct weir_rank *r, int code, const char *op, int peer, const char *format, ...)
{
    struct weir_err *e = r->err;
    if (!e || e->code)
        return code;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->code = code;
    e->peer = peer;
    snprintf(e->op, sizeof e->op, "%s", op);
    snprintf(e->phase, sizeof e->phase, "%s", phase_names[atomic_load(&r->cfg.control->phase)]);
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
    if (atomic_load(&r->cfg.control->abort))
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

/* Who waits gives up a little later than who works, whose words say more. */
#define PATIENCE_NS 150000000

static int wait_slot_until_deadline(struct weir_rank *r, int peer, uint64_t at_least)
{
    int rc;
    while (atomic_load_explicit(rank_slot(r, peer), memory_order_acquire) < at_least) {
        if ((rc = r->fab->progress(r)) < 0)
            return rc;
        if ((rc = rank_tick(r)) < 0) {
            if (rc == -ETIMEDOUT && r->err && !strcmp(r->err->op, "wait")) {
                r->err->peer = peer;
                snprintf(r->err->text, sizeof r->err->text, "rank %d did not come to the barrier within %.3g s", peer, (double)r->limit / 1e9);
            }
            return rc;
        }
    }
    return 0;
}

static int wait_slot(struct weir_rank *r, int peer, uint64_t at_least)
{
    int64_t deadline = r->deadline;
    r->deadline      = deadline ? deadline + PATIENCE_NS : 0;
    int rc           = wait_slot_until_deadline(r, peer, at_least);
    r->deadline      = deadline;
    return rc;
}

int rank_barrier(struct weir_rank *r, int64_t lead, int64_t *start)
{
    int rc;
    r->barriers++;
    if (r->cfg.rank != 0) {
        if ((rc = r->fab->signal(r, 0, r->barriers)) < 0 || (rc = wait_slot(r, 0, r->released + 1)) < 0)
            return rc;
        r->released = atomic_load(rank_slot(r, 0));
    } else {
        for (int p = 1; p < r->cfg.ranks; p++)
            if ((rc = wait_slot(r, p, r->barriers)) < 0)
                return rc;
        /* one word is both the release and the time: it only ever grows */
        uint64_t at = (uint64_t)(weir_monotonic() + lead);
        r->released = at > r->released ? at : r->released + 1;
        for (int p = 1; p < r->cfg.ranks; p++)
            if ((rc = r->fab->signal(r, p, r->released)) < 0)
                return rc;
    }
    if (lead > 0)
        while ((uint64_t)weir_monotonic() < r->released)
            if ((rc = r->fab->progress(r)) < 0)
                return rc;
    if (start)
        *start = (int64_t)r->released;
    return 0;
}

int rank_flush(struct weir_rank *r, int peer)
{
    struct weir_req q  = {.pending = 2}; /* never falls to 0, so no loop hears of it */
    int             rc = r->fab->flush(r, peer, &q);
    if (rc <= 0)
        return rc;
    while (q.pending == 2)
        if ((rc = r->fab->progress(r)) < 0 || (rc = rank_tick(r)) < 0)
            return rc;
    return 0;
}

/* ---- the functions for Go, each a call on the rank's thread ---- */

#define SKEW (17 * 4096)
#define MIN_AREA TCP_WIRE_PIECE_MAX /* the link's probe needs it, whatever the block */

static size_t pages(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (n + page - 1) / page * page;
}

static int do_open(struct weir_rank *r, void *arg)
{
    (void)arg;
    int    rc;
    size_t lines = pages((size_t)r->cfg.ranks * WEIR_LINE);
    rank_phase(r, PH_READY, 0);
    weir_clock_calibrate(&r->clk);
    if (r->cfg.footprint > SIZE_MAX / 4)
        return rank_fail(r, -E2BIG, "alloc", -1, "a request of %llu bytes does not fit into memory", (unsigned long long)r->cfg.footprint);
    r->area    = pages(r->cfg.footprint > MIN_AREA ? r->cfg.footprint : MIN_AREA);
    r->pings   = lines;
    r->local   = 2 * lines;
    /* an odd number of pages more than a power of two: see weir_map_shared */
    r->exposed = r->local + r->area + SKEW;
    size_t bytes = r->exposed + r->area;

    if ((rc = r->fab->open(r)) < 0)
        return rc;
    int64_t t1 = weir_monotonic();
    if (!(r->fab->caps & CAP_ALLOCATES)) {
        struct weir_err e = {0};
        if ((rc = r->memory->alloc(bytes, &r->mem, &e)) < 0)
            return rank_fail(r, rc, "alloc", -1, "%s", e.text);
    }
    int64_t t2 = weir_monotonic();
    if ((rc = r->fab->attach(r, bytes)) < 0)
        return rc;
    int64_t t3 = weir_monotonic();
    /* a fabric that allocates cannot tell one from the other: all of it is registration */
    r->alloc_s    = (double)(t2 - t1) / 1e9;
    r->register_s = (double)(t3 - t2) / 1e9;
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
    r->memory = &weir_mem_dram;
    r->copy   = weir_copies(&(size_t){0});
    r->err    = err;
    r->fab    = weir_fabric_find(cfg->fabric);
    rank_phase(r, PH_START, 0);
    if (!r->fab)
        rank_fail(r, -EINVAL, "open", -1, "this weir has no fabric %s", cfg->fabric);
    else if (cfg->ranks < 2 || cfg->ranks > WEIR_MAX_RANKS || cfg->rank < 0 || cfg->rank >= cfg->ranks)
        rank_fail(r, -EINVAL, "open", -1, "rank %d of %d", cfg->rank, cfg->ranks);
    else if ((r->thread = thread_start(r, err)))
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
        err->code = rc;
        snprintf(err->text, sizeof err->text, "failed with %d and no word why", rc);
    }
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
    return rank_barrier(r, 0, NULL);
}

int weir_connect(struct weir_rank *r, const void *blobs, const size_t *lens, int64_t timeout, struct weir_err *err)
{
    const char **at = calloc((size_t)r->cfg.ranks, sizeof *at);
    if (!at) {
        err->code = -ENOMEM;
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

static int do_close(struct weir_rank *r, void *arg)
{
    int rc;
    rank_phase(r, PH_TEARDOWN, 0);
    r->closing  = 1;
    r->limit    = *(int64_t *)arg;
    r->deadline = weir_monotonic() + r->limit;
    /* nobody takes memory away while another still uses it */
    if ((rc = rank_barrier(r, 0, NULL)) < 0)
        return rc;
    r->fab->close(r);
    r->memory->free(&r->mem);
    return 0;
}

int weir_close(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    int rc = call(r, do_close, &timeout, err);
    if (rc < 0)
        return rc; /* abandoned: the process must end */
    thread_stop(r->thread);
    free(r->hist);
    free(r);
    return 0;
}
