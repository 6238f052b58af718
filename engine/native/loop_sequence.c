/* A sequence of matrices: the ranks of a step synchronise, sleep, start at a common instant, move,
 * synchronise again, and go on to their next step. Steps without a common rank do not wait for each
 * other. Before that, each step runs alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop_contents.h"
#include "loop_matrix.h"
#include "sys_processor.h"
#include "rank.h"
#include "loop_sequence.h"
#include "rank_thread.h"

/* Cases of a launch count from 0; contents of steps use numbers that no case has. */
#define FIRST_STEP ((uint32_t)1 << 20)

struct part { /* this rank's part of a step */
    const struct weir_step *step;
    struct weir_case c;
    struct weir_role o;
    struct weir_loop l;
    struct weir_traffic t;
};

static int make_parts(struct weir_rank *r, const struct weir_sequence *s, struct part *parts)
{
    for (int i = 0; i < s->n; i++) {
        const struct weir_step *step = &s->steps[i];
        struct part *p = &parts[i];
        p->step = step;
        p->l = (struct weir_loop){.r = r};
        p->c = (struct weir_case){.index = FIRST_STEP + (uint32_t)i,
                                  .flows = step->flows,
                                  .op = step->op,
                                  .mode = MODE_MATRIX,
                                  .verify = s->verify,
                                  .block = 1,
                                  .batch = 1,
                                  .slots = 1,
                                  .shards = step->shards,
                                  .corrupt = -1};
        role_of(r, &p->c, &p->o);
        int rc = role_fits(r, &p->o);
        if (rc < 0) {
            return rc;
        }
        if ((rc = traffic_make(&p->t, &p->l, &p->c, &p->o)) < 0) {
            return rc;
        }
    }
    return 0;
}

/* Runs one step among the ranks of g. */
static int take_step(struct weir_rank *r, struct part *p, const struct weir_group *g,
                     int64_t before, int64_t after, struct weir_step_times *out)
{
    int64_t posted, at;
    int rc;
    if ((rc = rank_barrier_group(r, g, matrix_lead(g->n) + before, &at)) < 0) {
        return rc;
    }
    if ((rc = rank_wait_until(r, at)) < 0) {
        return rc;
    }
    *out = (struct weir_step_times){.at = at};
    if (traffic_any(&p->t)) {
        out->start = weir_monotonic();
        if ((rc = traffic_move(&p->t, 0, &posted)) < 0) {
            return rc;
        }
        out->end = weir_monotonic();
    }
    /* a rank that only receives makes progress until all data is there, and then goes on */
    if ((rc = rank_barrier_group(r, g, after, &at)) < 0) {
        return rc;
    }
    return after ? rank_wait_until(r, at) : 0;
}

/* Runs all steps once, one at a time or overlapping. A step that runs alone for comparison is
 * preceded by the same sleep: a core is slower after it, which the concurrent patterns do not
 * cause. */
static int run_pass(struct weir_rank *r, const struct weir_sequence *s, struct part *parts,
                    int alone, int sleeping, struct weir_step_times *out)
{
    for (int i = 0; i < s->n; i++) {
        const struct weir_step *step = &s->steps[i];
        struct weir_group g =
            alone ? r->barrier.all : (struct weir_group){step->members, step->nmembers};
        out[i] = (struct weir_step_times){0};
        int64_t before = alone ? step->alone_before : step->before;
        int64_t after = alone ? step->alone_after : step->after;
        int rc =
            g.n ? take_step(r, &parts[i], &g, sleeping ? before : 0, sleeping ? after : 0, &out[i])
                : 0;
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Runs n passes; out has space for one, or for all of them if they are kept. */
static int run_passes(struct weir_rank *r, const struct weir_sequence *s, struct part *parts,
                      int alone, uint64_t n, int kept, struct weir_step_times *out)
{
    int rc = 0;
    rank_phase(r, kept ? PH_RUN : PH_WARMUP, n);
    for (uint64_t k = 0; k < n && rc >= 0; k++) {
        int64_t at;
        if ((rc = rank_barrier(r, matrix_lead(r->cfg.ranks), &at)) < 0) {
            return rc;
        }
        if (kept && !alone) {
            r->sequence->starts[k] = at;
        }
        rc = run_pass(r, s, parts, alone, kept, out + (kept ? k * (uint64_t)s->n : 0));
        atomic_store_explicit(&r->cfg.control->done, k + 1, memory_order_relaxed);
    }
    return rc < 0 ? rc : rank_barrier(r, 0, NULL);
}

static size_t received(const struct part *p)
{
    size_t n = p->o.own.bytes;
    if (p->c.op == OP_READ) {
        for (int k = 0; k < p->o.ntargets; k++) {
            n += p->o.targets[k].bytes;
        }
    } else {
        for (int k = 0; k < p->o.nsources; k++) {
            n += p->o.sources[k].bytes;
        }
    }
    return n;
}

static int check(struct weir_rank *r, const struct weir_sequence *s, struct part *parts,
                 uint64_t pass, int timed)
{
    int64_t flip = s->corrupt_timed == timed ? s->corrupt : -1;
    for (int i = 0; i < s->n; i++) {
        struct part *p = &parts[i];
        p->c.corrupt = flip;
        p->c.corrupt_timed = timed;
        flip = flip < 0 ? -1 : flip - (int64_t)received(p);
        int rc = contents_check(r, &p->c, &p->o, p->c.op == OP_READ && timed ? PASS_VERIFY : pass,
                                timed, s->iterations);
        if (rc == -EBADMSG && r->err) {
            size_t n = strlen(r->err->text);
            snprintf(r->err->text + n, sizeof r->err->text - n, ", in pattern %d of the sequence",
                     i);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int prepare(struct weir_rank *r, const struct weir_sequence *s, struct part *parts,
                   uint64_t pass)
{
    int rc = 0;
    for (int i = 0; i < s->n && rc >= 0; i++) {
        rc = contents_prepare(r, &parts[i].c, &parts[i].o, pass);
    }
    return rc;
}

/* As for a case: PASS_VERIFY comes last, since reads find it at their source afterwards. */
static int verify(struct weir_rank *r, const struct weir_sequence *s, struct part *parts)
{
    uint64_t passes = s->verify == VERIFY_FULL ? s->alone : s->verify == VERIFY_SAMPLE;
    int rc;
    for (uint64_t i = passes; i-- > 0;) {
        uint64_t pass = i ? PASS_FULL + i : PASS_VERIFY;
        if ((rc = prepare(r, s, parts, pass)) < 0) {
            return rc;
        }
        if ((rc = run_passes(r, s, parts, 1, 1, 0, r->sequence->played)) < 0) {
            return rc;
        }
        rank_phase(r, PH_VERIFY, 0);
        if ((rc = check(r, s, parts, pass, 0)) < 0) {
            return rc;
        }
    }
    return passes ? 0 : prepare(r, s, parts, PASS_VERIFY);
}

/* Converts times of this rank's clock to that of rank 0. */
static void convert(struct weir_rank *r, struct weir_step_times *steps, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (steps[i].at) {
            steps[i].at -= r->offset.ahead;
        }
        if (steps[i].end) {
            steps[i].start -= r->offset.ahead;
            steps[i].end -= r->offset.ahead;
        }
    }
}

static int play(struct weir_rank *r, const struct weir_sequence *s, struct part *parts)
{
    struct weir_step_times *loaded = r->sequence->played + s->alone * (uint64_t)s->n;
    struct processor_span span;
    int rc;
    if ((rc = rank_compare_clocks(r, 0)) < 0) {
        return rc;
    }
    if ((rc = make_parts(r, s, parts)) < 0) {
        return rc;
    }
    if ((rc = verify(r, s, parts)) < 0) {
        return rc;
    }
    processor_open(&span);
    processor_begin(&span);
    /* each step alone follows the same steps as in the sequence, so that caches are as cold */
    if ((rc = run_passes(r, s, parts, 1, s->alone_warmup, 0, loaded)) < 0) {
        return rc;
    }
    if ((rc = run_passes(r, s, parts, 1, s->alone, 1, r->sequence->played)) < 0) {
        return rc;
    }
    if ((rc = run_passes(r, s, parts, 0, s->warmup, 0, loaded)) < 0) {
        return rc;
    }
    for (int i = 0; i < s->n; i++) {
        if ((rc = contents_renew(r, &parts[i].c, &parts[i].o)) < 0) {
            return rc;
        }
    }
    if ((rc = run_passes(r, s, parts, 0, s->iterations, 1, loaded)) < 0) {
        return rc;
    }
    processor_end(&span, &r->sequence->processor);
    if ((rc = rank_compare_clocks(r, 1)) < 0) {
        return rc;
    }
    r->sequence->bound = r->offset.bound;
    rank_phase(r, PH_VERIFY, 0);
    if (s->verify != VERIFY_NONE) {
        if ((rc = check(r, s, parts, PASS_TIMED, 1)) < 0) {
            return rc;
        }
    }
    convert(r, r->sequence->played, s->alone * (uint64_t)s->n);
    convert(r, loaded, s->iterations * (uint64_t)s->n);
    for (uint64_t k = 0; k < s->iterations; k++) {
        r->sequence->starts[k] -= r->offset.ahead;
    }
    return rank_barrier(r, 0, NULL);
}

void sequence_drop(struct weir_rank *r)
{
    if (!r->sequence) {
        return;
    }
    free(r->sequence->played);
    free(r->sequence->starts);
    free(r->sequence);
    r->sequence = NULL;
}

/* Allocates the record of a sequence. */
static int sequence_make(struct weir_rank *r, const struct weir_sequence *s)
{
    struct sequence_state *kept = calloc(1, sizeof *kept);
    sequence_drop(r);
    if (!kept) {
        return -ENOMEM;
    }
    r->sequence = kept;
    kept->nalone = s->alone;
    kept->nsteps = s->n;
    kept->played = calloc((s->alone + s->iterations) * (uint64_t)s->n + 1, sizeof *kept->played);
    kept->starts = calloc(s->iterations + 1, sizeof *kept->starts);
    return kept->played && kept->starts ? 0 : -ENOMEM;
}

static int play_sequence(struct weir_rank *r, const struct weir_sequence *s,
                         struct weir_play_result *out)
{
    struct part *parts = calloc((size_t)s->n + 1, sizeof *parts);
    if (sequence_make(r, s) < 0 || !parts) {
        return rank_fail(r, -ENOMEM, "start", -1, "no memory for the %d patterns of a sequence",
                         s->n);
    }
    weir_clock_calibrate(&r->clk);
    r->wait.limit = s->timeout;
    r->wait.deadline = weir_monotonic() + s->timeout;
    int rc = play(r, s, parts);
    if (rc < 0) {
        return rc; /* not freed: the fabric may still write to the cells; the process ends */
    }
    for (int i = 0; i < s->n; i++) {
        free(parts[i].t.cells);
    }
    free(parts);
    *out = (struct weir_play_result){
        r->sequence->played, r->sequence->played + s->alone * (uint64_t)s->n, r->sequence->starts};
    return 0;
}

int sequence_take_over(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o)
{
    struct weir_rank *r = l->r;
    const struct weir_step_times *p = r->sequence->played + (c->sequence_step - 1);
    uint64_t bytes = 0;
    for (int k = 0; k < o->ntargets; k++) {
        bytes += o->targets[k].bytes;
    }
    int rc = matrix_reset(r);
    if (rc < 0) {
        return rc;
    }
    loop_begin(l, c, bytes, r->sequence->nalone);
    hist_reset(r->rec.hist);
    for (uint64_t i = 0; i < r->sequence->nalone && (o->ntargets || o->own.bytes);
         i++, p += r->sequence->nsteps) {
        /* loop_matrix_result subtracts the offset again */
        matrix_record(r, i, r->sequence->nalone, p->start + r->offset.ahead,
                      p->end + r->offset.ahead);
        hist_record(r->rec.hist, p->end - p->start);
    }
    l->done = r->sequence->nalone;
    return 0;
}

struct play_args {
    const struct weir_sequence *s;
    struct weir_play_result *out;
};

static int do_play(struct weir_rank *r, void *arg)
{
    struct play_args *a = arg;
    return play_sequence(r, a->s, a->out);
}

int weir_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_play_result *out,
              struct weir_err *err)
{
    memset(out, 0, sizeof *out);
    return rank_call_and_progress(r, do_play, &(struct play_args){s, out}, err);
}
