/* rank.h: the state of a rank, and the functions that fabrics and loops use. */
#ifndef WEIR_RANK_H
#define WEIR_RANK_H

#include <sched.h>

#include "sys_clock.h"
#include "fabric.h"
#include "mem_node.h"
#include "memory.h"
#include "hist_stage.h"

struct ep_run;
struct matrix_state;
struct sequence_state;
struct weir_copy;
struct weir_hist;
struct weir_allocation;
struct weir_thread;

#define CLOSES_ALONE 2
/* Bytes of a signal slot: a cache line, so that writers do not share one. */
#define WEIR_LINE 64

/* How ping-pong messages are sent and detected: by the fabric's functions, or by a word of the
 * control region if the fabric polls payload that the CPU cannot load. */
struct weir_ping {
    int (*send)(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq);
    int (*arrived)(struct weir_rank *r, int peer, size_t n, uint64_t seq);
};

/* Bounds of the waits of a call. */
struct weir_wait {
    uint32_t polls, poll_mask; /* the clock is read when polls & poll_mask is 0 */
    int64_t deadline;          /* ns of CLOCK_MONOTONIC; 0: none */
    int64_t limit;             /* ns: duration limit of the call, for messages */
};

/* Offsets of arrays in the control region, with a line for each rank, the same in all ranks. The
 * slots are at 0. */
struct weir_control_arrays {
    size_t pings, counters, outbox;
};

struct weir_group { /* a subset of ranks with barriers of its own, ascending */
    const int *members;
    int n;
};

struct weir_pair_barrier { /* with one peer, over all groups led by the lower rank */
    uint64_t arrivals;     /* sent by the higher rank */
    uint64_t released;     /* last word from the lower rank */
};

struct weir_barrier_state {
    struct weir_group all;           /* the connected ranks, including this one */
    char *absent;                    /* by rank; 1: not in the current group */
    struct weir_pair_barrier *pairs; /* by rank */
    uint64_t released;               /* last word with which this rank released a group */
    uint64_t passed;                 /* barriers of all ranks passed */
    uint64_t team_passed;            /* barriers with the other threads of this rank */
};

struct weir_offset { /* to the clock of rank 0, ns; 0 on one host */
    int64_t ahead;
    int64_t bound; /* error of ahead */
};

/* Time spent by the fabric to prepare requests before it can post them; it counts as preparation,
 * not as posting or latency. */
struct weir_prep {
    struct weir_stage each;
    struct weir_stage listed;     /* building descriptor lists */
    struct weir_stage registered; /* registering memory per request */
    int64_t prep_time;            /* ticks spent on all of these */
};

struct weir_recorder { /* measurements of the timed loop */
    struct weir_hist *hist;
    struct weir_prep prep;
    size_t npoints;
    struct weir_point points[WEIR_MAX_POINTS];
};

/* Groups that change while their ranks live, see weir_abandon. */
struct weir_elastic {
    _Atomic int interrupted; /* 1: waits fail with -ECONNABORTED; set by another thread */
    int64_t peer_timeout;    /* ns to wait for a word of a peer; 0: until the deadline */
};

/* Returns zeroed memory for free(), or NULL. It starts a page, as buffers do: a load stalls on an
 * earlier store to the same offset of another page (4K aliasing), and every request loads the first
 * line of these structures just after a block was copied. Any other offset costs 5 % of a 4 KiB
 * copy. */
void *weir_alloc_page_aligned(size_t bytes);

struct weir_rank {
    /* first cache line: read by each request */
    const struct weir_fabric *fab;
    void *fs;                     /* private to the fabric */
    const struct weir_copy *copy; /* copy method for the case */
    struct weir_ping ping;
    struct weir_wait wait;

    struct weir_config cfg;
    /* Registered with the fabric one by one. Control is host memory; the others have the configured
     * kind of memory and contain no control words. */
    struct weir_region regions[REGIONS];
    struct weir_control_arrays control;
    uint64_t *sinks; /* by peer: bytes of its sink open to peers */
    struct weir_clock clk;
    struct weir_offset offset;
    struct weir_err *err; /* of the call in progress */
    /* 1: peers may leave without error; CLOSES_ALONE: nor does any wait for an acknowledgement */
    int closing;
    struct weir_barrier_state barrier;
    struct weir_recorder rec;
    struct weir_lifecycle life;
    struct weir_binding binding; /* NUMA binding of memory */
    struct weir_thread *thread;
    struct weir_allocation *allocations; /* rank_lists.c */
    uint64_t options_known;              /* bit i: the fabric asked for the option in line i */
    struct weir_elastic elastic;
    struct matrix_state *matrix;     /* of the last matrix; NULL: none yet */
    struct sequence_state *sequence; /* of the last sequence; NULL: none yet */
    struct ep_run *ep;               /* of the last dispatch or combine; NULL: none yet */
};

/* All functions below that return int return 0 or a negative code with r->err filled, unless their
 * comment says otherwise. Times are ns of CLOCK_MONOTONIC, sizes and offsets bytes. */

/* Copies the lists and strings of the configuration and allocates the per-peer state; lists_drop
 * frees both. */
int lists_make(struct weir_rank *r);
void lists_drop(struct weir_rank *r);

/* Returns whether rank p is a connected peer of this one. */
static inline int rank_is_peer(const struct weir_rank *r, int p)
{
    return p != r->cfg.rank && !r->barrier.absent[p];
}

/* Fills the error of the call in progress unless it has one, and returns code, which is negative.
 * peer -1: no particular peer. */
int rank_fail(struct weir_rank *r, int code, const char *op, int peer, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Reports the start of a phase to the agent. total: iterations of the phase; 0: none. */
void rank_phase(struct weir_rank *r, enum weir_phase phase, uint64_t total);
/* The slow path of rank_tick: checks the deadline and for orders to stop. */
int rank_expired(struct weir_rank *r);

/* CPU pause between polls: yields to the sibling hyperthread and leaves the polled cache line to
 * its writer. */
static inline void rank_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* yield does nothing on cores without a sibling */
#endif
}

/* Blocks until the file is readable, at most WEIR_BLOCK_MS. */
int rank_sleep(struct weir_rank *r, int fd);
/* Called in each iteration of each waiting loop: advances the heartbeat, and fails after the
 * deadline (-ETIMEDOUT) or when the rank is to stop (-ECANCELED, -ECONNABORTED). Reads the clock
 * once in 256 calls; more often with many ranks, as each iteration polls all, and with many
 * threads, which may share a core. */
static inline int rank_tick(struct weir_rank *r)
{
    struct weir_control *ctl = r->cfg.control;
    atomic_store_explicit(&ctl->heartbeat,
                          atomic_load_explicit(&ctl->heartbeat, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&ctl->abort, memory_order_relaxed) != 0, 0)) {
        return rank_expired(r);
    }
    if (__builtin_expect((++r->wait.polls & r->wait.poll_mask) == 0, 0)) {
        if (r->cfg.cpu < 0) {
            sched_yield(); /* not pinned: let threads with work run */
        }
        return rank_expired(r);
    }
    return 0;
}

/* Polls the fabric in a wait outside measured loops. */
int rank_poll(struct weir_rank *r);

/* Adds the peer and the operation to a deadline error of rank_tick; returns rc. */
int rank_waited_for(struct weir_rank *r, int rc, int peer, const char *op);
/* Like rank_tick, in a wait for a peer in operation op. */
static inline int rank_tick_for(struct weir_rank *r, int peer, const char *op)
{
    int rc = rank_tick(r);
    return rc < 0 ? rank_waited_for(r, rc, peer, op) : 0;
}
/* One iteration of such a wait outside measured loops: rank_poll, then rank_tick_for. */
int rank_poll_for(struct weir_rank *r, int peer, const char *op);

/* Base addresses of the source (where its offsets count from) and of the sink. */
static inline char *rank_source(struct weir_rank *r)
{
    return r->regions[REGION_SOURCE].base + r->cfg.layout.first;
}
static inline char *rank_sink(struct weir_rank *r) { return r->regions[REGION_SINK].base; }

/* Address in the sink where ceilings are probed; no peer uses it then. */
static inline char *rank_probe(struct weir_rank *r) { return rank_sink(r) + r->cfg.layout.probe; }

/* Offsets in the control region of a rank's slot, ping slot, flag and counter, in the cache lines
 * reserved for it. */
static inline size_t rank_slot_of(int rank) { return (size_t)rank * WEIR_LINE; }
static inline size_t rank_ping_of(const struct weir_rank *r, int rank)
{
    return r->control.pings + (size_t)rank * WEIR_LINE;
}
/* shares the line of the slot, which has the same writer */
static inline size_t rank_flag_of(int rank) { return rank_slot_of(rank) + sizeof(uint64_t); }
static inline size_t rank_counter_of(const struct weir_rank *r, int rank)
{
    return r->control.counters + (size_t)rank * WEIR_LINE;
}

/* Returns the word at an offset of this rank's control region. */
static inline _Atomic uint64_t *rank_word(struct weir_rank *r, size_t place)
{
    return (_Atomic uint64_t *)(r->regions[REGION_CONTROL].base + place);
}
static inline _Atomic uint64_t *rank_slot(struct weir_rank *r, int peer)
{
    return rank_word(r, rank_slot_of(peer));
}
static inline _Atomic uint64_t *rank_ping_slot(struct weir_rank *r, int peer)
{
    return rank_word(r, rank_ping_of(r, peer));
}

/* Returns whether place is the offset of a word in this rank's control region. */
static inline int rank_has_word(const struct weir_rank *r, uint64_t place)
{
    return place < r->regions[REGION_CONTROL].size && place % sizeof(uint64_t) == 0;
}

/* Returns a line of this rank's control region from which a fabric may send a word to the peer. */
static inline char *rank_outbox(struct weir_rank *r, int peer)
{
    return r->regions[REGION_CONTROL].base + r->control.outbox + (size_t)peer * WEIR_LINE;
}

/* Writes a word to the slot that the peer keeps for this rank; not ordered after puts. */
static inline int rank_signal(struct weir_rank *r, int peer, uint64_t value)
{
    return r->fab->signal(r, peer, rank_slot_of(r->cfg.rank), value);
}

/* Returns the mark of message seq, never 0. A ping-pong message may carry it in its last byte, as
 * in ucx_perftest's ucp_put_lat: one put, so no ordering between two puts is needed. */
static inline unsigned char rank_mark(uint64_t seq) { return (unsigned char)(seq | 128); }

/* Returns whether message seq has arrived, by its last byte, which a device or a library writes.
 * That the other bytes arrive before it is ucx_perftest's practice, not a documented guarantee: on
 * Arm the stores of a peer's memcpy may become visible in any order. Contents are checked after a
 * barrier, so it can only shorten a latency, by the time that a core's stores take to drain.
 * Acquire keeps later loads behind this one, which is a plain load on x86. */
static inline int rank_marked(const char *last, uint64_t seq)
{
    return atomic_load_explicit((const _Atomic unsigned char *)last, memory_order_acquire) ==
           rank_mark(seq);
}

/* Returns the last word that the peer sent with rank_notify. */
static inline uint64_t rank_counter(struct weir_rank *r, int peer)
{
    return atomic_load_explicit(rank_word(r, rank_counter_of(r, peer)), memory_order_acquire);
}

/* Barrier of all ranks and all their threads over the data path; everything written before is
 * delivered on return. With lead > 0 all return at the same instant, lead ns after the last
 * arrival; *start is that instant on this rank's clock. */
int rank_barrier(struct weir_rank *r, int64_t lead, int64_t *start);

/* Like rank_barrier, without the other threads of the ranks and without waiting for the instant. */
int rank_barrier_peers(struct weir_rank *r, int64_t lead, int64_t *at);

/* Like rank_barrier_peers, among the ranks of g, which include this one. Not for ranks with several
 * threads. at may be NULL. */
int rank_barrier_group(struct weir_rank *r, const struct weir_group *g, int64_t lead, int64_t *at);

/* Measures r->offset. All ranks call it at the same time. again 1: a second measurement, which
 * bounds the drift since the first. */
int rank_compare_clocks(struct weir_rank *r, int again);

/* Waits until a time of this rank's clock; sleeps until shortly before it. */
int rank_wait_until(struct weir_rank *r, int64_t at);

/* Returns the user and system time in s, and the context switches, of this process so far. */
void rank_usage(double *cpu_s, uint64_t *switches);

/* Waits for a pending part that belongs to no loop: q->pending is 2, and 1 when it is done. */
int rank_await(struct weir_rank *r, const char *op, int peer, struct weir_req *q);

/* Waits until all puts to the peer are in its memory. */
int rank_flush(struct weir_rank *r, int peer);

/* Writes a word to the counter that the peer keeps for this rank; it is delivered on return. */
static inline int rank_notify(struct weir_rank *r, int peer, uint64_t word)
{
    return r->fab->notify(r, peer, rank_counter_of(r, r->cfg.rank), word);
}

/* Sets r->ping; the fabric must be open. */
void rank_choose_pings(struct weir_rank *r);

#endif
