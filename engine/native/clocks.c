/* Clocks of several hosts, each of which counts from its own boot. A rank asks rank 0
 * for the time, as in F. Cristian, Probabilistic clock synchronization, Distributed
 * Computing 3 (1989): what it is told was true at some instant between asking and
 * hearing, so the middle is wrong by at most half of that time. The quickest of some
 * answers is taken. */
#include <stdlib.h>

#include "rank.h"

#define QUESTIONS 16

static int ask(struct weir_rank *r, int64_t *ahead, int64_t *bound)
{
    const int         two[] = {0, r->cfg.rank};
    struct weir_group g     = {two, 2};
    for (int k = 0; k < QUESTIONS; k++) {
        int64_t asked = weir_monotonic();
        int     rc    = rank_meet_group(r, &g, 0, NULL);
        if (rc < 0)
            return rc;
        int64_t heard = weir_monotonic(), half = (heard - asked) / 2 + 1;
        if (k && half >= *bound)
            continue;
        *bound = half;
        *ahead = asked + half - (int64_t)r->meetings[0].released;
    }
    return 0;
}

static int answer(struct weir_rank *r)
{
    for (int p = 1; p < r->cfg.ranks; p++) {
        const int         two[] = {0, p};
        struct weir_group g     = {two, 2};
        for (int k = 0; k < QUESTIONS; k++) {
            int rc = rank_meet_group(r, &g, 0, NULL);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* Clocks that run apart are off by something between what was found before and after. */
int rank_compare_clocks(struct weir_rank *r, int again)
{
    int64_t ahead = 0, bound = 0;
    if (r->cfg.one_host || r->cfg.thread)
        /* one clock; or the first thread of the rank asks, and tells the others when they meet */
        return 0;
    int rc = r->cfg.rank ? ask(r, &ahead, &bound) : answer(r);
    if (rc < 0)
        return rc;
    if (again) {
        bound = (bound > r->bound ? bound : r->bound) + llabs(ahead - r->ahead) / 2;
        ahead = r->ahead + (ahead - r->ahead) / 2;
    }
    r->ahead = ahead;
    r->bound = bound;
    return 0;
}
