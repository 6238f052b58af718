/* ep_gpu.h: dispatch and combine by kernels, between sinks in the memory of GPUs that map each
 * other's. Rows are made and checked on the host, in copies of the source and the sink. */
#ifndef WEIR_EP_GPU_H
#define WEIR_EP_GPU_H

#include "gpu_cuda.h"
#include "ep_run.h"

typedef uint64_t u64;
typedef uint32_t u32;
#include "kernels_ep_args.h"

/* Offset of one clock to another and its error bound, in ns. */
struct ep_clock_offset {
    u64 at; /* by the clock itself */
    int64_t ahead, bound;
};

#define EP_POSTED_KERNELS 3 /* of an iteration that are timed */

struct ep_gpu {
    struct ep_args args;
    struct ep_posted *posted;         /* NULL: kernels send */
    struct ep_gpu_tables *tables;     /* until they are copied */
    unsigned blocks, threads, shared; /* blocks: of a combine that sends */
    unsigned senders, pullers;        /* blocks of a dispatch, and of a combine that pulls */
    u64 pull_each;                    /* parts of a row */
    cu_stream stream;
    cu_event begun, ended; /* around the timed iterations */
    cu_event turned;       /* of a step: after its dispatch */
    cu_event passed[2];    /* in the stream, some iterations apart */
    cu_address memory;     /* all arrays of args except the source and the sinks */
    size_t in, bytes;      /* bytes of memory that are copied in; all bytes */
    /* at the end of memory: large enough to evict everything else from the caches */
    cu_address flush;
    cu_graph graph; /* of the iterations, if launched by a graph */
    cu_made made;
    u32 terms;              /* their number */
    struct ep_chain *chain; /* while it runs */
    u64 *words;             /* host memory mapped for the GPU */
    cu_address words_dev;
    uint64_t number, queued; /* operations so far, iterations since the stream was last empty */
    int64_t first;           /* when the first timed iteration started */
    int64_t ahead;           /* offset of the first rank's clock to the host's */
    struct ep_clock_offset
        compared[2];               /* this rank's clock to the first rank's: before and after */
    double step;                   /* resolution of the GPU's clock, ns */
    double loop_events, loop_wall; /* of all timed iterations, ns */
};

/* Calls a driver function; an error becomes the rank's. */
#define CUDA_EP(u, f, ...) cuda_check((u)->r, -1, #f, cuda.f(__VA_ARGS__))

/* Reserves n bytes after those already reserved; returns their offset. */
static inline u64 ep_gpu_reserve(size_t *given, size_t n)
{
    u64 from = *given;
    *given += (n + 255) / 256 * 256;
    return from;
}

/* Returns how many stamps the timed iterations need. */
static inline size_t ep_gpu_stamps(const struct weir_ep *e)
{
    return e->of.iterations * (e->posted ? EP_POSTED_KERNELS : EP_OPERATIONS);
}

/* ---- ep_gpu_tables.c ---- */

/* Builds the tables of the kernels; addresses in g->memory are offsets until ep_tables_place. */
int ep_tables_make(struct ep_run *u);
/* Adds the address of g->memory to the offsets in the tables. */
void ep_tables_place(struct ep_run *u);
void ep_tables_copy(const struct ep_run *u, char *to); /* g->in bytes */
void ep_tables_drop(struct ep_gpu *g);

/* ---- ep_gpu.c ---- */

/* Allocates what kernels need for a case. */
int ep_gpu_make(struct ep_run *u);
/* Frees it. */
void ep_gpu_drop(struct ep_run *u);
/* Copy the result of ep_fill to the GPU, and received data back for checking. */
int ep_gpu_upload(struct ep_run *u);
int ep_gpu_download(struct ep_run *u);
/* Fills a part of the GPU's memory with a byte value, in stream order. */
int ep_gpu_set(struct ep_run *u, cu_address at, unsigned char byte, size_t n);
/* Copy bytes from the host to the GPU, and back. */
int ep_gpu_copy_in(struct ep_run *u, cu_address to, const void *from, size_t n);
int ep_gpu_copy_out(struct ep_run *u, void *to, cu_address from, size_t n);

/* ---- ep_gpu_launch.c ---- */

/* Enqueues an iteration; ep_gpu_finish waits for all. */
int ep_gpu_iterate(struct ep_run *u, uint64_t iteration);
int ep_gpu_finish(struct ep_run *u);
/* Before the timed part: captures a graph of all its iterations, if they are launched by one. */
int ep_gpu_capture(struct ep_run *u);
/* Captures a graph of n iterations; put enqueues one of them. */
int ep_gpu_record(struct ep_run *u, uint64_t n, int (*put)(struct ep_run *u, uint64_t i));
/* Destroys the graph, if there is one. */
void ep_gpu_drop_graph(struct ep_gpu *g);
/* Enqueues the start of an iteration: what precedes its first operation. */
int ep_gpu_prepare(struct ep_run *u);

/* Enqueues one operation of an iteration. */
int ep_gpu_operate(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration);
/* Reads the error word once the stream is empty, and formats what a kernel waited for when it gave
 * up. */
int ep_gpu_error(struct ep_run *u, u32 *error);
void ep_gpu_waited(struct ep_run *u, u32 error, char *text, size_t cap);

/* Returns the time limit of a kernel's waits, in ns. */
u64 ep_gpu_wait_limit(const struct ep_run *u);
/* Launches a kernel in the stream; values are its arguments. */
int ep_gpu_launch(struct ep_run *u, enum cuda_kernel kernel, unsigned blocks, unsigned threads,
                  void **values);
/* Waits for an event of the stream. */
int ep_gpu_await(struct ep_run *u, cu_event event);

/* ---- ep_gpu_chain.c ---- */

/* After a verified iteration with contents of PASS_VERIFY: verifies iterations that run back to
 * back as the timed ones do, without host synchronisation. */
int ep_gpu_chain(struct ep_run *u);
/* Frees what ep_gpu_chain allocated. */
void ep_gpu_drop_chain(struct ep_gpu *g);

/* ---- ep_gpu_steps.c ---- */

/* Runs a step of a group that changes: waits for its kernels and copies received data to the
 * host. */
int ep_gpu_step(struct ep_run *u, uint64_t iteration, struct weir_ep_times *t);

/* Copies what a step received to the host, and poisons it on the GPU. */
int ep_gpu_take(struct ep_run *u, uint64_t iteration);

/* ---- ep_posted.c: of cases whose puts the host posts ---- */

/* Allocates what the kernels need beside ep_gpu_make; frees it. */
int ep_posted_make(struct ep_run *u);
void ep_posted_drop(struct ep_gpu *g);
/* Makes what an operation sends, and waits for it: messages of tokens, or partial sums. */
int ep_posted_work(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration);
/* Ends an operation when all data has arrived: adds up the rows of a combine. */
int ep_posted_end(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration);
/* Flushes the caches before an iteration, if the case says so. */
int ep_posted_flush(struct ep_run *u, uint64_t iteration);
/* Adds the times of the timed iterations' kernels to u->spent. */
int ep_posted_times(struct ep_run *u);

/* ---- ep_gpu_times.c ---- */

/* Measures the clock offsets of all ranks' GPUs: before the timed part, and again after it. */
int ep_gpu_clocks(struct ep_run *u, int again);
/* Returns the error bound of this rank's times relative to the first rank's. */
int64_t ep_gpu_bound(const struct ep_run *u);
/* Converts the stamps of the timed iterations into u->times and u->waits. */
int ep_gpu_times(struct ep_run *u);

#endif
