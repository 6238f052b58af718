/* cuda: between GPUs of one host. A rank's GPU maps the sinks of its peers by memory handles and
 * moves the data by its copy engine, by stores of its multiprocessors, or by their bulk copies.
 * Control words are in host memory that all ranks map. A put is complete when the event after it
 * is: the data is then in the peer's memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop_ceiling.h"
#include "fab_cuda.h"
#include "rank_options.h"
#include "loop_role.h"
#include "fabric_unsupported.h"

static void cuda_probe(struct weir_info *out)
{
    int n = 0, version = 0;
    if (cuda_load(out->reason, sizeof out->reason) < 0) {
        return;
    }
    int code = cuda.cuDeviceGetCount(&n);
    if (code != CU_DONE || n == 0) {
        snprintf(out->reason, sizeof out->reason, "the CUDA driver sees no GPU");
        return;
    }
    out->available = 1;
    if (cuda.cuDriverGetVersion(&version) == CU_DONE) {
        snprintf(out->version, sizeof out->version, "%d.%d", version / 1000, version % 1000 / 10);
    }
    snprintf(out->details, sizeof out->details, "vram=yes\ngpus=%d\n", n);
}

static int read_options(struct weir_rank *r, struct cuda *c)
{
    static const char *const engines[] = {"copy", "sm", "bulk", "auto"};
    char sms[16] = "0";
    int rc;
    if ((rc = option_choice(r, "cuda_engine", engines, 4, &c->engine)) < 0) {
        return rc;
    }
    if ((rc = option_copy(r, "sms", sms, sizeof sms)) < 0) {
        return rc;
    }
    c->sms = atoi(sms); /* package fabric has validated it */
    c->moved_by = c->engine == ENGINE_AUTO ? ENGINE_COPY : c->engine;
    return 0;
}

static int cuda_open(struct weir_rank *r)
{
    struct cuda *c = calloc(1, sizeof *c + (size_t)r->cfg.ranks * sizeof *c->peers);
    struct weir_err e = {0};
    int rc;
    if (!c) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    r->fs = c;
    if ((rc = read_options(r, c)) < 0) {
        return rc;
    }
    if ((rc = cuda_enter(r->cfg.gpu, &e)) < 0) {
        return rank_fail(r, rc, "open", -1, "%s", e.text);
    }
    c->multiprocessors = cuda_current()->multiprocessors;
    memcpy(c->bus, cuda_current()->bus, sizeof c->bus);
    if (c->sms > c->multiprocessors) {
        return rank_fail(r, -EINVAL, "open", -1, "option sms is %d, and %s has %d multiprocessors",
                         c->sms, cuda_current()->name, cuda_current()->multiprocessors);
    }
    if ((rc = handover_open(r, &c->handover)) < 0) {
        return rc;
    }
    if ((rc = cuda_queue_open(r)) < 0) {
        return rc;
    }
    return cuda_pingpong_open(r);
}

static int cuda_attach(struct weir_rank *r, enum weir_region_name name)
{
    struct cuda *c = cuda_of(r);
    if (name == REGION_SOURCE) {
        return cuda_map_host(r, &r->regions[name], -1, &c->source_dev);
    }
    return handover_attach(r, &c->handover, name);
}

static int64_t cuda_address(struct weir_rank *r, void *buf, size_t cap)
{
    struct cuda_info info;
    int64_t n = handover_address(r, &cuda_of(r)->handover, buf, cap);
    cuda_fill_info(&info);
    if (n < 0 || cap - (size_t)n < sizeof info) {
        return n < 0 ? n : rank_fail(r, -ENOBUFS, "address", -1, "too few bytes for an address");
    }
    memcpy((char *)buf + n, &info, sizeof info);
    return n + (int64_t)sizeof info;
}

static int take_addresses(struct weir_rank *r, const char *const *blobs, size_t *lens)
{
    size_t first = handover_address_bytes();
    int rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct cuda_info info;
        if (r->barrier.absent[p]) {
            continue;
        }
        if (lens[p] != first + sizeof info) {
            return rank_fail(r, -EPROTO, "connect", p, "its address has %zu bytes, not %zu",
                             lens[p], first + sizeof info);
        }
        memcpy(&info, blobs[p] + first, sizeof info);
        lens[p] = first;
        if (p != r->cfg.rank) {
            if ((rc = cuda_reach(r, p, &info)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int connect_all(struct weir_rank *r, const char *const *blobs, size_t *lens)
{
    int rc;
    if ((rc = take_addresses(r, blobs, lens)) < 0) {
        return rc;
    }
    if ((rc = handover_connect(r, &cuda_of(r)->handover, blobs, lens)) < 0) {
        return rc;
    }
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = cuda_map_peer(r, p)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int cuda_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    size_t *left = malloc((size_t)r->cfg.ranks * sizeof *left);
    if (!left) {
        return rank_fail(r, -ENOMEM, "connect", -1, "no memory for the addresses");
    }
    memcpy(left, lens, (size_t)r->cfg.ranks * sizeof *left);
    int rc = connect_all(r, blobs, left);
    free(left);
    return rc;
}

static int cuda_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    char *control = cuda_of(r)->peers[peer].control;
    atomic_store_explicit((_Atomic uint64_t *)(control + place), value, memory_order_release);
    return 0;
}

/* The GPU writes the word after the data in stream order; the CPU does not wait. */
static int cuda_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct cuda *c = cuda_of(r);
    struct cuda_peer *p = &c->peers[peer];
    struct cuda_block b = {
        p->sink_dev, c->source_dev + (uint64_t)((char *)local - r->regions[REGION_SOURCE].base), n};
    int rc = cuda_move(r, c->engine, peer, b, 0);
    if (rc < 0) {
        return rc;
    }
    return CUDA_RANK(r, peer, cuStreamWriteValue64_v2, c->stream,
                     p->control_dev + rank_ping_of(r, r->cfg.rank), seq, 0);
}

/* Polls between two checks with the driver, which reports faults. */
#define POLLS 4096

static int cuda_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    struct cuda *c = cuda_of(r);
    if (atomic_load_explicit(rank_ping_slot(r, peer), memory_order_acquire) == seq) {
        return 1;
    }
    if (++c->polls % POLLS == 0) {
        int code = cuda.cuStreamQuery(c->stream);
        if (code != CU_DONE && code != CU_NOT_READY) {
            return cuda_check(r, peer, "cuStreamQuery", code);
        }
    }
    rank_pause();
    return 0;
}

static int cuda_disconnect(struct weir_rank *r)
{
    cuda_forget_peers(r);
    handover_disconnect(r, &cuda_of(r)->handover);
    return 0;
}

static int cuda_close(struct weir_rank *r)
{
    struct cuda *c = cuda_of(r);
    (void)cuda_disconnect(r);
    cuda_queue_close(r);
    cuda_pingpong_close(r);
    cuda_unmap_host(&r->regions[REGION_SOURCE]);
    handover_close(r, &c->handover);
    cuda_leave();
    free(c);
    return 0;
}

const struct weir_fabric weir_fab_cuda = {
    .name = "cuda",
    .library = "libcuda.so",
    .caps = CAP_REMOTE_COMPLETION,
    .probe = cuda_probe,
    .open = cuda_open,
    .attach = cuda_attach,
    .address = cuda_address,
    .connect = cuda_connect,
    .put = cuda_put,
    .get = cuda_get,
    .post = cuda_post,
    .progress = cuda_progress,
    .poll = cuda_progress,
    .idle_wait = no_idle_wait,
    .flush = cuda_flush,
    .signal = cuda_signal,
    .notify = cuda_signal,
    .prepost = preposts_nothing,
    .ping = cuda_ping,
    .arrived = cuda_arrived,
    .runs_pingpong = cuda_runs_pingpong,
    .run_pingpong = cuda_run_pingpong,
    .ceiling = cuda_ceiling,
    .transport = cuda_transport,
    .carriers = cuda_carriers,
    .disconnect = cuda_disconnect,
    .close = cuda_close,
};
