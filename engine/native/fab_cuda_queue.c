/* Requests of fabric cuda: blocks are queued until they are posted, as copies by the copy engine or
 * as one kernel for all of them; an event after them marks completion. The stream preserves order,
 * so only the oldest event is polled. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fab_cuda.h"

#define THREADS_OF_BLOCK 1024
#define WARP 32
#define SHORT 16384 /* bytes: up to this size a block is copied by one warp */
#define BULK_SHARED_BYTES (4 * 16384)
#define MIN_CAPACITY 64

int cuda_check(struct weir_rank *r, int peer, const char *call, int code)
{
    struct weir_err e = {0};
    if (code == CU_DONE) {
        return 0;
    }
    (void)cuda_failed(&e, call, code);
    return rank_fail(r, e.code, "transfer", peer, "%s", e.text);
}

/* Capacity for the blocks of two windows, so that one can be put while another moves. */
static uint64_t capacity_for(const struct weir_rank *r)
{
    uint64_t window = r->cfg.in_flight * r->cfg.batch, capacity = MIN_CAPACITY;
    while (capacity < 2 * window && capacity < (uint64_t)1 << 20) {
        capacity *= 2;
    }
    return capacity;
}

int cuda_queue_open(struct weir_rank *r)
{
    struct cuda *c = cuda_of(r);
    int rc;
    c->capacity = capacity_for(r);
    c->peer_of = calloc(c->capacity, sizeof *c->peer_of);
    c->reads = calloc(c->capacity, sizeof *c->reads);
    c->parts = calloc(c->capacity, sizeof *c->parts);
    c->to = calloc(c->capacity, sizeof *c->to);
    c->from = calloc(c->capacity, sizeof *c->from);
    c->sizes = calloc(c->capacity, sizeof *c->sizes);
    if (!c->peer_of || !c->reads || !c->parts || !c->to || !c->from || !c->sizes) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %llu blocks",
                         (unsigned long long)c->capacity);
    }
    if ((rc = CUDA_RANK(r, -1, cuStreamCreate, &c->stream, CU_NON_BLOCKING)) < 0) {
        return rc;
    }
    if ((rc = CUDA_RANK(r, -1, cuMemHostAlloc, (void **)&c->blocks, c->capacity * sizeof *c->blocks,
                        CU_PORTABLE | CU_MAPPED)) < 0) {
        return rc;
    }
    if ((rc = CUDA_RANK(r, -1, cuMemHostGetDevicePointer_v2, &c->blocks_dev, c->blocks, 0)) < 0) {
        return rc;
    }
    for (int i = 0; i < CUDA_BATCHES; i++) {
        if ((rc = CUDA_RANK(r, -1, cuEventCreate, &c->batches[i].event, CU_NO_TIMING)) < 0) {
            return rc;
        }
    }
    cu_kernel bulk = cuda_current()->kernels[KERNEL_BULK];
    if (c->engine == ENGINE_BULK && !bulk) {
        return rank_fail(r, -EOPNOTSUPP, "open", -1,
                         "cuda_engine bulk is for GPUs of compute capability 9.0 or later, and %s "
                         "has no bulk copies",
                         cuda_current()->name);
    }
    return c->engine == ENGINE_BULK
               ? CUDA_RANK(r, -1, cuFuncSetAttribute, bulk, CU_DYNAMIC_SHARED, BULK_SHARED_BYTES)
               : 0;
}

void cuda_queue_close(struct weir_rank *r)
{
    struct cuda *c = cuda_of(r);
    (void)cuda.cuStreamSynchronize(c->stream);
    for (int i = 0; i < CUDA_BATCHES; i++) {
        (void)cuda.cuEventDestroy_v2(c->batches[i].event);
    }
    (void)cuda.cuMemFreeHost(c->blocks);
    (void)cuda.cuStreamDestroy_v2(c->stream);
    free(c->peer_of);
    free(c->reads);
    free(c->to);
    free(c->from);
    free(c->sizes);
    free(c->parts);
}

static int multiprocessors(const struct cuda *c)
{
    int all = cuda_current()->multiprocessors;
    return c->sms && c->sms < all ? c->sms : all;
}

/* Returns the number of threads per block. Where there are few blocks, each has its own part of the
 * multiprocessors: a thread that moved from block to block would read them one by one from the list
 * in host memory. */
static uint64_t team_of(const struct cuda *c, uint64_t count, uint64_t bytes)
{
    uint64_t blocks = (uint64_t)multiprocessors(c);
    if (count < blocks) {
        return blocks / count * THREADS_OF_BLOCK;
    }
    return bytes <= SHORT ? WARP : THREADS_OF_BLOCK;
}

static int launch(struct weir_rank *r, int engine, uint64_t list, uint64_t count,
                  struct cuda_block b)
{
    struct cuda *c = cuda_of(r);
    int bulk = engine == ENGINE_BULK;
    unsigned width = bulk ? WARP : THREADS_OF_BLOCK;
    uint64_t team = team_of(c, count, b.n);
    void *of_copy[] = {&list, &count, &team, &b.to, &b.from, &b.n},
         *of_bulk[] = {&list, &count, &b.to, &b.from, &b.n};
    return CUDA_RANK(r, -1, cuLaunchKernel,
                     cuda_current()->kernels[bulk ? KERNEL_BULK : KERNEL_COPY],
                     (unsigned)multiprocessors(c), 1, 1, width, 1, 1, bulk ? BULK_SHARED_BYTES : 0,
                     c->stream, bulk ? of_bulk : of_copy, NULL);
}

int cuda_move(struct weir_rank *r, int engine, int peer, struct cuda_block b, int read)
{
    struct cuda *c = cuda_of(r);
    const struct cuda_peer *p = &c->peers[peer];
    cu_context mine = cuda_current()->context;
    if (engine == ENGINE_SM || engine == ENGINE_BULK) {
        return launch(r, engine, 0, 1, b);
    }
    if (p->path == PATH_STAGED) {
        return CUDA_RANK(r, peer, cuMemcpyPeerAsync, b.to, read ? mine : p->context, b.from,
                         read ? p->context : mine, b.n, c->stream);
    }
    return CUDA_RANK(r, peer, cuMemcpyAsync, b.to, b.from, b.n, c->stream);
}

/* The copy engine takes about 1 µs per copy, however short. For smaller requests one kernel for all
 * blocks is faster; for larger ones the copy engine is 5 % faster. */
#define SHORT_COPY ((uint64_t)512 << 10)

static int engine_of(const struct cuda *c, uint64_t blocks, uint64_t bytes)
{
    if (c->engine != ENGINE_AUTO) {
        return c->engine;
    }
    return blocks > 1 && bytes < SHORT_COPY ? ENGINE_SM : ENGINE_COPY;
}

/* Returns whether any of the blocks is staged through the host. */
static int any_staged(const struct cuda *c, uint64_t at, uint64_t n)
{
    for (uint64_t i = at; i < at + n; i++) {
        if (c->peers[c->peer_of[i]].path == PATH_STAGED) {
            return 1;
        }
    }
    return 0;
}

/* Enqueues unordered copies in one call; blocks of concurrent requests need no order. */
static int copy_batch(struct weir_rank *r, uint64_t at, uint64_t n)
{
    struct cuda *c = cuda_of(r);
    struct cu_copying how = {.order = CU_IN_STREAM_ORDER};
    size_t first = 0, failed;
    for (uint64_t i = 0; i < n; i++) {
        c->to[i] = c->blocks[at + i].to;
        c->from[i] = c->blocks[at + i].from;
        c->sizes[i] = c->blocks[at + i].n;
    }
    return CUDA_RANK(r, c->peer_of[at], cuMemcpyBatchAsync, c->to, c->from, c->sizes, n, &how,
                     &first, 1, &failed, c->stream);
}

/* Posts the blocks from one count to another, which are contiguous in the ring. */
static int post_blocks(struct weir_rank *r, uint64_t from, uint64_t to)
{
    struct cuda *c = cuda_of(r);
    uint64_t at = from % c->capacity, n = to - from;
    int engine = engine_of(c, n, c->blocks[at].n), rc = 0;
    c->moved_by = engine;
    if (engine != ENGINE_COPY && n > 1) {
        return launch(r, engine, c->blocks_dev + at * sizeof *c->blocks, n, c->blocks[at]);
    }
    if (n > 1 && cuda.cuMemcpyBatchAsync && !any_staged(c, at, n)) {
        return copy_batch(r, at, n);
    }
    for (uint64_t i = at; i < at + n && rc == 0; i++) {
        rc = cuda_move(r, c->engine, c->peer_of[i], c->blocks[i], c->reads[i]);
    }
    return rc;
}

static int complete_oldest(struct weir_rank *r, int *done)
{
    struct cuda *c = cuda_of(r);
    struct cuda_batch *b = &c->batches[c->batches_done % CUDA_BATCHES];
    int code = cuda.cuEventQuery(b->event);
    *done = code == CU_DONE;
    if (code == CU_NOT_READY) {
        return 0;
    }
    if (code != CU_DONE) {
        return cuda_check(r, -1, "cuEventQuery", code);
    }
    c->batches_done++;
    c->blocks_done = b->blocks;
    while (c->parts_done < b->parts) {
        weir_part_done(c->parts[c->parts_done++ % c->capacity], 0);
    }
    return 0;
}

static int await_capacity(struct weir_rank *r)
{
    int done = 0, rc;
    while (!done) {
        if ((rc = complete_oldest(r, &done)) < 0) {
            return rc;
        }
        if (!done) {
            if ((rc = rank_tick(r)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int record(struct weir_rank *r)
{
    struct cuda *c = cuda_of(r);
    int rc;
    while (c->batches_posted - c->batches_done == CUDA_BATCHES) {
        if ((rc = await_capacity(r)) < 0) {
            return rc;
        }
    }
    struct cuda_batch *b = &c->batches[c->batches_posted % CUDA_BATCHES];
    if ((rc = CUDA_RANK(r, -1, cuEventRecord, b->event, c->stream)) < 0) {
        return rc;
    }
    b->parts = c->parts_posted = c->parts_put;
    b->blocks = c->blocks_posted;
    c->batches_posted++;
    return 0;
}

int cuda_post(struct weir_rank *r)
{
    struct cuda *c = cuda_of(r);
    int rc;
    if (c->blocks_posted == c->blocks_put) {
        return 0;
    }
    uint64_t from = c->blocks_posted, to = c->blocks_put,
             end = (from / c->capacity + 1) * c->capacity;
    if ((rc = post_blocks(r, from, to < end ? to : end)) < 0) {
        return rc;
    }
    if (to > end) {
        if ((rc = post_blocks(r, end, to)) < 0) {
            return rc;
        }
    }
    c->blocks_posted = to;
    return record(r);
}

static int keep(struct weir_rank *r, int peer, struct cuda_block b, int read, struct weir_req *q)
{
    struct cuda *c = cuda_of(r);
    int rc;
    while (c->blocks_put - c->blocks_done == c->capacity ||
           c->parts_put - c->parts_done == c->capacity) {
        if ((rc = cuda_post(r)) < 0) {
            return rc;
        }
        if ((rc = await_capacity(r)) < 0) {
            return rc;
        }
    }
    uint64_t at = c->blocks_put++ % c->capacity;
    c->blocks[at] = b;
    c->peer_of[at] = peer;
    c->reads[at] = read;
    c->parts[c->parts_put++ % c->capacity] = q;
    return WEIR_PENDING;
}

static uint64_t here(struct weir_rank *r, const void *local)
{
    return cuda_of(r)->source_dev +
           (uint64_t)((const char *)local - r->regions[REGION_SOURCE].base);
}

int cuda_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
             struct weir_req *q)
{
    uint64_t there = cuda_of(r)->peers[peer].sink_dev + roff;
    return keep(r, peer, (struct cuda_block){there, here(r, local), n}, 0, q);
}

int cuda_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
             struct weir_req *q)
{
    uint64_t there = cuda_of(r)->peers[peer].sink_dev + roff;
    return keep(r, peer, (struct cuda_block){here(r, local), there, n}, 1, q);
}

int cuda_progress(struct weir_rank *r)
{
    struct cuda *c = cuda_of(r);
    int rc = cuda_post(r), done = 1;
    while (rc == 0 && done && c->batches_done < c->batches_posted) {
        rc = complete_oldest(r, &done);
    }
    if (!done) {
        rank_pause();
    }
    return rc;
}

/* Returns WEIR_PENDING with one more part, completed by the last event in flight or by a new
 * one. */
int cuda_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct cuda *c = cuda_of(r);
    int rc;
    if ((rc = cuda_post(r)) < 0) {
        return rc;
    }
    if (c->batches_done == c->batches_posted) {
        return WEIR_DONE;
    }
    while (c->parts_put - c->parts_done == c->capacity) {
        if ((rc = await_capacity(r)) < 0) {
            return rc;
        }
    }
    c->parts[c->parts_put++ % c->capacity] = q;
    if ((rc = record(r)) < 0) {
        return rc;
    }
    return WEIR_PENDING;
}
