/* How this rank's GPU reaches the memory of peers, as the driver reports it: on the same GPU, over
 * NVLink or PCIe, or staged through the host, with the nominal rate of the link. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fab_cuda.h"

void cuda_fill_info(struct cuda_info *out)
{
    const struct cuda_thread *t = cuda_current();
    *out = (struct cuda_info){.uuid = t->uuid};
    memcpy(out->bus, t->bus, sizeof out->bus);
}

/* Stages data through the host, which needs a context on the peer's GPU too. */
static int stage(struct weir_rank *r, int peer, int device)
{
    struct cuda *c = cuda_of(r);
    struct cuda_peer *p = &c->peers[peer];
    if (c->engine == ENGINE_SM || c->engine == ENGINE_BULK) {
        return rank_fail(r, -EHOSTUNREACH, "connect", peer,
                         "GPU %s does not reach the memory of GPU %s, which cuda_engine sm and "
                         "bulk need, and all kernels of ep: only cuda_engine copy of other "
                         "workloads can stage data through the host",
                         cuda_current()->bus, p->bus);
    }
    c->engine = ENGINE_COPY; /* also for ENGINE_AUTO */
    p->path = PATH_STAGED;
    p->device = device;
    return CUDA_RANK(r, peer, cuDevicePrimaryCtxRetain, &p->context, device);
}

static enum cuda_path path_of(enum weir_gpu_way way)
{
    switch (way) {
    case WAY_NVLINK:
        return PATH_NVLINK;
    case WAY_PCIE:
        return PATH_PCIE;
    default:
        return PATH_UNKNOWN;
    }
}

int cuda_reach(struct weir_rank *r, int peer, const struct cuda_info *info)
{
    struct cuda_peer *p = &cuda_of(r)->peers[peer];
    const struct cuda_thread *mine = cuda_current();
    struct weir_err e = {0};
    int can, device;
    p->uuid = info->uuid;
    memcpy(p->bus, info->bus, sizeof p->bus);
    p->bus[sizeof p->bus - 1] = 0;
    if (r->cfg.source->host || r->cfg.sink->host) {
        p->path = PATH_HOST;
        return 0;
    }
    if (!memcmp(&p->uuid, &mine->uuid, sizeof p->uuid)) {
        p->path = PATH_SAME_GPU;
        return 0;
    }
    device = cuda_find(&p->uuid);
    if (cuda_reaches(device, &can, &e) < 0) {
        return rank_fail(r, e.code, "connect", peer, "%s", e.text);
    }
    if (!can) {
        return stage(r, peer, device);
    }
    if (device < 0 && weir_gpu_way(mine->bus, p->bus) == WAY_NONE) {
        return rank_fail(r, -EHOSTUNREACH, "connect", peer,
                         "GPU %s does not reach the memory of GPU %s, and this rank does not see "
                         "that GPU, so that data cannot be staged through the host either",
                         mine->bus, p->bus);
    }
    return 0;
}

int cuda_map_host(struct weir_rank *r, const struct weir_region *g, int peer, cu_address *out)
{
    int rc;
    *out = (cu_address)(uintptr_t)g->base;
    if (!g->kind->host) {
        return 0;
    }
    if ((rc = CUDA_RANK(r, peer, cuMemHostRegister_v2, g->base, g->size, CU_PORTABLE | CU_MAPPED)) <
        0) {
        return rc;
    }
    return CUDA_RANK(r, peer, cuMemHostGetDevicePointer_v2, out, g->base, 0);
}

void cuda_unmap_host(const struct weir_region *g)
{
    if (g->base && g->kind->host) {
        (void)cuda.cuMemHostUnregister(g->base);
    }
}

int cuda_map_peer(struct weir_rank *r, int peer)
{
    struct cuda *c = cuda_of(r);
    struct cuda_peer *p = &c->peers[peer];
    const struct weir_region *m = c->handover.mapped[peer];
    int rc;
    p->control = m[0].base;
    if ((rc = cuda_map_host(r, &m[0], peer, &p->control_dev)) < 0) {
        return rc;
    }
    return cuda_map_host(r, &m[1], peer, &p->sink_dev);
}

void cuda_forget_peers(struct weir_rank *r)
{
    struct cuda *c = cuda_of(r);
    for (int i = 0; i < r->cfg.ranks; i++) {
        if (i == r->cfg.rank || !c->peers[i].control) {
            continue;
        }
        cuda_unmap_host(&c->handover.mapped[i][0]);
        cuda_unmap_host(&c->handover.mapped[i][1]);
        if (c->peers[i].context) {
            (void)cuda.cuDevicePrimaryCtxRelease_v2(c->peers[i].device);
        }
        c->peers[i] = (struct cuda_peer){.control = NULL};
    }
}

/* NVML is slow: it is queried for reports only, outside timed parts. */
static const struct cuda_peer *look_up(struct weir_rank *r, int peer)
{
    struct cuda_peer *p = &cuda_of(r)->peers[peer];
    if (p->path == PATH_UNKNOWN && !p->looked_up) {
        p->wire = weir_gpu_path(cuda_of(r)->bus, p->bus);
        p->path = path_of(p->wire.way);
        p->looked_up = 1;
    }
    return p;
}

static const char *const engines[] = {"copy engine", "stores", "bulk copies"};
static const char *const paths[] = {
    [PATH_UNKNOWN] = "",  [PATH_SAME_GPU] = "same GPU", [PATH_NVLINK] = "nvlink",
    [PATH_PCIE] = "pcie", [PATH_STAGED] = "staged",     [PATH_HOST] = "host",
};

void cuda_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    const struct cuda *c = cuda_of(r);
    const struct cuda_peer *p = look_up(r, peer);
    int by = c->moved_by;
    size_t at = (size_t)snprintf(buf, cap, "cuda (%s", engines[by]);
    if (by != ENGINE_COPY && at < cap) {
        at += (size_t)snprintf(buf + at, cap - at, " of %d multiprocessors",
                               c->sms ? c->sms : c->multiprocessors);
    }
    if (at < cap) {
        at += (size_t)snprintf(buf + at, cap - at, ", %s",
                               p->path == PATH_UNKNOWN ? "a path that the driver does not report"
                               : p->path == PATH_HOST  ? "between host and GPU"
                                                       : paths[p->path]);
    }
    if (p->wire.links && at < cap) {
        at += (size_t)snprintf(buf + at, cap - at, " of %d links", p->wire.links);
    }
    if (p->wire.rate > 0 && at < cap) {
        at += (size_t)snprintf(buf + at, cap - at, ", nominal %.0f GB/s", p->wire.rate / 1e9);
    }
    if (at < cap) {
        snprintf(buf + at, cap - at, ")");
    }
}

void cuda_carriers(struct weir_rank *r, int peer, char *list)
{
    const struct cuda_peer *p = look_up(r, peer);
    if (p->path != PATH_UNKNOWN) {
        carrier_add(list, CARRIES_DATA, paths[p->path], "");
    }
    carrier_add(list, CARRIES_CONTROL, "shm", "");
}
