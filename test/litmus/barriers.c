/* Models of rank_barrier.c: what was written before a barrier is there after it, and what was read
 * before it can be overwritten after it. */
#include "litmus.h"
#include "rank.h"
#include "rank_team.h"

static uint64_t value(int from, int round) { return (uint64_t)(100 * (round + 1) + from); }

static void give_all(struct weir_rank *r, int half, int round)
{
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (p != r->cfg.rank) {
            give(r, p, half * RANKS + r->cfg.rank, value(r->cfg.rank, round));
        }
    }
}

static void expect_all(struct weir_rank *r, int half, int round)
{
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (p != r->cfg.rank) {
            expect(r, half * RANKS + p, value(p, round));
        }
    }
}

static void declare_slots(int ranks, int threads)
{
    ranks_open(ranks, threads);
    for (int i = 0; i < ranks; i++) {
        for (int p = 0; p < ranks; p++) {
            if (i != p) {
                declare(rank_of(i, 0), rank_slot_of(p));
            }
        }
    }
}

/* ---- three ranks, where each writes to the others before each barrier ---- */

static void prepare_three(void) { declare_slots(3, 1); }

static void run_all(int thread)
{
    struct weir_rank *r = rank_of(thread, 0);
    for (int round = 0; round < 2; round++) {
        give_all(r, round, round);
        succeed(rank_barrier(r, 0, NULL));
        expect_all(r, round, round);
    }
}

const struct model barriers_all = {"barriers_all", 3, 0, prepare_three, run_all};

/* ---- two ranks, which overwrite what was read before the last barrier ---- */

static void prepare_two(void) { declare_slots(2, 1); }

static void run_reuse(int thread)
{
    struct weir_rank *r = rank_of(thread, 0);
    for (int round = 0; round < 3; round++) {
        give_all(r, 0, round);
        succeed(rank_barrier(r, 0, NULL));
        expect_all(r, 0, round);
        succeed(rank_barrier(r, 0, NULL));
    }
}

const struct model barriers_reuse = {"barriers_reuse", 2, 0, prepare_two, run_reuse};

/* ---- groups that overlap: one word per direction is enough for any of them ---- */

static const int upper[] = {1, 2}, outer[] = {0, 2};

static void meet(struct weir_rank *r, const int *members, int a, int b, int round)
{
    struct weir_group g = {members, 2};
    int self = r->cfg.rank;
    if (self != a && self != b) {
        return;
    }
    give(r, a + b - self, round * RANKS + self, value(self, round));
    succeed(rank_barrier_group(r, &g, 0, NULL));
    expect(r, round * RANKS + a + b - self, value(a + b - self, round));
}

static void run_groups(int thread)
{
    struct weir_rank *r = rank_of(thread, 0);
    meet(r, upper, 1, 2, 0);
    meet(r, outer, 0, 2, 1);
    give_all(r, 2, 2);
    succeed(rank_barrier(r, 0, NULL));
    expect_all(r, 2, 2);
    meet(r, upper, 1, 2, 3);
}

const struct model barriers_groups = {"barriers_groups", 3, 0, prepare_three, run_groups};

/* ---- two ranks of two threads: the first thread meets the other rank for both ---- */

static void prepare_team(void) { declare_slots(2, 2); }

static void run_team(int thread)
{
    struct weir_rank *r = rank_of(thread / 2, thread % 2);
    int64_t start;
    for (int round = 0; round < 2; round++) {
        give_all(r, round, round);
        succeed(rank_barrier(r, 0, &start));
        expect_all(r, round, round);
    }
}

const struct model barriers_team = {"barriers_team", 4, 0, prepare_team, run_team};
