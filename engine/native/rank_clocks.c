/* Offsets between the clocks of several hosts, each of which counts from its own boot. A rank
 * queries rank 0 for the time as in F. Cristian, Probabilistic clock synchronization, Distributed
 * Computing 3 (1989): the reply was true at some instant between query and reply, so the midpoint
 * is wrong by at most half of the round trip. The shortest of several round trips is used. */
#include <stdlib.h>

#include "rank.h"

#define QUESTIONS 16

static int ask(struct weir_rank *r, int64_t *ahead, int64_t *bound)
{
    const int two[] = {0, r->cfg.rank};
    struct weir_group g = {two, 2};
    for (int k = 0; k < QUESTIONS; k++) {
        int64_t asked = weir_monotonic();
        int rc = rank_barrier_group(r, &g, 0, NULL);
        if (rc < 0) {
            return rc;
        }
        int64_t replied = weir_monotonic(), half = (replied - asked) / 2 + 1;
        if (k && half >= *bound) {
            continue;
        }
        *bound = half;
        *ahead = asked + half - (int64_t)r->barrier.pairs[0].released;
    }
    return 0;
}

static int answer(struct weir_rank *r)
{
    for (int p = 1; p < r->cfg.ranks; p++) {
        const int two[] = {0, p};
        struct weir_group g = {two, 2};
        for (int k = 0; k < QUESTIONS; k++) {
            int rc = rank_barrier_group(r, &g, 0, NULL);
            if (rc < 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* The drift between the clocks is bounded by the difference of the measurements before and
 * after. */
int rank_compare_clocks(struct weir_rank *r, int again)
{
    int64_t ahead = 0, bound = 0;
    if (r->cfg.one_host || r->cfg.thread) {
        /* one clock; or the rank's first thread measures and shares the offset in the team
         * barrier */
        return 0;
    }
    int rc = r->cfg.rank ? ask(r, &ahead, &bound) : answer(r);
    if (rc < 0) {
        return rc;
    }
    if (again) {
        bound = (bound > r->offset.bound ? bound : r->offset.bound) +
                llabs(ahead - r->offset.ahead) / 2;
        ahead = r->offset.ahead + (ahead - r->offset.ahead) / 2;
    }
    r->offset.ahead = ahead;
    r->offset.bound = bound;
    return 0;
}
