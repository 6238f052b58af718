/* Models of ep_operate.c: dispatch and combine without barriers, over two halves of a sink. */
#include <string.h>

#include "ep_gpu.h"
#include "ep_pool.h"
#include "litmus.h"
#include "loop.h"

#define HALF (RANKS * sizeof(uint64_t))

struct layer {
    struct ep_run u;
    struct weir_ep e;
    struct weir_ep_put puts[RANKS];
    struct weir_ep_sum sum;
    struct weir_req requests[RANKS];
    uint64_t out;
};

static struct layer layers[RANKS];
static int with_combine;

/* The word that a rank sends in an operation of an iteration. */
static uint64_t word(int from, int operation, uint64_t iteration)
{
    return 1000 * (iteration + 1) + 100 * (uint64_t)operation + (uint64_t)from;
}

static void make(int rank, int ranks, int threads)
{
    struct layer *l = &layers[rank];
    struct weir_rank *r = rank_of(rank, 0);
    *l = (struct layer){.e = {.threads = threads, .before = 1}};
    for (int i = 1; i < ranks; i++) {
        l->puts[i - 1] = (struct weir_ep_put){.peer = (rank + i) % ranks,
                                              .bytes = sizeof(uint64_t),
                                              .remote = (uint64_t)rank * sizeof(uint64_t)};
        declare(r, rank_flag_of((rank + i) % ranks));
    }
    for (int o = 0; o < EP_OPERATIONS; o++) {
        l->e.parts[o] = (struct weir_ep_part){.puts = l->puts,
                                              .nputs = (uint32_t)ranks - 1,
                                              .sink = 2 * HALF * (uint64_t)o,
                                              .half = HALF};
    }
    l->e.operations = 1 << EP_DISPATCH | with_combine << EP_COMBINE;
    l->e.total = (struct weir_ep_sums){.list = &l->sum, .n = 1};
    l->u = (struct ep_run){.r = r,
                           .e = &l->e,
                           .source = rank_source(r),
                           .sink = rank_sink(r),
                           .out = (uint16_t *)&l->out,
                           .requests = l->requests,
                           .end = -1};
}

/* Fails unless the words of all peers are in an operation's half of the sink. */
static void expect_words(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration)
{
    for (int p = 0; p < u->r->cfg.ranks; p++) {
        const char *at = ep_half(u, o, iteration) + (size_t)p * sizeof(uint64_t);
        if (p != u->r->cfg.rank && *(const uint64_t *)at != word(p, o, iteration)) {
            litmus_fail("what a peer sent is not there");
        }
    }
}

static void exchange(struct ep_run *u, uint64_t iterations)
{
    struct weir_ep_times t;
    for (uint64_t i = 0; i < iterations; i++) {
        for (int o = 0; o < EP_OPERATIONS; o++) {
            if (ep_does(u, (enum weir_ep_operation)o)) {
                *(uint64_t *)u->source = word(u->r->cfg.rank, o, i);
                succeed(ep_operate(u, (enum weir_ep_operation)o, i, &t));
                expect_words(u, (enum weir_ep_operation)o, i);
            }
        }
    }
}

static void prepare(int ranks, int combine)
{
    with_combine = combine;
    ranks_open(ranks, 1);
    for (int i = 0; i < ranks; i++) {
        make(i, ranks, 1);
    }
}

static void prepare_two(void) { prepare(2, 0); }
static void run_two(int thread) { exchange(&layers[thread].u, 3); }
const struct model exchange_two = {"exchange_two", 2, 0, prepare_two, run_two};

static void prepare_three(void) { prepare(3, 0); }
static void run_three(int thread) { exchange(&layers[thread].u, 1); }
const struct model exchange_three = {"exchange_three", 3, 0, prepare_three, run_three};

static void prepare_combine(void) { prepare(2, 1); }
static void run_combine(int thread) { exchange(&layers[thread].u, 2); }
const struct model exchange_combine = {"exchange_combine", 2, 0, prepare_combine, run_combine};

/* ---- one of two ranks has a thread beside its own, which copies puts too ---- */

static void prepare_pool(void)
{
    ranks_open(2, 1);
    with_combine = 0;
    make(0, 2, 2);
    make(1, 2, 1);
}

/* With a processor of its own the thread polls before it sleeps. */
static void prepare_pinned(void)
{
    static const int cpus[2];
    prepare_pool();
    layers[0].e.cpus = cpus;
}

static void run_pool(int thread)
{
    struct ep_run *u = &layers[thread].u;
    succeed(ep_pool_create(u));
    exchange(u, 1);
    ep_pool_drop(u);
}

const struct model exchange_pool = {"exchange_pool", 2, 1, prepare_pool, run_pool};
const struct model exchange_pinned = {"exchange_pinned", 2, 1, prepare_pinned, run_pool};

/* ---- instead of the engine's arithmetic and GPUs ---- */

void ep_write_messages(struct ep_run *u, uint32_t until, uint32_t *at) {}

/* Reads everything that a combine received. */
void ep_add_up(struct ep_run *u, const struct weir_ep_sums *s, uint32_t i, const char *from,
               char *to)
{
    memcpy(to, from + sizeof(uint64_t) * (size_t)(1 - u->r->cfg.rank), sizeof(uint64_t));
}

static int never(void)
{
    litmus_fail("a function that no model needs");
    return -1;
}

int ep_end(struct ep_run *u) { return never(); }
int ep_gpu_iterate(struct ep_run *u, uint64_t iteration) { return never(); }
int ep_gpu_finish(struct ep_run *u) { return never(); }
int ep_posted_flush(struct ep_run *u, uint64_t iteration) { return never(); }
int ep_posted_work(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration)
{
    return never();
}
int ep_posted_end(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration)
{
    return never();
}
