/* Ranks of the models: the engine's structures, connected over fabric shm in one process. The
 * functions of files that are not compiled here are replaced at the end. */
#include <stdlib.h>
#include <string.h>

#include "fabric_carriers.h"
#include "fabric_unsupported.h"
#include "litmus.h"
#include "loop_ceiling.h"
#include "rank.h"
#include "rank_handover.h"
#include "rank_team.h"
#include "sys_copy.h"

#define WORDS 16 /* of a source, and of a sink */

struct opened {
    struct weir_rank r;
    struct weir_control page;
    _Alignas(WEIR_LINE) char control[4 * RANKS * WEIR_LINE];
    _Alignas(WEIR_LINE) uint64_t source[WORDS], sink[WORDS];
    char absent[RANKS];
    struct weir_pair_barrier pairs[RANKS];
    struct weir_err err;
    /* of fabric shm, and of the handover */
    _Alignas(WEIR_LINE) char state[1024];
    struct weir_region mapped[RANKS][EXCHANGED];
};

static struct opened all[RANKS][THREADS];
static struct weir_team *teams[RANKS];
static struct opened *opening;
static const int members[RANKS] = {0, 1, 2};

static void copy(void *to, const void *from, size_t n) { memcpy(to, from, n); }
static const struct weir_copy copies = {"memcpy", copy};

struct weir_rank *rank_of(int rank, int thread) { return &all[rank][thread].r; }

static struct opened *opened_of(struct weir_rank *r) { return &all[r->cfg.rank][r->cfg.thread]; }

static void open_one(int rank, int ranks, int thread)
{
    struct opened *o = &all[rank][thread];
    struct weir_rank *r = &o->r;
    opening = o;
    *o = (struct opened){0};
    r->cfg.rank = rank;
    r->cfg.ranks = ranks;
    r->cfg.team = teams[rank];
    r->cfg.thread = thread;
    r->cfg.control = &o->page;
    r->wait.poll_mask = UINT32_MAX; /* no clock is read */
    r->regions[REGION_CONTROL] =
        (struct weir_region){.base = o->control, .size = sizeof o->control};
    r->regions[REGION_SOURCE] =
        (struct weir_region){.base = (char *)o->source, .size = sizeof o->source};
    r->regions[REGION_SINK] = (struct weir_region){.base = (char *)o->sink, .size = sizeof o->sink};
    r->control.pings = RANKS * WEIR_LINE;
    r->control.counters = 2 * r->control.pings;
    r->control.outbox = 3 * r->control.pings;
    r->barrier.all = (struct weir_group){members, ranks};
    r->barrier.absent = o->absent;
    r->barrier.pairs = o->pairs;
    r->err = &o->err;
    r->copy = &copies;
    r->fab = &weir_fab_shm;
    succeed(r->fab->open(r));
    succeed(r->fab->attach(r, REGION_CONTROL));
    succeed(r->fab->attach(r, REGION_SINK));
}

void ranks_open(int ranks, int threads)
{
    for (int i = 0; i < ranks; i++) {
        team_free(teams[i]);
        teams[i] = threads > 1 ? team_new(threads, &all[i][0].page) : NULL;
        for (int k = 0; k < threads; k++) {
            open_one(i, ranks, k);
        }
        if (teams[i]) {
            litmus_word(&teams[i]->arrived, sizeof teams[i]->arrived);
            litmus_word(&teams[i]->meetings, sizeof teams[i]->meetings);
        }
    }
    for (int i = 0; i < ranks; i++) {
        for (int k = 0; k < threads; k++) {
            struct weir_rank *r = rank_of(i, k);
            succeed(r->fab->connect(r, NULL, NULL));
        }
    }
}

void declare(struct weir_rank *r, size_t place)
{
    litmus_word(rank_word(r, place), sizeof(uint64_t));
}

void succeed(int rc)
{
    if (rc < 0) {
        litmus_fail("a function of the engine returned an error");
    }
}

void give(struct weir_rank *r, int peer, int word, uint64_t value)
{
    uint64_t *from = (uint64_t *)rank_source(r) + word;
    *from = value;
    succeed(r->fab->put(r, peer, from, (uint64_t)word * sizeof value, sizeof value, NULL));
}

void expect(struct weir_rank *r, int word, uint64_t value)
{
    if (((uint64_t *)rank_sink(r))[word] != value) {
        litmus_fail("what a peer wrote is not there");
    }
}

/* ---- instead of files that map memory, talk to sockets or measure ---- */

void *weir_alloc_page_aligned(size_t bytes)
{
    return bytes <= sizeof opening->state ? opening->state : NULL;
}

int handover_open(struct weir_rank *r, struct handover *h)
{
    h->mapped = opened_of(r)->mapped;
    return 0;
}

int handover_attach(struct weir_rank *r, struct handover *h, enum weir_region_name name)
{
    return 0;
}

int handover_connect(struct weir_rank *r, struct handover *h, const char *const *blobs,
                     const size_t *lens)
{
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            h->mapped[p][0] = rank_of(p, r->cfg.thread)->regions[REGION_CONTROL];
            h->mapped[p][1] = rank_of(p, r->cfg.thread)->regions[REGION_SINK];
        }
    }
    return 0;
}

static int never(void)
{
    litmus_fail("a function that no model needs");
    return -1;
}

int64_t handover_address(struct weir_rank *r, struct handover *h, void *buf, size_t cap)
{
    return never();
}
void handover_disconnect(struct weir_rank *r, struct handover *h) { never(); }
void handover_close(struct weir_rank *r, struct handover *h) { never(); }
int64_t unsupported_run_pingpong(struct weir_rank *r, int peer, struct weir_pingpong *g)
{
    return never();
}
int runs_no_pingpong(struct weir_rank *r, int peer, size_t bytes) { return never(); }
int ceiling_is_memcpy(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                      struct ceiling *c)
{
    return never();
}
void carrier_add(char *list, enum weir_carrier_use use, const char *name, const char *device)
{
    never();
}
int posts_itself(struct weir_rank *r) { return 0; }
int no_idle_wait(struct weir_rank *r) { return 0; }
