/* NIXL's requests. What weir posts part by part is one transfer with many
 * descriptors there: the parts that come under one weir_req are kept until they are
 * to be posted, or a flush or a turn of progress shows that there are no more.
 * NIXL prepares a request once and lets it be posted again and again, so handles
 * are kept by the blocks that they move, as long as the case lasts. */
#include "nixl_xfer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLES_KEPT 32768 /* more are released where blocks keep changing */

int nixl_failed(struct weir_rank *r, const char *call, int peer, nixl_status s)
{
    const char *more = nixl.last_error_message ? nixl.last_error_message() : "";
    return rank_fail(r, s < 0 ? s : -EIO, call, peer, "nixl_capi_%s gave %d (%s)%s%.200s", call, s, nixl_status_name(s), *more ? ": " : "", more);
}

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u ^ (h >> 29); }

static uint64_t hash_of(int peer, int op, const struct nixl_part *parts, size_t n)
{
    uint64_t h = mix(mix((uint64_t)peer * 2 + (uint64_t)op + 1, n), parts[0].local);
    return mix(mix(mix(h, parts[0].remote), parts[0].size), parts[n - 1].local);
}

static int no_memory(struct weir_rank *r) { return rank_fail(r, -ENOMEM, "prepare", -1, "no memory for a request"); }

static int drop(struct weir_rank *r, struct nixl_shape *s)
{
    struct nixl_rank   *u = r->fs;
    struct nixl_handle *h = s->idle;
    s->idle               = h->next;
    s->handles--, u->handles--;
    NIXL_TRY(r, s->peer, release_xfer_req, u->agent, h->req);
    NIXL_TRY(r, s->peer, destroy_xfer_req, h->req);
    free(h);
    return 0;
}

int nixl_release(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int               rc;
    for (size_t b = 0; b < NIXL_BUCKETS; b++)
        for (struct nixl_shape **at = &u->buckets[b], *s; (s = *at);) {
            while (s->idle)
                if ((rc = drop(r, s)) < 0)
                    return rc;
            if (s->handles) {
                at = &s->next;
                continue;
            }
            *at = s->next;
            free(s->parts);
            free(s);
        }
    return 0;
}

static struct nixl_shape *shape_of(struct weir_rank *r, int peer, int op, int own, const struct nixl_part *parts, size_t n)
{
    struct nixl_rank   *u = r->fs;
    uint64_t            h = hash_of(peer, op, parts, n);
    struct nixl_shape **bucket = &u->buckets[(h >> 32) % NIXL_BUCKETS], *s;
    for (s = *bucket; s; s = s->next)
        if (s->hash == h && s->peer == peer && s->op == op && s->own == own && s->nparts == n && !memcmp(s->parts, parts, n * sizeof *parts))
            return s;
    if (u->handles >= HANDLES_KEPT) {
        int64_t from = weir_ticks();
        if (nixl_release(r) < 0)
            return NULL;
        r->made.aside += weir_ticks() - from;
    }
    struct nixl_part *copy = malloc(n * sizeof *parts);
    if (!(s = calloc(1, sizeof *s)) || !copy) {
        free(s), free(copy);
        no_memory(r);
        return NULL;
    }
    memcpy(copy, parts, n * sizeof *parts);
    *s      = (struct nixl_shape){.next = *bucket, .parts = copy, .nparts = n, .hash = h, .peer = peer, .op = op, .own = own};
    *bucket = s;
    return s;
}

static int list_of(struct weir_rank *r, const struct nixl_shape *s, int remote, nixl_xfer_dlist *out)
{
    struct nixl_rank *u = r->fs;
    NIXL_TRY(r, s->peer, create_xfer_dlist, NIXL_DRAM, out, false);
    for (size_t i = 0; i < s->nparts; i++) {
        const struct nixl_part *p = &s->parts[i];
        NIXL_TRY(r, s->peer, xfer_dlist_add_desc, *out, (uintptr_t)(remote ? u->peers[s->peer].base + p->remote : p->local), p->size, 0);
    }
    return 0;
}

static int prepare(struct weir_rank *r, struct nixl_shape *s)
{
    struct nixl_rank   *u = r->fs;
    struct nixl_handle *h = calloc(1, sizeof *h);
    nixl_xfer_dlist     local, remote;
    int64_t             from = weir_ticks();
    int                 rc;
    if (!h)
        return no_memory(r);
    if ((rc = list_of(r, s, 0, &local)) < 0 || (rc = list_of(r, s, 1, &remote)) < 0) {
        free(h);
        return rc;
    }
    nixl_status st = nixl.create_xfer_req(u->agent, s->op, local, remote, u->peers[s->peer].name, &h->req, u->args);
    if (st != NIXL_DONE) {
        free(h);
        return nixl_failed(r, "create_xfer_req", s->peer, st);
    }
    if (s->own)
        stage_record(&r->made.each, weir_span(&r->clk, weir_ticks() - from));
    h->shape = s;
    h->peer  = s->peer;
    h->next  = s->idle;
    s->idle  = h;
    s->handles++, u->handles++;
    NIXL_TRY(r, s->peer, destroy_xfer_dlist, local);
    NIXL_TRY(r, s->peer, destroy_xfer_dlist, remote);
    return 0;
}

/* Blocks that are asked for again while they are in flight will be asked for as
 * often as the window allows: the whole window is prepared at once then, which is
 * before the clock runs wherever two requests warm up. */
static int make_idle(struct weir_rank *r, struct nixl_shape *s)
{
    int64_t from = weir_ticks();
    int     rc   = s->idle ? drop(r, s) : 0;
    size_t  want = s->handles + 1;
    if (s->handles && want < r->cfg.nixl.in_flight && !r->cfg.nixl.recreate)
        want = r->cfg.nixl.in_flight;
    while (rc == 0 && s->handles < want)
        if ((rc = prepare(r, s)) == 0)
            rc = rank_tick(r);
    r->made.aside += weir_ticks() - from;
    return rc;
}

static int idle_handle(struct weir_rank *r, struct nixl_shape *s, struct nixl_handle **out)
{
    int rc;
    if ((!s->idle || (s->own && r->cfg.nixl.recreate)) && (rc = make_idle(r, s)) < 0)
        return rc;
    *out    = s->idle;
    s->idle = (*out)->next;
    return 0;
}

static void link_last(struct nixl_rank *u, struct nixl_handle *h)
{
    h->next  = NULL;
    *u->last = h;
    u->last  = &h->next;
}

static void finish(struct nixl_handle *h)
{
    struct nixl_shape *s = h->shape;
    struct weir_req   *q = h->q;
    h->next = s->idle;
    s->idle = h;
    for (size_t i = 0; i < s->nparts; i++)
        weir_part_done(q, 0);
}

int nixl_submit(struct weir_rank *r)
{
    struct nixl_rank   *u = r->fs;
    struct nixl_handle *h;
    int                 rc;
    if (!u->q)
        return 0;
    struct nixl_shape *s = shape_of(r, u->peer, u->op, u->q->loop || u->q == &u->pinged, u->parts, u->nparts);
    if (!s)
        return -ENOMEM;
    if ((rc = idle_handle(r, s, &h)) < 0)
        return rc;
    h->q          = u->q;
    u->q          = NULL;
    nixl_status p = nixl.post_xfer_req(u->agent, h->req, u->args);
    if (p == NIXL_DONE)
        finish(h);
    else if (p == NIXL_IN_PROGRESS)
        link_last(u, h);
    else
        return nixl_failed(r, "post_xfer_req", s->peer, p);
    return 0;
}

int nixl_add(struct weir_rank *r, int peer, int op, const void *local, uint64_t remote, size_t n, struct weir_req *q)
{
    struct nixl_rank *u = r->fs;
    int               rc;
    if (u->q && (u->q != q || u->peer != peer || u->op != op) && (rc = nixl_submit(r)) < 0)
        return rc;
    if (!u->q) {
        u->q = q, u->peer = peer, u->op = op;
        u->nparts = 0;
    }
    if (u->nparts == u->cap) {
        size_t            cap  = u->cap ? 2 * u->cap : 64;
        struct nixl_part *more = realloc(u->parts, cap * sizeof *more);
        if (!more)
            return no_memory(r);
        u->parts = more, u->cap = cap;
    }
    u->parts[u->nparts++] = (struct nixl_part){(uint64_t)(uintptr_t)local, remote, n};
    return WEIR_PENDING;
}

static void unlink_at(struct nixl_rank *u, struct nixl_handle **at)
{
    struct nixl_handle *h = *at;
    *at = h->next;
    if (!*at)
        u->last = at;
}

/* What is oldest is done first as a rule: once something was done, the next that is
 * not ends the turn, so that its place can be used again. */
int nixl_poll(struct weir_rank *r)
{
    struct nixl_rank *u  = r->fs;
    int               rc = nixl_submit(r), done = 0;
    if (rc < 0)
        return rc;
    u->scan++;
    for (struct nixl_handle **at = &u->first; *at;) {
        struct nixl_handle *h = *at;
        if (!h->shape) {
            if (u->peers[h->peer].busy == u->scan) {
                at = &h->next;
                continue;
            }
            struct weir_req *q = h->q;
            unlink_at(u, at);
            h->next   = u->fences;
            u->fences = h;
            weir_part_done(q, 0);
            continue;
        }
        nixl_status s = nixl.get_xfer_status(u->agent, h->req);
        if (s == NIXL_DONE) {
            unlink_at(u, at);
            finish(h);
            done = 1;
        } else if (s == NIXL_IN_PROGRESS) {
            if (done)
                break;
            if (h->shape->op == NIXL_WRITE)
                u->peers[h->peer].busy = u->scan;
            at = &h->next;
        } else {
            return nixl_failed(r, "get_xfer_status", h->peer, s);
        }
    }
    return 0;
}

int nixl_fence(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct nixl_rank *u  = r->fs;
    int               rc = nixl_submit(r), writing = 0;
    if (rc < 0)
        return rc;
    for (struct nixl_handle *h = u->first; h && !writing; h = h->next)
        writing = h->shape && h->peer == peer && h->shape->op == NIXL_WRITE;
    if (!writing)
        return WEIR_DONE;
    struct nixl_handle *f = u->fences ? u->fences : calloc(1, sizeof *f);
    if (!f)
        return no_memory(r);
    if (f == u->fences)
        u->fences = f->next;
    f->q    = q;
    f->peer = peer;
    link_last(u, f);
    return WEIR_PENDING;
}

int nixl_write_now(struct weir_rank *r, int peer, const void *local, uint64_t remote, size_t n, const char *op)
{
    struct nixl_rank   *u    = r->fs;
    struct nixl_part    part = {(uint64_t)(uintptr_t)local, remote, n};
    struct nixl_handle *h;
    int                 rc = nixl_submit(r);
    if (rc < 0)
        return rc;
    struct nixl_shape *s = shape_of(r, peer, NIXL_WRITE, 0, &part, 1);
    if (!s)
        return -ENOMEM;
    if ((rc = idle_handle(r, s, &h)) < 0)
        return rc;
    const char *call = "post_xfer_req";
    nixl_status st   = nixl.post_xfer_req(u->agent, h->req, u->args);
    while (st == NIXL_IN_PROGRESS) {
        if ((rc = rank_tick(r)) < 0)
            return rc; /* abandoned with the process */
        call = "get_xfer_status";
        st   = nixl.get_xfer_status(u->agent, h->req);
    }
    /* who has been told that all are done leaves, maybe before this rank has its
     * receipt for having told it */
    if (st != NIXL_DONE && !r->closing)
        return rank_fail(r, st < 0 ? st : -EIO, call, peer, "%s: nixl_capi_%s gave %d (%s)", op, call, st, nixl_status_name(st));
    h->next = s->idle;
    s->idle = h;
    return 0;
}
