/* The functions for Go with which a rank begins and ends: opening, connecting, disconnecting,
 * closing. Each is a call on the rank's thread, and says how long its steps took. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda.h"
#include "options.h"
#include "rank.h"
#include "team.h"
#include "thread.h"

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

/* Adds the time since *from, which becomes now. */
static void step_add(double *to, int64_t *from)
{
    int64_t now = weir_monotonic();
    *to += (double)(now - *from) / 1e9;
    *from = now;
}

static int clear(struct weir_rank *r, struct weir_region *g, int64_t *from)
{
    struct weir_err e  = {0};
    int             rc = g->kind->clear(g, &e);
    step_add(&r->life.clear, from);
    return rc < 0 ? rank_fail(r, rc, "alloc", -1, "%s", e.text) : 0;
}

/* Memory that is registered, whoever allocates it. */
static int make_region(struct weir_rank *r, enum weir_region_name name,
                       const struct weir_memory *kind, uint64_t bytes, int pages)
{
    struct weir_region *g = &r->regions[name];
    struct weir_err     e = {0};
    int                 rc;
    int own    = !(r->fab->caps & CAP_ALLOCATES && kind->by_fabric);
    *g         = (struct weir_region){.size = bytes, .fd = -1, .kind = kind};
    int64_t t1 = weir_monotonic();
    if (own && (rc = kind->alloc(bytes, pages, g, &e)) < 0)
        return rank_fail(r, rc, "alloc", -1, "%s", e.text);
    step_add(&r->life.alloc, &t1);
    if (own && (rc = clear(r, g, &t1)) < 0)
        return rc;
    if ((rc = r->fab->attach(r, name)) < 0)
        return rc;
    /* a fabric that allocates cannot tell one from the other: all of it is registration */
    step_add(&r->life.registering, &t1);
    return own ? 0 : clear(r, g, &t1);
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
        if (r->regions[i].kind->host && (rc = placed(r, &r->regions[i])) < 0)
            return rc;
    return 0;
}

/* Prepares this thread for its kinds of memory, before fabrics open and use them. */
static int bind_kinds(struct weir_rank *r)
{
    struct weir_err e = {0};
    int             rc;
    if ((rc = r->cfg.source->bind(&r->cfg, &e)) < 0 || (rc = r->cfg.sink->bind(&r->cfg, &e)) < 0)
        return rank_fail(r, rc, "open", -1, "%s", e.text);
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
    int     rc;
    int64_t from = weir_monotonic();
    weir_memory_beats(&r->cfg.control->heartbeat);
    rank_phase(r, PH_READY, 0);
    weir_clock_calibrate(&r->clk);
    r->pings   = array_bytes(r->cfg.ranks);
    r->tallies = 2 * r->pings;
    r->told    = 3 * r->pings;
    if ((rc = room_to_probe(r)) < 0 || (rc = bind_kinds(r)) < 0 || (rc = r->fab->open(r)) < 0 ||
        (rc = options_all_known(r)) < 0)
        return rc;
    step_add(&r->life.open, &from);
    if ((rc = make_regions(r)) < 0)
        return rc;
    if (r->cfg.source->gpu || r->cfg.sink->gpu)
        memcpy(r->life.gpu, cuda_here()->bus, sizeof r->life.gpu);
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
        if (r->absent[i])
            continue;
        if (lens[i] < sizeof e)
            return rank_fail(r, -EPROTO, "connect", i, "its address has only %zu bytes", lens[i]);
        memcpy(&e, blobs[i], sizeof e);
        r->sinks[i] = e.sink;
        blobs[i] += sizeof e;
        lens[i] -= sizeof e;
    }
    return 0;
}

int weir_address(struct weir_rank *r, void *buf, size_t cap, size_t *len, struct weir_err *err)
{
    struct address_args a  = {buf, cap, 0};
    int                 rc = rank_call(r, do_address, &a, err);
    *len = a.len;
    return rc;
}

/* A peer without an address is absent: this rank leaves it out until it connects again. */
static void take_group(struct weir_rank *r, const size_t *lens)
{
    int *members = (int *)r->all.members, n = 0;
    for (int i = 0; i < r->cfg.ranks; i++) {
        r->absent[i] = lens[i] == 0;
        if (lens[i])
            members[n++] = i;
    }
    r->all.n = n;
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
    take_group(r, a->lens);
    if ((rc = take_extents(r, a->blobs, a->lens)) < 0 ||
        (rc = r->fab->connect(r, a->blobs, a->lens)) < 0)
        return rc;
    r->life.imported = r->life.touch = 0;
    step_add(&r->life.imported, &t0);
    /* wire-up of many fabrics is lazy and needs both sides' progress: finish it here */
    rc = rank_meet_peers(r, 0, NULL);
    step_add(&r->life.touch, &t0);
    r->connected = rc == 0;
    return rc;
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
    int                 rc = rank_call(r, do_connect, &a, err);
    free(at);
    free(n);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}

static int do_disconnect(struct weir_rank *r, void *arg)
{
    int     rc;
    int64_t from   = weir_monotonic();
    r->closing     = 1;
    r->limit       = *(int64_t *)arg;
    r->deadline    = from + r->limit;
    r->life.quiesce = r->life.unmap = 0;
    for (int p = 0; p < r->cfg.ranks; p++)
        if (rank_is_peer(r, p) && (rc = rank_flush(r, p)) < 0)
            return rc;
    step_add(&r->life.quiesce, &from);
    if ((rc = r->fab->disconnect(r)) < 0)
        return rc;
    step_add(&r->life.unmap, &from);
    r->connected = r->closing = 0;
    return 0;
}

int weir_disconnect(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    return rank_call(r, do_disconnect, &timeout, err);
}

/* Gives up all operations under way and waits for no peer. */
static int do_abandon(struct weir_rank *r, void *arg)
{
    int     rc;
    int64_t from = weir_monotonic();
    r->closing   = CLOSES_ALONE;
    r->limit     = *(int64_t *)arg;
    r->deadline  = from + r->limit;
    if ((rc = r->fab->disconnect(r)) < 0)
        return rc;
    step_add(&r->life.unmap, &from);
    r->connected = r->closing = 0;
    return 0;
}

int weir_abandon(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    atomic_store(&r->broken_off, 0);
    return rank_call(r, do_abandon, &timeout, err);
}

/* All words of the control region and what this rank counts of its peers begin anew. */
static int do_forget_peers(struct weir_rank *r, void *arg)
{
    (void)arg;
    struct weir_region *g = &r->regions[REGION_CONTROL];
    memset(g->base, 0, weir_control_bytes(r->cfg.ranks));
    memset(r->meetings, 0, (size_t)r->cfg.ranks * sizeof *r->meetings);
    r->flags_sent = r->released = r->barriers = 0;
    return 0;
}

int weir_forget_peers(struct weir_rank *r, struct weir_err *err)
{
    return rank_call(r, do_forget_peers, NULL, err);
}

void weir_break_off(struct weir_rank *r) { atomic_store(&r->broken_off, 1); }

struct closing {
    int64_t timeout;
    int     alone; /* no peer uses this rank's memory any more */
};

static int do_close(struct weir_rank *r, void *arg)
{
    struct closing *c    = arg;
    int64_t         from = weir_monotonic();
    int             rc;
    rank_phase(r, PH_TEARDOWN, 0);
    r->closing  = c->alone ? CLOSES_ALONE : 1;
    r->limit    = c->timeout;
    r->deadline = from + r->limit;
    /* nobody takes memory away while another still uses it */
    if (!c->alone && (rc = rank_meet_peers(r, 0, NULL)) < 0)
        return rc;
    step_add(&r->life.quiesce, &from);
    rank_forget_ep(r); /* while the thread still has its GPU */
    from = weir_monotonic();
    if ((rc = r->fab->close(r)) < 0)
        return rc;
    step_add(&r->life.unregister, &from);
    for (int i = 0; i < REGIONS; i++)
        r->regions[i].kind->free(&r->regions[i]);
    r->cfg.source->unbind();
    r->cfg.sink->unbind();
    step_add(&r->life.free, &from);
    return 0;
}

static int end(struct weir_rank *r, struct closing how, struct weir_life *life,
               struct weir_err *err)
{
    int rc = rank_call(r, do_close, &how, err);
    if (rc < 0)
        return rc; /* abandoned: the process must end */
    *life = r->life;
    thread_stop(r->thread);
    lists_drop(r);
    rank_forget_play(r);
    free(r->hist);
    free(r->sinks);
    free(r);
    return 0;
}

int weir_close(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    struct weir_life life;
    return end(r, (struct closing){timeout, 0}, &life, err);
}

int weir_destroy(struct weir_rank *r, int64_t timeout, struct weir_life *life, struct weir_err *err)
{
    return end(r, (struct closing){timeout, 1}, life, err);
}

void weir_describe(struct weir_rank *r, char transport[WEIR_TEXT], char carriers[WEIR_CARRIERS])
{
    int first = 0;
    for (int i = 1; i < r->cfg.ranks; i++) {
        int peer = (r->cfg.rank + i) % r->cfg.ranks;
        if (!rank_is_peer(r, peer))
            continue;
        if (first++ == 0)
            r->fab->transport(r, peer, transport, WEIR_TEXT);
        r->fab->carriers(r, peer, carriers);
    }
}

const struct weir_life *weir_life_of(const struct weir_rank *r) { return &r->life; }
