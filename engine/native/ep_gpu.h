/* ep_gpu.h: dispatch and combine by kernels, between sinks in the memory of GPUs that map each
 * other's. Rows are made and checked on the host, in copies of the source and the sink. */
#ifndef WEIR_EP_GPU_H
#define WEIR_EP_GPU_H

#include "cuda.h"
#include "ep_run.h"

typedef uint64_t u64;
typedef uint32_t u32;
#include "ep_args.h"

struct ep_gpu {
    struct ep_args args;
    struct ep_gpu_tables *tables; /* until they are copied */
    unsigned   blocks, threads, shared;
    cu_stream  stream;
    cu_event   begun, ended;  /* around the timed iterations */
    cu_event   passed[2];     /* of the stream, some iterations apart */
    cu_address memory;        /* all arrays of args but the source and the sinks */
    size_t     in, bytes;     /* of it, what is copied there; and all */
    u64       *words;         /* of the host, that the GPU knows too */
    cu_address words_there;
    uint64_t   number, queued; /* operations so far, iterations since the stream was empty */
    int64_t    first;          /* when the first timed iteration was started */
    int64_t    ahead, bound;   /* of the GPU's clock to the host's; how wrong that may be */
    double     step;           /* of the GPU's clock, ns */
    double     loop_events, loop_wall; /* of all timed iterations, ns */
};

/* Words of the host: what the clock's kernel uses, and what ends every wait. */
enum ep_word {
    EP_WORD_ASKED,
    EP_WORD_ANSWERED,
    EP_WORD_TIME,
    EP_WORD_STEP,
    EP_WORD_ABORT,
    EP_WORDS
};

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
/* Puts an iteration behind those before it; ep_gpu_finish waits for all. */
int ep_gpu_iterate(struct ep_run *u, uint64_t iteration);
int ep_gpu_finish(struct ep_run *u);

/* ---- ep_gpu_times.c ---- */

/* Compares the GPU's clock with the host's. */
int ep_gpu_clocks(struct ep_run *u, int again);
/* What the timed iterations took, into u->times and u->waits. */
int ep_gpu_times(struct ep_run *u);

/* How long a kernel may wait, in ns. */
u64 ep_gpu_patience(const struct ep_run *u);
int ep_gpu_launch(struct ep_run *u, enum cuda_kernel kernel, unsigned blocks, unsigned threads,
                  void **values);
/* Waits for an event of the stream. */
int ep_gpu_await(struct ep_run *u, cu_event event);

#endif
