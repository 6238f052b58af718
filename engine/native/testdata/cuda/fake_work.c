/* Streams, events and kernels of the fake: see fake_cuda.h. A stream is a thread that does its work
 * in order; its errors stay with the context. */
#define _GNU_SOURCE
#include "fake_cuda.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum sort { COPY, SET, WORD, KERNEL_RUN, EVENT };
#define MOST_VALUES 6
#define MOST_BYTES 1024 /* of all arguments of a kernel */

struct work {
    struct work *next;
    enum sort    sort;
    uint64_t     to, from, n; /* SET and WORD: n or from is the value */
    int          device_to, device_from;
    cu_event     event;
    int          kernel, fault;
    unsigned     blocks, threads, shared;
    uint64_t     values[MOST_VALUES];
    char         first[MOST_BYTES] __attribute__((aligned(8))); /* a struct argument */
};

struct cu_stream {
    struct cu_context *context;
    pthread_t          thread;
    pthread_mutex_t    lock;
    pthread_cond_t     changed;
    struct work       *first, **last;
    int                busy, ends;
    struct cu_graph   *captured; /* receives what is enqueued */
};

struct cu_graph {
    struct work *first, **last;
};

struct cu_made {
    const struct cu_graph *of;
};

struct cu_event {
    _Atomic int      under_way;
    int              timed;
    _Atomic uint64_t at; /* when it was reached, ns */
    struct cu_context *context;
};

/* ---- kernels ---- */

#define WEIR_ON_HOST
#include "on_host.h"

#include "../../kernels_ep_args.h"
#include "../../kernels.cu"
#include "../../kernels_ep.cu"
#include "../../kernels_ep_rows.cu"
#include "../../kernels_ep_counts.cu"
#include "../../kernels_ep_dispatch.cu"
#include "../../kernels_ep_combine.cu"
#include "../../kernels_ep_pull.cu"
#include "../../kernels_ep_pack.cu"
#include "../../kernels_ep_verify.cu"
#include "../../kernels_ep_clocks.cu"
#include "../../kernels_pingpong_args.h"
#include "../../kernels_pingpong.cu"

_Static_assert(sizeof(struct ep_args) <= MOST_BYTES, "fits");
_Static_assert(sizeof(struct dispatch_shared) <= FAKE_SHARED, "fits");

_Thread_local struct three threadIdx, blockIdx, blockDim, gridDim;

static _Thread_local jmp_buf fault;
static _Thread_local int     running_on; /* GPU of the kernel */

/* Each GPU's clock is FAKE_CUDA_APART seconds ahead of the one before, and gains 1 ms per second on
 * it. */
u64 fake_clock(u64 host)
{
    const char *apart = getenv("FAKE_CUDA_APART");
    return apart ? host + (u64)running_on * ((u64)atoi(apart) * 1000000000 + host / 1000) : host;
}

/* Blocks of concurrent threads. A fault of one ends all, at their next barrier at the latest. */
struct team {
    const struct work *work;
    int                device;
    pthread_mutex_t    lock;
    pthread_cond_t     changed;
    atomic_int         faulted;
};

struct team_block {
    struct team *team;
    unsigned     number, met;
    uint64_t     meetings;
    char        *shared;
};

struct team_thread {
    struct team_block *block;
    unsigned           number;
    pthread_t          thread;
};

static _Thread_local struct team_block *my_block;

void *fake_shared(void) { return my_block->shared; }

void fake_barrier(void)
{
    struct team_block *b = my_block;
    struct team       *t = b->team;
    pthread_mutex_lock(&t->lock);
    uint64_t meeting = b->meetings;
    if (++b->met == FAKE_TEAM) {
        b->met = 0;
        b->meetings++;
        pthread_cond_broadcast(&t->changed);
    }
    while (b->meetings == meeting && !t->faulted)
        pthread_cond_wait(&t->changed, &t->lock);
    int faulted = t->faulted;
    pthread_mutex_unlock(&t->lock);
    if (faulted)
        longjmp(fault, 1);
}

void *fake_at(u64 address)
{
    void *p = fake_find(address, 1, running_on);
    if (!p && (p = fake_find(address - 1, 1, running_on))) /* one past the last byte */
        p = (char *)p + 1;
    if (!p) {
        fprintf(stderr, "stand-in of CUDA: a kernel touches 0x%llx, where GPU %d has nothing\n",
                (unsigned long long)address, running_on);
        longjmp(fault, 1);
    }
    return p;
}

static void run_thread(const struct work *w)
{
    const uint64_t *v = w->values;
    switch (w->kernel) {
    case KERNEL_FILL:
        weir_fill(v[0], v[1], v[2]);
        break;
    case KERNEL_CHECK:
        weir_check(v[0], v[1], v[2], v[3]);
        break;
    case KERNEL_COPY:
        weir_copy(v[0], v[1], v[2], v[3], v[4], v[5]);
        break;
    case KERNEL_BULK:
        weir_bulk(v[0], v[1], v[2], v[3], v[4]);
        break;
    }
}

static void run_in_team(const struct work *w)
{
    const uint64_t       *v = w->values;
    const struct ep_args *a = (const struct ep_args *)w->first;
    switch (w->kernel) {
    case KERNEL_EP_DISPATCH:
        weir_ep_dispatch(*a, v[0], v[1], v[2], v[3]);
        break;
    case KERNEL_EP_COMBINE:
        weir_ep_combine(*a, v[0], v[1], v[2], v[3]);
        break;
    case KERNEL_EP_PULL:
        weir_ep_pull(*a, v[0], v[1], v[2], v[3]);
        break;
    case KERNEL_EP_VERIFY:
        weir_ep_verify(v[0], v[1], v[2], v[3], v[4], v[5]);
        break;
    case KERNEL_EP_MEET:
        weir_ep_meet(*a, v[0], v[1]);
        break;
    case KERNEL_EP_CLOCK:
        weir_ep_clock(v[0], v[1], v[2]);
        break;
    case KERNEL_EP_COMPARE:
        weir_ep_compare(*a, v[0], v[1], v[2], v[3], v[4]);
        break;
    case KERNEL_EP_PACK:
        weir_ep_pack(*a, v[0], v[1], v[2]);
        break;
    case KERNEL_PINGPONG:
        weir_pingpong(*(const struct pingpong_args *)w->first);
        break;
    }
}

static void *serve_team(void *arg)
{
    struct team_thread *self = arg;
    struct team        *t    = self->block->team;
    my_block                 = self->block;
    running_on               = t->device;
    gridDim.x = t->work->blocks, blockIdx.x = self->block->number;
    blockDim.x  = t->work->threads < FAKE_TEAM ? t->work->threads : FAKE_TEAM;
    threadIdx.x = self->number;
    if (self->number >= blockDim.x)
        return NULL;
    if (!setjmp(fault)) {
        run_in_team(t->work);
        return NULL;
    }
    pthread_mutex_lock(&t->lock);
    t->faulted = 1;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static int run_team(const struct work *w, int device)
{
    struct team         t = {.work = w, .device = device};
    unsigned            n = w->blocks * FAKE_TEAM;
    struct team_block  *blocks  = calloc(w->blocks, sizeof *blocks);
    struct team_thread *threads = calloc(n, sizeof *threads);
    if (!blocks || !threads || w->fault)
        return free(blocks), free(threads), ILLEGAL_ADDRESS;
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.changed, NULL);
    for (unsigned i = 0; i < w->blocks; i++)
        blocks[i] = (struct team_block){.team = &t, .number = i,
                                        .shared = calloc(1, FAKE_SHARED + w->shared)};
    for (unsigned i = 0; i < n; i++) {
        threads[i] = (struct team_thread){.block = &blocks[i / FAKE_TEAM], .number = i % FAKE_TEAM};
        pthread_create(&threads[i].thread, NULL, serve_team, &threads[i]);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i].thread, NULL);
    for (unsigned i = 0; i < w->blocks; i++)
        free(blocks[i].shared);
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.lock);
    free(blocks);
    free(threads);
    return t.faulted ? ILLEGAL_ADDRESS : CU_DONE;
}

static int run_kernel(const struct work *w, int device)
{
    if (w->kernel >= KERNEL_EP_DISPATCH)
        return run_team(w, device);
    running_on = device;
    if (w->fault || setjmp(fault))
        return ILLEGAL_ADDRESS;
    gridDim.x = w->blocks, blockDim.x = w->threads;
    for (blockIdx.x = 0; blockIdx.x < w->blocks; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < w->threads; threadIdx.x++)
            run_thread(w);
    return CU_DONE;
}

/* ---- work ---- */

static int copy(const struct work *w)
{
    void *to   = fake_find(w->to, w->n, w->device_to);
    void *from = fake_find(w->from, w->n, w->device_from);
    if (!to && fake_is_host(w->to))
        to = (void *)(size_t)w->to;
    if (!from && fake_is_host(w->from))
        from = (void *)(size_t)w->from;
    if (!to || !from)
        return ILLEGAL_ADDRESS;
    memcpy(to, from, w->n);
    return CU_DONE;
}

static int carry_out(const struct work *w, int device)
{
    void *p;
    switch (w->sort) {
    case COPY:
        return copy(w);
    case SET:
        if (!(p = fake_find(w->to, w->n, device)))
            return ILLEGAL_ADDRESS;
        memset(p, (int)w->from, w->n);
        return CU_DONE;
    case WORD:
        if (!(p = fake_find(w->to, sizeof(uint64_t), device)))
            return ILLEGAL_ADDRESS;
        atomic_store((_Atomic uint64_t *)p, w->from);
        return CU_DONE;
    case KERNEL_RUN:
        return run_kernel(w, device);
    case EVENT:
        break;
    }
    return CU_DONE;
}

/* Ranks of one process synchronise through memory that each maps at a different address, which
 * ThreadSanitizer cannot follow. This orders work that has ended before work that begins later;
 * overlapping work is still checked. */
static atomic_int ordered;

static void *serve(void *arg)
{
    struct cu_stream *s    = arg;
    const char       *slow = getenv("FAKE_CUDA_SLOW");
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->ends)
            pthread_cond_wait(&s->changed, &s->lock);
        struct work *w = s->first;
        if (!w)
            break;
        s->first = w->next;
        if (!s->first)
            s->last = &s->first;
        pthread_mutex_unlock(&s->lock);
        if (slow)
            usleep((useconds_t)atoi(slow));
        atomic_fetch_add(&ordered, 1);
        int rc = atomic_load(&s->context->fault);
        if (rc == CU_DONE && (rc = carry_out(w, s->context->device)) != CU_DONE)
            atomic_store(&s->context->fault, rc);
        atomic_fetch_add(&ordered, 1);
        if (w->sort == EVENT) {
            atomic_store(&w->event->at, now());
            atomic_fetch_sub(&w->event->under_way, 1);
        }
        free(w);
        pthread_mutex_lock(&s->lock);
        if (!s->first) {
            s->busy = 0;
            pthread_cond_broadcast(&s->changed);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int drain(struct cu_stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->busy)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return atomic_load(&s->context->fault);
}

static int enqueue(struct cu_stream *s, struct work of)
{
    struct cu_context *c;
    int                rc = fake_current(&c);
    if (rc != CU_DONE)
        return rc;
    if (!s || s->context != c)
        return INVALID_HANDLE;
    struct work *w = malloc(sizeof *w);
    if (!w)
        return CU_OUT_OF_MEMORY;
    *w = of;
    pthread_mutex_lock(&s->lock);
    if (s->captured) {
        *s->captured->last = w;
        s->captured->last  = &w->next;
        pthread_mutex_unlock(&s->lock);
        return CU_DONE;
    }
    *s->last = w;
    s->last  = &w->next;
    s->busy  = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return CU_DONE;
}

int cuStreamCreate(cu_stream *out, unsigned flags)
{
    struct cu_context *c;
    int                rc = fake_current(&c);
    if (rc != CU_DONE)
        return rc;
    struct cu_stream *s = calloc(1, sizeof *s);
    if (!s || flags != CU_NON_BLOCKING)
        return CU_INVALID_VALUE;
    s->context = c;
    s->last    = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    pthread_create(&s->thread, NULL, serve, s);
    *out = s;
    return CU_DONE;
}

int cuStreamDestroy_v2(cu_stream s)
{
    if (!s)
        return INVALID_HANDLE;
    pthread_mutex_lock(&s->lock);
    s->ends = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return CU_DONE;
}

int cuStreamSynchronize(cu_stream s) { return s ? drain(s) : INVALID_HANDLE; }

int cuStreamQuery(cu_stream s)
{
    if (!s)
        return INVALID_HANDLE;
    pthread_mutex_lock(&s->lock);
    int busy = s->busy;
    pthread_mutex_unlock(&s->lock);
    int rc = atomic_load(&s->context->fault);
    return rc != CU_DONE ? rc : busy ? CU_NOT_READY : CU_DONE;
}

/* Copies from unregistered host memory are staged before the call returns. */
static int enqueue_copy(struct cu_stream *s, struct work w)
{
    int rc = enqueue(s, w);
    if (rc == CU_DONE && (fake_is_host(w.to) || fake_is_host(w.from)))
        return drain(s);
    return rc;
}

int cuMemcpyAsync(cu_address to, cu_address from, size_t n, cu_stream s)
{
    struct cu_context *c;
    int                rc = fake_current(&c);
    if (rc != CU_DONE)
        return rc;
    return enqueue_copy(s, (struct work){.sort = COPY, .to = to, .from = from, .n = n,
                                         .device_to = c->device, .device_from = c->device});
}

/* Unordered: from the last to the first. */
int cuMemcpyBatchAsync(cu_address *to, cu_address *from, size_t *sizes, size_t n,
                       struct cu_copying *how, size_t *first, size_t nhow, size_t *failed,
                       cu_stream s)
{
    if (!n || nhow != 1 || *first || how->order != CU_IN_STREAM_ORDER || how->flags || !s)
        return CU_INVALID_VALUE;
    for (size_t i = n; i-- > 0;) {
        int rc = cuMemcpyAsync(to[i], from[i], sizes[i], s);
        if (rc != CU_DONE)
            return *failed = i, rc;
    }
    return CU_DONE;
}

int cuMemcpyPeerAsync(cu_address to, cu_context of_to, cu_address from, cu_context of_from,
                      size_t n, cu_stream s)
{
    if (!of_to || !of_from)
        return INVALID_CONTEXT;
    return enqueue_copy(s, (struct work){.sort = COPY, .to = to, .from = from, .n = n,
                                         .device_to = of_to->device,
                                         .device_from = of_from->device});
}

int cuMemsetD8Async(cu_address p, unsigned char byte, size_t n, cu_stream s)
{
    return enqueue(s, (struct work){.sort = SET, .to = p, .from = byte, .n = n});
}

int cuStreamWriteValue64_v2(cu_stream s, cu_address p, uint64_t value, unsigned flags)
{
    if (flags || p % 8)
        return CU_INVALID_VALUE;
    return enqueue(s, (struct work){.sort = WORD, .to = p, .from = value});
}

int cuEventCreate(cu_event *out, unsigned flags)
{
    struct cu_context *c;
    int                rc = fake_current(&c);
    if (rc != CU_DONE)
        return rc;
    *out = calloc(1, sizeof **out);
    if (!*out || (flags && flags != CU_NO_TIMING))
        return CU_INVALID_VALUE;
    (*out)->context = c;
    (*out)->timed   = !flags;
    return CU_DONE;
}

int cuEventDestroy_v2(cu_event event)
{
    if (!event)
        return INVALID_HANDLE;
    while (atomic_load(&event->under_way))
        usleep(100);
    free(event);
    return CU_DONE;
}

int cuEventRecord(cu_event event, cu_stream s)
{
    if (!event)
        return INVALID_HANDLE;
    atomic_fetch_add(&event->under_way, 1);
    int rc = enqueue(s, (struct work){.sort = EVENT, .event = event});
    if (rc != CU_DONE)
        atomic_fetch_sub(&event->under_way, 1);
    return rc;
}

int cuEventQuery(cu_event event)
{
    if (!event)
        return INVALID_HANDLE;
    int under_way = atomic_load(&event->under_way), rc = atomic_load(&event->context->fault);
    return rc != CU_DONE ? rc : under_way ? CU_NOT_READY : CU_DONE;
}

int cuEventElapsedTime(float *ms, cu_event from, cu_event to)
{
    if (!from || !to || !from->timed || !to->timed)
        return INVALID_HANDLE;
    if (atomic_load(&from->under_way) || atomic_load(&to->under_way))
        return CU_NOT_READY;
    *ms = (float)(atomic_load(&to->at) - atomic_load(&from->at)) / 1e6f;
    return CU_DONE;
}

/* ---- graphs ---- */

int cuStreamBeginCapture_v2(cu_stream s, int mode)
{
    if (!s || s->captured || mode != CU_OF_THIS_THREAD)
        return CU_INVALID_VALUE;
    s->captured       = calloc(1, sizeof *s->captured);
    s->captured->last = &s->captured->first;
    return CU_DONE;
}

int cuStreamEndCapture(cu_stream s, cu_graph *out)
{
    if (!s || !s->captured)
        return CU_INVALID_VALUE;
    *out        = s->captured;
    s->captured = NULL;
    return CU_DONE;
}

int cuGraphInstantiateWithFlags(cu_made *out, cu_graph graph, unsigned long long flags)
{
    if (!graph || flags)
        return CU_INVALID_VALUE;
    *out       = calloc(1, sizeof **out);
    (*out)->of = graph;
    return CU_DONE;
}

int cuGraphUpload(cu_made made, cu_stream s) { return made && s ? CU_DONE : CU_INVALID_VALUE; }

int cuGraphLaunch(cu_made made, cu_stream s)
{
    int rc = made && s ? CU_DONE : CU_INVALID_VALUE;
    for (const struct work *w = rc ? NULL : made->of->first; w && rc == CU_DONE; w = w->next) {
        struct work copy = *w;
        copy.next        = NULL;
        rc               = enqueue(s, copy);
    }
    return rc;
}

int cuGraphExecDestroy(cu_made made)
{
    free(made);
    return made ? CU_DONE : INVALID_HANDLE;
}

int cuGraphDestroy(cu_graph graph)
{
    for (struct work *w = graph ? graph->first : NULL, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    free(graph);
    return graph ? CU_DONE : INVALID_HANDLE;
}

struct cu_kernel {
    const char *name;
};
extern struct cu_kernel fake_kernels[KERNELS];

int cuLaunchKernel(cu_kernel kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, cu_stream s, void **values,
                   void **extra)
{
    static const int nvalues[KERNELS] = {3, 4, 6, 5, 4, 4, 4, 6, 2, 3, 5, 3, 0};
    struct work      w = {.sort = KERNEL_RUN, .blocks = gx, .threads = bx, .shared = shared,
                          .fault = fake_fault()};
    if (!kernel || extra || gy != 1 || gz != 1 || by != 1 || bz != 1 || !gx || !bx || bx > 1024)
        return CU_INVALID_VALUE;
    w.kernel = (int)(kernel - fake_kernels);
    if (w.kernel == KERNEL_BULK && shared < STAGES * PIECE)
        return CU_INVALID_VALUE;
    if (w.kernel >= KERNEL_EP_DISPATCH && (bx > EP_GPU_THREADS + 32 || gx > EP_GPU_BLOCKS))
        return CU_INVALID_VALUE;
    if (w.kernel >= KERNEL_EP_DISPATCH && w.kernel != KERNEL_EP_CLOCK &&
        w.kernel != KERNEL_EP_VERIFY)
        memcpy(w.first, *values++,
               w.kernel == KERNEL_PINGPONG ? sizeof(struct pingpong_args) : sizeof(struct ep_args));
    for (int i = 0; i < nvalues[w.kernel]; i++)
        memcpy(&w.values[i], values[i], sizeof w.values[i]);
    return enqueue(s, w);
}

int cuLaunchKernelEx(const struct cu_launch *how, cu_kernel kernel, void **values, void **extra)
{
    if (how->n != 1 || how->attributes->what != CU_BEFORE_ITS_LAST_ENDED || !how->attributes->value)
        return CU_INVALID_VALUE;
    return cuLaunchKernel(kernel, how->blocks[0], how->blocks[1], how->blocks[2], how->threads[0],
                          how->threads[1], how->threads[2], how->shared, how->stream, values,
                          extra);
}
