/* ep.h: dispatch and combine of a mixture-of-experts layer, between host memories. A dispatch sends
 * each token's row to the ranks of the experts that it selects; a combine returns a row of each
 * expert, and the token's owner adds them up. Go computes routes, sizes and offsets
 * (ep_describe.go). Rows have the formats of ep_rows.h. A dispatch message is a header of 16 bytes
 * (the token's number, then zeros), the row and its scales; with EP_RANK, top_k pairs of expert
 * (int32) and weight (float32) follow. */
#ifndef WEIR_EP_H
#define WEIR_EP_H

#include "ep_rows.h"
#include "weir.h"

#define EP_HEADER 16
#define EP_MASKED (-1) /* expert of a masked selection */

enum weir_ep_layout { EP_MESSAGE, EP_RANK, EP_PACKED };

/* How kernels are launched: one by one; dependent, each before its predecessor has ended; or all
 * timed ones by a graph. A graph may have dependent launches: EP_GRAPH | EP_DEPENDENT. */
enum weir_ep_launch { EP_EACH = 0, EP_DEPENDENT = 1, EP_GRAPH = 2 };

/* The two operations; each has two halves of a rank's sink. */
enum weir_ep_operation { EP_DISPATCH, EP_COMBINE, EP_OPERATIONS };

struct weir_ep_put { /* from this rank's source to a peer's sink, or its own */
    int peer;
    uint32_t ready; /* number of steps that must be done first */
    uint64_t bytes, local, remote;
};

struct weir_ep_copy { /* of a token's message in the source; sorted by token */
    uint32_t token;
    uint64_t at;
};

struct weir_ep_place { /* of a token's message or row */
    int rank;          /* the token's owner */
    uint32_t token, k; /* k: selection; for a message of EP_RANK the first one */
    uint64_t at;       /* in the source, or in an operation's half of the sink */
};

struct weir_ep_term {
    uint64_t at;
    float weight;
};

struct weir_ep_sum { /* sum of terms, in their order */
    uint64_t to;
    uint32_t first, n;
};

struct weir_ep_sums {
    const struct weir_ep_sum *list;
    uint32_t n;
    const struct weir_ep_term *terms;
};

struct weir_ep_part { /* one operation on this rank */
    const struct weir_ep_put *puts;
    uint32_t nputs, steps;
    /* offset of its first half in the sink, and the size of a half; equal on all ranks */
    uint64_t sink, half;
};

struct weir_ep {
    /* index, iterations, warmup, timeout, verify, corrupt, flows, and the parameters of ceiling
     * probes */
    struct weir_case of;
    int operations; /* bit mask */
    /* threads of this rank and their processors; NULL: not pinned */
    int threads;
    const int *cpus;
    int layout, fp8, scales, before, aligned;
    int launch, flushed;         /* kernels; flushed: caches are flushed before each operation */
    int posted;                  /* kernels make messages and sums, and the host posts the puts */
    int channels, top_k, tokens; /* tokens: of this rank */
    /* bytes of a dispatched row without scales, and of a whole message */
    uint64_t row, message;
    uint64_t received;             /* bytes checked per iteration */
    const int32_t *const *experts; /* by rank */
    const float *const *weights;
    /* Messages per expert of a rank: by peer for those this rank sends, then by source for those it
     * receives. Counts are sent with the messages, from offsets in this rank's source (by peer) to
     * offsets in dispatch's half of the sink (by source). */
    const uint32_t *counts;
    const uint64_t *counts_from, *counts_at;
    int per_rank;
    /* kernels: bytes of a message and of a source's counts, offset of the signals in each sink
     * (weir_ep_signal_bytes), and the maximum of tokens of a rank */
    uint64_t message_stride, count_stride, signals;
    int most_tokens;
    /* groups that change: by rank its index among the members, which is its rank in kernels and
     * numbers the group's experts; members: their number. NULL: all ranks. */
    const int *places;
    int members;
    struct weir_ep_part parts[EP_OPERATIONS];
    const struct weir_ep_copy *copies;
    const struct weir_ep_place *messages; /* received */
    /* rows made by this rank's experts, and rows received for its tokens */
    const struct weir_ep_place *made, *incoming;
    uint32_t ncopies, nmessages, nmade, nincoming;
    /* EP_RANK: the partial sums that are sent; and the sum of each token */
    struct weir_ep_sums partial, total;
};

struct weir_ep_times { /* of an operation; CLOCK_MONOTONIC, and durations in ns */
    int64_t start, end;
    int64_t work, send, wait, reduce; /* work: quantising, or partial sums */
};

struct weir_ep_wait { /* from the start of an operation until all data of a peer had arrived, ns */
    double sum;
    int64_t max;
};

/* posted: times of all timed iterations, ns: the host's for posting puts, the kernels' by their
 * GPU's clock, and between a launch and the host's knowledge of the end less the kernel itself. */
struct weir_ep_spent {
    double post, kernel, launch;
};

struct weir_ep_result {
    struct weir_result all;
    const struct weir_ep_times *times; /* by iteration, then by operation */
    const struct weir_ep_wait *waits;  /* by operation, then by source */
    /* kernels: duration of the timed iterations in ns, between two events of the GPU's stream and
     * by the host's clock; 0: no kernels */
    double loop_events, loop_wall;
    struct weir_ep_spent spent;
};

/* Returns the bytes at the end of a sink with which kernels signal each other; tokens: the maximum
 * of a rank. */
uint64_t weir_ep_signal_bytes(int ranks, int experts, int tokens);

/* ---- groups that change: see weir_abandon ---- */

/* Makes the rows of a new group and the expected results of each step; e must stay valid until the
 * next call. of.iterations is the maximum of steps per call; of.index distinguishes the contents of
 * groups. */
int weir_ep_prepare(struct weir_rank *r, struct weir_ep *e, struct weir_err *err);

struct weir_ep_steps {
    uint64_t n;
    /* step and operation in which this rank fails; EP_OPERATIONS: before the step. end_at n:
     * never */
    uint64_t end_at;
    int end_in;
    int killed;               /* by SIGKILL; 0: falls silent, and the call returns */
    int64_t silence;          /* time limit for a peer's silence in an operation, ns */
    int64_t timeout, corrupt; /* corrupt: as in weir_case, in the last step */
};

/* owned by the rank, valid until the next call; also set if the call fails */
struct weir_ep_steps_result {
    uint64_t done;                     /* steps */
    const struct weir_ep_times *times; /* by step, then by operation */
    const char *missing;               /* by rank: nothing arrived from it; set if the call fails */
    int silenced;
    /* if the call fails: time until kernels ended after they were told to stop, in ns; 0: no
     * kernels */
    int64_t stopped;
    uint64_t wrong;        /* tokens with wrong bytes */
    struct weir_err first; /* error of the first of them */
};

/* Runs steps back to back; each is a dispatch and a combine, with every byte checked. */
int weir_ep_steps(struct weir_rank *r, const struct weir_ep_steps *s,
                  struct weir_ep_steps_result *out, struct weir_err *err);

/* Runs a case of dispatches and combines; collective over all ranks. */
int weir_run_ep(struct weir_rank *r, const struct weir_ep *e, struct weir_ep_result *out,
                struct weir_err *err);

#endif
