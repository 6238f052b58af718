/* weir.h: what one rank is made of. Go sees the functions at the end; all else
 * is between the C files. Sizes are bytes and times nanoseconds unless a name
 * says otherwise. No vendor header is included here. */
#ifndef WEIR_H
#define WEIR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "carriers.h"

struct weir_team;   /* team.h */
struct weir_memory; /* memory.h */

#define WEIR_TEXT 512
#define WEIR_MAX_RANKS 1024

/* An error is filled once, where the cause is known, with the library's words. */
struct weir_err {
    int      code; /* 0: none; negative errno or the library's own */
    int      peer; /* -1: none in particular */
    char     op[32];
    uint32_t phase; /* enum weir_phase */
    char     text[WEIR_TEXT];
};

/* The page shared with the agent; alike.go holds it to engine.Control. */
struct weir_control {
    _Atomic uint32_t abort, phase;
    _Atomic uint64_t heartbeat, done, total, rate;
    _Atomic int64_t  ending;
};

/* alike.go holds them to package engine, which has their names. */
enum weir_phase {
    PH_START,
    PH_READY,
    PH_CONNECT,
    PH_VERIFY,
    PH_WARMUP,
    PH_RUN,
    PH_CEILING,
    PH_TEARDOWN
};
enum weir_op { OP_WRITE, OP_READ };
enum weir_mode { MODE_STREAM, MODE_PINGPONG, MODE_MATRIX };
enum weir_verify { VERIFY_NONE, VERIFY_SAMPLE, VERIFY_FULL };
enum weir_pages { PAGES_DEFAULT, PAGES_THP, PAGES_2MIB, PAGES_1GIB };
enum weir_numa { NUMA_DEFAULT, NUMA_LOCAL, NUMA_NODE }; /* from the last on: node 0, 1, … */

/* A rank has three regions of memory: control has the words by which ranks meet, the
 * source what its own requests write from and read to, the sink what peers write to and
 * read from. Who moves to whom is the same for all cases of a launch. Each pair of
 * initiator and target has a buffer in the initiator's source and one in the target's
 * sink: the k-th of a source is for the k-th target, the k-th of a sink for the k-th
 * peer that initiates to it. How large they are follows from the case. The cells of a
 * matrix have sizes of their own, and with them places. */
struct weir_flow {
    int      peer;
    int      buffer;        /* which of those in the peer's sink is this rank's */
    uint64_t bytes;         /* of a cell; 0: this is none */
    /* of a cell: where it lies in this rank's source and in the peer's sink */
    uint64_t local, remote;
};

struct weir_source {
    int      peer;
    uint64_t bytes, offset; /* of a cell, in this rank's sink */
};

struct weir_turn { /* of probing links one after the other: a link's ends take it together */
    int peer, initiator;
};

struct weir_own { /* a cell of a matrix that a rank sends to itself */
    uint64_t bytes;    /* 0: there is none */
    uint64_t from, to; /* in its source and in its sink */
};

struct weir_flows { /* of a rank */
    const struct weir_flow   *targets;
    const struct weir_source *sources;
    struct weir_own           own;
    const struct weir_turn   *turns;
    int                       ntargets, nsources, nturns;
};

/* Of the two regions with data, in bytes: regions.go works it out. */
struct weir_layout {
    uint64_t source, sink; /* how large they are */
    uint64_t first;        /* in the source: where offsets in it are counted from */
    /* in the sink: where ceilings are probed; 0: in all of it, because no peer uses it */
    uint64_t probe;
    uint64_t used; /* of the sink, by peers: its first bytes */
};

/* A bare socket is probed with pieces of up to as many bytes, whatever a case moves: a
 * source has as many behind its first, and a sink to probe in. */
#define WEIR_LEAST ((uint64_t)4 << 20)

struct weir_config { /* texts and lists are copied when the rank is opened */
    const char          *fabric;
    int                  rank, ranks, cpu; /* cpu -1: anywhere */
    int                  one_host;         /* all ranks are on this host */
    /* a peer may end in the middle of an operation, and this rank goes on: see weir_abandon */
    int                  outlives;
    const struct weir_memory *source, *sink; /* the kinds of memory of these regions */
    struct weir_layout   layout;
    /* which of the ranks of its host this one is: of several GPUs that all see, each has the next
     */
    unsigned             gpu;
    uint64_t             seed;
    int                  pages;
    /* the node that memory is made on: the kernel's choice, that of the processor that the rank is
     * on, or NUMA_NODE + its number */
    int                  numa;
    int                  sleeps; /* who waits for something to come sleeps until it does */
    const struct weir_flows *flows; /* whom this rank has to do with, which cases choose from */
    int                  nflows;
    double               share; /* of its path that an initiator has, if it shares its targets */
    struct weir_control *control; /* never NULL */
    /* most requests of a case in flight, and most blocks of a request */
    uint64_t             in_flight, batch;
    const char          *options; /* of the fabric: see options.h; NULL: none is given */
    struct weir_team    *team;    /* of the threads of this rank; NULL: it has one */
    int                  thread;  /* which of them this is */
};

struct weir_case {
    uint32_t index;
    int      flows; /* index into those of the rank */
    int      op, mode, verify;
    int      zeros;    /* blocks of zeros, but for their first word */
    uint64_t block, batch, iterations, warmup, in_flight;
    uint32_t every;    /* one request in so many is stamped */
    /* of a matrix: into so many requests to the fabric each cell is cut, if it has as many bytes */
    uint64_t shards;
    uint64_t slots;    /* places of a buffer that requests go round */
    uint64_t stride;   /* bytes from one of them to the next */
    int64_t  duration; /* not 0: instead of iterations */
    int64_t  timeout; /* of the whole case */
    /* self-test: flip the received byte at this offset, counted over all buffers, before the check;
     * -1: do not */
    int64_t  corrupt;
    int      corrupt_timed; /* before the check of the timed part, not of an untimed pass */
    /* not 0: the step of this number, less 1, of the sequence that was played; it was measured and
     * checked there */
    int      played;
};

struct weir_point { /* progress of an initiator */
    int64_t  time;
    uint64_t bytes;
};

#define WEIR_KEEP 4096   /* first and last stamps kept */
#define WEIR_POINTS 1024 /* progress points kept at most */

struct weir_iteration { /* of a matrix, at one rank; CLOCK_MONOTONIC */
    int64_t start, end;
};

/* of the cell for one peer: from the common start until it was seen to be delivered */
struct weir_delivery {
    int      peer;
    uint64_t n; /* iterations in which that was looked at */
    double   sum_ns;
};

struct weir_part_time { /* a part of the time of a request; seconds */
    uint64_t n;
    double   mean, p99;
};

struct weir_processor_time { /* of a thread in a span of time; seconds */
    double wall_s, ran_s;
    double waited_s; /* runnable, and another one had the processor */
    int    told;     /* the kernel says how long that was */
};

struct weir_result {
    int      initiator, verified;
    uint64_t ops, bytes;
    int64_t  start, end; /* CLOCK_MONOTONIC */
    uint32_t every;      /* one request in so many was stamped */
    double   clock_ns;   /* cost of one clock read */
    double   resolution_ns;
    double   bound_ns;   /* of the difference to the clock of rank 0 */
    double   cpu_s;      /* user and system time of the process in the timed part */
    uint64_t switches;   /* context switches in it */
    struct weir_processor_time processor; /* of the thread, while it had to move or to serve */
    struct weir_processor_time probing;   /* and while the path was probed, before and after */
    double   prep_s;     /* making one request; 0: nothing was made */
    struct weir_part_time made, post, transfer; /* made: by the fabric itself, in prep_s as well */
    struct weir_part_time listed, registered;   /* see struct weir_made */
    /* the best: of the spans of the probe, not their median */
    double   memcpy_bps, ceiling_bps, ceiling_best_bps;
    double   alloc_s, register_s, connect_s;
    int      node; /* that all memory of the rank was bound to and is on; -1: it was not bound */
    uint64_t gpu_slowed, gpu_errors; /* see weir_gpu_health: before or after, and meanwhile */
    char     gpu[16]; /* that its memory is on, by its address on the bus; "": on none */
    /* owned by the rank, valid until the next run */
    const uint64_t          *counts;
    size_t                   ncounts;
    const int64_t           *first, *last;
    size_t                   nfirst, nlast;
    const struct weir_point *points;
    size_t                   npoints;
    const struct weir_iteration *iterations; /* the first and the last, WEIR_KEEP at most */
    size_t                   niterations;
    /* of a matrix, by target; those without iterations are none */
    const struct weir_delivery *delivered;
    size_t                   ndelivered;
    char                     transport[WEIR_TEXT];
    char                     carriers[WEIR_CARRIERS]; /* of all targets */
};

struct weir_step { /* of a sequence of matrices */
    int        flows, op;
    uint64_t   shards;
    /* sleeps: from the meeting of its members to their common start, and from their end on */
    int64_t    before, after;
    int64_t    alone_before, alone_after; /* the same where it is moved alone */
    const int *members;       /* ranks that meet before and after it, ascending */
    int        nmembers;      /* 0: this rank is none of them */
};

struct weir_sequence {
    const struct weir_step *steps;
    int                     n;
    /* of the whole sequence; a warm-up does not sleep */
    uint64_t                iterations, warmup;
    /* walks through it that move one step at a time; with the sleeps, but for a warm-up */
    uint64_t                alone, alone_warmup;
    int64_t                 timeout;
    int                     verify;
    /* self-test: flip the received byte at this offset, counted over the cells of all steps; -1: do
     * not */
    int64_t                 corrupt;
    /* before the check of the sequence, not of a step alone */
    int                     corrupt_timed;
};

/* of a step, at one rank; CLOCK_MONOTONIC; 0: this rank is not a member, or begins nothing */
struct weir_played {
    int64_t at, start, end; /* at: the common start that its members agreed on */
};

struct weir_playing { /* what came of a sequence; owned by the rank, valid until the next */
    const struct weir_played *alone;  /* by walk, then by step */
    const struct weir_played *steps;  /* by iteration, then by step */
    /* of iterations: the instant from which all ranks went through the steps */
    const int64_t            *starts;
};

struct weir_life { /* how long steps of a rank's life took, in seconds */
    double open, alloc, clear, registering;
    double imported;       /* of the last connection: of what peers say of themselves */
    double touch;          /* and until each had written to each */
    double quiesce, unmap; /* of the last disconnection: until what was written has come */
    double unregister, free;
    char   gpu[16];        /* whose memory the buffers are in, by its PCI address; "" if none's */
};

struct weir_rank;

/* Functions for Go. All return 0 or fill err and return its code. A rank (each of
 * its threads, if it has several) has a thread of its own, made in C with signals
 * blocked, and everything runs on it. */
int  weir_open(const struct weir_config *cfg, struct weir_rank **out, struct weir_err *err);
int  weir_address(struct weir_rank *r, void *buf, size_t cap, size_t *len, struct weir_err *err);
int weir_connect(struct weir_rank *r, const void *blobs, const size_t *lens, int64_t timeout,
                 struct weir_err *err);
int weir_run(struct weir_rank *r, const struct weir_case *c, struct weir_result *out,
             struct weir_err *err);
int weir_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_playing *out,
              struct weir_err *err);
int  weir_close(struct weir_rank *r, int64_t timeout, struct weir_err *err);

/* What workload ep_control measures. Between them ranks meet elsewhere: nobody calls one
 * before all are through with the one before.
 * weir_touch writes a block to each peer, meets them, and checks what came; number tells the
 * blocks of calls apart, and corrupt is as in struct weir_case. Nothing is under way afterwards.
 * weir_disconnect undoes weir_connect; a new address is needed to connect again.
 * weir_destroy is weir_close of a rank whose memory no peer uses. */
int weir_touch(struct weir_rank *r, uint64_t number, int64_t corrupt, int64_t timeout,
               struct weir_err *err);
int weir_disconnect(struct weir_rank *r, int64_t timeout, struct weir_err *err);
int weir_destroy(struct weir_rank *r, int64_t timeout, struct weir_life *life,
                 struct weir_err *err);
/* Of a group that changes while its ranks live. weir_connect connects to those that have an
 * address. weir_abandon is weir_disconnect of a rank whose peers may be gone: nothing is waited
 * for. With weir_config.outlives ucx, libfabric and nixl make their end of connections anew then,
 * so that nothing comes any more of what was under way. weir_forget_peers is called once all peers
 * are disconnected, and before any connects again.
 * weir_break_off ends what another thread's call waits for; weir_abandon takes that back. */
int  weir_abandon(struct weir_rank *r, int64_t timeout, struct weir_err *err);
int  weir_forget_peers(struct weir_rank *r, struct weir_err *err);
void weir_break_off(struct weir_rank *r);
const struct weir_life *weir_life_of(const struct weir_rank *r);
/* What the fabric has chosen for the first peer, and a list of carriers.h for all. */
void weir_describe(struct weir_rank *r, char transport[WEIR_TEXT], char carriers[WEIR_CARRIERS]);
#define WEIR_TOUCH 64 /* bytes of such a block */

/* Whether a write that is complete is at its target; if not, only a flush tells. */
int weir_confirms_delivery(const struct weir_rank *r);

struct weir_info { /* of a fabric on this host */
    int  available;
    /* how the name of the file begins that was loaded; NULL: none, or details have it */
    const char *library;
    char version[64];
    char reason[WEIR_TEXT];
    char details[4 * WEIR_TEXT]; /* key=value lines */
    /* to other hosts, a list of carriers.h: CARRIES_DATA where a device reads and writes remote
     * memory, CARRIES_EMULATED where software does, CARRIES_POSSIBLY: not told */
    char paths[WEIR_CARRIERS];
};
/* Bytes of the control region of one of so many ranks. */
uint64_t weir_control_bytes(int ranks);

int         weir_probe(const char *fabric, struct weir_info *out);
const char *weir_fabric_name(int i); /* NULL past the last */

#endif
