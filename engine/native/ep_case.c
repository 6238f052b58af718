/* Runs a case of dispatches and combines: verify, warm up, measure, verify again, probe the
 * ceilings, in the order of loop_case.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loop_ceiling.h"
#include "loop_contents.h"
#include "gpu_nvml.h"
#include "ep_gpu.h"
#include "ep_pool.h"
#include "loop_matrix.h"
#include "sys_processor.h"
#include "rank_thread.h"

/* Rows start at pages, as buffers in regions do. */
static void *rows_new(size_t n, int channels)
{
    return weir_alloc_page_aligned((n ? n : 1) * (size_t)channels * sizeof(uint16_t));
}

/* Space for one check: a message and its row, or the rows of a token and their sums. */
static size_t expected_bytes(const struct weir_ep *e)
{
    size_t row = ep_row_bytes(e), message = (e->message + 63) / 64 * 64 + row,
           sums = (2 * (size_t)e->top_k + 3) * row;
    return message > sums ? message : sums;
}

/* Allocates host copies of device memory, in which rows are made and checked. */
static int make_copies(struct ep_run *u)
{
    const struct weir_ep_part *last = &u->e->parts[EP_COMBINE];
    struct weir_rank *r = u->r;
    u->used = r->cfg.layout.source - r->cfg.layout.first;
    if (r->cfg.source->host && r->cfg.sink->host) {
        u->source = rank_source(r);
        u->sink = rank_sink(r);
        return 1;
    }
    u->source = weir_alloc_page_aligned(u->used ? u->used : 1);
    u->sink = weir_alloc_page_aligned(last->sink + 2 * last->half + 1);
    return u->source && u->sink;
}

static void free_run(struct ep_run *u)
{
    ep_pool_drop(u);
    ep_gpu_drop(u);
    if (!(u->r->cfg.source->host && u->r->cfg.sink->host)) {
        free(u->source);
        free(u->sink);
    }
    free(u->x);
    free(u->out);
    free(u->expected);
    free(u->requests);
    free(u->times);
    free(u->waits);
    free(u->missing);
    free(u->want);
    free(u);
}

void ep_drop(struct weir_rank *r)
{
    if (r->ep) {
        free_run(r->ep);
    }
    r->ep = NULL;
}

int ep_make(struct weir_rank *r, const struct weir_ep *e)
{
    size_t ranks = (size_t)r->cfg.ranks, iterations = e->of.iterations;
    uint64_t flags_sent = r->ep ? r->ep->flags_sent : 0;
    struct ep_run *u = calloc(1, sizeof *u);
    ep_drop(r);
    if (u) {
        *u = (struct ep_run){.r = r,
                             .e = e,
                             .end = -1,
                             .flags_sent = flags_sent,
                             .x = rows_new((size_t)e->tokens, e->channels),
                             .out = rows_new((size_t)e->tokens, e->channels),
                             .expected = weir_alloc_page_aligned(expected_bytes(e)),
                             .requests = calloc(ranks, sizeof *u->requests),
                             .times = calloc((iterations + 1) * EP_OPERATIONS, sizeof *u->times),
                             .missing = calloc(ranks, 1),
                             .waits = calloc(EP_OPERATIONS * ranks, sizeof *u->waits)};
        if (make_copies(u) && u->x && u->out && u->expected && u->requests && u->times &&
            u->waits && u->missing) {
            r->ep = u;
            int rc = ep_pool_create(u);
            return rc < 0 ? rc : ep_gpu_make(u);
        }
        free_run(u);
    }
    return rank_fail(r, -ENOMEM, "start", -1, "no memory for %d tokens of %d channels", e->tokens,
                     e->channels);
}

static int verify(struct ep_run *u)
{
    struct weir_rank *r = u->r;
    int rc;
    rank_phase(r, PH_VERIFY, 1);
    if ((rc = ep_fill(u, PASS_VERIFY)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    if ((rc = ep_iterate(u, 0)) < 0) {
        return rc;
    }
    if ((rc = ep_finish(u)) < 0) {
        return rc;
    }
    if (u->e->of.verify == VERIFY_NONE) {
        return rank_barrier(r, 0, NULL);
    }
    if ((rc = ep_check(u, PASS_VERIFY, 0, u->e->of.corrupt_timed ? -1 : u->e->of.corrupt)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    return u->gpu ? ep_gpu_chain(u) : 0;
}

static int warm_up(struct ep_run *u)
{
    int rc;
    rank_phase(u->r, PH_WARMUP, u->e->of.warmup);
    for (uint64_t i = 0; i < u->e->of.warmup; i++) {
        if (u->e->aligned) {
            if ((rc = rank_barrier(u->r, 0, NULL)) < 0) {
                return rc;
            }
        }
        if ((rc = ep_iterate(u, i)) < 0) {
            return rc;
        }
        if (u->e->aligned) {
            if ((rc = ep_finish(u)) < 0) {
                return rc;
            }
        }
        atomic_store_explicit(&u->r->cfg.control->done, i + 1, memory_order_relaxed);
    }
    return ep_finish(u);
}

/* With VERIFY_FULL each iteration has its own rows and is checked before the next. */
static int iterate(struct ep_run *u)
{
    const struct weir_ep *e = u->e;
    struct weir_rank *r = u->r;
    int rc, full = e->of.verify == VERIFY_FULL;
    uint64_t last = e->of.iterations - 1;
    for (uint64_t i = 0; i <= last; i++) {
        /* peers may read rows until their operation has ended too */
        if (full && ep_pulls(u)) {
            if ((rc = rank_barrier(r, 0, NULL)) < 0) {
                return rc;
            }
        }
        if (full) {
            if ((rc = ep_fill(u, PASS_FULL + i)) < 0) {
                return rc;
            }
            if ((rc = rank_barrier(r, 0, NULL)) < 0) {
                return rc;
            }
        }
        if ((e->aligned || i == 0)) {
            if ((rc = rank_barrier(r, matrix_lead(r->cfg.ranks), NULL)) < 0) {
                return rc;
            }
        }
        if ((rc = ep_iterate(u, i)) < 0) {
            return rc;
        }
        if ((e->aligned || i == last)) {
            if ((rc = ep_finish(u)) < 0) {
                return rc;
            }
        }
        atomic_store_explicit(&r->cfg.control->done, i + 1, memory_order_relaxed);
        if (full) {
            if ((rc = ep_check(u, PASS_FULL + i, i,
                               i == last && e->of.corrupt_timed ? e->of.corrupt : -1)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int take_times(struct ep_run *u)
{
    int rc;
    if (!ep_by_kernels(u)) {
        return u->gpu ? ep_posted_times(u) : 0;
    }
    if ((rc = ep_gpu_clocks(u, 1)) < 0) {
        return rc;
    }
    return ep_gpu_times(u);
}

static int measure(struct ep_run *u, struct weir_result *out)
{
    struct weir_rank *r = u->r;
    int rc;
    double cpu_s;
    uint64_t switches;
    struct processor_span span;
    processor_open(&span);
    rank_phase(r, PH_RUN, u->e->of.iterations);
    if ((rc = ep_fill(u, PASS_TIMED)) < 0) {
        return rc;
    }
    if (ep_by_kernels(u)) {
        if ((rc = ep_gpu_clocks(u, 0)) < 0) {
            return rc;
        }
        if ((rc = ep_gpu_capture(u)) < 0) {
            return rc;
        }
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    u->timed = 1;
    rank_usage(&cpu_s, &switches);
    processor_begin(&span);
    if ((rc = iterate(u)) < 0) {
        return rc;
    }
    processor_end(&span, &out->processor);
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    rank_usage(&out->cpu_s, &out->switches);
    out->cpu_s -= cpu_s;
    out->switches -= switches;
    u->timed = 0;
    if ((rc = take_times(u)) < 0) {
        return rc;
    }
    if ((rc = r->fab->prepost(r, NULL, NULL)) < 0) {
        return rc;
    }
    if ((rc = rank_compare_clocks(r, 1)) < 0) {
        return rc;
    }
    return r->cfg.one_host ? 0 : rank_barrier(r, 0, NULL);
}

/* Checks both halves, if both were used. Only the sums of the last iteration are left. */
static int check_timed(struct ep_run *u)
{
    const struct weir_case *c = &u->e->of;
    uint64_t last = c->iterations - 1;
    int rc;
    if (c->verify != VERIFY_SAMPLE) {
        return 0; /* VERIFY_FULL has checked each */
    }
    if ((rc = ep_check(u, PASS_TIMED, last, c->corrupt_timed ? c->corrupt : -1)) < 0) {
        return rc;
    }
    return last && !u->e->aligned ? ep_check(u, PASS_TIMED, last - 1, -1) : 0;
}

static void fill_result(struct ep_run *u, struct weir_ep_result *res)
{
    struct weir_rank *r = u->r;
    struct weir_result *out = &res->all;
    struct timespec step;
    out->initiator = 1;
    out->verified = u->e->of.verify != VERIFY_NONE;
    out->clock_ns = weir_monotonic_cost();
    out->resolution_ns = ep_by_kernels(u)                            ? u->gpu->step
                         : clock_getres(CLOCK_MONOTONIC, &step) == 0 ? (double)step.tv_nsec
                                                                     : 1;
    out->bound_ns = (double)(r->offset.bound + (ep_by_kernels(u) ? ep_gpu_bound(u) : 0));
    res->loop_events = ep_by_kernels(u) ? u->gpu->loop_events : 0;
    res->loop_wall = ep_by_kernels(u) ? u->gpu->loop_wall : 0;
    res->spent = u->spent;
    out->node = r->binding.node;
    out->alloc_s = r->life.alloc + r->life.clear;
    out->register_s = r->life.registering;
    out->connect_s = r->life.imported;
    weir_describe(r, out->transport, out->carriers);
    for (uint64_t i = 0; i < u->e->of.iterations * EP_OPERATIONS; i++) {
        u->times[i].start -= r->offset.ahead;
        u->times[i].end -= r->offset.ahead;
    }
    res->times = u->times;
    res->waits = u->waits;
}

static int run_ep(struct weir_rank *r, const struct weir_ep *e, struct weir_ep_result *out)
{
    struct weir_role o;
    struct ceiling copies = {.n = 0}, path = {.n = 0};
    int rc;
    role_of(r, &e->of, &o);
    if ((rc = role_fits(r, &o)) < 0) {
        return rc;
    }
    if ((rc = ep_make(r, e)) < 0) {
        return rc;
    }
    struct ep_run *u = r->ep;
    weir_clock_calibrate(&r->clk);
    r->rec.prep = (struct weir_prep){.prep_time = 0};
    r->wait.limit = e->of.timeout;
    r->wait.deadline = weir_monotonic() + e->of.timeout;
    if ((rc = rank_compare_clocks(r, 0)) < 0) {
        return rc;
    }
    if ((rc = r->fab->prepost(r, &e->of, &o)) < 0) {
        return rc;
    }
    if ((rc = verify(u)) < 0) {
        return rc;
    }
    if (o.initiator) {
        if ((rc = ceiling_choose(r, &e->of, &o, &r->copy)) < 0) {
            return rc;
        }
    }
    if ((rc = ceiling_probe(r, &e->of, &o, 0, &copies, &path)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    struct weir_gpu_health before = rank_gpu_health(r, &out->all);
    if ((rc = warm_up(u)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    if ((rc = measure(u, &out->all)) < 0) {
        return rc;
    }
    struct weir_gpu_health after = rank_gpu_health(r, &out->all);
    out->all.gpu_errors = weir_gpu_new_errors(&before, &after);
    fill_result(u, out);
    if ((rc = check_timed(u)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    if ((rc = ceiling_probe(r, &e->of, &o, 1, &copies, &path)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(r, 0, NULL)) < 0) {
        return rc;
    }
    struct ceiling *of = path.n ? &path : &copies;
    out->all.memcpy_bps = ceiling_rate(&copies);
    out->all.ceiling_bps = ceiling_rate(of);
    out->all.ceiling_best_bps = ceiling_best(of);
    return 0;
}

struct run_args {
    const struct weir_ep *e;
    struct weir_ep_result *out;
};

static int do_run_ep(struct weir_rank *r, void *arg)
{
    struct run_args *a = arg;
    return run_ep(r, a->e, a->out);
}

int weir_run_ep(struct weir_rank *r, const struct weir_ep *e, struct weir_ep_result *out,
                struct weir_err *err)
{
    memset(out, 0, sizeof *out);
    return rank_call_and_progress(r, do_run_ep, &(struct run_args){e, out}, err);
}
