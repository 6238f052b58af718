/* team.h: the threads of one rank. Each is a struct weir_rank of its own, with its
 * own memory, connections and library objects, and has to do with the thread of the
 * same number in other ranks; so nothing is locked in the measured loops. They meet
 * in rank_barrier only, and there the first of them speaks for all. */
#ifndef WEIR_TEAM_H
#define WEIR_TEAM_H

#include "weir.h"

#define TEAM_LINE 64

struct weir_team {
    int                  threads;
    struct weir_control *control; /* of the first thread: it is what the agent writes to */
    _Atomic uint32_t     given_up; /* a thread failed */
    /* words that threads spin on are in lines of their own */
    /* threads but the first, counted over all meetings */
    _Alignas(TEAM_LINE) _Atomic uint64_t arrived;
    _Alignas(TEAM_LINE) _Atomic uint64_t meetings; /* that all ranks came to */
    int64_t at, ahead, bound; /* of the last meeting: what the first thread's barrier said */
};

/* Threads with their control pages, of which the first is the rank's; NULL: no memory. */
struct weir_team    *team_new(int threads, struct weir_control *first);
struct weir_control *team_control(struct weir_team *t, int thread);
void                 team_free(struct weir_team *t);

/* Whether this thread is to stop because of another one, or because the rank is. */
static inline int team_over(const struct weir_team *t)
{
    return t && (atomic_load_explicit(&t->given_up, memory_order_relaxed) ||
                 atomic_load_explicit(&t->control->abort, memory_order_relaxed));
}

#endif
