/* Runs one case: compare clocks, verify each block, probe the ceilings, warm up, start together,
 * measure, compare clocks, verify again, probe again. The role says what a rank does in it. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "loop_ceiling.h"
#include "loop_contents.h"
#include "gpu_cuda.h"
#include "gpu_nvml.h"
#include "loop.h"
#include "sys_processor.h"
#include "loop_sequence.h"
#include "rank_thread.h"
#include "rank.h"
#include "loop_role.h"

/* Moves every block once. */
static int move_once(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o)
{
    if (c->mode == MODE_MATRIX) {
        return loop_matrix(l, c, o, 1, 0);
    }
    return o->ntargets ? loop_stream(l, c, o, o->slots * (uint64_t)o->ntargets, 0) : 0;
}

/* Moves every block once, with fresh contents, and checks the received ones. */
static int verify_once(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                       struct weir_loop *l, uint64_t pass)
{
    int rc;
    struct weir_case plain = *c;
    if (c->mode == MODE_PINGPONG) {
        plain.mode = MODE_STREAM;
    }
    if ((rc = contents_prepare(r, c, o, pass)) < 0) {
        return rc;
    }
    if ((rc = r->fab->prepost(r, &plain, o)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    if ((rc = move_once(l, &plain, o)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    return contents_check(r, c, o, pass, 0, 0);
}

/* Returns the number of passes for the warm-up: a pass moves every slot of every target's
 * region. */
static uint64_t passes_of(const struct weir_case *c, const struct weir_role *o)
{
    if (c->verify != VERIFY_FULL) {
        return c->verify == VERIFY_SAMPLE;
    }
    return (c->iterations + o->slots - 1) / o->slots;
}

static int verify(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                  struct weir_loop *l)
{
    uint64_t passes = passes_of(c, o);
    int rc;
    rank_phase(r, PH_VERIFY, passes);
    /* PASS_VERIFY comes last: reads find it at the target afterwards */
    for (uint64_t i = passes; i-- > 0;) {
        if ((rc = verify_once(r, c, o, l, i ? PASS_FULL + i : PASS_VERIFY)) < 0) {
            return rc;
        }
        atomic_store(&r->cfg.control->done, passes - i);
    }
    return passes ? 0 : contents_prepare(r, c, o, PASS_VERIFY);
}

static int warm_up(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   struct weir_loop *l)
{
    int rc;
    rank_phase(r, PH_WARMUP, c->warmup);
    if (c->mode == MODE_PINGPONG) {
        if ((rc = contents_no_ping(r, c, o)) < 0) {
            return rc;
        }
    }
    if ((rc = r->fab->prepost(r, c, o)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    if (!c->warmup) {
        return rc;
    }
    if (c->mode == MODE_PINGPONG) {
        return loop_pingpong(l, c, o, c->warmup);
    }
    if (c->mode == MODE_MATRIX) {
        return loop_matrix(l, c, o, c->warmup, 0);
    }
    return o->initiator ? loop_stream(l, c, o, c->warmup, 0) : 0;
}

static int move(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                struct weir_loop *l)
{
    int rc = 0;
    if (c->mode == MODE_PINGPONG) {
        return loop_pingpong(l, c, o, c->iterations);
    }
    if (c->mode == MODE_MATRIX) {
        return loop_matrix(l, c, o, c->iterations, 1);
    }
    if (o->initiator) {
        if ((rc = loop_stream(l, c, o, c->iterations, 1)) < 0) {
            return rc;
        }
    }
    /* after the clock has stopped */
    return o->initiator && c->op == OP_WRITE ? contents_send_counts(r, c, o, l->done) : 0;
}

static int measure(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   struct weir_loop *l, struct weir_result *out)
{
    int rc;
    int64_t start;
    double cpu_s;
    uint64_t switches;
    /* targets of a stream serve until all have ended; other ranks until they have moved their
     * data */
    int serves = !o->initiator && c->mode == MODE_STREAM;
    struct processor_span span;
    processor_open(&span);
    hist_reset(r->rec.hist);
    rank_phase(r, PH_RUN, o->initiator && !c->duration ? c->iterations : 0);
    if ((rc = rank_barrier(r, START_LEAD_NS, &start)) < 0) {
        return rc;
    }
    rank_usage(&cpu_s, &switches);
    processor_begin(&span);
    l->until = c->duration ? weir_ns_to_tick(&r->clk, start + c->duration) : 0;
    if ((rc = move(r, c, o, l)) < 0) {
        return rc;
    }
    if (!serves) {
        processor_end(&span, &out->processor);
    }
    /* a target makes progress in the barrier */
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    if (serves) {
        processor_end(&span, &out->processor);
    }
    rank_usage(&out->cpu_s, &out->switches);
    out->cpu_s -= cpu_s;
    out->switches -= switches;
    return 0;
}

static int renew_and_measure(struct weir_rank *r, const struct weir_case *c,
                             const struct weir_role *o, struct weir_loop *l,
                             struct weir_result *out)
{
    int rc;
    if ((rc = contents_renew(r, c, o)) < 0) {
        return rc;
    }
    if ((rc = r->fab->prepost(r, c, o)) < 0) {
        return rc;
    }
    if ((rc = measure(r, c, o, l, out)) < 0) {
        return rc;
    }
    if ((rc = r->fab->prepost(r, NULL, NULL)) < 0) {
        return rc;
    }
    if ((rc = rank_compare_clocks(r, 1)) < 0) {
        return rc;
    }
    /* threads other than the first take the result in the barrier */
    return r->cfg.one_host ? 0 : rank_barrier(r, 0, NULL);
}

static void fill_result(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                        struct weir_loop *l, struct weir_result *out)
{
    out->initiator = o->initiator;
    out->verified = c->verify != VERIFY_NONE;
    out->clock_ns =
        c->mode == MODE_STREAM && r->fab->caps & CAP_COPIES ? r->clk.serialized_ns : r->clk.cost_ns;
    out->resolution_ns = r->clk.resolution_ns;
    out->bound_ns = (double)(c->sequence_step ? r->sequence->bound : r->offset.bound);
    out->node = r->binding.node;
    out->alloc_s = r->life.alloc + r->life.clear;
    out->register_s = r->life.registering;
    out->connect_s = r->life.imported;
    if (c->mode == MODE_MATRIX) {
        loop_matrix_result(l, out);
    }
    if (!o->initiator) {
        return;
    }
    r->fab->transport(r, o->targets[0].peer, out->transport, sizeof out->transport);
    /* peers on this host and on others may be reached differently */
    for (int i = 0; i < o->ntargets; i++) {
        r->fab->carriers(r, o->targets[i].peer, out->carriers);
    }
    if (l->resolution > 0) {
        out->resolution_ns = l->resolution;
    }
    out->ops = l->done;
    out->bytes = l->done * l->request_bytes;
    out->start = weir_tick_to_ns(&r->clk, l->start) - r->offset.ahead;
    out->end = weir_tick_to_ns(&r->clk, l->end) - r->offset.ahead;
    out->stamp_every = l->stamp_every;
    out->fabric_prep = stage_summary(&r->rec.prep.each, 0);
    out->listed = stage_summary(&r->rec.prep.listed, 0);
    out->registered = stage_summary(&r->rec.prep.registered, 0);
    /* a ping-pong has no window */
    out->prep_s = (c->mode == MODE_PINGPONG ? 0 : l->prep_s) + out->fabric_prep.mean;
    uint64_t later = l->transfer.n;
    stage_record_all(&l->post, r->rec.hist->immediate, l->immediate_ns);
    hist_merge(r->rec.hist);
    out->post = stage_summary(&l->post, 0);
    out->transfer = stage_summary(&l->transfer, l->post.n - later);
    out->counts = r->rec.hist->counts;
    out->ncounts = HIST_COUNTS;
    out->first = r->rec.hist->first;
    out->nfirst = r->rec.hist->n < WEIR_MAX_STAMPS ? r->rec.hist->n : WEIR_MAX_STAMPS;
    out->nlast = hist_order_last(r->rec.hist);
    out->last = r->rec.hist->last;
    for (size_t i = 0; i < r->rec.npoints; i++) {
        r->rec.points[i].time = weir_tick_to_ns(&r->clk, r->rec.points[i].time) - r->offset.ahead;
    }
    out->points = r->rec.points;
    out->npoints = r->rec.npoints;
    double s = (double)(out->end - out->start) / 1e9;
    atomic_store(&r->cfg.control->rate, s > 0 ? (uint64_t)((double)out->bytes / s) : 0);
}

struct weir_gpu_health rank_gpu_health(struct weir_rank *r, struct weir_result *out)
{
    if (!(r->cfg.source->gpu || r->cfg.sink->gpu) || !cuda_current()) {
        return (struct weir_gpu_health){.known = 0};
    }
    memcpy(out->gpu, cuda_current()->bus, sizeof out->gpu);
    struct weir_gpu_health h = weir_gpu_health(out->gpu);
    out->gpu_slowed |= h.slowed;
    return h;
}

/* Probes the ceiling of an initiator and adds the CPU time of its thread. */
static int probe(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                 int again, struct ceiling *copies, struct ceiling *path, struct weir_result *out)
{
    struct processor_span span;
    struct weir_processor_time had;
    processor_open(&span);
    processor_begin(&span);
    int rc = ceiling_probe(r, c, o, again, copies, path);
    processor_end(&span, &had);
    if (o->initiator && had.wait_known) {
        out->probing.wait_known = 1;
        out->probing.wall_s += had.wall_s;
        out->probing.ran_s += had.ran_s;
        out->probing.waited_s += had.waited_s;
    }
    return rc;
}

static int run_case(struct weir_rank *r, const struct weir_case *c, struct weir_result *out)
{
    struct weir_role o;
    struct weir_loop l = {.r = r};
    struct ceiling copies = {.n = 0}, path = {.n = 0};
    int rc;
    role_of(r, c, &o);
    if ((rc = role_fits(r, &o)) < 0) {
        return rc;
    }
    /* again for each case: a longer baseline gives a more accurate rate */
    weir_clock_calibrate(&r->clk);
    r->rec.prep = (struct weir_prep){.prep_time = 0};
    r->wait.limit = c->timeout;
    r->wait.deadline = weir_monotonic() + c->timeout;

    if ((rc = rank_compare_clocks(r, 0)) < 0) {
        return rc;
    }
    if (!c->sequence_step) {
        if ((rc = verify(r, c, &o, &l)) < 0) {
            return rc;
        }
    }
    if (o.initiator) {
        if ((rc = ceiling_choose(r, c, &o, &r->copy)) < 0) {
            return rc;
        }
    }
    if ((rc = probe(r, c, &o, 0, &copies, &path, out)) < 0) {
        return rc;
    }
    struct weir_gpu_health before = rank_gpu_health(r, out);
    /* last, so that the timed part starts with the caches as it leaves them itself */
    if (!c->sequence_step) {
        if ((rc = warm_up(r, c, &o, &l)) < 0) {
            return rc;
        }
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    if ((rc = c->sequence_step ? sequence_take_over(&l, c, &o)
                               : renew_and_measure(r, c, &o, &l, out)) < 0) {
        return rc;
    }
    if (c->sequence_step) {
        out->processor = r->sequence->processor;
    }
    struct weir_gpu_health after = rank_gpu_health(r, out);
    out->gpu_errors = weir_gpu_new_errors(&before, &after);
    fill_result(r, c, &o, &l, out);
    if (!c->sequence_step && c->verify != VERIFY_NONE) {
        if ((rc = contents_check(r, c, &o, c->op == OP_READ ? PASS_VERIFY : PASS_TIMED, 1,
                                 l.done)) < 0) {
            return rc;
        }
    }

    /* ranks that finish early wait here, not in close, which has less time */
    if ((rc = probe(r, c, &o, 1, &copies, &path, out)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    struct ceiling *of = path.n ? &path : &copies;
    out->memcpy_bps = ceiling_rate(&copies);
    out->ceiling_bps = ceiling_rate(of) * r->cfg.share;
    /* not the share: ranks that share a target may exceed what one of them reaches alone */
    out->ceiling_best_bps = ceiling_best(of);
    return 0;
}

struct run_args {
    const struct weir_case *c;
    struct weir_result *out;
};

static int do_run(struct weir_rank *r, void *arg)
{
    struct run_args *a = arg;
    return run_case(r, a->c, a->out);
}

int weir_run(struct weir_rank *r, const struct weir_case *c, struct weir_result *out,
             struct weir_err *err)
{
    memset(out, 0, sizeof *out);
    return rank_call_and_progress(r, do_run, &(struct run_args){c, out}, err);
}
