/* rank_team.h: the threads of one rank. Each is a struct weir_rank with its own memory, connections
 * and library objects, and communicates with the threads of the same index in other ranks; so
 * measured loops need no locks. Threads synchronise only in rank_barrier, where the first one acts
 * for all. */
#ifndef WEIR_RANK_TEAM_H
#define WEIR_RANK_TEAM_H

#include "weir.h"

#define TEAM_LINE 64

struct weir_team {
    int threads;
    struct weir_control *control; /* of the first thread: written by the agent */
    _Atomic uint32_t failed;      /* a thread failed */
    /* words that threads spin on have cache lines of their own */
    /* arrivals of threads other than the first, over all barriers */
    _Alignas(TEAM_LINE) _Atomic uint64_t arrived;
    _Alignas(TEAM_LINE) _Atomic uint64_t meetings; /* barriers completed by all ranks */
    int64_t at, ahead, bound;                      /* of the last barrier, from the first thread */
};

/* Allocates a team with one control page per thread; the first is the rank's. NULL: out of
 * memory. */
struct weir_team *team_new(int threads, struct weir_control *first);
/* Returns the control page of a thread. */
struct weir_control *team_control(struct weir_team *t, int thread);
void team_free(struct weir_team *t);

/* Returns whether this thread is to stop, because another thread failed or the rank is to stop. */
static inline int team_stopping(const struct weir_team *t)
{
    return t && (atomic_load_explicit(&t->failed, memory_order_relaxed) ||
                 atomic_load_explicit(&t->control->abort, memory_order_relaxed));
}

#endif
