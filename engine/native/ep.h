/* ep.h: dispatch and combine of a mixture-of-experts layer, between host memories. In a
 * dispatch each token's row goes to the ranks of the experts that it selects; in a combine a
 * row of each expert comes back, and the owner adds them up. Routes, sizes and places are
 * worked out in Go (ep_layout.go). Rows have the formats of rows.h.
 *
 * A message of a dispatch is a header of 16 bytes (the token's number, then zeros), the row and
 * its scales; with EP_RANK then top_k pairs of an expert (int32) and its weight (float32). */
#ifndef WEIR_EP_H
#define WEIR_EP_H

#include "rows.h"
#include "weir.h"

#define EP_HEADER 16
#define EP_MASKED (-1) /* the expert of a selection that is not made */

enum weir_ep_layout { EP_MESSAGE, EP_RANK, EP_PACKED };

/* How kernels are launched: each behind the one before, before that one has ended, or all timed
 * ones by a graph. A graph may be of dependent launches: EP_GRAPH | EP_DEPENDENT. */
enum weir_ep_launch { EP_EACH = 0, EP_DEPENDENT = 1, EP_GRAPH = 2 };

/* The two operations: each has two halves of a rank's sink. */
enum weir_ep_operation { EP_DISPATCH, EP_COMBINE, EP_OPERATIONS };

struct weir_ep_put { /* from this rank's source to the peer's sink, or this rank's own */
    int      peer;
    uint32_t ready; /* steps that must be done before */
    uint64_t bytes, local, remote;
};

struct weir_ep_copy { /* of a token's message in the source; sorted by token */
    uint32_t token;
    uint64_t at;
};

struct weir_ep_place { /* of a message or row of a token */
    int      rank; /* the token's */
    uint32_t token, k; /* k: the selection that it is for; of a message of EP_RANK the first */
    uint64_t at;       /* in the source, or in an operation's half of the sink */
};

struct weir_ep_term {
    uint64_t at;
    float    weight;
};

struct weir_ep_sum { /* of terms, in their order */
    uint64_t to;
    uint32_t first, n;
};

struct weir_ep_sums {
    const struct weir_ep_sum  *list;
    uint32_t                   n;
    const struct weir_ep_term *terms;
};

struct weir_ep_part { /* an operation at this rank */
    const struct weir_ep_put *puts;
    uint32_t                  nputs, steps;
    /* where its first half begins in the sink, and how large one is; alike in all ranks */
    uint64_t                  sink, half;
};

struct weir_ep {
    /* index, iterations, warmup, timeout, verify, corrupt, flows, and what ceilings are probed
     * with */
    struct weir_case of;
    int              operations; /* a bit of each */
    /* of this rank; and their processors, NULL: they have none of their own */
    int              threads;
    const int       *cpus;
    int              layout, fp8, scales, before, aligned;
    int              launch, flushed; /* of kernels: flushed: caches, before each operation */
    int              channels, top_k, tokens; /* tokens: of this rank */
    /* bytes of a dispatched row without scales, and of a whole message */
    uint64_t         row, message;
    uint64_t         received;     /* bytes that are checked of an iteration */
    const int32_t *const *experts; /* by rank */
    const float *const   *weights;
    /* How many messages there are for each expert of a rank: by peer from this rank, then by
     * source for this rank's. They travel with the messages, from places in this rank's source
     * (by peer) to places in dispatch's half of the sink (by source). */
    const uint32_t *counts;
    const uint64_t *counts_from, *counts_at;
    int             per_rank;
    /* of kernels: what a message and the counts of a source take, where signals of ranks begin in
     * each sink (weir_ep_signal_bytes), and the most tokens of a rank */
    uint64_t        room, count_room, signals;
    int             most_tokens;
    /* Of a group that changes: by rank its place among the members, which number the experts of the
     * group and are the ranks of kernels; members: how many there are. NULL: all ranks. */
    const int       *places;
    int              members;
    struct weir_ep_part   parts[EP_OPERATIONS];
    const struct weir_ep_copy    *copies;
    const struct weir_ep_place   *messages;    /* that come */
    /* rows that this rank's experts make, and that come to its tokens */
    const struct weir_ep_place   *made, *come;
    uint32_t              ncopies, nmessages, nmade, ncome;
    /* of EP_RANK: what is sent; and what becomes of a token */
    struct weir_ep_sums   partial, total;
};

struct weir_ep_times { /* of an operation; CLOCK_MONOTONIC, and spans of it in ns */
    int64_t start, end;
    int64_t work, send, wait, reduce; /* work: quantising, or partial sums */
};

struct weir_ep_wait { /* from the start of an operation until all that a peer sends had come */
    double  sum;
    int64_t max;
};

struct weir_ep_result {
    struct weir_result           all;
    const struct weir_ep_times  *times; /* by iteration, then by operation */
    const struct weir_ep_wait   *waits; /* by operation, then by source */
    /* of kernels: from the first timed iteration to the end of the last, in ns, between two events
     * of the GPU's stream and by the host's clock; 0: there were none */
    double                       loop_events, loop_wall;
};

/* Bytes at the end of a sink by which kernels signal each other; tokens: the most of a rank. */
uint64_t weir_ep_signal_bytes(int ranks, int experts, int tokens);

/* ---- a group of ranks that changes: see weir_abandon ---- */

/* Makes the rows of a new group, and what must come of them in each step; e stays until the next
 * call. of.iterations are the most steps of a call, of.index tells the contents of groups apart. */
int weir_ep_prepare(struct weir_rank *r, struct weir_ep *e, struct weir_err *err);

struct weir_ep_steps {
    uint64_t n;
    /* in which step this rank ends, and in which operation; EP_OPERATIONS: before the step. end_at
     * n: in none */
    uint64_t end_at;
    int      end_in;
    int      dies;    /* by SIGKILL; or it says nothing any more, and the call returns */
    int64_t  silence; /* how long a peer may say nothing in an operation */
    int64_t  timeout, corrupt; /* corrupt: as in weir_case, of the last step */
};

struct weir_ep_stepped { /* owned by the rank, valid until the next call; of a failed one too */
    uint64_t                    done; /* steps */
    const struct weir_ep_times *times; /* by step, then by operation */
    const char                 *missing; /* by rank: nothing came of it; of a failed call */
    int                         mute;
    /* of a failed call: how long kernels took to end, from the word that ended their waits; 0:
     * there were none */
    int64_t                     stopped;
    uint64_t                    wrong; /* tokens of which not every byte is right */
    struct weir_err             first; /* of those */
};

/* Steps back to back, each a dispatch and a combine of which every byte is checked. */
int weir_ep_steps(struct weir_rank *r, const struct weir_ep_steps *s, struct weir_ep_stepped *out,
                  struct weir_err *err);

int weir_run_ep(struct weir_rank *r, const struct weir_ep *e, struct weir_ep_result *out,
                struct weir_err *err);

#endif
