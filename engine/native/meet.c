/* Where ranks and their threads meet. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rank.h"
#include "team.h"

/* Who waits gives up a little later than who works, whose words say more. */
#define PATIENCE_NS 150000000

/* In the words of who waits for a peer, or for the other threads of this rank (-1). */
static void say_who(struct weir_rank *r, int peer)
{
    if (!r->err || strcmp(r->err->op, "wait"))
        return;
    r->err->peer = peer;
    if (peer < 0)
        snprintf(r->err->text, sizeof r->err->text, "another thread of this rank did not come to the barrier within %.3g s", (double)r->limit / 1e9);
    else
        snprintf(r->err->text, sizeof r->err->text, "rank %d did not come to the barrier within %.3g s", peer, (double)r->limit / 1e9);
}

static int wait_until_deadline(struct weir_rank *r, const _Atomic uint64_t *word, uint64_t at_least, int peer)
{
    int rc;
    while (atomic_load_explicit(word, memory_order_acquire) < at_least) {
        if ((rc = r->fab->progress(r)) < 0)
            return rc;
        if ((rc = rank_tick(r)) < 0) {
            if (rc == -ETIMEDOUT)
                say_who(r, peer);
            return rc;
        }
    }
    return 0;
}

static int wait_for(struct weir_rank *r, const _Atomic uint64_t *word, uint64_t at_least, int peer)
{
    int64_t deadline = r->deadline;
    r->deadline      = deadline ? deadline + PATIENCE_NS : 0;
    int rc           = wait_until_deadline(r, word, at_least, peer);
    r->deadline      = deadline;
    return rc;
}

static int wait_slot(struct weir_rank *r, int peer, uint64_t at_least) { return wait_for(r, rank_slot(r, peer), at_least, peer); }

/* Hosts count from their own boot. What rank 0 released says when it did; the least
 * difference of all barriers is the one whose message travelled fastest. */
static void compare_clocks(struct weir_rank *r, int64_t lead)
{
    if (r->cfg.one_host)
        return;
    int64_t ahead = weir_monotonic() - ((int64_t)r->released - lead);
    if (!r->compared || ahead < r->ahead)
        r->ahead = ahead;
    r->compared = 1;
}

int rank_meet_peers(struct weir_rank *r, int64_t lead, int64_t *at)
{
    int rc;
    r->barriers++;
    if (r->cfg.rank != 0) {
        if ((rc = r->fab->signal(r, 0, r->barriers)) < 0 || (rc = wait_slot(r, 0, r->released + 1)) < 0)
            return rc;
        r->released = atomic_load(rank_slot(r, 0));
        compare_clocks(r, lead);
    } else {
        for (int p = 1; p < r->cfg.ranks; p++)
            if ((rc = wait_slot(r, p, r->barriers)) < 0)
                return rc;
        /* one word is both the release and the time: it only ever grows */
        uint64_t now = (uint64_t)(weir_monotonic() + lead);
        r->released  = now > r->released ? now : r->released + 1;
        for (int p = 1; p < r->cfg.ranks; p++)
            if ((rc = r->fab->signal(r, p, r->released)) < 0)
                return rc;
    }
    if (at)
        *at = (int64_t)r->released + r->ahead;
    return 0;
}

/* The first thread comes to the others once all threads of its rank are here. */
static int lead_team(struct weir_rank *r, int64_t lead, int64_t *at)
{
    struct weir_team *t = r->cfg.team;
    int               rc;
    r->met++;
    if ((rc = wait_for(r, &t->arrived, r->met * (uint64_t)(t->threads - 1), -1)) < 0 || (rc = rank_meet_peers(r, lead, at)) < 0)
        return rc;
    t->at    = *at;
    t->ahead = r->ahead;
    atomic_store_explicit(&t->meetings, r->met, memory_order_release);
    return 0;
}

/* Nobody comes to the next meeting before all have read what this one said. */
static int follow_team(struct weir_rank *r, int64_t *at)
{
    struct weir_team *t = r->cfg.team;
    int               rc;
    r->met++;
    atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel);
    if ((rc = wait_for(r, &t->meetings, r->met, -1)) < 0)
        return rc;
    *at      = t->at;
    r->ahead = t->ahead;
    return 0;
}

int rank_barrier(struct weir_rank *r, int64_t lead, int64_t *start)
{
    int64_t at;
    int     rc = !r->cfg.team ? rank_meet_peers(r, lead, &at) : r->cfg.thread == 0 ? lead_team(r, lead, &at) : follow_team(r, &at);
    if (rc < 0)
        return rc;
    if (lead > 0)
        while (weir_monotonic() < at)
            if ((rc = r->fab->progress(r)) < 0 || (rc = rank_tick(r)) < 0)
                return rc;
    if (start)
        *start = at;
    return 0;
}
