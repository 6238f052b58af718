/* ep_gpu.h: dispatch and combine by kernels, between sinks in the memory of GPUs that map each
 * other's. Rows are made and checked on the host, in copies of the source and the sink. */
#ifndef WEIR_EP_GPU_H
#define WEIR_EP_GPU_H

#include "cuda.h"
#include "ep_run.h"

typedef uint64_t u64;
typedef uint32_t u32;
#include "ep_args.h"

/* By how much a clock was ahead of another one, and how wrong that may be, in ns. */
struct ep_compared {
    u64     at; /* by the clock itself */
    int64_t ahead, bound;
};

struct ep_gpu {
    struct ep_args args;
    struct ep_gpu_tables *tables; /* until they are copied */
    unsigned   blocks, threads, shared; /* blocks: of a combine that sends */
    unsigned   senders, pullers;        /* blocks of a dispatch, and of a combine that pulls */
    u64        pull_each;               /* parts of a row */
    cu_stream  stream;
    cu_event   begun, ended;  /* around the timed iterations */
    cu_event   turned;        /* of a step: behind its dispatch */
    cu_event   passed[2];     /* of the stream, some iterations apart */
    cu_address memory;        /* all arrays of args but the source and the sinks */
    size_t     in, bytes;     /* of it, what is copied there; and all */
    cu_address flush;         /* at its end, so many bytes that nothing else stays in caches */
    cu_graph   graph;         /* of iterations, where one launches them */
    cu_made    made;
    u32        terms;         /* how many there are */
    struct ep_chain *chain;   /* while it is run */
    u64       *words;         /* of the host, that the GPU knows too */
    cu_address words_there;
    uint64_t   number, queued; /* operations so far, iterations since the stream was empty */
    int64_t    first;          /* when the first timed iteration was started */
    int64_t    ahead; /* by how much the first rank's clock is ahead of the host's */
    struct ep_compared compared[2]; /* this rank's clock to that one: before and after */
    double     step;           /* of the GPU's clock, ns */
    double     loop_events, loop_wall; /* of all timed iterations, ns */
};

/* Calls a function of the driver for a rank; its error is the rank's. */
#define CUDA_EP(u, f, ...) cuda_check((u)->r, -1, #f, cuda.f(__VA_ARGS__))

/* Gives n bytes room behind what has been given so far. */
static inline u64 ep_gpu_room(size_t *given, size_t n)
{
    u64 from = *given;
    *given += (n + 255) / 256 * 256;
    return from;
}

/* ---- ep_gpu_tables.c ---- */

/* Works out what kernels are told; places in g->memory are offsets until ep_tables_place. */
int  ep_tables_make(struct ep_run *u);
void ep_tables_place(struct ep_run *u);
void ep_tables_copy(const struct ep_run *u, char *to); /* as much as g->in */
void ep_tables_drop(struct ep_gpu *g);

/* ---- ep_gpu.c ---- */

int  ep_gpu_make(struct ep_run *u);
void ep_gpu_drop(struct ep_run *u);
/* What ep_fill has made goes to the GPU; and what came there comes to be checked. */
int ep_gpu_upload(struct ep_run *u);
int ep_gpu_download(struct ep_run *u);
/* Gives all bytes of a part of the GPU's memory a value, behind what is in the stream. */
int ep_gpu_set(struct ep_run *u, cu_address at, unsigned char byte, size_t n);
/* Copies bytes of the host to the GPU, and of the GPU to the host. */
int ep_gpu_give(struct ep_run *u, cu_address to, const void *from, size_t n);
int ep_gpu_take(struct ep_run *u, void *to, cu_address from, size_t n);

/* ---- ep_gpu_launch.c ---- */

/* Puts an iteration behind those before it; ep_gpu_finish waits for all. */
int ep_gpu_iterate(struct ep_run *u, uint64_t iteration);
int ep_gpu_finish(struct ep_run *u);
/* Before the timed part: a graph of all its iterations, if one is to launch them. */
int ep_gpu_capture(struct ep_run *u);
/* Makes a graph of n iterations, of which each is what put puts into the stream. */
int  ep_gpu_record(struct ep_run *u, uint64_t n, int (*put)(struct ep_run *u, uint64_t i));
void ep_gpu_forget_graph(struct ep_gpu *g);
/* Begins an iteration: what is in the stream before its first operation. */
int ep_gpu_prepare(struct ep_run *u);

/* Puts one operation of an iteration into the stream. */
int ep_gpu_operate(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration);
/* The word of errors, once the stream is empty; and what a kernel waited for when it gave up. */
int  ep_gpu_error(struct ep_run *u, u32 *error);
void ep_gpu_waited(struct ep_run *u, u32 error, char *text, size_t cap);

/* How long a kernel may wait, in ns. */
u64 ep_gpu_patience(const struct ep_run *u);
int ep_gpu_launch(struct ep_run *u, enum cuda_kernel kernel, unsigned blocks, unsigned threads,
                  void **values);
/* Waits for an event of the stream. */
int ep_gpu_await(struct ep_run *u, cu_event event);

/* ---- ep_gpu_chain.c ---- */

/* Behind a verified iteration with contents of PASS_VERIFY: verifies iterations that follow each
 * other as the timed ones do, without the host in between. */
int  ep_gpu_chain(struct ep_run *u);
void ep_gpu_drop_chain(struct ep_gpu *g);

/* ---- ep_gpu_steps.c ---- */

/* A step of a group that changes: its kernels, which are waited for, and what came goes to the
 * copies on the host. */
int ep_gpu_step(struct ep_run *u, uint64_t iteration, struct weir_ep_times *t);

/* ---- ep_gpu_times.c ---- */

/* Compares the clocks of all ranks' GPUs: before the timed part, and again after it. */
int ep_gpu_clocks(struct ep_run *u, int again);
/* How wrong the times of this rank may be, beside those of the first rank. */
int64_t ep_gpu_bound(const struct ep_run *u);
/* What the timed iterations took, into u->times and u->waits. */
int ep_gpu_times(struct ep_run *u);

#endif
