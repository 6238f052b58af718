/* The engine without Go, for the sanitizers: ranks as threads of one process run
 * every operation, mode and verification over the fabrics named, two of them as a
 * pair and three each to each other; libfabric:NAME is libfabric over the provider
 * of that name, ucx:NAME is ucx with the API of that name. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pattern.h"
#include "../ceiling.h"
#include "../team.h"
#include "../weir.h"

#define MOST 3
#define TEAM 2

static const struct weir_case cases[] = {
    {.index = 0, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_SAMPLE, .block = 1, .batch = 1, .iterations = 300, .warmup = 3, .in_flight = 16},
    {.index = 1, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 4097, .batch = 3, .iterations = 20, .warmup = 0, .in_flight = 4},
    {.index = 2, .op = OP_READ, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 70000, .batch = 2, .iterations = 20, .warmup = 5, .in_flight = 7},
    {.index = 3, .op = OP_WRITE, .mode = MODE_PINGPONG, .verify = VERIFY_SAMPLE, .block = 8, .batch = 1, .iterations = 300, .warmup = 10, .in_flight = 1},
    {.index = 4, .op = OP_WRITE, .mode = MODE_PINGPONG, .verify = VERIFY_FULL, .block = 100000, .batch = 1, .iterations = 20, .warmup = 1, .in_flight = 1},
    {.index = 5, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_NONE, .block = 1 << 20, .batch = 1, .iterations = 30, .warmup = 1, .in_flight = 16},
};
#define NCASES (sizeof cases / sizeof *cases)
#define REGION (1u << 20)

/* Of three ranks: what needs no pair, from every rank to every other. */
static const struct weir_case many[] = {
    {.index = 0, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 4097, .batch = 3, .iterations = 20, .warmup = 2, .in_flight = 4},
    {.index = 1, .op = OP_READ, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 70000, .batch = 1, .iterations = 20, .warmup = 5, .in_flight = 7},
    {.index = 2, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 5000, .batch = 2, .iterations = 50, .in_flight = 5, .slots = 9},
    {.index = 3, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 999, .batch = 2, .iterations = 5, .in_flight = 5, .slots = 3, .zeros = 1, .duration = 3000000},
};
#define NMANY (sizeof many / sizeof *many)

struct one {
    const char         *provider;
    char                fabric[64];
    int                 rank, ranks, corrupt, failed;
    struct weir_control control;
    struct one         *all; /* by rank */
    struct weir_team   *team; /* of the two threads of a rank; NULL: it has one */
    int                 thread;
    struct weir_rank   *r;
    char                blob[65536];
    size_t              len;
    pthread_barrier_t  *meet;
    struct weir_err     err;
};

/* Lists of who moves to whom: the first of two to the second, or each of three to
 * the two others. Links are probed in the order of initiators. */
static void describe(struct one *o, struct weir_config *cfg, struct weir_flow *targets, int *sources, struct weir_turn *turns)
{
    int self = o->rank;
    cfg->targets = targets, cfg->sources = sources, cfg->turns = turns, cfg->share = 1;
    if (o->ranks == 2) {
        targets[0] = (struct weir_flow){.peer = 1, .region = 0};
        sources[0] = 0;
        turns[0]   = (struct weir_turn){1 - self, self == 0};
        cfg->ntargets = self == 0, cfg->nsources = self == 1, cfg->nturns = 1;
        return;
    }
    for (int k = 0; k < 2; k++) {
        int to     = (self + 1 + k) % 3;
        targets[k] = (struct weir_flow){.peer = to, .region = self < to ? self : self - 1};
        sources[k] = k < self ? k : k + 1;
    }
    for (int i = 0; i < 3; i++)
        if (i == self || (i + 1) % 3 == self)
            turns[cfg->nturns++] = (struct weir_turn){i == self ? (i + 1) % 3 : i, i == self};
    cfg->ntargets = cfg->nsources = 2;
}

static int run(struct one *o, const struct weir_case *plan)
{
    struct weir_result res;
    struct weir_case   c = *plan;
    c.timeout            = 60000000000;
    c.corrupt            = o->corrupt ? 0 : -1;
    if (weir_run(o->r, &c, &res, &o->err))
        return -1;
    uint64_t each = c.block * c.batch * (c.mode == MODE_PINGPONG ? 2 : 1), want = c.iterations * each;
    if (res.initiator && (res.bytes != res.ops * each || (!c.duration && res.bytes != want))) {
        fprintf(stderr, "%s: case %u moved %llu bytes, not %llu\n", o->fabric, c.index, (unsigned long long)res.bytes, (unsigned long long)want);
        return -1;
    }
    return 0;
}

static void *life(void *arg)
{
    struct one        *o   = arg;
    struct weir_config cfg = {.fabric = o->fabric, .rank = o->rank, .ranks = o->ranks, .cpu = -1, .one_host = 1, .region = REGION, .seed = 7, .control = &o->control, .provider = o->provider};
    cfg.team = o->team, cfg.thread = o->thread;
    if (o->thread)
        cfg.control = team_control(o->team, o->thread);
    if (!strcmp(o->fabric, "ucx") && o->provider)
        cfg.ucx = (struct weir_ucx){.api = !strcmp(o->provider, "am") ? UCX_AM : !strcmp(o->provider, "tag") ? UCX_TAG : UCX_RMA, .in_flight = 16};
    struct weir_flow   targets[MOST];
    struct weir_turn   turns[MOST];
    int                sources[MOST];
    size_t             lens[MOST], at = 0;
    char              *all = malloc(MOST * sizeof o->blob);
    o->failed              = 1;
    describe(o, &cfg, targets, sources, turns);
    int open_failed = weir_open(&cfg, &o->r, &o->err) || weir_address(o->r, o->blob, sizeof o->blob, &o->len, &o->err);
    if (open_failed)
        fprintf(stderr, "%s: %s: %s\n", o->fabric, o->err.op, o->err.text), exit(2);
    pthread_barrier_wait(o->meet);
    for (int i = 0; i < o->ranks; i++) {
        lens[i] = o->all[i].len;
        memcpy(all + at, o->all[i].blob, lens[i]);
        at += lens[i];
    }
    int rc = weir_connect(o->r, all, lens, 5000000000, &o->err);
    free(all);
    for (size_t i = 0; i < (o->ranks == 2 ? NCASES : NMANY) && !rc; i++) {
        const struct weir_case *c = o->ranks == 2 ? &cases[i] : &many[i];
        if (c->op == OP_WRITE || cfg.ucx.api == UCX_RMA) /* messages carry writes only */
            rc = run(o, c);
    }
    if (!rc)
        rc = weir_close(o->r, 3000000000, &o->err);
    if (rc) {
        for (int i = 0; i < o->ranks; i++)
            if (i != o->rank)
                atomic_store(o->all[i].team ? &o->all[i].team->control->abort : &o->all[i].control.abort, 1);
        return NULL;
    }
    o->failed = 0;
    return NULL;
}

/* NAME or NAME:PROVIDER */
static void name(struct one *o, const char *fabric)
{
    snprintf(o->fabric, sizeof o->fabric, "%s", fabric);
    char *colon = strchr(o->fabric, ':');
    if (colon)
        *colon = 0, o->provider = colon + 1;
}

static void launch(const char *fabric, int ranks, int corrupt, struct one o[MOST])
{
    pthread_barrier_t meet;
    pthread_t         t[MOST];
    memset(o, 0, MOST * sizeof *o);
    pthread_barrier_init(&meet, NULL, (unsigned)ranks);
    for (int i = 0; i < ranks; i++) {
        name(&o[i], fabric);
        o[i].rank = i, o[i].ranks = ranks, o[i].meet = &meet, o[i].all = o, o[i].corrupt = corrupt && i == 1;
        pthread_create(&t[i], NULL, life, &o[i]);
    }
    for (int i = 0; i < ranks; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_destroy(&meet);
}

/* Two ranks of two threads: four at a time, of which those with one number belong together. */
static void launch_threads(const char *fabric, struct one o[2 * TEAM])
{
    pthread_barrier_t meet;
    pthread_t         t[2 * TEAM];
    struct weir_team *teams[2];
    memset(o, 0, 2 * TEAM * sizeof *o);
    pthread_barrier_init(&meet, NULL, 2 * TEAM);
    for (int i = 0; i < 2 * TEAM; i++) {
        int thread = i / 2, rank = i % 2;
        if (!thread)
            teams[rank] = team_new(TEAM, &o[rank].control);
        name(&o[i], fabric);
        o[i].rank = rank, o[i].ranks = 2, o[i].meet = &meet, o[i].all = &o[2 * thread], o[i].team = teams[rank], o[i].thread = thread;
    }
    for (int i = 0; i < 2 * TEAM; i++)
        pthread_create(&t[i], NULL, life, &o[i]);
    for (int i = 0; i < 2 * TEAM; i++)
        pthread_join(t[i], NULL);
    for (int rank = 0; rank < 2; rank++)
        team_free(teams[rank]);
    pthread_barrier_destroy(&meet);
}

static int report(const char *fabric, const char *what, const struct one *o, int n)
{
    int bad = 0;
    for (int k = 0; k < n; k++)
        if (o[k].failed)
            printf("FAIL %s, %s: rank %d thread %d: %s: %s\n", fabric, what, o[k].rank, o[k].thread, o[k].err.op, o[k].err.text), bad++;
    printf("%s %s, %s\n", bad ? "FAIL" : "ok  ", fabric, what);
    return bad;
}

int main(int argc, char **argv)
{
    static struct one o[2 * TEAM], leaked[MOST]; /* the ranks of the run with a fault are given up, not cleaned up */
    int               bad = 0;
    ceiling_span_ns       = 50000;
    for (int i = 1; i < argc; i++) {
        launch(argv[i], 2, 0, o);
        bad += report(argv[i], "2 ranks", o, 2);
        launch(argv[i], 3, 0, o);
        bad += report(argv[i], "3 ranks", o, 3);
        launch_threads(argv[i], o);
        bad += report(argv[i], "2 ranks of 2 threads", o, 2 * TEAM);
    }
    if (argc > 1) {
        launch(argv[1], 2, 1, leaked);
        if (!leaked[1].failed || !strstr(leaked[1].err.text, "wrong data from rank 0 to rank 1"))
            printf("FAIL a flipped byte went unnoticed: %s\n", leaked[1].err.text), bad++;
        else
            printf("ok   a flipped byte is noticed: %s\n", leaked[1].err.text);
    }
    fflush(stdout);
    _Exit(bad != 0); /* the threads of the ranks given up still run: no leak check over them */
}
