/* A sequence of matrices: the ranks of a step meet, sleep, begin at a common instant,
 * move and meet again, and go on to the next step that they are in. Steps without a
 * rank in common do not wait for each other. Before that each step is moved alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"
#include "matrix.h"
#include "processor.h"

/* Cases of a launch count from 0; the contents of a step are of no case's. */
#define FIRST_STEP ((uint32_t)1 << 20)

struct part { /* what this rank has to do with a step */
    const struct weir_step *step;
    struct weir_case        c;
    struct weir_role        o;
    struct weir_loop        l;
    struct weir_traffic     t;
};

static int make_parts(struct weir_rank *r, const struct weir_sequence *s, struct part *parts)
{
    for (int i = 0; i < s->n; i++) {
        const struct weir_step *step = &s->steps[i];
        struct part            *p    = &parts[i];
        p->step                      = step;
        p->l                         = (struct weir_loop){.r = r};
        p->c = (struct weir_case){.index = FIRST_STEP + (uint32_t)i, .flows = step->flows,
                                  .op = step->op, .mode = MODE_MATRIX, .verify = s->verify,
                                  .block = 1, .batch = 1, .slots = 1, .shards = step->shards,
                                  .corrupt = -1};
        role_of(r, &p->c, &p->o);
        int rc = role_fits(r, &p->o);
        if (rc < 0 || (rc = traffic_make(&p->t, &p->l, &p->c, &p->o)) < 0)
            return rc;
    }
    return 0;
}

/* One step, of the ranks of g, which all are in it. */
static int take_step(struct weir_rank *r, struct part *p, const struct weir_group *g,
                     int64_t before, int64_t after, struct weir_played *out)
{
    int64_t posted, at;
    int     rc;
    if ((rc = rank_meet_group(r, g, matrix_lead(g->n) + before, &at)) < 0 ||
        (rc = rank_wait_until(r, at)) < 0)
        return rc;
    *out = (struct weir_played){.at = at};
    if (traffic_any(&p->t)) {
        out->start = weir_monotonic();
        if ((rc = traffic_move(&p->t, 0, &posted)) < 0)
            return rc;
        out->end = weir_monotonic();
    }
    /* who receives only must serve until all is there, and is free for the next step then */
    if ((rc = rank_meet_group(r, g, after, &at)) < 0)
        return rc;
    return after ? rank_wait_until(r, at) : 0;
}

/* A walk through all steps, one at a time or as the sequence has them. A step that is moved
 * alone to be compared with has slept as long before it: a core that slept is slower, which is
 * no matter of the patterns around it. */
static int walk(struct weir_rank *r, const struct weir_sequence *s, struct part *parts, int alone,
                int sleeping, struct weir_played *out)
{
    for (int i = 0; i < s->n; i++) {
        const struct weir_step *step = &s->steps[i];
        struct weir_group g = alone ? r->all : (struct weir_group){step->members, step->nmembers};
        out[i]              = (struct weir_played){0};
        int64_t before      = alone ? step->alone_before : step->before;
        int64_t after       = alone ? step->alone_after : step->after;
        int rc              = g.n ? take_step(r, &parts[i], &g, sleeping ? before : 0,
                                              sleeping ? after : 0, &out[i])
                                  : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* n walks; out has room for one, or for all of them if they are kept. */
static int walks(struct weir_rank *r, const struct weir_sequence *s, struct part *parts, int alone,
                 uint64_t n, int kept, struct weir_played *out)
{
    int rc = 0;
    rank_phase(r, kept ? PH_RUN : PH_WARMUP, n);
    for (uint64_t k = 0; k < n && rc >= 0; k++) {
        int64_t at;
        if ((rc = rank_barrier(r, matrix_lead(r->cfg.ranks), &at)) < 0)
            return rc;
        if (kept && !alone)
            r->starts[k] = at;
        rc = walk(r, s, parts, alone, kept, out + (kept ? k * (uint64_t)s->n : 0));
        atomic_store_explicit(&r->cfg.control->done, k + 1, memory_order_relaxed);
    }
    return rc < 0 ? rc : rank_barrier(r, 0, NULL);
}

static size_t received(const struct part *p)
{
    size_t n = p->o.own.bytes;
    if (p->c.op == OP_READ) {
        for (int k = 0; k < p->o.ntargets; k++)
            n += p->o.targets[k].bytes;
    } else {
        for (int k = 0; k < p->o.nsources; k++)
            n += p->o.sources[k].bytes;
    }
    return n;
}

static int check(struct weir_rank *r, const struct weir_sequence *s, struct part *parts,
                 uint64_t pass, int timed)
{
    int64_t flip = s->corrupt_timed == timed ? s->corrupt : -1;
    for (int i = 0; i < s->n; i++) {
        struct part *p   = &parts[i];
        p->c.corrupt     = flip;
        p->c.corrupt_timed = timed;
        flip               = flip < 0 ? -1 : flip - (int64_t)received(p);
        int rc = contents_check(r, &p->c, &p->o, p->c.op == OP_READ && timed ? PASS_VERIFY : pass,
                                timed, s->iterations);
        if (rc == -EBADMSG && r->err) {
            size_t n = strlen(r->err->text);
            snprintf(r->err->text + n, sizeof r->err->text - n, ", in pattern %d of the sequence",
                     i);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int prepare(struct weir_rank *r, const struct weir_sequence *s, struct part *parts,
                   uint64_t pass)
{
    int rc = 0;
    for (int i = 0; i < s->n && rc >= 0; i++)
        rc = contents_prepare(r, &parts[i].c, &parts[i].o, pass);
    return rc;
}

/* As for a case: PASS_VERIFY comes last, it is what a read finds at its source afterwards. */
static int verify(struct weir_rank *r, const struct weir_sequence *s, struct part *parts)
{
    uint64_t passes = s->verify == VERIFY_FULL ? s->alone : s->verify == VERIFY_SAMPLE;
    int      rc;
    for (uint64_t i = passes; i-- > 0;) {
        uint64_t pass = i ? PASS_FULL + i : PASS_VERIFY;
        if ((rc = prepare(r, s, parts, pass)) < 0 ||
            (rc = walks(r, s, parts, 1, 1, 0, r->played)) < 0)
            return rc;
        rank_phase(r, PH_VERIFY, 0);
        if ((rc = check(r, s, parts, pass, 0)) < 0)
            return rc;
    }
    return passes ? 0 : prepare(r, s, parts, PASS_VERIFY);
}

/* The instants of this rank's clock in that of rank 0. */
static void convert(struct weir_rank *r, struct weir_played *steps, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (steps[i].at)
            steps[i].at -= r->ahead;
        if (steps[i].end)
            steps[i].start -= r->ahead, steps[i].end -= r->ahead;
    }
}

static int play(struct weir_rank *r, const struct weir_sequence *s, struct part *parts)
{
    struct weir_played   *loaded = r->played + s->alone * (uint64_t)s->n;
    struct processor_span span;
    int                   rc;
    if ((rc = rank_compare_clocks(r, 0)) < 0 || (rc = make_parts(r, s, parts)) < 0 ||
        (rc = verify(r, s, parts)) < 0)
        return rc;
    processor_open(&span);
    processor_begin(&span);
    /* Each step alone follows those that come before it in the sequence, too: what lies
     * in caches is as old as there. */
    if ((rc = walks(r, s, parts, 1, s->alone_warmup, 0, loaded)) < 0 ||
        (rc = walks(r, s, parts, 1, s->alone, 1, r->played)) < 0 ||
        (rc = walks(r, s, parts, 0, s->warmup, 0, loaded)) < 0)
        return rc;
    for (int i = 0; i < s->n; i++)
        if ((rc = contents_renew(r, &parts[i].c, &parts[i].o)) < 0)
            return rc;
    if ((rc = walks(r, s, parts, 0, s->iterations, 1, loaded)) < 0)
        return rc;
    processor_end(&span, &r->played_processor);
    if ((rc = rank_compare_clocks(r, 1)) < 0)
        return rc;
    r->played_bound = r->bound;
    rank_phase(r, PH_VERIFY, 0);
    if (s->verify != VERIFY_NONE && (rc = check(r, s, parts, PASS_TIMED, 1)) < 0)
        return rc;
    convert(r, r->played, s->alone * (uint64_t)s->n);
    convert(r, loaded, s->iterations * (uint64_t)s->n);
    for (uint64_t k = 0; k < s->iterations; k++)
        r->starts[k] -= r->ahead;
    return rank_barrier(r, 0, NULL);
}

void rank_forget_play(struct weir_rank *r)
{
    free(r->played);
    free(r->starts);
    r->played = NULL;
    r->starts = NULL;
}

int rank_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_playing *out)
{
    struct part *parts = calloc((size_t)s->n + 1, sizeof *parts);
    rank_forget_play(r);
    r->played = calloc((s->alone + s->iterations) * (uint64_t)s->n + 1, sizeof *r->played);
    r->starts = calloc(s->iterations + 1, sizeof *r->starts);
    if (!parts || !r->played || !r->starts)
        return rank_fail(r, -ENOMEM, "start", -1, "no memory for the %d patterns of a sequence",
                         s->n);
    weir_clock_calibrate(&r->clk);
    r->limit    = s->timeout;
    r->deadline = weir_monotonic() + s->timeout;
    int rc      = play(r, s, parts);
    if (rc < 0)
        return rc; /* the fabric may still write to the cells; the process ends anyway */
    for (int i = 0; i < s->n; i++)
        free(parts[i].t.cells);
    free(parts);
    r->nalone = s->alone;
    r->nsteps = s->n;
    *out      = (struct weir_playing){r->played, r->played + s->alone * (uint64_t)s->n, r->starts};
    return 0;
}
