/* Creates NIXL's requests. A request is created once and posted repeatedly, so handles are cached
 * by their blocks for the duration of a case. Implements nixl_recreate, nixl_prepared and
 * nixl_reregister. */
#include "fab_nixl_xfer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_cuda.h"

#define HANDLES_KEPT 32768 /* limit of the cache where blocks keep changing */

int nixl_failed(struct weir_rank *r, const char *call, int peer, nixl_status s)
{
    const char *more = nixl.last_error_message ? nixl.last_error_message() : "";
    return rank_fail(r, s < 0 ? s : -EIO, call, peer, "nixl_capi_%s returned %d (%s)%s%.200s", call,
                     s, nixl_status_name(s), *more ? ": " : "", more);
}

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u ^ (h >> 29); }

static uint64_t hash_of(int peer, int op, const struct nixl_part *parts, size_t n)
{
    uint64_t h = mix(mix((uint64_t)peer * 2 + (uint64_t)op + 1, n), parts[0].local);
    return mix(mix(mix(h, parts[0].remote), parts[0].size), parts[n - 1].local);
}

int nixl_no_memory(struct weir_rank *r)
{
    return rank_fail(r, -ENOMEM, "prepare", -1, "no memory for a request");
}

static int drop(struct weir_rank *r, struct nixl_shape *s)
{
    struct nixl_rank *u = r->fs;
    struct nixl_handle *h = s->idle;
    s->idle = h->next;
    s->handles--;
    u->handles--;
    NIXL_TRY(r, s->peer, release_xfer_req, u->agent, h->req);
    NIXL_TRY(r, s->peer, destroy_xfer_req, h->req);
    free(h);
    return 0;
}

/* Releases the idle handles, and the shapes without others. */
int nixl_release(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int rc;
    u->latest = NULL;
    for (size_t b = 0; b < NIXL_BUCKETS; b++) {
        for (struct nixl_shape **at = &u->buckets[b], *s; (s = *at);) {
            while (s->idle) {
                if ((rc = drop(r, s)) < 0) {
                    return rc;
                }
            }
            if (s->handles) {
                at = &s->next;
                continue;
            }
            *at = s->next;
            if (s->listed) {
                NIXL_TRY(r, s->peer, release_xfer_dlist_handle, u->agent, s->local_list);
                NIXL_TRY(r, s->peer, release_xfer_dlist_handle, u->agent, s->remote_list);
            }
            free(s->indices);
            free(s->parts);
            free(s);
        }
    }
    return 0;
}

/* With nixl_reregister, the requests' source or destination is registered on its of_loop; peers do
 * not access it. */
int nixl_register_local(struct weir_rank *r, const void *from, size_t n)
{
    struct nixl_rank *u = r->fs;
    if (u->local) {
        NIXL_TRY(r, -1, deregister_mem, u->agent, u->local, u->args);
        NIXL_TRY(r, -1, destroy_reg_dlist, u->local);
        u->local = NULL;
    }
    if (!n) {
        return 0;
    }
    NIXL_TRY(r, -1, create_reg_dlist, nixl_memory(r->cfg.source), &u->local, false);
    NIXL_TRY(r, -1, reg_dlist_add_desc, u->local, (uintptr_t)from, n, nixl_device(r->cfg.source),
             NULL, 0);
    NIXL_TRY(r, -1, register_mem, u->agent, u->local, u->args);
    return 0;
}

/* Requests of the loops register what they move; all others (probes) need all of it registered.
 * Requests made before such a change are released. */
static int register_all(struct weir_rank *r, uint64_t local)
{
    struct nixl_rank *u = r->fs;
    const struct weir_region *source = &r->regions[REGION_SOURCE];
    uint64_t from = (uint64_t)(uintptr_t)source->base;
    int rc;
    if (u->all_registered || !u->reregister || local < from || local >= from + source->size) {
        return 0;
    }
    if ((rc = nixl_release(r)) < 0) {
        return rc;
    }
    if ((rc = nixl_register_local(r, source->base, source->size)) < 0) {
        return rc;
    }
    u->all_registered = 1;
    return 0;
}

static int register_blocks(struct weir_rank *r, struct nixl_shape *s)
{
    struct nixl_rank *u = r->fs;
    uint64_t from = UINT64_MAX, to = 0;
    int rc = 0;
    if (u->all_registered) {
        s->handles++; /* it stays in flight */
        rc = nixl_release(r);
        s->handles--;
        u->all_registered = 0;
    } else if (u->latest && u->latest->idle) {
        rc = drop(r, u->latest);
    }
    if (rc < 0) {
        return rc;
    }
    u->latest = s;
    for (size_t i = 0; i < s->nparts; i++) {
        const struct nixl_part *p = &s->parts[i];
        from = p->local < from ? p->local : from;
        to = p->local + p->size > to ? p->local + p->size : to;
    }
    int64_t began = weir_ticks();
    rc = nixl_register_local(r, (const void *)(uintptr_t)from, to - from);
    if (rc == 0) {
        stage_record(&r->rec.prep.registered, weir_ticks_to_ns(&r->clk, weir_ticks() - began));
    }
    return rc;
}

struct nixl_shape *nixl_shape_of(struct weir_rank *r, int peer, int op, int of_loop,
                                 const struct nixl_part *parts, size_t n)
{
    struct nixl_rank *u = r->fs;
    uint64_t h = hash_of(peer, op, parts, n);
    struct nixl_shape **bucket = &u->buckets[(h >> 32) % NIXL_BUCKETS], *s;
    int64_t from = weir_ticks();
    for (s = *bucket; s; s = s->next) {
        if (s->hash == h && s->peer == peer && s->op == op && s->of_loop == of_loop &&
            s->nparts == n && !memcmp(s->parts, parts, n * sizeof *parts)) {
            return s;
        }
    }
    if ((u->handles >= HANDLES_KEPT && nixl_release(r) < 0) ||
        (!of_loop && register_all(r, parts[0].local) < 0)) {
        return NULL;
    }
    r->rec.prep.prep_time += weir_ticks() - from;
    struct nixl_part *copy = malloc(n * sizeof *parts);
    s = calloc(1, sizeof *s);
    if (!s) {
        free(s);
        free(copy);
        nixl_no_memory(r);
        return NULL;
    }
    if (!copy) {
        free(s);
        free(copy);
        nixl_no_memory(r);
        return NULL;
    }
    memcpy(copy, parts, n * sizeof *parts);
    *s = (struct nixl_shape){.next = *bucket,
                             .parts = copy,
                             .nparts = n,
                             .hash = h,
                             .peer = peer,
                             .op = op,
                             .of_loop = of_loop};
    *bucket = s;
    return s;
}

uint64_t nixl_device(const struct weir_memory *kind)
{
    return memory_is_gpus(kind) ? (uint64_t)cuda_current()->device : 0;
}

static int list_of(struct weir_rank *r, const struct nixl_shape *s, int remote,
                   nixl_xfer_dlist *out)
{
    /* data moves between a source and a sink, words between control regions */
    const struct weir_region *source = &r->regions[REGION_SOURCE];
    uint64_t from = (uint64_t)(uintptr_t)source->base;
    int data = s->nparts && s->parts[0].local >= from && s->parts[0].local < from + source->size;
    const struct weir_memory *kind = !data ? &weir_mem_dram : remote ? r->cfg.sink : r->cfg.source;
    uint64_t device = remote && memory_is_gpus(kind)
                          ? ((struct nixl_rank *)r->fs)->peers[s->peer].gpu
                          : nixl_device(kind);
    NIXL_TRY(r, s->peer, create_xfer_dlist, nixl_memory(kind), out, false);
    for (size_t i = 0; i < s->nparts; i++) {
        const struct nixl_part *p = &s->parts[i];
        NIXL_TRY(r, s->peer, xfer_dlist_add_desc, *out, (uintptr_t)(remote ? p->remote : p->local),
                 p->size, device);
    }
    return 0;
}

/* Prepares NIXL descriptor lists for both ends; requests refer to blocks by index. */
static int prepare_lists(struct weir_rank *r, struct nixl_shape *s)
{
    struct nixl_rank *u = r->fs;
    nixl_xfer_dlist local, remote;
    int64_t from = weir_ticks();
    int rc;
    s->indices = malloc(s->nparts * sizeof *s->indices);
    if (!s->indices) {
        return nixl_no_memory(r);
    }
    for (size_t i = 0; i < s->nparts; i++) {
        s->indices[i] = (int)i;
    }
    if ((rc = list_of(r, s, 0, &local)) < 0) {
        return rc;
    }
    if ((rc = list_of(r, s, 1, &remote)) < 0) {
        return rc;
    }
    /* the agent itself */
    NIXL_TRY(r, s->peer, prep_xfer_dlist, u->agent, "", local, &s->local_list, u->args);
    NIXL_TRY(r, s->peer, prep_xfer_dlist, u->agent, u->peers[s->peer].name, remote, &s->remote_list,
             u->args);
    NIXL_TRY(r, s->peer, destroy_xfer_dlist, local);
    NIXL_TRY(r, s->peer, destroy_xfer_dlist, remote);
    s->listed = 1;
    if (s->of_loop) {
        stage_record(&r->rec.prep.listed, weir_ticks_to_ns(&r->clk, weir_ticks() - from));
    }
    return 0;
}

static int make_of_lists(struct weir_rank *r, struct nixl_shape *s, struct nixl_handle *h)
{
    struct nixl_rank *u = r->fs;
    int64_t from = weir_ticks();
    NIXL_TRY(r, s->peer, make_xfer_req, u->agent, s->op, s->local_list, s->indices, s->nparts,
             s->remote_list, s->indices, s->nparts, &h->req, u->args);
    if (s->of_loop) {
        stage_record(&r->rec.prep.each, weir_ticks_to_ns(&r->clk, weir_ticks() - from));
    }
    return 0;
}

static int make_of_blocks(struct weir_rank *r, struct nixl_shape *s, struct nixl_handle *h)
{
    struct nixl_rank *u = r->fs;
    nixl_xfer_dlist local, remote;
    int64_t from = weir_ticks();
    int rc;
    if ((rc = list_of(r, s, 0, &local)) < 0) {
        return rc;
    }
    if ((rc = list_of(r, s, 1, &remote)) < 0) {
        return rc;
    }
    NIXL_TRY(r, s->peer, create_xfer_req, u->agent, s->op, local, remote, u->peers[s->peer].name,
             &h->req, u->args);
    if (s->of_loop) {
        stage_record(&r->rec.prep.each, weir_ticks_to_ns(&r->clk, weir_ticks() - from));
    }
    NIXL_TRY(r, s->peer, destroy_xfer_dlist, local);
    NIXL_TRY(r, s->peer, destroy_xfer_dlist, remote);
    return 0;
}

static int prepare(struct weir_rank *r, struct nixl_shape *s)
{
    struct nixl_rank *u = r->fs;
    struct nixl_handle *h;
    int rc;
    if (u->prepared && !s->listed) {
        if ((rc = prepare_lists(r, s)) < 0) {
            return rc;
        }
    }
    h = calloc(1, sizeof *h);
    if (!h) {
        return nixl_no_memory(r);
    }
    if ((rc = s->listed ? make_of_lists(r, s, h) : make_of_blocks(r, s, h)) < 0) {
        free(h);
        return rc;
    }
    h->shape = s;
    h->peer = s->peer;
    h->next = s->idle;
    s->idle = h;
    s->handles++;
    u->handles++;
    return 0;
}

/* Blocks requested again while in flight will be needed once per place in the window: creates that
 * many handles at once, before the clock runs if two requests warm up. */
static int make_idle(struct weir_rank *r, struct nixl_shape *s)
{
    const struct nixl_rank *u = r->fs;
    int64_t from = weir_ticks();
    int rc = s->idle ? drop(r, s) : 0;
    size_t want = s->handles + 1;
    if (s->handles && want < r->cfg.in_flight && !u->recreate) {
        want = r->cfg.in_flight;
    }
    if (rc == 0 && s->of_loop && u->reregister) {
        rc = register_blocks(r, s);
    }
    while (rc == 0 && s->handles < want) {
        rc = prepare(r, s);
        if (rc == 0) {
            rc = rank_tick(r);
        }
    }
    r->rec.prep.prep_time += weir_ticks() - from;
    return rc;
}

int nixl_idle_handle(struct weir_rank *r, struct nixl_shape *s, struct nixl_handle **out)
{
    const struct nixl_rank *u = r->fs;
    int rc;
    if ((!s->idle || (s->of_loop && u->recreate))) {
        if ((rc = make_idle(r, s)) < 0) {
            return rc;
        }
    }
    *out = s->idle;
    s->idle = (*out)->next;
    return 0;
}
