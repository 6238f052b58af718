/* rank.h: the state of a rank, and what fabrics and loops use of it. */
#ifndef WEIR_RANK_H
#define WEIR_RANK_H

#include <sched.h>

#include "clock.h"
#include "copy.h"
#include "fabric.h"
#include "hist.h"
#include "mem_node.h"
#include "memory.h"
#include "stage.h"
#include "weir.h"

#define WEIR_LINE 64 /* a signal slot: one cache line, so that writers do not disturb each other */

struct weir_group { /* ranks that meet, ascending */
    const int *members;
    int        n;
};

struct weir_meetings { /* of two ranks, in groups of which the lower one is the first */
    uint64_t arrivals; /* of the higher one */
    uint64_t released; /* the last word from the lower one */
};

/* The requests of a case that the fabric has made by itself before it could post them.
 * What that takes while a request is being posted is of neither its post nor its latency. */
struct weir_made {
    struct weir_stage each;
    struct weir_stage listed;     /* lists of blocks of which requests are made */
    struct weir_stage registered; /* what a request moves, anew for it */
    int64_t           aside; /* ticks of making them, and of all else that was to be done for it */
};

struct weir_rank {
    struct weir_config        cfg; /* its lists and texts are copies in kept */
    const struct weir_fabric *fab;
    void                     *fs; /* the fabric's own state */
    const struct weir_memory *memory;
    /* memory: a line per rank for each of [signals][pings][tallies][told], then the
     * areas [exposed][local][probe]: what peers need to find comes first and lies at
     * the same offset in all ranks */
    struct weir_region mem;
    size_t             pings, tallies, told, exposed, local, probe; /* offsets */
    const struct weir_copy *copy; /* the method that suits the case */

    struct weir_clock clk;
    struct weir_err  *err; /* of the call in progress */
    int64_t           deadline, limit; /* when the call must be over, and how long that was */
    uint32_t          turns, turn_mask;
    int               closing; /* a peer that goes away now is no fault */
    uint64_t          barriers; /* of all ranks, passed */
    struct weir_group all;
    struct weir_meetings *meetings; /* with each other rank */
    uint64_t          released; /* the last word with which this rank released a group */
    int64_t           ahead;    /* by how much this rank's clock is ahead of rank 0's; 0 on one host */
    int64_t           bound;    /* by how much that may be wrong */
    uint64_t          met;      /* meetings with the other threads of this rank */
    struct weir_made  made;
    struct weir_hist *hist;
    struct weir_point points[WEIR_POINTS];
    size_t            npoints;
    struct weir_iteration iterations[WEIR_KEEP]; /* of a matrix */
    size_t            niterations;
    struct weir_delivery *delivered; /* of a matrix, by target */
    struct weir_played *played; /* of the last sequence, each step alone first */
    uint64_t            nalone;
    int                 nsteps;
    int64_t            *starts, played_bound;
    double            alloc_s, register_s, connect_s;
    struct weir_binding binding;
    struct weir_thread *thread;
    struct weir_kept   *kept;
    uint64_t            options_known; /* bit i: the fabric asked for the option in line i */
};

/* Copies the lists and texts of the configuration, which are gone when weir_open returns,
 * and makes what is kept of each peer; lists_drop frees all of it. */
int  lists_make(struct weir_rank *r);
void lists_drop(struct weir_rank *r);

/* Of all flows, the most targets and the most sources. */
void lists_most(const struct weir_rank *r, int *targets, int *sources);

/* Fills the error of the call in progress, if it is the first, and returns code. */
int rank_fail(struct weir_rank *r, int code, const char *op, int peer, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void rank_phase(struct weir_rank *r, enum weir_phase phase, uint64_t total);
int  rank_expired(struct weir_rank *r); /* the slow half of rank_tick */

/* Between two looks of who waits: leaves the core to the thread beside it, and the
 * line that it looks at to the processor that is to write it. */
static inline void rank_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Sleeps until the file has something to read, WEIR_NAP_MS at most. */
int rank_sleep(struct weir_rank *r, int fd);
/* Called in every turn of every loop that waits: shows life, and ends the wait on
 * abort or deadline (the clock is read once in 256 turns, of many ranks more often,
 * since a turn looks at all of them, and of many threads, which may share a core).
 * Not 0: give up. */
static inline int rank_tick(struct weir_rank *r)
{
    struct weir_control *ctl = r->cfg.control;
    atomic_store_explicit(&ctl->heartbeat, atomic_load_explicit(&ctl->heartbeat, memory_order_relaxed) + 1, memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&ctl->abort, memory_order_relaxed) != 0, 0))
        return rank_expired(r);
    if (__builtin_expect((++r->turns & r->turn_mask) == 0, 0)) {
        if (r->cfg.cpu < 0)
            sched_yield(); /* cores are shared: do not spin against those who work */
        return rank_expired(r);
    }
    return 0;
}

/* One turn of a wait for what a peer must let complete: progress, and rank_tick. At
 * the deadline the error says for whom and in what it was. */
int rank_turn(struct weir_rank *r, int peer, const char *op);

static inline char *rank_local(struct weir_rank *r) { return r->mem.base + r->local; }
static inline char *rank_exposed(struct weir_rank *r) { return r->mem.base + r->exposed; }

/* Where probes of ceilings may write: no peer uses it while they do. */
static inline char *rank_probe(struct weir_rank *r) { return r->mem.base + r->probe; }

/* The word in this rank's memory into which a peer signals. */
static inline _Atomic uint64_t *rank_slot(struct weir_rank *r, int peer)
{
    return (_Atomic uint64_t *)(r->mem.base + (size_t)peer * WEIR_LINE);
}
static inline _Atomic uint64_t *rank_ping_slot(struct weir_rank *r, int peer)
{
    return (_Atomic uint64_t *)(r->mem.base + r->pings + (size_t)peer * WEIR_LINE);
}

/* The last byte of a message of a ping-pong may be its mark, as in ucx_perftest's
 * ucp_put_lat: one put, and no order between two of them to rely on. Never 0. */
static inline unsigned char rank_mark(uint64_t seq) { return (unsigned char)(seq | 128); }

/* Whether a message has come, by the last of its bytes. Who writes that is a device or a
 * library, of which only ucx_perftest's practice says that the other bytes are there
 * before it; acquire keeps this rank's later reads behind the look (a plain load on x86). */
static inline int rank_marked(const char *last, uint64_t seq)
{
    return atomic_load_explicit((const _Atomic unsigned char *)last, memory_order_acquire) == rank_mark(seq);
}

/* The last word that a peer told this rank, see rank_tell. */
static inline uint64_t rank_tally(struct weir_rank *r, int peer)
{
    return atomic_load_explicit((_Atomic uint64_t *)(r->mem.base + r->tallies + (size_t)peer * WEIR_LINE), memory_order_acquire);
}

/* All ranks, with all their threads, meet on the data path; everything they wrote
 * before is delivered. With lead > 0 all leave at the same instant, that long after
 * the last arrived; it comes back in *start, on this rank's clock. */
int rank_barrier(struct weir_rank *r, int64_t lead, int64_t *start);

/* The same without other threads of the ranks, and without waiting for the instant. */
int rank_meet_peers(struct weir_rank *r, int64_t lead, int64_t *at);

/* The same of some ranks only, this one among them. Ranks with several threads have
 * no groups. */
int rank_meet_group(struct weir_rank *r, const struct weir_group *g, int64_t lead, int64_t *at);

/* Finds by how much this rank's clock is ahead of rank 0's, if it is another one; again:
 * as well, for the time since it was found last. All ranks do it at a time. */
int rank_compare_clocks(struct weir_rank *r, int again);

/* Waits for an instant of this rank's clock; far from it the thread sleeps. */
int rank_wait_until(struct weir_rank *r, int64_t at);

/* Waits until everything put to the peer is in its memory. */
int rank_flush(struct weir_rank *r, int peer);

/* Puts a word into a line that the peer keeps for this rank; it is there on return. */
int rank_tell(struct weir_rank *r, int peer, uint64_t word);

/* One case, on the rank's thread. */
int rank_case(struct weir_rank *r, const struct weir_case *c, struct weir_result *out);

/* One sequence of matrices, on the rank's thread. */
int  rank_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_playing *out);
void rank_forget_play(struct weir_rank *r);

#endif
