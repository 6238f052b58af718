/* The engine without Go, for the sanitizers: ranks as threads of one process run every operation,
 * mode and verification over the fabrics named: two of them as a pair, three each to each other,
 * and three with the cells of a matrix. A fabric may have a variant: libfabric:PROVIDER, ucx:API,
 * nixl:prepared, nixl:reregister or cuda:ENGINE; and suffixes: +heap: private memory, +hidden:
 * memory that the CPU may not touch (+hidden-source and +hidden-sink: in one region), +sleep: ranks
 * block while they wait, +iov: a message per request, +device, +vmm and +pool: memory of a GPU by
 * allocation method (-source or -sink after them: in one region). */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../loop_ceiling.h"
#include "../loop_contents.h"
#include "../mem_vram.h"
#include "../pattern.h"
#include "../rank.h"
#include "../loop_role.h"
#include "../rank_team.h"
#include "../weir.h"
#include "cases.h"
#include "flows.h"
#include "hidden.h"
#include "memory_test.h"
#include "options_test.h"
#include "parts.h"
#include "ucx_watch.h"

#define TEAM 2

#define FIRST 4096

struct one {
    char fabric[64], options[128];
    const char *way; /* after the colon; NULL: none */
    const struct weir_memory *source, *sink;
    int rank, ranks, sleeps, iov, matrix, corrupt, failed;
    struct weir_control control;
    struct one *all;        /* by rank */
    struct weir_team *team; /* of the two threads of a rank; NULL: single-threaded */
    int thread;
    struct weir_rank *r;
    char blob[65536];
    size_t len;
    pthread_barrier_t *barrier;
    struct weir_err err;
};

/* The last two are those of a sequence; its steps have separate areas. */
#define NFLOWS 4

static void describe(struct one *o, struct weir_config *cfg, struct weir_flows *flows,
                     struct peers p[NFLOWS])
{
    cfg->share = 1;
    cfg->nflows = o->matrix ? NFLOWS : 2;
    for (int op = OP_WRITE; op <= OP_READ; op++) {
        flows[op] = o->matrix ? cells_of(o->rank, op, &p[op]) : flows_of(o->rank, o->ranks, &p[op]);
    }
    for (int i = 2; i < cfg->nflows; i++) {
        flows[i] = cells_of(o->rank, i - 2, &p[i]);
        for (int k = 0; k < flows[i].ntargets; k++) {
            p[i].targets[k].local += AREA * (uint64_t)(i - 1);
            p[i].targets[k].remote += AREA * (uint64_t)(i - 1);
        }
        for (int k = 0; k < flows[i].nsources; k++) {
            p[i].sources[k].offset += AREA * (uint64_t)(i - 1);
        }
        flows[i].own.from += AREA * (uint64_t)(i - 1);
        flows[i].own.to += AREA * (uint64_t)(i - 1);
    }
    /* and probes beside the peers' area */
    int targeted = o->matrix || o->ranks > 2 || o->rank == 1;
    cfg->layout = (struct weir_layout){.source = FIRST + AREA * 3,
                                       .first = FIRST,
                                       .sink = AREA * (targeted ? 4 : 3),
                                       .probe = targeted ? AREA * 3 : 0};
}

/* Writes, then reads after a sleep. */
static int play(struct one *o, int reads)
{
    static const int all[] = {0, 1, 2};
    struct weir_step steps[] = {
        {.flows = 2, .op = OP_WRITE, .shards = 1, .members = all, .nmembers = 3},
        {.flows = 3,
         .op = reads ? OP_READ : OP_WRITE,
         .shards = 5,
         .members = all,
         .nmembers = 3,
         .before = 2000000,
         .after = 1000000}};
    struct weir_sequence s = {.steps = steps,
                              .n = 2,
                              .iterations = 4,
                              .warmup = 1,
                              .alone = 3,
                              .alone_warmup = 1,
                              .timeout = 60000000000,
                              .verify = VERIFY_SAMPLE,
                              .corrupt = -1};
    struct weir_play_result out;
    if (!reads) {
        s.n = 1;
    }
    if (weir_play(o->r, &s, &out, &o->err)) {
        return -1;
    }
    for (uint64_t k = 0; k < s.iterations; k++) {
        for (int i = 0; i < s.n; i++) {
            const struct weir_step_times *p = &out.steps[k * (uint64_t)s.n + (uint64_t)i],
                                         *alone =
                                             &out.alone[k % s.alone * (uint64_t)s.n + (uint64_t)i];
            /* receivers initiate reads */
            int begins = (i ? o->rank > 0 : o->rank < 2) || own_cells[o->rank];
            if (p->at < out.starts[k] ||
                (begins ? alone->end <= alone->start || alone->start < alone->at
                        : alone->end != 0) ||
                (begins ? p->start < p->at || p->end < p->start : p->end != 0) ||
                (i && p->at < p[-1].at + steps[i].before)) {
                fprintf(stderr,
                        "%s: rank %d, step %d of iteration %d: at %lld, from %lld to %lld\n",
                        o->fabric, o->rank, i, (int)k, (long long)p->at, (long long)p->start,
                        (long long)p->end);
                return -1;
            }
        }
    }
    return 0;
}

static int run_matrix(struct one *o, const struct weir_case *c, const struct weir_result *res)
{
    uint64_t each = 0;
    for (int to = 0; to < 3; to++) {
        each += cell_bytes(c->op, o->rank, to);
    }
    size_t want = each || own_cells[o->rank] ? c->iterations : 0;
    int bad = res->niterations != want || (each && res->bytes != c->iterations * each);
    for (size_t i = 0; i < res->niterations; i++) {
        bad = bad || res->iterations[i].start > res->iterations[i].end ||
              (i && res->iterations[i].start < res->iterations[i - 1].end);
    }
    if (bad) {
        fprintf(stderr, "%s: rank %d, matrix %u: %zu iterations, %llu bytes\n", o->fabric, o->rank,
                c->index, res->niterations, (unsigned long long)res->bytes);
    }
    return bad ? -1 : 0;
}

static int run(struct one *o, const struct weir_case *plan)
{
    struct weir_result res;
    struct weir_case c = *plan;
    c.timeout = 60000000000;
    c.flows = c.op;
    c.stride = ROOM(c.block * c.batch);
    c.stamp_every = o->matrix || c.index % 2 ? 1 : 16;
    c.corrupt = o->corrupt ? 0 : -1;
    if (weir_run(o->r, &c, &res, &o->err)) {
        return -1;
    }
    if (o->matrix) {
        return run_matrix(o, plan, &res);
    }
    uint64_t each = c.block * c.batch * (c.mode == MODE_PINGPONG ? 2 : 1),
             want = c.iterations * each;
    if (res.initiator && (res.bytes != res.ops * each || (!c.duration && res.bytes != want))) {
        fprintf(stderr, "%s: case %u moved %llu bytes, not %llu\n", o->fabric, c.index,
                (unsigned long long)res.bytes, (unsigned long long)want);
        return -1;
    }
    return 0;
}

static void *life(void *arg)
{
    struct one *o = arg;
    struct weir_config cfg = {.fabric = o->fabric,
                              .rank = o->rank,
                              .ranks = o->ranks,
                              .cpu = -1,
                              .one_host = 1,
                              .seed = 7,
                              .control = &o->control,
                              .options = o->options,
                              .in_flight = 16,
                              .batch = 3,
                              .sleeps = o->sleeps};
    cfg.source = o->source;
    cfg.sink = o->sink;
    cfg.team = o->team;
    cfg.thread = o->thread;
    /* within a process the driver shares memory between GPUs only by descriptors */
    cfg.gpu = cfg.sink == weir_mem_vram(VRAM_VMM) ? (unsigned)o->rank : 0;
    if (o->thread) {
        cfg.control = team_control(o->team, o->thread);
    }
    int messages = !strcmp(o->fabric, "ucx") && o->way;
    int anew = !strcmp(o->fabric, "nixl") && o->way && !strcmp(o->way, "reregister");
    struct peers peers[NFLOWS];
    struct weir_flows flows[NFLOWS];
    cfg.flows = flows;
    size_t lens[MOST], at = 0;
    char *all = malloc(MOST * sizeof o->blob);
    o->failed = 1;
    describe(o, &cfg, flows, peers);
    int open_failed = weir_open(&cfg, &o->r, &o->err) ||
                      weir_address(o->r, o->blob, sizeof o->blob, &o->len, &o->err);
    if (open_failed) {
        fprintf(stderr, "%s: %s: %s\n", o->fabric, o->err.op, o->err.text);
        exit(2);
    }
    pthread_barrier_wait(o->barrier);
    for (int i = 0; i < o->ranks; i++) {
        lens[i] = o->all[i].len;
        memcpy(all + at, o->all[i].blob, lens[i]);
        at += lens[i];
    }
    int rc = weir_connect(o->r, all, lens, 5000000000, &o->err);
    free(all);
    if (!rc && o->matrix) {
        rc = play(o, !messages);
    }
    const struct case_list *plan = o->matrix       ? &matrix_cases
                                   : o->ranks == 2 ? &pair_cases
                                                   : &group_cases;
    for (size_t i = 0; i < plan->n && !rc; i++) {
        struct weir_case c = plan->list[i];
        c.in_flight = anew ? 1 : c.in_flight;
        if (c.op == OP_WRITE || !messages) { /* messages carry writes only */
            rc = run(o, &c);
        }
    }
    if (!rc) {
        rc = weir_close(o->r, 3000000000, &o->err);
    }
    if (rc) {
        for (int i = 0; i < o->ranks; i++) {
            if (i != o->rank) {
                atomic_store(
                    o->all[i].team ? &o->all[i].team->control->abort : &o->all[i].control.abort, 1);
            }
        }
        return NULL;
    }
    o->failed = 0;
    return NULL;
}

static int behind(char *name, const char *what)
{
    char *at = strstr(name, what);
    if (at) {
        memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
    }
    return at != NULL;
}

/* Memory of a GPU: +device, +vmm or +pool, and the region; NULL: none. */
static const struct weir_memory *vram_behind(char *name, const char *region)
{
    static const char *const allocs[] = {"+device", "+vmm", "+pool"};
    char what[24];
    for (int i = 0; i < VRAM_ALLOCS; i++) {
        snprintf(what, sizeof what, "%s%s", allocs[i], region);
        if (behind(name, what)) {
            return weir_mem_vram(i);
        }
    }
    return NULL;
}

/* Parses NAME or NAME:VARIANT and its suffixes. The variant is an API of ucx, a provider of
 * libfabric, or an option of nixl. */
static void name(struct one *o, const char *fabric)
{
    snprintf(o->fabric, sizeof o->fabric, "%s", fabric);
    int source = behind(o->fabric, "+hidden-source"), sink = behind(o->fabric, "+hidden-sink"),
        both = behind(o->fabric, "+hidden");
    int heap = behind(o->fabric, "+heap");
    char *colon;
    const struct weir_memory *from = vram_behind(o->fabric, "-source"),
                             *to = vram_behind(o->fabric, "-sink"),
                             *gpu = vram_behind(o->fabric, "");
    o->source = source || both ? &hidden_memory : heap ? &weir_mem_heap : &weir_mem_dram;
    o->sink = sink || both ? &hidden_memory : heap ? &weir_mem_heap : &weir_mem_dram;
    o->source = from ? from : gpu ? gpu : o->source;
    o->sink = to ? to : gpu ? gpu : o->sink;
    o->sleeps = behind(o->fabric, "+sleep");
    o->iov = behind(o->fabric, "+iov");
    colon = strchr(o->fabric, ':');
    if (colon) {
        *colon = 0;
        o->way = colon + 1;
    }
    if (colon && !strcmp(o->fabric, "ucx")) {
        snprintf(o->options, sizeof o->options, "api=%s\ndatatype=%s\n", o->way,
                 o->iov ? "iov" : "contig");
    } else if (colon && !strcmp(o->fabric, "libfabric")) {
        snprintf(o->options, sizeof o->options, "provider=%s\n", o->way);
    } else if (colon && !strcmp(o->fabric, "cuda")) {
        snprintf(o->options, sizeof o->options, "cuda_engine=%s\nsms=%d\n", o->way,
                 !strcmp(o->way, "sm"));
    } else if (colon) {
        snprintf(o->options, sizeof o->options, "nixl_%s=true\n", o->way);
    }
}

/* corrupt: the rank that flips the first byte that it receives; -1: none. */
static void launch(const char *fabric, int ranks, int matrix, int corrupt, struct one o[MOST])
{
    pthread_barrier_t barrier;
    pthread_t t[MOST];
    memset(o, 0, MOST * sizeof *o);
    pthread_barrier_init(&barrier, NULL, (unsigned)ranks);
    for (int i = 0; i < ranks; i++) {
        name(&o[i], fabric);
        o[i].rank = i;
        o[i].ranks = ranks;
        o[i].barrier = &barrier;
        o[i].all = o;
        o[i].matrix = matrix;
        o[i].corrupt = corrupt == i;
        pthread_create(&t[i], NULL, life, &o[i]);
    }
    for (int i = 0; i < ranks; i++) {
        pthread_join(t[i], NULL);
    }
    pthread_barrier_destroy(&barrier);
}

/* Two ranks of two threads: four at a time; those with the same number belong together. */
static void launch_threads(const char *fabric, struct one o[2 * TEAM])
{
    pthread_barrier_t barrier;
    pthread_t t[2 * TEAM];
    struct weir_team *teams[2];
    memset(o, 0, 2 * TEAM * sizeof *o);
    pthread_barrier_init(&barrier, NULL, 2 * TEAM);
    for (int i = 0; i < 2 * TEAM; i++) {
        int thread = i / 2, rank = i % 2;
        if (!thread) {
            teams[rank] = team_new(TEAM, &o[rank].control);
        }
        name(&o[i], fabric);
        o[i].rank = rank;
        o[i].ranks = 2;
        o[i].barrier = &barrier;
        o[i].all = &o[2 * thread];
        o[i].team = teams[rank];
        o[i].thread = thread;
    }
    for (int i = 0; i < 2 * TEAM; i++) {
        pthread_create(&t[i], NULL, life, &o[i]);
    }
    for (int i = 0; i < 2 * TEAM; i++) {
        pthread_join(t[i], NULL);
    }
    for (int rank = 0; rank < 2; rank++) {
        team_free(teams[rank]);
    }
    pthread_barrier_destroy(&barrier);
}

static int report(const char *fabric, const char *what, const struct one *o, int n)
{
    int bad = 0;
    for (int k = 0; k < n; k++) {
        if (o[k].failed) {
            printf("FAIL %s, %s: rank %d thread %d: %s: %s\n", fabric, what, o[k].rank, o[k].thread,
                   o[k].err.op, o[k].err.text);
            bad++;
        }
    }
    printf("%s %s, %s\n", bad ? "FAIL" : "ok  ", fabric, what);
    return bad;
}

/* Receives of api tag have one size, and the cells of a matrix share a registration. */
static int has_matrix(const char *fabric)
{
    return !strstr(fabric, ":tag") && !strstr(fabric, ":reregister");
}

static int noticed(const struct one *o, const char *words)
{
    int yes = o->failed && strstr(o->err.text, words);
    printf(yes ? "ok   a flipped byte is noticed: %s\n"
               : "FAIL a flipped byte went unnoticed: %s\n",
           o->err.text);
    return !yes;
}

/* LeakSanitizer, if the program is built with it: returns whether it found leaks, which it has
 * reported. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

int main(int argc, char **argv)
{
    /* ranks of a run with a fault are abandoned, not cleaned up */
    static struct one o[2 * TEAM], leaked[MOST], leaked_too[MOST];
    int bad = 0, ucx = 0;
    ceiling_span_ns = 50000;
    bad += memory_tested();
    bad += parts_fail();
    bad += options_tested();
    for (int i = 1; i < argc; i++) {
        ucx |= !strncmp(argv[i], "ucx", 3);
    }
    if (ucx) {
        ucx_watch();
    }
    for (int i = 1; i < argc; i++) {
        launch(argv[i], 2, 0, -1, o);
        bad += report(argv[i], "2 ranks", o, 2);
        launch(argv[i], 3, 0, -1, o);
        bad += report(argv[i], "3 ranks", o, 3);
        if (has_matrix(argv[i])) {
            launch(argv[i], 3, 1, -1, o);
            bad += report(argv[i], "a matrix of 3 ranks", o, 3);
        }
        launch_threads(argv[i], o);
        bad += report(argv[i], "2 ranks of 2 threads", o, 2 * TEAM);
    }
    if (ucx) {
        bad += ucx_watched();
    }
    if (__lsan_do_recoverable_leak_check) {
        bad += __lsan_do_recoverable_leak_check();
    }
    if (argc > 1) {
        launch(argv[1], 2, 0, 1, leaked);
        bad += noticed(&leaked[1], "wrong data from rank 0 to rank 1");
    }
    if (argc > 1 && has_matrix(argv[1])) {
        launch(argv[1], 3, 1, 2, leaked_too);
        bad += noticed(
            &leaked_too[2],
            "wrong data from rank 0 to rank 2 after an untimed pass: byte 0 of 1 of their cell");
    }
    fflush(stdout);
    /* threads of abandoned ranks still run: leaks were checked before */
    _Exit(bad != 0);
}
