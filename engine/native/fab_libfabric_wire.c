/* libfabric: opens the objects of the selected provider, registers the rank's memory, and closes.
 */
#define _GNU_SOURCE
#include "fab_libfabric.h"

#ifdef WEIR_HAS_LIBFABRIC
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_cuda.h"
#include "sys_dl.h"
#include "rank.h"

#define MIN_OPS 16
#define MAX_OPS 4096
#define LINGER_NS 2000000 /* of a leaving rank: lets its acknowledgements go out */

int libfabric_failed(struct weir_rank *r, const char *op, int peer, int64_t rc)
{
    return rank_fail(r, (int)rc, op, peer, "%s", libfabric.fi_strerror((int)-rc));
}

static void free_ops(struct libfabric_rank *f)
{
    memset(f->ops, 0, f->nops * sizeof *f->ops);
    f->free = NULL;
    for (size_t i = f->nops; i-- > 0;) {
        f->ops[i].next = f->free;
        f->free = &f->ops[i];
    }
}

/* An operation has one event, a peer's messages have two. */
size_t libfabric_events(const struct weir_rank *r, const struct libfabric_rank *f)
{
    return f->nops + 2 * (size_t)r->cfg.ranks;
}

static int make_ops(struct weir_rank *r, struct libfabric_rank *f)
{
    size_t n = f->info->tx_attr->size;
    f->nops = n < MIN_OPS ? MIN_OPS : n > MAX_OPS ? MAX_OPS : n;
    f->ops = calloc(f->nops, sizeof *f->ops);
    if (!f->ops) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %zu operations", f->nops);
    }
    free_ops(f);
    return 0;
}

static int open_endpoint(struct weir_rank *r, struct libfabric_rank *f)
{
    int rc;
    struct fi_cq_attr cq = {.size = libfabric_events(r, f),
                            .format = FI_CQ_FORMAT_DATA,
                            .wait_obj = r->cfg.sleeps ? FI_WAIT_FD : FI_WAIT_NONE};
    struct fi_av_attr av = {.type = f->info->domain_attr->av_type, .count = (size_t)r->cfg.ranks};
    if ((rc = libfabric.fi_fabric(f->info->fabric_attr, &f->fabric, NULL)) < 0) {
        return libfabric_failed(r, "fi_fabric", -1, rc);
    }
    if ((rc = fi_domain(f->fabric, f->info, &f->domain, NULL)) < 0) {
        return libfabric_failed(r, "fi_domain", -1, rc);
    }
    if ((rc = fi_cq_open(f->domain, &cq, &f->cq, NULL)) < 0) {
        return rank_fail(
            r, rc, "fi_cq_open", -1, "%s%s", libfabric.fi_strerror(-rc),
            r->cfg.sleeps
                ? ": wait sleep needs events with a file descriptor, which not every provider has"
                : "");
    }
    if (r->cfg.sleeps) {
        if ((rc = fi_control(&f->cq->fid, FI_GETWAIT, &f->file)) < 0) {
            return libfabric_failed(r, "fi_control", -1, rc);
        }
    }
    if ((rc = fi_av_open(f->domain, &av, &f->av, NULL)) < 0) {
        return libfabric_failed(r, "fi_av_open", -1, rc);
    }
    if ((rc = fi_endpoint(f->domain, f->info, &f->ep, NULL)) < 0) {
        return libfabric_failed(r, "fi_endpoint", -1, rc);
    }
    if ((rc = fi_ep_bind(f->ep, &f->av->fid, 0)) < 0) {
        return libfabric_failed(r, "fi_ep_bind", -1, rc);
    }
    if ((rc = fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV)) < 0) {
        return libfabric_failed(r, "fi_ep_bind", -1, rc);
    }
    if ((rc = fi_enable(f->ep)) < 0) {
        return libfabric_failed(r, "fi_enable", -1, rc);
    }
    return 0;
}

/* Reads the limits on one operation, and on one that completes when posted. */
static void take_limits(const struct weir_rank *r, struct libfabric_rank *f)
{
    size_t most = f->info->ep_attr->max_msg_size;
    f->piece = most ? most : SIZE_MAX;
    if (f->delivery == DELIVERY_ORDER && f->info->ep_attr->max_order_raw_size < f->piece) {
        f->piece = f->info->ep_attr->max_order_raw_size;
    }
    f->inject = r->cfg.source->gpu ? 0 : f->info->tx_attr->inject_size;
    if (libfabric_piece && libfabric_piece < f->piece) {
        f->piece = libfabric_piece;
    }
}

int libfabric_open(struct weir_rank *r)
{
    char why[WEIR_TEXT];
    struct dl_handlers handlers;
    struct libfabric_rank *f = calloc(1, sizeof *f);
    int rc;
    if (!f) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    f->peers = calloc((size_t)r->cfg.ranks, sizeof *f->peers);
    if (!f->peers) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    f->last_hello = calloc((size_t)r->cfg.ranks, sizeof *f->last_hello);
    if (!f->last_hello) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    r->fs = f;
    if ((rc = libfabric_load(why, sizeof why)) < 0) {
        return rank_fail(r, rc, "load", -1, "%s", why);
    }
    f->info = libfabric_choose(r, &f->delivery);
    libfabric_unknown_variables(); /* may explain why there is no provider */
    if (!f->info) {
        return r->err->code;
    }
    f->table = weir_fab_libfabric;
    if (f->delivery == DELIVERY_COMPLETION) {
        f->table.caps |= CAP_REMOTE_COMPLETION;
    }
    take_limits(r, f);
    dl_handlers_keep(&handlers);
    rc = make_ops(r, f);
    if (rc == 0) {
        rc = open_endpoint(r, f);
    }
    dl_handlers_restore(&handlers);
    if (rc == 0) {
        r->fab = &f->table;
    }
    return rc;
}

static int not_registered(struct weir_rank *r, size_t bytes, int rc)
{
    char limit[LOCK_WORDS];
    weir_lock_limit(bytes, limit, sizeof limit);
    return rank_fail(r, rc, "fi_mr_reg", -1, "registering %zu bytes: %s%s", bytes,
                     libfabric.fi_strerror(-rc), limit);
}

int libfabric_attach(struct weir_rank *r, enum weir_region_name name)
{
    struct libfabric_rank *f = r->fs;
    struct weir_region *g = &r->regions[name];
    struct fid_mr **mr = &f->mr[name];
    uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    int mode = f->info->domain_attr->mr_mode;
    struct iovec iov = {g->base, g->size};
    int gpu = memory_is_gpus(g->kind);
    struct fi_mr_attr a = {.mr_iov = &iov,
                           .iov_count = 1,
                           .access = access,
                           .requested_key = (uint64_t)name /* unique per region */,
                           .iface = gpu ? FI_HMEM_CUDA : FI_HMEM_SYSTEM};
    if (gpu) {
        a.device.cuda = cuda_current()->device;
    }
    int rc = gpu ? fi_mr_regattr(f->domain, &a, 0, mr)
                 : fi_mr_reg(f->domain, g->base, g->size, access, 0, a.requested_key, 0, mr, NULL);
    if (rc < 0) {
        return not_registered(r, g->size, rc);
    }
    if (mode & FI_MR_ENDPOINT) {
        if ((rc = fi_mr_bind(*mr, &f->ep->fid, 0)) < 0) {
            return not_registered(r, g->size, rc);
        }
        if ((rc = fi_mr_enable(*mr)) < 0) {
            return not_registered(r, g->size, rc);
        }
    }
    f->desc[name] = fi_mr_desc(*mr);
    return 0;
}

static void linger(struct weir_rank *r)
{
    int64_t until = weir_monotonic() + LINGER_NS;
    while (weir_monotonic() < until) {
        (void)libfabric_progress(r);
    }
}

static void close_all(struct libfabric_rank *f)
{
    struct fid *const all[] = {&f->mr[REGION_SINK]->fid,
                               &f->mr[REGION_SOURCE]->fid,
                               &f->mr[REGION_CONTROL]->fid,
                               &f->ep->fid,
                               &f->av->fid,
                               &f->cq->fid,
                               &f->domain->fid,
                               &f->fabric->fid};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        (void)fi_close(all[i]); /* failures to close are ignored */
    }
}

/* Replaces the endpoint by one that no peer knows; operations in flight to failed peers end with
 * the old one. */
static int renew_endpoint(struct weir_rank *r)
{
    struct libfabric_rank *f = r->fs;
    int rc;
    close_all(f);
    free_ops(f);
    memset(f->peers, 0, (size_t)r->cfg.ranks * sizeof *f->peers);
    f->broken = (struct weir_err){0};
    if ((rc = open_endpoint(r, f)) < 0) {
        return rc;
    }
    for (int i = 0; i < REGIONS; i++) {
        if ((rc = libfabric_attach(r, (enum weir_region_name)i)) < 0) {
            return rc;
        }
    }
    return 0;
}

int libfabric_disconnect(struct weir_rank *r)
{
    int rc;
    if (r->cfg.peers_may_fail && r->closing == CLOSES_ALONE) {
        return renew_endpoint(r);
    }
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = libfabric_leave(r, p)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

int libfabric_close(struct weir_rank *r)
{
    struct libfabric_rank *f = r->fs;
    if (r->closing != CLOSES_ALONE) {
        linger(r);
    }
    close_all(f);
    libfabric.fi_freeinfo(f->info);
    r->fab = &weir_fab_libfabric;
    r->fs = NULL;
    free(f->ops);
    free(f->peers);
    free(f->last_hello);
    free(f);
    fflush(NULL); /* it logs through stdio, which Go's exit does not flush */
    return 0;
}
#endif
