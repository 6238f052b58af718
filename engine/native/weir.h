/* weir.h: the configuration, cases and results of a rank. Go calls the functions at the end;
 * everything else is shared between the C files. Sizes are bytes and times nanoseconds unless a
 * name says otherwise. No vendor header is included here. */
#ifndef WEIR_H
#define WEIR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric_carriers.h"

struct weir_team;   /* rank_team.h */
struct weir_memory; /* memory.h */

#define WEIR_TEXT 512
#define WEIR_MAX_RANKS 1024

/* Filled once, where the cause is known, with the library's error text. */
struct weir_err {
    int code; /* 0: none; negative errno or the library's code */
    int peer; /* -1: no particular peer */
    char op[32];
    uint32_t phase; /* enum weir_phase */
    char text[WEIR_TEXT];
};

/* The page shared with the agent: mirrors engine.Control (checked by alike.go). */
struct weir_control {
    _Atomic uint32_t abort, phase;
    _Atomic uint64_t heartbeat, done, total, rate;
    _Atomic int64_t ending;
};

/* These mirror the constants of package engine, which has their names (checked by alike.go). */
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
enum weir_numa { NUMA_DEFAULT, NUMA_LOCAL, NUMA_NODE }; /* NUMA_NODE + n: node n */

/* A rank has three regions of memory. control: the words with which ranks synchronise. source: its
 * own requests write from it and read into it. sink: peers write to it and read from it. The
 * traffic pattern (which rank initiates to which) is the same for all cases of a launch. Each pair
 * of initiator and target has one buffer in the initiator's source and one in the target's sink:
 * the k-th of a source is for the k-th target, the k-th of a sink for the k-th peer that initiates
 * to it. The case determines buffer sizes; cells of a matrix have individual sizes and offsets. */
struct weir_flow {
    int peer;
    int buffer;     /* index of this rank's buffer in the peer's sink */
    uint64_t bytes; /* of the cell; 0: no cell */
    /* offsets of the cell in this rank's source and in the peer's sink */
    uint64_t local, remote;
};

struct weir_incoming {
    int peer;
    uint64_t bytes, offset; /* of the cell, in this rank's sink */
};

struct weir_link_probe { /* one ceiling probe; links are probed in sequence, both ends at once */
    int peer, initiator;
};

struct weir_own_cell { /* the cell of a matrix that a rank sends to itself */
    uint64_t bytes;    /* 0: none */
    uint64_t from, to; /* offsets in its source and its sink */
};

struct weir_flows { /* of one rank */
    const struct weir_flow *targets;
    const struct weir_incoming *sources;
    struct weir_own_cell own;
    const struct weir_link_probe *probes;
    int ntargets, nsources, nprobes;
};

/* Layout of the two data regions, in bytes; regions.go computes it. */
struct weir_layout {
    uint64_t source, sink; /* sizes */
    uint64_t first;        /* offset in the source that request offsets count from */
    /* offset in the sink where ceilings are probed; 0: all of it, no peer uses it */
    uint64_t probe;
    uint64_t used; /* the first bytes of the sink, which peers use */
};

/* Bare sockets are probed with blocks of up to this size, whatever a case moves: a source has this
 * many bytes after its first offset, and a sink this many to probe in. */
#define WEIR_MIN_AREA ((uint64_t)4 << 20)

struct weir_config { /* strings and lists are copied by weir_open */
    const char *fabric;
    int rank, ranks, cpu; /* cpu -1: not pinned */
    int one_host;         /* all ranks are on this host */
    /* a peer may fail in the middle of an operation, and this rank goes on: see weir_abandon */
    int peers_may_fail;
    const struct weir_memory *source, *sink; /* kinds of memory of these regions */
    struct weir_layout layout;
    /* index of this rank among those of its host: selects the GPU where a rank sees several */
    unsigned gpu;
    uint64_t seed;
    int pages;
    /* NUMA node of all memory: kernel's default, the node of the rank's CPU, or NUMA_NODE + n */
    int numa;
    int sleeps;                     /* waits block instead of polling (option wait: sleep) */
    const struct weir_flows *flows; /* traffic patterns, of which each case selects one */
    int nflows;
    double share; /* an initiator's share of its path if several share the targets */
    struct weir_control *control; /* never NULL */
    /* upper bounds over all cases: requests in flight, blocks per request */
    uint64_t in_flight, batch;
    const char *options;    /* of the fabric, see rank_options.h; NULL: none */
    struct weir_team *team; /* the threads of this rank; NULL: single-threaded */
    int thread;             /* index of this thread in the team */
};

struct weir_case {
    uint32_t index;
    int flows; /* index into weir_config.flows */
    int op, mode, verify;
    int zeros; /* blocks are zeros except for the first word */
    uint64_t block, batch, iterations, warmup, in_flight;
    /* one request in this many is time-stamped; if stamps is set, that number of requests, evenly
     * spread over the iterations: stamp_every is then their distance, rounded down */
    uint32_t stamp_every;
    uint64_t stamps;
    /* matrix: each cell is split into this many fabric requests, if it has as many bytes */
    uint64_t shards;
    uint64_t slots;   /* places in a buffer; requests use them cyclically */
    uint64_t stride;  /* bytes between consecutive places */
    int64_t duration; /* not 0: runs this long instead of iterations */
    int64_t timeout;  /* of the whole case */
    /* self-test: flip the received byte at this offset, counted over all buffers, before the check;
     * -1: off */
    int64_t corrupt;
    int corrupt_timed; /* flip before the check of the timed part, not of an untimed pass */
    /* not 0: 1 + index of the step of the sequence that was already measured and checked */
    int sequence_step;
};

struct weir_point { /* progress of an initiator */
    int64_t time;
    uint64_t bytes;
};

#define WEIR_MAX_STAMPS 4096 /* stamps kept at each end of a run */
#define WEIR_MAX_POINTS 1024 /* progress points kept at most */

struct weir_iteration { /* of a matrix, on one rank; CLOCK_MONOTONIC */
    int64_t start, end;
};

/* of the cell for one peer: from the common start until its delivery was observed */
struct weir_delivery {
    int peer;
    uint64_t n; /* iterations with an observed delivery */
    double sum_ns;
};

struct weir_stage_time { /* one stage of a request; seconds */
    uint64_t n;
    double mean, p99;
};

struct weir_processor_time { /* CPU time of a thread over a span; seconds */
    double wall_s, ran_s;
    double waited_s; /* runnable, but not running */
    int wait_known;  /* the kernel reports waited_s */
};

struct weir_result {
    int initiator, verified;
    uint64_t ops, bytes;
    int64_t start, end;   /* CLOCK_MONOTONIC */
    uint32_t stamp_every; /* one request in this many was time-stamped */
    double clock_ns;      /* cost of one clock read */
    double resolution_ns;
    double bound_ns;   /* error bound of the offset to rank 0's clock */
    double cpu_s;      /* user and system time of the process in the timed part */
    uint64_t switches; /* context switches in the timed part */
    struct weir_processor_time processor; /* of the thread, while it moved or served data */
    struct weir_processor_time probing;   /* of the thread, during ceiling probes */
    double prep_s;                        /* time to prepare one request; 0: none was prepared */
    /* fabric_prep: preparation by the fabric, included in prep_s */
    struct weir_stage_time fabric_prep, post, transfer;
    struct weir_stage_time listed, registered; /* see struct weir_prep */
    /* best: of the spans of the probe; the others are medians */
    double memcpy_bps, ceiling_bps, ceiling_best_bps;
    double alloc_s, register_s, connect_s;
    int node; /* NUMA node that the rank's memory is bound to; -1: not bound */
    uint64_t gpu_slowed, gpu_errors; /* see weir_gpu_health */
    char gpu[16];                    /* PCI address of the GPU that has the memory; "": none */
    /* owned by the rank, valid until the next run */
    const uint64_t *counts;
    size_t ncounts;
    const int64_t *first, *last;
    size_t nfirst, nlast;
    const struct weir_point *points;
    size_t npoints;
    const struct weir_iteration *iterations; /* the first and the last, at most WEIR_MAX_STAMPS */
    size_t niterations;
    /* matrix: by target; targets without iterations are left out */
    const struct weir_delivery *delivered;
    size_t ndelivered;
    char transport[WEIR_TEXT];
    char carriers[WEIR_CARRIERS]; /* over all targets */
};

struct weir_step { /* of a sequence of matrices */
    int flows, op;
    uint64_t shards;
    /* sleeps: between the barrier of its members and their common start, and after their end */
    int64_t before, after;
    int64_t alone_before, alone_after; /* the same where the step runs alone */
    const int *members; /* ranks with a barrier before and after the step, ascending */
    int nmembers;       /* 0: this rank is not a member */
};

struct weir_sequence {
    const struct weir_step *steps;
    int n;
    /* of the whole sequence; warm-up iterations do not sleep */
    uint64_t iterations, warmup;
    /* passes in which steps run one at a time; only warm-up passes do not sleep */
    uint64_t alone, alone_warmup;
    int64_t timeout;
    int verify;
    /* self-test: flip the received byte at this offset, counted over the cells of all steps; -1:
     * off */
    int64_t corrupt;
    /* flip before the check of the sequence, not of a step that runs alone */
    int corrupt_timed;
};

/* of a step, on one rank; CLOCK_MONOTONIC; 0: not a member, or initiates nothing */
struct weir_step_times {
    int64_t at, start, end; /* at: the common start agreed on by the members */
};

struct weir_play_result { /* result of a sequence; owned by the rank, valid until the next one */
    const struct weir_step_times *alone; /* by pass, then by step */
    const struct weir_step_times *steps; /* by iteration, then by step */
    /* by iteration: when all ranks started on the steps */
    const int64_t *starts;
};

struct weir_lifecycle { /* durations of setup and teardown steps, in seconds */
    double open, alloc, clear, registering;
    double imported;       /* last connection: importing the peers' addresses */
    double touch;          /* last connection: until each peer was written to */
    double quiesce, unmap; /* last disconnection: until pending writes arrived; unmapping */
    double unregister, free;
    char gpu[16]; /* PCI address of the GPU with the buffers; "" if none */
};

struct weir_rank;

/* Functions for Go. All return 0, or fill err and return its code. Each rank (each of its threads,
 * if it has several) runs on a thread of its own, created in C with signals blocked. */

/* Opens a rank: starts its thread, opens the fabric, and allocates and registers its memory. */
int weir_open(const struct weir_config *cfg, struct weir_rank **out, struct weir_err *err);
/* Writes the rank's address for peers to buf; *len is its length, at most cap. */
int weir_address(struct weir_rank *r, void *buf, size_t cap, size_t *len, struct weir_err *err);
/* Connects to all peers within timeout ns; blobs and lens have an address for each rank. */
int weir_connect(struct weir_rank *r, const void *blobs, const size_t *lens, int64_t timeout,
                 struct weir_err *err);
/* Runs a case; collective over all ranks. */
int weir_run(struct weir_rank *r, const struct weir_case *c, struct weir_result *out,
             struct weir_err *err);
/* Plays a sequence of matrices; collective over all ranks. */
int weir_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_play_result *out,
              struct weir_err *err);
/* Closes and frees the rank within timeout ns; collective. After an error the process must end. */
int weir_close(struct weir_rank *r, int64_t timeout, struct weir_err *err);

/* Functions measured by workload ep_control. Between two of these calls ranks synchronise
 * elsewhere: no rank calls the next one before all have returned. weir_touch writes a block to each
 * peer, waits for all peers' blocks and checks them; number distinguishes the blocks of successive
 * calls, and corrupt is as in struct weir_case. Nothing is in flight on return. weir_disconnect
 * undoes weir_connect; reconnecting needs a new address. weir_destroy is weir_close for a rank with
 * memory that no peer uses. */
int weir_touch(struct weir_rank *r, uint64_t number, int64_t corrupt, int64_t timeout,
               struct weir_err *err);
int weir_disconnect(struct weir_rank *r, int64_t timeout, struct weir_err *err);
int weir_destroy(struct weir_rank *r, int64_t timeout, struct weir_lifecycle *life,
                 struct weir_err *err);
/* Functions for groups that change while their ranks live. weir_connect connects to the ranks that
 * have an address. weir_abandon is weir_disconnect where peers may be gone: it waits for nothing.
 * With weir_config.peers_may_fail, ucx, libfabric and nixl then recreate their endpoints, so that
 * nothing in flight can still arrive. Call weir_forget_peers once all peers are disconnected,
 * before any reconnects. weir_interrupt ends the wait of another thread's call; weir_abandon resets
 * it. */
int weir_abandon(struct weir_rank *r, int64_t timeout, struct weir_err *err);
int weir_forget_peers(struct weir_rank *r, struct weir_err *err);
void weir_interrupt(struct weir_rank *r);
/* Returns the durations of the steps so far. */
const struct weir_lifecycle *weir_lifecycle_of(const struct weir_rank *r);
/* Returns the transport selected for the first peer, and the list of carriers (fabric_carriers.h)
 * over all peers. */
void weir_describe(struct weir_rank *r, char transport[WEIR_TEXT], char carriers[WEIR_CARRIERS]);
#define WEIR_TOUCH 64 /* bytes of the block that weir_touch writes */

/* Returns whether a completed write is at its target; if not, a flush is needed. */
int weir_confirms_delivery(const struct weir_rank *r);

struct weir_info { /* a fabric on this host */
    int available;
    /* prefix of the file name of the loaded library; NULL: none, or given in details */
    const char *library;
    char version[64];
    char reason[WEIR_TEXT];
    char details[4 * WEIR_TEXT]; /* key=value lines */
    /* paths to other hosts, a list of fabric_carriers.h: CARRIES_DATA where a device accesses
     * remote memory, CARRIES_EMULATED where software does, CARRIES_POSSIBLY where it is unknown */
    char paths[WEIR_CARRIERS];
};
/* Returns the size of the control region of a rank, in bytes. */
uint64_t weir_control_bytes(int ranks);

/* Finds out whether a fabric works on this host; loads its library. */
int weir_probe(const char *fabric, struct weir_info *out);
const char *weir_fabric_name(int i); /* NULL after the last */
/* Returns the version that the loaded library of a fabric reports; NULL: it reports none, or none
 * is loaded. */
const char *weir_library_version(const char *fabric);

/* Returns the compiler, and the versions of the headers that the engine was compiled with. */
const char *weir_built(void);

#endif
