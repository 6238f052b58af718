/* nixl: NIXL itself, by its C API, with the backend that the scenario names. A request's status
 * "done" is all that it reports. With backend UCX each request ends with an endpoint flush
 * (nixlUcxEngine::sendXferRange), so a completed write is at the target; other backends give their
 * own guarantees. Therefore no CAP_REMOTE_COMPLETION, and a flush waits until every write to the
 * peer is done. A ping-pong polls the last byte of a message, which is not meaningful if a backend
 * stripes messages over rails: it is for UCX only, as in fabric ucx. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop_ceiling.h"
#include "sys_dl.h"
#include "fab_nixl_xfer.h"
#include "loop_role.h"
#include "rank_options.h"
#include "fabric_unsupported.h"

struct blob {
    char backend[64];
    uint64_t control, sink;  /* base addresses */
    uint64_t gpu;            /* that has the sink */
    uint32_t rank, metadata; /* length of what follows */
};

static int read_options(struct weir_rank *r, struct nixl_rank *u)
{
    struct {
        const char *name;
        int *value;
    } all[] = {{"nixl_merge", &u->merge},
               {"nixl_recreate", &u->recreate},
               {"nixl_prepared", &u->prepared},
               {"nixl_reregister", &u->reregister},
               {"nixl_progress_thread", &u->progress_thread}};
    int rc = option_copy(r, "nixl_backend", u->name, sizeof u->name);
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++) {
        rc = option_bool(r, all[i].name, all[i].value);
    }
    u->recreate |= u->reregister; /* a request keeps the registration that it was made with */
    return rc;
}

static int nixl_open(struct weir_rank *r)
{
    struct nixl_rank *u = calloc(1, sizeof *u);
    char why[WEIR_TEXT];
    if (!u) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    u->peers = calloc((size_t)r->cfg.ranks, sizeof *u->peers);
    if (!u->peers) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    r->fs = u;
    u->last = &u->first;
    snprintf(u->name, sizeof u->name, "UCX");
    int rc = read_options(r, u);
    if (rc < 0) {
        return rc;
    }
    u->is_ucx = !strcmp(u->name, "UCX");
    if ((rc = nixl_load(why, sizeof why)) < 0) {
        return rank_fail(r, rc, "load", -1, "%s", why);
    }
    if (u->prepared &&
        !(nixl.prep_xfer_dlist && nixl.release_xfer_dlist_handle && nixl.make_xfer_req)) {
        return rank_fail(r, -ENOSYS, "prep_xfer_dlist", -1,
                         "nixl_prepared needs nixl_capi_prep_xfer_dlist and "
                         "nixl_capi_make_xfer_req: %s does not have them, newer ones do",
                         nixl.path);
    }
    return nixl_make_agent(r);
}

static int nixl_attach(struct weir_rank *r, enum weir_region_name name)
{
    struct nixl_rank *u = r->fs;
    const struct weir_region *g = &r->regions[name];
    if (name == REGION_SOURCE && u->reregister) {
        u->all_registered = 1;
        return nixl_register_local(r, g->base, g->size);
    }
    NIXL_TRY(r, -1, create_reg_dlist, nixl_memory(g->kind), &u->registered[name], false);
    NIXL_TRY(r, -1, reg_dlist_add_desc, u->registered[name], (uintptr_t)g->base, g->size,
             nixl_device(g->kind), NULL, 0);
    NIXL_TRY(r, -1, register_mem, u->agent, u->registered[name], u->args);
    return 0;
}

static int64_t nixl_address(struct weir_rank *r, void *buf, size_t cap)
{
    struct nixl_rank *u = r->fs;
    void *md = NULL;
    size_t n = 0;
    NIXL_TRY(r, -1, get_local_md, u->agent, &md, &n);
    struct blob b = {.control = (uint64_t)(uintptr_t)r->regions[REGION_CONTROL].base,
                     .sink = (uint64_t)(uintptr_t)rank_sink(r),
                     .rank = (uint32_t)r->cfg.rank,
                     .gpu = nixl_device(r->cfg.sink),
                     .metadata = (uint32_t)n};
    snprintf(b.backend, sizeof b.backend, "%s", u->name);
    if (n > UINT32_MAX || sizeof b + n > cap) {
        return rank_fail(r, -ENOBUFS, "address", -1,
                         "%zu bytes are too few for NIXL's metadata of %zu", cap, n);
    }
    memcpy(buf, &b, sizeof b);
    memcpy((char *)buf + sizeof b, md, n);
    nixl_free(md);
    return (int64_t)(sizeof b + n);
}

static int meet(struct weir_rank *r, int p, const char *blob, size_t len)
{
    struct nixl_rank *u = r->fs;
    struct blob b;
    char *name = NULL;
    if (len < sizeof b) {
        return rank_fail(r, -EPROTO, "connect", p, "its address has only %zu bytes", len);
    }
    memcpy(&b, blob, sizeof b);
    b.backend[sizeof b.backend - 1] = 0;
    if (len != sizeof b + b.metadata || b.rank != (uint32_t)p) {
        return rank_fail(r, -EPROTO, "connect", p, "its address is malformed");
    }
    if (strcmp(b.backend, u->name)) {
        return rank_fail(r, -EPROTO, "connect", p, "it uses backend %s and this rank %s", b.backend,
                         u->name);
    }
    NIXL_TRY(r, p, load_remote_md, u->agent, blob + sizeof b, b.metadata, &name);
    u->peers[p].control = b.control;
    u->peers[p].sink = b.sink;
    u->peers[p].gpu = b.gpu;
    u->peers[p].loaded = 1;
    snprintf(u->peers[p].name, sizeof u->peers[p].name, "weir-rank-%d", p);
    int same = name && !strcmp(name, u->peers[p].name);
    int rc =
        same ? 0
             : rank_fail(r, -EPROTO, "load_remote_md", p, "its metadata is of agent %s, not of %s",
                         name ? name : "(none)", u->peers[p].name);
    nixl_free(name);
    return rc;
}

static int nixl_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    struct nixl_rank *u = r->fs;
    int rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = meet(r, p, blobs[p], lens[p])) < 0) {
                return rc;
            }
        }
    }
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            NIXL_TRY(r, p, agent_make_connection, u->agent, u->peers[p].name, u->args);
        }
    }
    return 0;
}

static uint64_t in_sink(struct weir_rank *r, int peer, uint64_t roff)
{
    return ((struct nixl_rank *)r->fs)->peers[peer].sink + roff;
}

static int nixl_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    return nixl_add(r, peer, NIXL_WRITE, local, in_sink(r, peer, roff), n, q);
}

static int nixl_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    return nixl_add(r, peer, NIXL_READ, local, in_sink(r, peer, roff), n, q);
}

/* Without a progress thread in NIXL, polling notifications drives the target; an initiator makes
 * progress by polling the status of its requests. */
static int nixl_progress(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int rc = nixl_poll(r);
    if (rc < 0 || u->first || !u->notifs) {
        return rc;
    }
    NIXL_TRY(r, -1, get_notifs, u->agent, u->notifs, u->args);
    return 0;
}

static int nixl_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    return nixl_fence(r, peer, q);
}

/* A completed write is at the target, as far as the backend guarantees it. */
static int nixl_notify(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    char *word = rank_outbox(r, peer);
    memcpy(word, &value, sizeof value);
    return nixl_write_now(r, peer, word, ((struct nixl_rank *)r->fs)->peers[peer].control + place,
                          sizeof value, "signal");
}

#define PINGING 2 /* never reaches 0, so no loop is notified */

static int nixl_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct nixl_rank *u = r->fs;
    ((unsigned char *)local)[n - 1] = rank_mark(seq);
    u->pinged = (struct weir_req){.pending = PINGING, .peer = peer};
    int rc = nixl_add(r, peer, NIXL_WRITE, local, in_sink(r, peer, 0), n, &u->pinged);
    return rc < 0 ? rc : nixl_submit(r);
}

static int nixl_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    struct nixl_rank *u = r->fs;
    const char *last = rank_sink(r) + n - 1;
    /* the next message reuses this one's request */
    if (rank_marked(last, seq) && u->pinged.pending != PINGING) {
        return 1;
    }
    return nixl_progress(r) < 0 ? -EIO : 0;
}

static void nixl_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    struct nixl_rank *u = r->fs;
    snprintf(buf, cap, "nixl/%s (%s, %s, progress by %s%s%s)", u->name, nixl.path, nixl.version,
             u->notifs ? "the rank" : "a thread of NIXL's",
             u->unlisted[0] ? ", parameters that the plugin does not list: " : "", u->unlisted);
}

/* NIXL names its plugin, but not the transports that it used. */
static void nixl_carriers(struct weir_rank *r, int peer, char *list)
{
    carrier_add(list, CARRIES_OPAQUE, ((struct nixl_rank *)r->fs)->name, "");
}

/* Releases the requests made for a case: the next case makes its own, and times that. */
static int nixl_prepost(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    const struct nixl_rank *u = r->fs;
    if (c && c->mode == MODE_PINGPONG && !u->is_ucx) {
        return rank_fail(r, -EOPNOTSUPP, "ping", o->from,
                         "a ping-pong needs the bytes of a message to arrive in order, and NIXL's "
                         "backend %s does not promise that; use mode stream with in_flight 1",
                         u->name);
    }
    return c ? 0 : nixl_release(r);
}

static int leave(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int rc = nixl_release(r);
    if (rc < 0) {
        return rc;
    }
    while (u->fences) {
        struct nixl_handle *h = u->fences;
        u->fences = h->next;
        free(h);
    }
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (u->peers[p].loaded) {
            NIXL_TRY(r, p, invalidate_remote_md, u->agent, u->peers[p].name);
            u->peers[p].loaded = 0;
        }
    }
    return 0;
}

/* In the order of their dependencies. */
static int take_down(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int rc;
    if ((rc = leave(r)) < 0) {
        return rc;
    }
    if ((rc = nixl_register_local(r, NULL, 0)) < 0) {
        return rc;
    }
    for (int i = 0; i < REGIONS; i++) {
        if (u->registered[i]) {
            NIXL_TRY(r, -1, deregister_mem, u->agent, u->registered[i], u->args);
            NIXL_TRY(r, -1, destroy_reg_dlist, u->registered[i]);
            u->registered[i] = NULL;
        }
    }
    NIXL_TRY(r, -1, destroy_opt_args, u->args);
    NIXL_TRY(r, -1, destroy_backend, u->backend);
    if (u->notifs) {
        NIXL_TRY(r, -1, destroy_notif_map, u->notifs);
    }
    NIXL_TRY(r, -1, destroy_agent, u->agent);
    u->notifs = NULL;
    return 0;
}

/* Replaces the agent by one of the same name and memory: operations in flight end, and the metadata
 * of failed peers is dropped. */
static int renew(struct weir_rank *r)
{
    int rc;
    nixl_abandon(r);
    if ((rc = take_down(r)) < 0) {
        return rc;
    }
    if ((rc = nixl_make_agent(r)) < 0) {
        return rc;
    }
    for (int i = 0; i < REGIONS; i++) {
        if ((rc = nixl_attach(r, (enum weir_region_name)i)) < 0) {
            return rc;
        }
    }
    return 0;
}

static int nixl_disconnect(struct weir_rank *r)
{
    return r->cfg.peers_may_fail && r->closing == CLOSES_ALONE ? renew(r) : leave(r);
}

static int nixl_close(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int rc = take_down(r);
    if (rc < 0) {
        return rc;
    }
    free(u->parts);
    free(u->peers);
    free(u);
    fflush(NULL); /* plugins log through stdio, which Go's exit does not flush */
    return 0;
}

const struct weir_fabric weir_fab_nixl = {
    .name = "nixl",
    .version = nixl_version,
    .caps = CAP_NETWORK | CAP_MARKS_DATA,
    .probe = nixl_probe,
    .open = nixl_open,
    .attach = nixl_attach,
    .address = nixl_address,
    .connect = nixl_connect,
    .put = nixl_put,
    .get = nixl_get,
    .post = nixl_submit,
    .progress = nixl_progress,
    .poll = nixl_progress,
    .idle_wait = no_idle_wait,
    .flush = nixl_flush,
    .signal = nixl_notify,
    .notify = nixl_notify,
    .prepost = nixl_prepost,
    .ping = nixl_ping,
    .arrived = nixl_arrived,
    .runs_pingpong = runs_no_pingpong,
    .run_pingpong = unsupported_run_pingpong,
    .ceiling = ceiling_by_requests,
    .transport = nixl_transport,
    .carriers = nixl_carriers,
    .disconnect = nixl_disconnect,
    .close = nixl_close,
};
