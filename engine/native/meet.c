/* Where ranks and their threads meet. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
        snprintf(r->err->text, sizeof r->err->text,
                 "another thread of this rank did not come to the barrier within %.3g s",
                 (double)r->limit / 1e9);
    else
        snprintf(r->err->text, sizeof r->err->text,
                 "rank %d did not come to the barrier within %.3g s", peer, (double)r->limit / 1e9);
}

static int wait_until_deadline(struct weir_rank *r, const _Atomic uint64_t *word, uint64_t at_least,
                               int peer)
{
    int rc;
    while (atomic_load_explicit(word, memory_order_acquire) < at_least) {
        if ((rc = rank_look(r)) < 0)
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

static int wait_slot(struct weir_rank *r, int peer, uint64_t at_least)
{
    return wait_for(r, rank_slot(r, peer), at_least, peer);
}

/* The first of a group releases the others. Between two ranks the lower one sends
 * releases only and the higher one arrivals only, and neither sends again before the
 * other has taken note: one word for each direction is enough for any groups. */
int rank_meet_group(struct weir_rank *r, const struct weir_group *g, int64_t lead, int64_t *at)
{
    int      rc, first = g->members[0];
    uint64_t released;
    if (r->cfg.rank != first) {
        struct weir_meetings *m = &r->meetings[first];
        if ((rc = rank_signal(r, first, ++m->arrivals)) < 0 ||
            (rc = wait_slot(r, first, m->released + 1)) < 0)
            return rc;
        m->released = released = atomic_load(rank_slot(r, first));
    } else {
        for (int i = 1; i < g->n; i++)
            if ((rc = wait_slot(r, g->members[i], ++r->meetings[g->members[i]].arrivals)) < 0)
                return rc;
        /* one word is both the release and the time, which is rank 0's: it only ever grows */
        uint64_t now = (uint64_t)(weir_monotonic() - r->ahead + lead);
        r->released  = released = now > r->released ? now : r->released + 1;
        for (int i = 1; i < g->n; i++)
            if ((rc = rank_signal(r, g->members[i], released)) < 0)
                return rc;
    }
    if (at)
        *at = (int64_t)released + r->ahead;
    return 0;
}

int rank_meet_peers(struct weir_rank *r, int64_t lead, int64_t *at)
{
    r->barriers++;
    return rank_meet_group(r, &r->all, lead, at);
}

/* Nothing is under way to this rank or from it, so who has long to wait sleeps; the
 * last part is waited for awake. */
#define AWAKE_NS 3000000
#define NAP_NS   1000000

int rank_wait_until(struct weir_rank *r, int64_t at)
{
    int64_t left;
    int     rc;
    while ((left = at - weir_monotonic()) > 0) {
        if ((rc = r->fab->progress(r)) < 0 || (rc = rank_tick(r)) < 0)
            return rc;
        if (left > AWAKE_NS) {
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
            if ((rc = rank_expired(r)) < 0) /* the clock is not looked at in every turn */
                return rc;
        }
    }
    return 0;
}

/* The first thread comes to the others once all threads of its rank are here. */
static int lead_team(struct weir_rank *r, int64_t lead, int64_t *at)
{
    struct weir_team *t = r->cfg.team;
    int               rc;
    r->met++;
    if ((rc = wait_for(r, &t->arrived, r->met * (uint64_t)(t->threads - 1), -1)) < 0 ||
        (rc = rank_meet_peers(r, lead, at)) < 0)
        return rc;
    t->at    = *at;
    t->ahead = r->ahead;
    t->bound = r->bound;
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
    r->bound = t->bound;
    return 0;
}

int rank_barrier(struct weir_rank *r, int64_t lead, int64_t *start)
{
    int64_t at;
    int     rc = !r->cfg.team          ? rank_meet_peers(r, lead, &at)
                 : r->cfg.thread == 0 ? lead_team(r, lead, &at)
                                      : follow_team(r, &at);
    if (rc < 0)
        return rc;
    if (lead > 0 && (rc = rank_wait_until(r, at)) < 0)
        return rc;
    if (start)
        *start = at;
    return 0;
}
