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

#define CLOSES_ALONE 2
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

/* Each request reads the first line of a rank and of shm's state. Both begin a page, as
 * buffers do. A load waits for an earlier store to another page at the same offset, which is
 * the oldest store of a block that was just copied then. Elsewhere it takes a twentieth of a
 * copy of 4 KiB. Zeros, for free; NULL: no memory. */
void *weir_alloc_at_page(size_t bytes);

struct weir_rank {
    const struct weir_fabric *fab;
    void                     *fs;   /* the fabric's own state */
    const struct weir_copy   *copy; /* the method that suits the case */
    /* of the fabric, or by a word where that looks at data which this processor cannot see */
    int (*ping)(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq);
    int (*arrived)(struct weir_rank *r, int peer, size_t n, uint64_t seq);
    uint32_t turns, turn_mask;

    struct weir_config cfg;
    /* Each is registered with the fabric by itself. Control is host memory, with a line per
     * rank for each of [slots][pings][tallies][told] at the same offsets in all ranks; the
     * others have the kinds of memory that the launch asks for, and no word of control */
    struct weir_region regions[REGIONS];
    size_t             pings, tallies, told; /* offsets */
    /* the last word of an operation of ep, to all peers; it only grows */
    uint64_t           flags_sent;
    uint64_t          *sinks; /* by peer: bytes of its sink that peers may use */

    struct weir_clock clk;
    struct weir_err  *err; /* of the call in progress */
    int64_t           deadline, limit; /* when the call must be over, and how long that was */
    int64_t           patience; /* ns that a peer may take for a word; 0: as long as the call */
    /* a peer that goes away now is no fault; CLOSES_ALONE: and no peer waits for an
     * acknowledgement */
    int               closing;
    uint64_t          barriers; /* of all ranks, passed */
    struct weir_group all; /* who is connected, this rank among them */
    char             *absent; /* by rank: it is no member of the group now */
    /* not 0: whatever this rank waits for ends with -ECONNABORTED; another thread sets it */
    _Atomic int       broken_off;
    struct weir_meetings *meetings; /* with each other rank */
    uint64_t          released; /* the last word with which this rank released a group */
    /* by how much this rank's clock is ahead of rank 0's; 0 on one host */
    int64_t           ahead;
    int64_t           bound;    /* by how much that may be wrong */
    uint64_t          met;      /* meetings with the other threads of this rank */
    struct weir_made  made;
    struct weir_hist *hist;
    struct weir_point points[WEIR_POINTS];
    size_t            npoints;
    struct weir_iteration iterations[WEIR_KEEP]; /* of a matrix */
    size_t            niterations;
    struct weir_delivery *delivered; /* of a matrix, by target */
    struct ep_run      *ep; /* the last that was run */
    struct weir_played *played; /* of the last sequence, each step alone first */
    uint64_t            nalone;
    int                 nsteps;
    int64_t            *starts, played_bound;
    struct weir_processor_time played_processor;
    struct weir_life   life;
    int                connected;
    struct weir_binding binding;
    struct weir_thread *thread;
    struct weir_kept   *kept;
    uint64_t            options_known; /* bit i: the fabric asked for the option in line i */
};

/* Copies the lists and texts of the configuration, which are gone when weir_open returns,
 * and makes what is kept of each peer; lists_drop frees all of it. */
int  lists_make(struct weir_rank *r);
void lists_drop(struct weir_rank *r);

/* Whether a rank is a connected peer of this one. */
static inline int rank_is_peer(const struct weir_rank *r, int p)
{
    return p != r->cfg.rank && !r->absent[p];
}

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
    atomic_store_explicit(&ctl->heartbeat,
                          atomic_load_explicit(&ctl->heartbeat, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&ctl->abort, memory_order_relaxed) != 0, 0))
        return rank_expired(r);
    if (__builtin_expect((++r->turns & r->turn_mask) == 0, 0)) {
        if (r->cfg.cpu < 0)
            sched_yield(); /* cores are shared: do not spin against those who work */
        return rank_expired(r);
    }
    return 0;
}

/* Looks for something that must come, outside of measured loops. */
int rank_look(struct weir_rank *r);

/* Names the peer and the operation in the error of rank_tick, if it is that of the deadline. */
int rank_waited_for(struct weir_rank *r, int rc, int peer, const char *op);
/* rank_tick of a wait for a peer. */
static inline int rank_tick_for(struct weir_rank *r, int peer, const char *op)
{
    int rc = rank_tick(r);
    return rc < 0 ? rank_waited_for(r, rc, peer, op) : 0;
}
/* One turn of such a wait outside of measured loops: rank_look and rank_tick_for. */
int rank_turn(struct weir_rank *r, int peer, const char *op);

static inline char *rank_source(struct weir_rank *r)
{
    return r->regions[REGION_SOURCE].base + r->cfg.layout.first;
}
static inline char *rank_sink(struct weir_rank *r) { return r->regions[REGION_SINK].base; }

/* Where probes of ceilings may write: no peer uses it while they do. */
static inline char *rank_probe(struct weir_rank *r) { return rank_sink(r) + r->cfg.layout.probe; }

/* Places of the control region, in the line that a rank keeps for another. */
static inline size_t rank_slot_of(int rank) { return (size_t)rank * WEIR_LINE; }
static inline size_t rank_ping_of(const struct weir_rank *r, int rank)
{
    return r->pings + (size_t)rank * WEIR_LINE;
}
/* in the same line: of one writer */
static inline size_t rank_flag_of(int rank) { return rank_slot_of(rank) + sizeof(uint64_t); }
static inline size_t rank_tally_of(const struct weir_rank *r, int rank)
{
    return r->tallies + (size_t)rank * WEIR_LINE;
}

/* The word that stands there. */
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

/* Whether a word for a place of this rank's control region may be stored there. */
static inline int rank_has_word(const struct weir_rank *r, uint64_t place)
{
    return place < r->regions[REGION_CONTROL].size && place % sizeof(uint64_t) == 0;
}

/* A line of this rank's own, from which a fabric may send a word to the peer. */
static inline char *rank_told(struct weir_rank *r, int peer)
{
    return r->regions[REGION_CONTROL].base + r->told + (size_t)peer * WEIR_LINE;
}

/* Writes a word into the peer's slot of this rank; ordered after nothing. */
static inline int rank_signal(struct weir_rank *r, int peer, uint64_t value)
{
    return r->fab->signal(r, peer, rank_slot_of(r->cfg.rank), value);
}

/* The last byte of a message of a ping-pong may be its mark, as in ucx_perftest's
 * ucp_put_lat: one put, and no order between two of them to rely on. Never 0. */
static inline unsigned char rank_mark(uint64_t seq) { return (unsigned char)(seq | 128); }

/* Whether a message has come, by the last of its bytes. Who writes that is a device or a
 * library, of which only ucx_perftest's practice says that the other bytes are there
 * before it; acquire keeps this rank's later reads behind the look (a plain load on x86). */
static inline int rank_marked(const char *last, uint64_t seq)
{
    return atomic_load_explicit((const _Atomic unsigned char *)last, memory_order_acquire) ==
           rank_mark(seq);
}

/* The last word that a peer told this rank, see rank_tell. */
static inline uint64_t rank_tally(struct weir_rank *r, int peer)
{
    return atomic_load_explicit(rank_word(r, rank_tally_of(r, peer)), memory_order_acquire);
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

/* User and system time, and context switches, of this process so far. */
void rank_usage(double *cpu_s, uint64_t *switches);

/* Waits for a part that a fabric has pending: q.pending is 2, and 1 when it is done. */
int rank_await(struct weir_rank *r, const char *op, int peer, struct weir_req *q);

/* Waits until everything put to the peer is in its memory. */
int rank_flush(struct weir_rank *r, int peer);

/* Puts a word into the line of tallies that the peer keeps for this rank; it is there on return. */
static inline int rank_tell(struct weir_rank *r, int peer, uint64_t word)
{
    return r->fab->tell(r, peer, rank_tally_of(r, r->cfg.rank), word);
}

/* How messages of a ping-pong are sent and seen, once the fabric is open. */
void rank_choose_pings(struct weir_rank *r);

/* Carries out a function on the rank's thread, which then makes no progress by itself. */
int rank_call(struct weir_rank *r, int (*fn)(struct weir_rank *, void *), void *arg,
              struct weir_err *err);

/* Of the GPU that this rank's memory is on, before the timed part or after it. */
struct weir_gpu_health;
struct weir_gpu_health rank_gpu_health(struct weir_rank *r, struct weir_result *out);

/* One case, on the rank's thread. */
int rank_case(struct weir_rank *r, const struct weir_case *c, struct weir_result *out);

/* Dispatches and combines, on the rank's thread. */
struct weir_ep;
struct weir_ep_result;
int  rank_ep(struct weir_rank *r, const struct weir_ep *e, struct weir_ep_result *out);
void rank_forget_ep(struct weir_rank *r);
struct weir_ep_steps;
struct weir_ep_stepped;
int rank_ep_prepare(struct weir_rank *r, const struct weir_ep *e);
int rank_ep_steps(struct weir_rank *r, const struct weir_ep_steps *s, struct weir_ep_stepped *out);

/* One sequence of matrices, on the rank's thread. */
int  rank_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_playing *out);
void rank_forget_play(struct weir_rank *r);

#endif
