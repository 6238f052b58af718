/* Barriers of ranks and of their threads. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rank.h"
#include "rank_team.h"

/* Waiters time out 150 ms after workers, so that the worker's more specific error is reported. */
#define WAITER_GRACE_NS 150000000

/* Formats the name of a peer, or of this rank's other threads (-1), for a timeout error. */
static void name_peer(struct weir_rank *r, int peer)
{
    if (!r->err || strcmp(r->err->op, "wait")) {
        return;
    }
    r->err->peer = peer;
    if (peer < 0) {
        snprintf(r->err->text, sizeof r->err->text,
                 "another thread of this rank did not reach the barrier within %.3g s",
                 (double)r->wait.limit / 1e9);
    } else {
        snprintf(r->err->text, sizeof r->err->text,
                 "rank %d did not reach the barrier within %.3g s", peer,
                 (double)r->wait.limit / 1e9);
    }
}

static int wait_until_deadline(struct weir_rank *r, const _Atomic uint64_t *word, uint64_t at_least,
                               int peer)
{
    int rc;
    while (atomic_load_explicit(word, memory_order_acquire) < at_least) {
        if ((rc = rank_poll(r)) < 0) {
            return rc;
        }
        if ((rc = rank_tick(r)) < 0) {
            if (rc == -ETIMEDOUT) {
                name_peer(r, peer);
            }
            return rc;
        }
    }
    return 0;
}

static int wait_for(struct weir_rank *r, const _Atomic uint64_t *word, uint64_t at_least, int peer)
{
    int64_t deadline = r->wait.deadline;
    r->wait.deadline = deadline ? deadline + WAITER_GRACE_NS : 0;
    int rc = wait_until_deadline(r, word, at_least, peer);
    r->wait.deadline = deadline;
    return rc;
}

static int wait_slot(struct weir_rank *r, int peer, uint64_t at_least)
{
    return wait_for(r, rank_slot(r, peer), at_least, peer);
}

/* The first rank of a group releases the others. Between two ranks the lower one sends only
 * releases and the higher one only arrivals, and neither sends again before the other has read it:
 * one word per direction is enough for any set of groups. */
int rank_barrier_group(struct weir_rank *r, const struct weir_group *g, int64_t lead, int64_t *at)
{
    int rc, first = g->members[0];
    uint64_t released;
    if (r->cfg.rank != first) {
        struct weir_pair_barrier *m = &r->barrier.pairs[first];
        if ((rc = rank_signal(r, first, ++m->arrivals)) < 0) {
            return rc;
        }
        if ((rc = wait_slot(r, first, m->released + 1)) < 0) {
            return rc;
        }
        m->released = released = atomic_load(rank_slot(r, first));
    } else {
        for (int i = 1; i < g->n; i++) {
            if ((rc = wait_slot(r, g->members[i], ++r->barrier.pairs[g->members[i]].arrivals)) <
                0) {
                return rc;
            }
        }
        /* one word is both the release and rank 0's time: it only grows */
        uint64_t now = (uint64_t)(weir_monotonic() - r->offset.ahead + lead);
        r->barrier.released = released = now > r->barrier.released ? now : r->barrier.released + 1;
        for (int i = 1; i < g->n; i++) {
            if ((rc = rank_signal(r, g->members[i], released)) < 0) {
                return rc;
            }
        }
    }
    if (at) {
        *at = (int64_t)released + r->offset.ahead;
    }
    return 0;
}

int rank_barrier_peers(struct weir_rank *r, int64_t lead, int64_t *at)
{
    r->barrier.passed++;
    return rank_barrier_group(r, &r->barrier.all, lead, at);
}

/* Nothing is in flight to or from this rank, so it sleeps until SPIN_NS before the time and polls
 * from then on. */
#define SPIN_NS 3000000
#define NAP_NS 1000000

int rank_wait_until(struct weir_rank *r, int64_t at)
{
    int rc;
    for (;;) {
        int64_t left = at - weir_monotonic();
        if (left <= 0) {
            return 0;
        }
        if ((rc = r->fab->progress(r)) < 0) {
            return rc;
        }
        if ((rc = rank_tick(r)) < 0) {
            return rc;
        }
        if (left > SPIN_NS) {
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
            if ((rc = rank_expired(r)) < 0) { /* sleeps take long: check the clock each time */
                return rc;
            }
        }
    }
}

/* The first thread enters the barrier of ranks once all threads of its rank have arrived. */
static int lead_team(struct weir_rank *r, int64_t lead, int64_t *at)
{
    struct weir_team *t = r->cfg.team;
    int rc;
    r->barrier.team_passed++;
    if ((rc = wait_for(r, &t->arrived, r->barrier.team_passed * (uint64_t)(t->threads - 1), -1)) <
        0) {
        return rc;
    }
    if ((rc = rank_barrier_peers(r, lead, at)) < 0) {
        return rc;
    }
    t->at = *at;
    t->ahead = r->offset.ahead;
    t->bound = r->offset.bound;
    atomic_store_explicit(&t->meetings, r->barrier.team_passed, memory_order_release);
    return 0;
}

/* No thread enters the next barrier before all have read the result of this one. */
static int follow_team(struct weir_rank *r, int64_t *at)
{
    struct weir_team *t = r->cfg.team;
    int rc;
    r->barrier.team_passed++;
    atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel);
    if ((rc = wait_for(r, &t->meetings, r->barrier.team_passed, -1)) < 0) {
        return rc;
    }
    *at = t->at;
    r->offset.ahead = t->ahead;
    r->offset.bound = t->bound;
    return 0;
}

int rank_barrier(struct weir_rank *r, int64_t lead, int64_t *start)
{
    int64_t at;
    int rc = !r->cfg.team         ? rank_barrier_peers(r, lead, &at)
             : r->cfg.thread == 0 ? lead_team(r, lead, &at)
                                  : follow_team(r, &at);
    if (rc < 0) {
        return rc;
    }
    if (lead > 0) {
        if ((rc = rank_wait_until(r, at)) < 0) {
            return rc;
        }
    }
    if (start) {
        *start = at;
    }
    return 0;
}
