/* Posts NIXL's requests. weir puts one part at a time, NIXL takes one transfer with many
 * descriptors: parts under one weir_req are collected until they are posted, or a flush or progress
 * shows that there are no more. */
#include "fab_nixl_xfer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void link_last(struct nixl_rank *u, struct nixl_handle *h)
{
    h->next = NULL;
    *u->last = h;
    u->last = &h->next;
}

/* Failed or abandoned requests are released with the rest, before their agent is destroyed. */
static void keep_failed(struct weir_rank *r, struct nixl_handle *h)
{
    if (!r->cfg.peers_may_fail) {
        return; /* freed by the process exit */
    }
    h->q = NULL;
    link_last(r->fs, h);
}

static void finish(struct nixl_handle *h)
{
    struct nixl_shape *s = h->shape;
    struct weir_req *q = h->q;
    h->next = s->idle;
    s->idle = h;
    for (size_t i = 0; q && i < s->nparts; i++) {
        weir_part_done(q, 0);
    }
}

int nixl_submit(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    struct nixl_handle *h;
    int rc;
    if (!u->q) {
        return 0;
    }
    struct nixl_shape *s =
        nixl_shape_of(r, u->peer, u->op, u->q->loop || u->q == &u->pinged, u->parts, u->nparts);
    if (!s) {
        return -ENOMEM;
    }
    if ((rc = nixl_idle_handle(r, s, &h)) < 0) {
        return rc;
    }
    h->q = u->q;
    u->q = NULL;
    nixl_status p = nixl.post_xfer_req(u->agent, h->req, u->args);
    if (p == NIXL_DONE) {
        finish(h);
    } else if (p == NIXL_IN_PROGRESS) {
        link_last(u, h);
    } else {
        keep_failed(r, h);
        return nixl_failed(r, "post_xfer_req", s->peer, p);
    }
    return 0;
}

int nixl_add(struct weir_rank *r, int peer, int op, const void *local, uint64_t remote, size_t n,
             struct weir_req *q)
{
    struct nixl_rank *u = r->fs;
    int rc;
    if (u->q && (u->q != q || u->peer != peer || u->op != op)) {
        if ((rc = nixl_submit(r)) < 0) {
            return rc;
        }
    }
    if (!u->q) {
        u->q = q;
        u->peer = peer;
        u->op = op;
        u->nparts = 0;
    }
    if (u->nparts == u->cap) {
        size_t cap = u->cap ? 2 * u->cap : 64;
        struct nixl_part *more = realloc(u->parts, cap * sizeof *more);
        if (!more) {
            return nixl_no_memory(r);
        }
        u->parts = more;
        u->cap = cap;
    }
    u->parts[u->nparts++] = (struct nixl_part){(uint64_t)(uintptr_t)local, remote, n};
    return WEIR_PENDING;
}

static void unlink_at(struct nixl_rank *u, struct nixl_handle **at)
{
    struct nixl_handle *h = *at;
    *at = h->next;
    if (!*at) {
        u->last = at;
    }
}

/* Requests usually complete in order: after a completion, the first pending one ends the poll, so
 * that free places are reused. */
int nixl_poll(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int rc = nixl_submit(r), done = 0;
    if (rc < 0) {
        return rc;
    }
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
            h->next = u->fences;
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
            if (done) {
                break;
            }
            if (h->shape->op == NIXL_WRITE) {
                u->peers[h->peer].busy = u->scan;
            }
            at = &h->next;
        } else {
            return nixl_failed(r, "get_xfer_status", h->peer, s);
        }
    }
    return 0;
}

void nixl_abandon(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    u->q = NULL;
    while (u->first) {
        struct nixl_handle *h = u->first;
        unlink_at(u, &u->first);
        if (h->shape) {
            h->next = h->shape->idle;
            h->shape->idle = h;
        } else {
            h->next = u->fences;
            u->fences = h;
        }
    }
}

int nixl_fence(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct nixl_rank *u = r->fs;
    int rc = nixl_submit(r), writing = 0;
    if (rc < 0) {
        return rc;
    }
    for (struct nixl_handle *h = u->first; h && !writing; h = h->next) {
        writing = h->shape && h->peer == peer && h->shape->op == NIXL_WRITE;
    }
    if (!writing) {
        return WEIR_DONE;
    }
    struct nixl_handle *f = u->fences ? u->fences : calloc(1, sizeof *f);
    if (!f) {
        return nixl_no_memory(r);
    }
    if (f == u->fences) {
        u->fences = f->next;
    }
    f->q = q;
    f->peer = peer;
    link_last(u, f);
    return WEIR_PENDING;
}

int nixl_write_now(struct weir_rank *r, int peer, const void *local, uint64_t remote, size_t n,
                   const char *op)
{
    struct nixl_rank *u = r->fs;
    struct nixl_part part = {(uint64_t)(uintptr_t)local, remote, n};
    struct nixl_handle *h;
    int rc = nixl_submit(r);
    if (rc < 0) {
        return rc;
    }
    struct nixl_shape *s = nixl_shape_of(r, peer, NIXL_WRITE, 0, &part, 1);
    if (!s) {
        return -ENOMEM;
    }
    if ((rc = nixl_idle_handle(r, s, &h)) < 0) {
        return rc;
    }
    const char *call = "post_xfer_req";
    int64_t start = r->elastic.peer_timeout ? weir_monotonic() : 0;
    nixl_status st = nixl.post_xfer_req(u->agent, h->req, u->args);
    while (st == NIXL_IN_PROGRESS) {
        rc = rank_tick(r);
        if (rc == 0 && r->elastic.peer_timeout &&
            weir_monotonic() - start > r->elastic.peer_timeout) {
            rc = rank_fail(r, -ETIMEDOUT, op, peer, "it accepted no control word for %.3g s",
                           (double)r->elastic.peer_timeout / 1e9);
        }
        if (rc < 0) {
            keep_failed(r, h);
            return rc;
        }
        call = "get_xfer_status";
        st = nixl.get_xfer_status(u->agent, h->req);
    }
    /* a peer leaves once it knows that all are done, maybe before this rank has the receipt for
     * telling it */
    if (st != NIXL_DONE && !r->closing) {
        keep_failed(r, h);
        return rank_fail(r, st < 0 ? st : -EIO, call, peer, "%s: nixl_capi_%s returned %d (%s)", op,
                         call, st, nixl_status_name(st));
    }
    h->next = s->idle;
    s->idle = h;
    return 0;
}
