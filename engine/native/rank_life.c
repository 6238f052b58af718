/* The functions for Go that connect, disconnect and close a rank. Each runs on the rank's
 * thread and reports how long its steps took. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys_copy.h"
#include "gpu_cuda.h"
#include "ep_run.h"
#include "hist.h"
#include "loop_matrix.h"
#include "rank_options.h"
#include "rank.h"
#include "rank_life.h"
#include "loop_sequence.h"
#include "rank_team.h"
#include "rank_thread.h"

struct address_args {
    void *buf;
    size_t cap, len;
};

/* Precedes the fabric's part of an address. */
struct extent {
    uint64_t sink; /* bytes of the sink open to peers */
};

static int do_address(struct weir_rank *r, void *arg)
{
    struct address_args *a = arg;
    const struct weir_layout *l = &r->cfg.layout;
    struct extent e = {l->probe ? l->probe : l->sink};
    int64_t n;
    if (a->cap < sizeof e) {
        return rank_fail(r, -ENOBUFS, "address", -1, "%zu bytes are too few for an address",
                         a->cap);
    }
    memcpy(a->buf, &e, sizeof e);
    if ((n = r->fab->address(r, (char *)a->buf + sizeof e, a->cap - sizeof e)) < 0) {
        return (int)n;
    }
    a->len = sizeof e + (size_t)n;
    return 0;
}

/* Strips the extents off the addresses. */
static int strip_extents(struct weir_rank *r, const char **blobs, size_t *lens)
{
    for (int i = 0; i < r->cfg.ranks; i++) {
        struct extent e;
        if (r->barrier.absent[i]) {
            continue;
        }
        if (lens[i] < sizeof e) {
            return rank_fail(r, -EPROTO, "connect", i, "its address has only %zu bytes", lens[i]);
        }
        memcpy(&e, blobs[i], sizeof e);
        r->sinks[i] = e.sink;
        blobs[i] += sizeof e;
        lens[i] -= sizeof e;
    }
    return 0;
}

int weir_address(struct weir_rank *r, void *buf, size_t cap, size_t *len, struct weir_err *err)
{
    struct address_args a = {buf, cap, 0};
    int rc = rank_call(r, do_address, &a, err);
    *len = a.len;
    return rc;
}

/* A peer without an address is absent: this rank leaves it out until it reconnects. */
static void set_group(struct weir_rank *r, const size_t *lens)
{
    int *members = (int *)r->barrier.all.members, n = 0;
    for (int i = 0; i < r->cfg.ranks; i++) {
        r->barrier.absent[i] = lens[i] == 0;
        if (lens[i]) {
            members[n++] = i;
        }
    }
    r->barrier.all.n = n;
}

struct connect_args {
    const char **blobs;
    size_t *lens;
    int64_t timeout;
};

static int do_connect(struct weir_rank *r, void *arg)
{
    struct connect_args *a = arg;
    int64_t t0 = weir_monotonic();
    int rc;
    rank_phase(r, PH_CONNECT, 0);
    r->wait.limit = a->timeout;
    r->wait.deadline = t0 + a->timeout;
    set_group(r, a->lens);
    if ((rc = strip_extents(r, a->blobs, a->lens)) < 0) {
        return rc;
    }
    if ((rc = r->fab->connect(r, a->blobs, a->lens)) < 0) {
        return rc;
    }
    r->life.imported = r->life.touch = 0;
    rank_add_step_time(&r->life.imported, &t0);
    /* many fabrics wire up lazily, with progress on both sides: complete it here */
    rc = rank_barrier_peers(r, 0, NULL);
    rank_add_step_time(&r->life.touch, &t0);
    return rc;
}

int weir_connect(struct weir_rank *r, const void *blobs, const size_t *lens, int64_t timeout,
                 struct weir_err *err)
{
    const char **at = calloc((size_t)r->cfg.ranks, sizeof *at);
    size_t *n = calloc((size_t)r->cfg.ranks, sizeof *n);
    if (!at || !n) {
        free(at);
        free(n);
        *err = (struct weir_err){.code = -ENOMEM, .peer = -1, .op = "connect", .phase = PH_CONNECT};
        snprintf(err->text, sizeof err->text, "no memory for the addresses of %d ranks",
                 r->cfg.ranks);
        return err->code;
    }
    const char *p = blobs;
    for (int i = 0; i < r->cfg.ranks; p += lens[i], i++) {
        at[i] = p;
        n[i] = lens[i];
    }
    struct connect_args a = {at, n, timeout};
    /* a peer may still be in the barrier: with some transports its last write ends only if this
     * rank makes progress */
    int rc = rank_call_and_progress(r, do_connect, &a, err);
    free(at);
    free(n);
    return rc;
}

static int do_disconnect(struct weir_rank *r, void *arg)
{
    int rc;
    int64_t from = weir_monotonic();
    r->closing = 1;
    r->wait.limit = *(int64_t *)arg;
    r->wait.deadline = from + r->wait.limit;
    r->life.quiesce = r->life.unmap = 0;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = rank_flush(r, p)) < 0) {
                return rc;
            }
        }
    }
    rank_add_step_time(&r->life.quiesce, &from);
    if ((rc = r->fab->disconnect(r)) < 0) {
        return rc;
    }
    rank_add_step_time(&r->life.unmap, &from);
    r->closing = 0;
    return 0;
}

int weir_disconnect(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    return rank_call(r, do_disconnect, &timeout, err);
}

/* Cancels all operations in flight, without waiting for peers. */
static int do_abandon(struct weir_rank *r, void *arg)
{
    int rc;
    int64_t from = weir_monotonic();
    r->closing = CLOSES_ALONE;
    r->wait.limit = *(int64_t *)arg;
    r->wait.deadline = from + r->wait.limit;
    if ((rc = r->fab->disconnect(r)) < 0) {
        return rc;
    }
    rank_add_step_time(&r->life.unmap, &from);
    r->closing = 0;
    return 0;
}

int weir_abandon(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    atomic_store(&r->elastic.interrupted, 0);
    return rank_call(r, do_abandon, &timeout, err);
}

/* Resets all words of the control region and all per-peer counters. */
static int do_forget_peers(struct weir_rank *r, void *arg)
{
    struct weir_region *g = &r->regions[REGION_CONTROL];
    memset(g->base, 0, weir_control_bytes(r->cfg.ranks));
    memset(r->barrier.pairs, 0, (size_t)r->cfg.ranks * sizeof *r->barrier.pairs);
    r->barrier.released = r->barrier.passed = 0;
    if (r->ep) {
        r->ep->flags_sent = 0;
    }
    return 0;
}

int weir_forget_peers(struct weir_rank *r, struct weir_err *err)
{
    return rank_call(r, do_forget_peers, NULL, err);
}

void weir_interrupt(struct weir_rank *r) { atomic_store(&r->elastic.interrupted, 1); }

struct closing {
    int64_t timeout;
    int alone; /* no peer uses this rank's memory any more */
};

static int do_close(struct weir_rank *r, void *arg)
{
    struct closing *c = arg;
    int64_t from = weir_monotonic();
    int rc;
    rank_phase(r, PH_TEARDOWN, 0);
    r->closing = c->alone ? CLOSES_ALONE : 1;
    r->wait.limit = c->timeout;
    r->wait.deadline = from + r->wait.limit;
    /* no rank frees memory while a peer still uses it */
    if (!c->alone) {
        if ((rc = rank_barrier_peers(r, 0, NULL)) < 0) {
            return rc;
        }
    }
    rank_add_step_time(&r->life.quiesce, &from);
    ep_drop(r); /* needs the thread's GPU context */
    from = weir_monotonic();
    if ((rc = r->fab->close(r)) < 0) {
        return rc;
    }
    rank_add_step_time(&r->life.unregister, &from);
    for (int i = 0; i < REGIONS; i++) {
        r->regions[i].kind->free(&r->regions[i]);
    }
    r->cfg.source->unbind();
    r->cfg.sink->unbind();
    rank_add_step_time(&r->life.free, &from);
    return 0;
}

static int end(struct weir_rank *r, struct closing how, struct weir_lifecycle *life,
               struct weir_err *err)
{
    int rc = rank_call(r, do_close, &how, err);
    if (rc < 0) {
        return rc; /* not freed: the process must end */
    }
    *life = r->life;
    thread_stop(r->thread);
    lists_drop(r);
    sequence_drop(r);
    matrix_drop(r);
    free(r->rec.hist);
    free(r->sinks);
    free(r);
    return 0;
}

int weir_close(struct weir_rank *r, int64_t timeout, struct weir_err *err)
{
    struct weir_lifecycle life;
    return end(r, (struct closing){timeout, 0}, &life, err);
}

int weir_destroy(struct weir_rank *r, int64_t timeout, struct weir_lifecycle *life,
                 struct weir_err *err)
{
    return end(r, (struct closing){timeout, 1}, life, err);
}

void weir_describe(struct weir_rank *r, char transport[WEIR_TEXT], char carriers[WEIR_CARRIERS])
{
    int first = 0;
    for (int i = 1; i < r->cfg.ranks; i++) {
        int peer = (r->cfg.rank + i) % r->cfg.ranks;
        if (!rank_is_peer(r, peer)) {
            continue;
        }
        if (first++ == 0) {
            r->fab->transport(r, peer, transport, WEIR_TEXT);
        }
        r->fab->carriers(r, peer, carriers);
    }
}

const struct weir_lifecycle *weir_lifecycle_of(const struct weir_rank *r) { return &r->life; }
