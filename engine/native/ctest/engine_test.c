/* The engine without Go, for the sanitizers: ranks as threads of one process run
 * every operation, mode and verification over the fabrics named, two of them as a
 * pair, three each to each other and three with the cells of a matrix; libfabric:NAME is libfabric
 * over the provider of that name, ucx:NAME is ucx with the API of that name, nixl:prepared and
 * nixl:reregister are nixl with that option, cuda:ENGINE is cuda with that engine; +heap behind it
 * is private memory, +hidden memory that this processor may not touch, +hidden-source and +hidden-
 * sink one region of that, +sleep ranks that sleep while they wait, +iov a message for a request,
 * +device, +vmm and +pool memory of a GPU that is allocated so, -source or -sink behind them one
 * region of that.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ceiling.h"
#include "../contents.h"
#include "../mem_vram.h"
#include "../pattern.h"
#include "../team.h"
#include "../weir.h"
#include "hidden.h"
#include "options_test.h"
#include "parts.h"
#include "ucx_watch.h"

#define MOST 3
#define TEAM 2

static const struct weir_case cases[] = {
    {.index = 0, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_SAMPLE, .block = 1,
     .batch = 1, .iterations = 300, .warmup = 3, .in_flight = 16},
    {.index = 1, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 4097,
     .batch = 3, .iterations = 20, .warmup = 0, .in_flight = 4},
    {.index = 2, .op = OP_READ, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 70000,
     .batch = 2, .iterations = 20, .warmup = 5, .in_flight = 7},
    {.index = 3, .op = OP_WRITE, .mode = MODE_PINGPONG, .verify = VERIFY_SAMPLE, .block = 8,
     .batch = 1, .iterations = 300, .warmup = 10, .in_flight = 1},
    {.index = 4, .op = OP_WRITE, .mode = MODE_PINGPONG, .verify = VERIFY_FULL, .block = 100000,
     .batch = 1, .iterations = 20, .warmup = 1, .in_flight = 1},
    {.index = 5, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_NONE, .block = 1 << 20,
     .batch = 1, .iterations = 30, .warmup = 1, .in_flight = 16},
};
#define NCASES (sizeof cases / sizeof *cases)

/* Of three ranks: what needs no pair, from every rank to every other. */
static const struct weir_case many[] = {
    {.index = 0, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 4097,
     .batch = 3, .iterations = 20, .warmup = 2, .in_flight = 4},
    {.index = 1, .op = OP_READ, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 70000,
     .batch = 1, .iterations = 20, .warmup = 5, .in_flight = 7},
    {.index = 2, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 5000,
     .batch = 2, .iterations = 50, .in_flight = 5, .slots = 9},
    {.index = 3, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 999,
     .batch = 2, .iterations = 5, .in_flight = 5, .slots = 3, .zeros = 1, .duration = 3000000},
};
#define NMANY (sizeof many / sizeof *many)

/* A matrix of three ranks, row by row: rank 0 sends to both, rank 1 to one, rank 2 to
 * none. Reads of it are initiated by who receives. Ranks 1 and 2 have own cells. */
static const uint64_t cells[3][3] = {{0, 70001, 1}, {0, 0, 3 << 20}, {0, 0, 0}};
static const uint64_t own_cells[3] = {0, (600 << 10) + 1, 3};
static const struct weir_case matrices[] = {
    {.index = 0, .op = OP_WRITE, .mode = MODE_MATRIX, .verify = VERIFY_FULL, .block = 70001,
     .batch = 1, .iterations = 6, .warmup = 2, .shards = 1},
    {.index = 1, .op = OP_READ, .mode = MODE_MATRIX, .verify = VERIFY_FULL, .block = 1, .batch = 1,
     .iterations = 6, .warmup = 2, .shards = 3},
    {.index = 2, .op = OP_WRITE, .mode = MODE_MATRIX, .verify = VERIFY_SAMPLE, .block = 24577,
     .batch = 1, .iterations = 6, .shards = 300},
};
#define NMATRICES (sizeof matrices / sizeof *matrices)
#define AREA ((uint64_t)4 << 20) /* more than the cells of a rank take, or its shares */
#define FIRST 4096
#define ROOM(n) (((n) + 127) / 128 * 128)

struct one {
    char                fabric[64], options[128];
    const char         *way; /* behind the colon; NULL: there is none */
    const struct weir_memory *source, *sink;
    int                 rank, ranks, sleeps, iov, matrix, corrupt, failed;
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

struct peers { /* lists of a rank, for one op */
    struct weir_flow   targets[MOST];
    struct weir_source sources[MOST];
    struct weir_turn   turns[MOST];
};

/* Lists of who moves to whom: the first of two to the second, or each of three to
 * the two others. Links are probed in the order of initiators. */
static struct weir_flows flows_of(int self, int ranks, struct peers *p)
{
    struct weir_flows f = {.targets = p->targets, .sources = p->sources, .turns = p->turns};
    if (ranks == 2) {
        p->targets[0] = (struct weir_flow){.peer = 1, .buffer = 0};
        p->sources[0] = (struct weir_source){.peer = 0};
        p->turns[0]   = (struct weir_turn){1 - self, self == 0};
        f.ntargets = self == 0, f.nsources = self == 1, f.nturns = 1;
        return f;
    }
    for (int k = 0; k < 2; k++) {
        int to        = (self + 1 + k) % 3;
        p->targets[k] = (struct weir_flow){.peer = to, .buffer = self < to ? self : self - 1};
        p->sources[k] = (struct weir_source){.peer = k < self ? k : k + 1};
    }
    for (int i = 0; i < 3; i++)
        if (i == self || (i + 1) % 3 == self)
            p->turns[f.nturns++] = (struct weir_turn){i == self ? (i + 1) % 3 : i, i == self};
    f.ntargets = f.nsources = 2;
    return f;
}

static uint64_t cell(int op, int initiator, int target)
{
    return op == OP_WRITE ? cells[initiator][target] : cells[target][initiator];
}

/* The cells with their places at both ends. */
static struct weir_flows cells_of(int self, int op, struct peers *p)
{
    struct weir_flows f = {.targets = p->targets, .sources = p->sources, .turns = p->turns};
    uint64_t          local = 0, exposed = 0;
    for (int to = 0; to < 3; to++) {
        uint64_t remote = 0, n = cell(op, self, to);
        for (int before = 0; before < self; before++)
            remote += ROOM(cell(op, before, to));
        if (n)
            p->targets[f.ntargets++] = (struct weir_flow){.peer = to, .bytes = n, .local = local,
                                                          .remote = remote};
        local += ROOM(n);
        if ((n = cell(op, to, self)))
            p->sources[f.nsources++] = (struct weir_source){.peer = to, .bytes = n,
                                                            .offset = exposed};
        exposed += ROOM(n);
    }
    f.own = (struct weir_own){own_cells[self], local, exposed};
    for (int i = 0; i < 3; i++) {
        int best = -1;
        for (int to = 0; to < 3; to++)
            if (cell(op, i, to) > (best < 0 ? 0 : cell(op, i, best)))
                best = to;
        if (best >= 0 && (i == self || best == self))
            p->turns[f.nturns++] = (struct weir_turn){i == self ? best : i, i == self};
    }
    return f;
}

/* The last two are those of a sequence, whose steps have places of their own. */
#define NFLOWS 4

static void describe(struct one *o, struct weir_config *cfg, struct weir_flows *flows,
                     struct peers p[NFLOWS])
{
    cfg->share  = 1;
    cfg->nflows = o->matrix ? NFLOWS : 2;
    for (int op = OP_WRITE; op <= OP_READ; op++)
        flows[op] = o->matrix ? cells_of(o->rank, op, &p[op]) : flows_of(o->rank, o->ranks, &p[op]);
    for (int i = 2; i < cfg->nflows; i++) {
        flows[i] = cells_of(o->rank, i - 2, &p[i]);
        for (int k = 0; k < flows[i].ntargets; k++)
            p[i].targets[k].local += AREA * (uint64_t)(i - 1),
                p[i].targets[k].remote += AREA * (uint64_t)(i - 1);
        for (int k = 0; k < flows[i].nsources; k++)
            p[i].sources[k].offset += AREA * (uint64_t)(i - 1);
        flows[i].own.from += AREA * (uint64_t)(i - 1), flows[i].own.to += AREA * (uint64_t)(i - 1);
    }
    /* and probes beside what peers have */
    int targeted = o->matrix || o->ranks > 2 || o->rank == 1;
    cfg->layout  = (struct weir_layout){.source = FIRST + AREA * 3, .first = FIRST,
                                        .sink = AREA * (targeted ? 4 : 3),
                                        .probe = targeted ? AREA * 3 : 0};
}

/* Writes, then reads after a sleep. */
static int play(struct one *o, int reads)
{
    static const int      all[] = {0, 1, 2};
    struct weir_step      steps[] = {{.flows = 2, .op = OP_WRITE, .shards = 1, .members = all,
                                      .nmembers = 3},
                                     {.flows = 3, .op = reads ? OP_READ : OP_WRITE, .shards = 5,
                                      .members = all, .nmembers = 3, .before = 2000000,
                                      .after = 1000000}};
    struct weir_sequence  s = {.steps = steps, .n = 2, .iterations = 4, .warmup = 1, .alone = 3,
                               .alone_warmup = 1, .timeout = 60000000000, .verify = VERIFY_SAMPLE,
                               .corrupt = -1};
    struct weir_playing   out;
    if (!reads)
        s.n = 1;
    if (weir_play(o->r, &s, &out, &o->err))
        return -1;
    for (uint64_t k = 0; k < s.iterations; k++)
        for (int i = 0; i < s.n; i++) {
            const struct weir_played *p = &out.steps[k * (uint64_t)s.n + (uint64_t)i],
                                     *alone = &out.alone[k % s.alone * (uint64_t)s.n + (uint64_t)i];
            /* who receives reads */
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
    return 0;
}

static int run_matrix(struct one *o, const struct weir_case *c, const struct weir_result *res)
{
    uint64_t each = 0;
    for (int to = 0; to < 3; to++)
        each += cell(c->op, o->rank, to);
    size_t want = each || own_cells[o->rank] ? c->iterations : 0;
    int    bad  = res->niterations != want || (each && res->bytes != c->iterations * each);
    for (size_t i = 0; i < res->niterations; i++)
        bad = bad || res->iterations[i].start > res->iterations[i].end ||
              (i && res->iterations[i].start < res->iterations[i - 1].end);
    if (bad)
        fprintf(stderr, "%s: rank %d, matrix %u: %zu iterations, %llu bytes\n", o->fabric, o->rank,
                c->index, res->niterations, (unsigned long long)res->bytes);
    return bad ? -1 : 0;
}

static int run(struct one *o, const struct weir_case *plan)
{
    struct weir_result res;
    struct weir_case   c = *plan;
    c.timeout            = 60000000000;
    c.flows              = c.op;
    c.stride             = ROOM(c.block * c.batch);
    c.every              = o->matrix || c.index % 2 ? 1 : 16;
    c.corrupt            = o->corrupt ? 0 : -1;
    if (weir_run(o->r, &c, &res, &o->err))
        return -1;
    if (o->matrix)
        return run_matrix(o, plan, &res);
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
    struct one        *o   = arg;
    struct weir_config cfg = {.fabric = o->fabric, .rank = o->rank, .ranks = o->ranks, .cpu = -1,
                              .one_host = 1, .seed = 7, .control = &o->control,
                              .options = o->options, .in_flight = 16, .batch = 3,
                              .sleeps = o->sleeps};
    cfg.source = o->source, cfg.sink = o->sink;
    cfg.team = o->team, cfg.thread = o->thread;
    /* within a process the driver shares memory between GPUs by descriptors only */
    cfg.gpu = cfg.sink == weir_mem_vram(VRAM_VMM) ? (unsigned)o->rank : 0;
    if (o->thread)
        cfg.control = team_control(o->team, o->thread);
    int messages = !strcmp(o->fabric, "ucx") && o->way;
    int anew     = !strcmp(o->fabric, "nixl") && o->way && !strcmp(o->way, "reregister");
    struct peers       peers[NFLOWS];
    struct weir_flows  flows[NFLOWS];
    cfg.flows = flows;
    size_t             lens[MOST], at = 0;
    char              *all = malloc(MOST * sizeof o->blob);
    o->failed              = 1;
    describe(o, &cfg, flows, peers);
    int open_failed = weir_open(&cfg, &o->r, &o->err) ||
                      weir_address(o->r, o->blob, sizeof o->blob, &o->len, &o->err);
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
    if (!rc && o->matrix)
        rc = play(o, !messages);
    const struct weir_case *plan = o->matrix ? matrices : o->ranks == 2 ? cases : many;
    for (size_t i = 0; i < (o->matrix ? NMATRICES : o->ranks == 2 ? NCASES : NMANY) && !rc; i++) {
        struct weir_case c = plan[i];
        c.in_flight        = anew ? 1 : c.in_flight;
        if (c.op == OP_WRITE || !messages) /* messages carry writes only */
            rc = run(o, &c);
    }
    if (!rc)
        rc = weir_close(o->r, 3000000000, &o->err);
    if (rc) {
        for (int i = 0; i < o->ranks; i++)
            if (i != o->rank)
                atomic_store(
                    o->all[i].team ? &o->all[i].team->control->abort : &o->all[i].control.abort, 1);
        return NULL;
    }
    o->failed = 0;
    return NULL;
}

static int behind(char *name, const char *what)
{
    char *at = strstr(name, what);
    if (at)
        memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
    return at != NULL;
}

/* Memory of a GPU: +device, +vmm or +pool, and the region; NULL: none. */
static const struct weir_memory *vram_behind(char *name, const char *region)
{
    static const char *const allocs[] = {"+device", "+vmm", "+pool"};
    char                     what[24];
    for (int i = 0; i < VRAM_ALLOCS; i++) {
        snprintf(what, sizeof what, "%s%s", allocs[i], region);
        if (behind(name, what))
            return weir_mem_vram(i);
    }
    return NULL;
}

/* NAME or NAME:WAY, and what is behind it. The way is an API of ucx, a provider of libfabric, or an
 * option of nixl. */
static void name(struct one *o, const char *fabric)
{
    snprintf(o->fabric, sizeof o->fabric, "%s", fabric);
    int   source = behind(o->fabric, "+hidden-source"), sink = behind(o->fabric, "+hidden-sink"),
          both = behind(o->fabric, "+hidden");
    int   heap = behind(o->fabric, "+heap");
    char *colon;
    const struct weir_memory *from = vram_behind(o->fabric, "-source"),
                             *to = vram_behind(o->fabric, "-sink"),
                             *gpu = vram_behind(o->fabric, "");
    o->source = source || both ? &hidden_memory : heap ? &weir_mem_heap : &weir_mem_dram;
    o->sink   = sink || both ? &hidden_memory : heap ? &weir_mem_heap : &weir_mem_dram;
    o->source = from ? from : gpu ? gpu : o->source;
    o->sink   = to ? to : gpu ? gpu : o->sink;
    o->sleeps = behind(o->fabric, "+sleep");
    o->iov    = behind(o->fabric, "+iov");
    if ((colon = strchr(o->fabric, ':')))
        *colon = 0, o->way = colon + 1;
    if (colon && !strcmp(o->fabric, "ucx"))
        snprintf(o->options, sizeof o->options, "api=%s\ndatatype=%s\n", o->way,
                 o->iov ? "iov" : "contig");
    else if (colon && !strcmp(o->fabric, "libfabric"))
        snprintf(o->options, sizeof o->options, "provider=%s\n", o->way);
    else if (colon && !strcmp(o->fabric, "cuda"))
        snprintf(o->options, sizeof o->options, "cuda_engine=%s\nsms=%d\n", o->way,
                 !strcmp(o->way, "sm"));
    else if (colon)
        snprintf(o->options, sizeof o->options, "nixl_%s=true\n", o->way);
}

/* corrupt: the rank that flips the first byte that it receives; -1: none. */
static void launch(const char *fabric, int ranks, int matrix, int corrupt, struct one o[MOST])
{
    pthread_barrier_t meet;
    pthread_t         t[MOST];
    memset(o, 0, MOST * sizeof *o);
    pthread_barrier_init(&meet, NULL, (unsigned)ranks);
    for (int i = 0; i < ranks; i++) {
        name(&o[i], fabric);
        o[i].rank = i, o[i].ranks = ranks, o[i].meet = &meet, o[i].all = o, o[i].matrix = matrix,
        o[i].corrupt = corrupt == i;
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
        o[i].rank = rank, o[i].ranks = 2, o[i].meet = &meet, o[i].all = &o[2 * thread],
        o[i].team = teams[rank], o[i].thread = thread;
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
            printf("FAIL %s, %s: rank %d thread %d: %s: %s\n", fabric, what, o[k].rank, o[k].thread,
                   o[k].err.op, o[k].err.text),
                bad++;
    printf("%s %s, %s\n", bad ? "FAIL" : "ok  ", fabric, what);
    return bad;
}

/* Receives of api tag are of one size, and the cells of a matrix share a registration. */
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

/* A peer that is ahead signals while this rank still makes ready for a ping-pong: a fabric
 * may have that in the peer's line, beside the loops' word. */
static int keeps_signals(void)
{
    /* of two ranks: their slots, and the lines of their messages */
    enum { WORDS = WEIR_LINE / sizeof(uint64_t), LINES = 4 * WORDS };
    static _Atomic uint64_t control[LINES];
    static char             sink[8];
    struct weir_rank       *r = calloc(1, sizeof *r);
    struct weir_case        c = {.block = 8};
    struct weir_role        o = {.from = 1};
    int                     kept;
    r->regions[REGION_CONTROL].base = (char *)control;
    r->regions[REGION_SINK].base    = sink;
    r->cfg.sink                     = &weir_mem_dram;
    r->pings                        = 2 * WEIR_LINE;
    for (uint64_t i = 0; i < LINES; i++)
        atomic_store(&control[i], i + 1);
    kept = !contents_no_ping(r, &c, &o);
    for (uint64_t i = 0; i < LINES; i++)
        kept &= atomic_load(&control[i]) == (i == 3 * WORDS ? 0 : i + 1);
    free(r);
    printf("%s a signal that comes early is kept\n", kept ? "ok  " : "FAIL");
    return !kept;
}

/* A fabric that copies by this processor does not take memory that it may not touch. */
static int refuses_hidden(const char *fabric)
{
    static struct weir_control control;
    struct weir_err            err;
    struct weir_rank          *r;
    struct weir_config cfg = {.fabric = fabric, .ranks = 2, .cpu = -1, .one_host = 1,
                              .control = &control, .source = &weir_mem_dram,
                              .sink = &hidden_memory};
    char               want[WEIR_TEXT];
    snprintf(want, sizeof want, "fabric %s moves host memory only, and kind hidden is none",
             fabric);
    int refused = weir_open(&cfg, &r, &err) < 0 && !strcmp(err.text, want);
    printf("%s %s takes no memory that this processor may not touch\n", refused ? "ok  " : "FAIL",
           fabric);
    return !refused;
}

/* A role that leads out of a region of either end, by one byte or by far. */
static int keeps_within(void)
{
    static struct weir_control control;
    struct weir_err            err     = {0};
    uint64_t                   sinks[] = {1000, 2000};
    struct weir_rank          *r       = calloc(1, sizeof *r);
    struct weir_flow           f       = {.peer = 1, .bytes = 100, .local = 900, .remote = 1900};
    struct weir_source         from    = {.peer = 1, .bytes = 100, .offset = 900};
    struct weir_role           o       = {.targets = &f, .sources = &from, .ntargets = 1,
                                          .nsources = 1,
                                          .own = {.bytes = 100, .from = 900, .to = 900}};
    uint64_t *const edges[] = {&f.local, &f.remote, &from.offset, &o.own.from, &o.own.to};
    r->cfg = (struct weir_config){
        .control = &control, .layout = {.source = 1010, .first = 10, .sink = 1500, .probe = 1000}};
    r->sinks = sinks;
    r->err   = &err;
    int good = role_fits(r, &o) == 0;
    for (size_t i = 0; i < 2 * sizeof edges / sizeof *edges; i++) {
        uint64_t fits = *edges[i / 2];
        *edges[i / 2] = i % 2 ? UINT64_MAX - 99 : fits + 1;
        good &= role_fits(r, &o) < 0 && strstr(err.text, "the launch was opened for less") != NULL;
        *edges[i / 2] = fits;
        err           = (struct weir_err){0};
    }
    o.initiator = 1;
    o.buffer    = 501; /* more than can be probed with */
    good &= role_fits(r, &o) < 0;
    free(r);
    printf("%s a case keeps within its regions\n", good ? "ok  " : "FAIL");
    return !good;
}

/* Between any two kinds, more than a piece at a time. */
static int copies_between_kinds(void)
{
    const struct weir_memory *kinds[] = {&weir_mem_dram, &weir_mem_heap, &hidden_memory};
    const size_t              n       = 40001;
    int                       bad     = 0;
    for (int i = 0; i < 9; i++) {
        struct weir_region from, to;
        struct weir_err    err   = {0};
        int64_t            wrong = 0, torn = 0;
        if (kinds[i / 3]->alloc(n + 1, PAGES_DEFAULT, &from, &err) < 0 ||
            kinds[i % 3]->alloc(n + 1, PAGES_DEFAULT, &to, &err) < 0)
            return 1;
        from.kind->fill(from.base, n + 1, 5, &err);
        bad |= memory_copy(to.kind, to.base, from.kind, from.base, n, &err) < 0;
        to.kind->check(to.base, n, 5, &torn, &err);
        to.kind->check(to.base, n + 1, 5, &wrong, &err);
        bad |= torn != -1 || wrong != (int64_t)n;
        from.kind->free(&from);
        to.kind->free(&to);
    }
    printf("%s memory of any kind is copied to any\n", bad ? "FAIL" : "ok  ");
    return bad;
}

/* What one process exports another imports; private memory is not exported. */
static int shares_memory(void)
{
    struct weir_region mine, theirs, own, none;
    struct weir_err    err   = {0};
    int64_t            wrong = 0;
    struct weir_handle handle;
    if (weir_mem_dram.alloc(5000, PAGES_DEFAULT, &mine, &err) < 0 ||
        weir_mem_dram.export(&mine, &handle, &err) < 0 ||
        weir_mem_dram.import(&handle, 5000, &theirs, &err) < 0 ||
        weir_mem_heap.alloc(5000, PAGES_DEFAULT, &own, &err) < 0)
        return 1;
    theirs.kind->fill(theirs.base, 5000, 7, &err);
    mine.kind->check(mine.base, 5000, 7, &wrong, &err);
    int refused = own.kind->export(&own, &handle, &err) < 0 &&
                  strstr(err.text, "kind heap cannot be shared") &&
                  own.kind->import(&handle, 5000, &none, &err) < 0;
    int good    = wrong == -1 && theirs.base != mine.base && refused;
    mine.kind->free(&mine), theirs.kind->free(&theirs), own.kind->free(&own);
    printf("%s memory is shared by its kind\n", good ? "ok  " : "FAIL");
    return !good;
}

/* Bytes of a region whose pages this process has in its page table; -1: the kernel does not say.
 * (The counters of /proc/self/statm are a few pages wrong.) */
static long mapped_bytes(const struct weir_region *g)
{
    long     page = sysconf(_SC_PAGESIZE), mapped = 0;
    int      fd   = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry;
    if (fd < 0)
        return -1;
    for (size_t at = 0; at < g->size; at += (size_t)page) {
        off_t place = (off_t)(((uintptr_t)g->base + at) / (uintptr_t)page * sizeof entry);
        if (pread(fd, &entry, sizeof entry, place) != sizeof entry) {
            mapped = -1;
            break;
        }
        mapped += entry >> 63 ? page : 0; /* the bit of a page that is present */
    }
    close(fd);
    return mapped;
}

/* Work on much memory shows life between its pieces: reserving, bringing in, clearing. */
static int memory_beats(void)
{
    enum { PIECES = 3 };
    const struct weir_memory *kinds[] = {&weir_mem_dram, &weir_mem_heap};
    int                       good    = 1;
    for (int i = 0; i < 2; i++) {
        _Atomic uint64_t   beats = 0;
        struct weir_region g;
        struct weir_err    err = {0};
        weir_memory_beats(&beats);
        if (kinds[i]->alloc(PIECES * WEIR_PIECE, PAGES_DEFAULT, &g, &err) < 0)
            return 1;
        uint64_t allocated = atomic_load(&beats);
        good &= kinds[i]->clear(&g, &err) == 0 && atomic_load(&beats) >= allocated + PIECES;
        uint64_t brought_in = atomic_load(&beats);
        good &= host_clear(&g, &err) == 0 && atomic_load(&beats) >= brought_in + 2 * PIECES;
        weir_memory_beats(NULL);
        kinds[i]->free(&g);
    }
    printf("%s work on much memory shows life\n", good ? "ok  " : "FAIL");
    return !good;
}

/* Memory is imported with as many pages at once as its owner says, and all of it is the same
 * memory. */
static int maps_at_once(void)
{
    enum { SIZE = 32 << 20 };
    struct weir_region mine, theirs;
    struct weir_err    err = {0};
    struct weir_handle handle;
    const size_t       at_once[] = {SIZE, 4 << 20, 0};
    long               mapped[3];
    int                good = 1;
    if (weir_mem_dram.alloc(SIZE, PAGES_DEFAULT, &mine, &err) < 0 ||
        weir_mem_dram.export(&mine, &handle, &err) < 0)
        return 1;
    for (int i = 0; i < 3; i++) {
        handle.at_once = at_once[i];
        if (weir_mem_dram.import(&handle, SIZE, &theirs, &err) < 0)
            return 1;
        mapped[i]             = mapped_bytes(&theirs);
        theirs.base[SIZE - 1] = (char)(5 + i);
        good &= mine.base[SIZE - 1] == 5 + i;
        theirs.kind->free(&theirs);
    }
    mine.kind->free(&mine);
    good &= mapped[0] > SIZE / 2 && mapped[1] >= 4 << 20 && mapped[1] < SIZE / 4;
    good &= mapped[2] < SIZE / 8;
    printf("%s memory is imported with the pages that it says: %ld, %ld and %ld bytes\n",
           good ? "ok  " : "FAIL", mapped[0], mapped[1], mapped[2]);
    return !good;
}

/* Of LeakSanitizer, where the program is built with it: whether it found any, which it has told
 * of. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

int main(int argc, char **argv)
{
    /* the ranks of a run with a fault are given up, not cleaned up */
    static struct one o[2 * TEAM], leaked[MOST], leaked_too[MOST];
    int               bad = 0, ucx = 0;
    ceiling_span_ns       = 50000;
    bad += keeps_within() + copies_between_kinds() + shares_memory() + maps_at_once() +
           memory_beats() + refuses_hidden("shm") + refuses_hidden("tcp");
    bad += keeps_signals();
    bad += parts_fail();
    bad += options_tested();
    for (int i = 1; i < argc; i++)
        ucx |= !strncmp(argv[i], "ucx", 3);
    if (ucx)
        ucx_watch();
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
    if (ucx)
        bad += ucx_watched();
    if (__lsan_do_recoverable_leak_check)
        bad += __lsan_do_recoverable_leak_check();
    if (argc > 1) {
        launch(argv[1], 2, 0, 1, leaked);
        bad += noticed(&leaked[1], "wrong data from rank 0 to rank 1");
    }
    if (argc > 1 && has_matrix(argv[1])) {
        launch(argv[1], 3, 1, 2, leaked_too);
        bad += noticed(&leaked_too[2], "wrong data from rank 0 to rank 2 after an untimed pass: byte 0 of 1 of their cell");
    }
    fflush(stdout);
    /* the threads of the ranks given up still run: leaks were looked for before them */
    _Exit(bad != 0);
}
