/* Models of fab_shm.c: messages of a ping-pong, and words that announce something. */
#include <string.h>

#include "litmus.h"
#include "loop_role.h"
#include "rank.h"

#define LONG 64 /* bytes: more than a line has room for */

static void prepare(void)
{
    ranks_open(2, 1);
    for (int i = 0; i < 2; i++) {
        struct weir_rank *r = rank_of(i, 0);
        declare(r, rank_slot_of(1 - i));
        declare(r, rank_counter_of(r, 1 - i));
    }
    /* the line of both directions is in the lower rank's memory */
    struct weir_rank *r = rank_of(0, 0);
    declare(r, rank_ping_of(r, 1));
    declare(r, rank_ping_of(r, 1) + sizeof(uint64_t));
}

static void send(struct weir_rank *r, size_t n, int number, uint64_t seq)
{
    memset(rank_source(r), 10 * number + r->cfg.rank, n);
    succeed(r->fab->ping(r, 1 - r->cfg.rank, rank_source(r), n, seq));
}

static void receive(struct weir_rank *r, size_t n, int number, uint64_t seq)
{
    int peer = 1 - r->cfg.rank;
    while (!r->fab->arrived(r, peer, n, seq)) {
    }
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        if (rank_sink(r)[i] != 10 * number + peer) {
            litmus_fail("a message has other bytes");
        }
    }
}

/* Two cases number their messages from 1, and announce the last one. */
static void play(struct weir_rank *r, size_t n)
{
    int peer = 1 - r->cfg.rank;
    struct weir_case c = {.mode = MODE_PINGPONG};
    struct weir_role o = {.from = peer};
    for (int number = 0; number < 2; number++) {
        succeed(r->fab->prepost(r, &c, &o));
        succeed(rank_barrier(r, 0, NULL));
        for (uint64_t seq = 1; seq <= 2; seq++) {
            int of = 2 * number + (int)seq;
            if (r->cfg.rank == number) {
                if (seq == 2) {
                    succeed(rank_notify(r, peer, (uint64_t)of));
                }
                send(r, n, of, seq);
                receive(r, n, of, seq);
                continue;
            }
            receive(r, n, of, seq);
            if (seq == 2 && rank_counter(r, peer) != (uint64_t)of) {
                litmus_fail("the last message was not announced");
            }
            send(r, n, of, seq);
        }
    }
}

static void run_short(int thread) { play(rank_of(thread, 0), 2 * sizeof(uint64_t)); }
static void run_long(int thread) { play(rank_of(thread, 0), LONG); }

const struct model messages_short = {"messages_short", 2, 0, prepare, run_short};
const struct model messages_long = {"messages_long", 2, 0, prepare, run_long};

/* ---- a counter tells that everything before it is delivered, and that it was read ---- */

static void run_counter(int thread)
{
    struct weir_rank *r = rank_of(thread, 0);
    int peer = 1 - thread;
    for (uint64_t number = 1; number <= 3; number++) {
        if (thread == 0) {
            give(r, peer, 0, number);
            succeed(rank_flush(r, peer));
            succeed(rank_notify(r, peer, number));
        }
        while (rank_counter(r, peer) != number) {
            succeed(rank_poll(r));
        }
        if (thread == 1) {
            expect(r, 0, number);
            succeed(rank_notify(r, peer, number));
        }
    }
}

const struct model messages_counter = {"messages_counter", 2, 0, prepare, run_counter};
