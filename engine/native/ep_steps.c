/* Steps of a group that changes under traffic: each is a dispatch and a combine. All steps of a
 * group move the same rows, with expected results computed once by the reference code; received
 * data is poisoned after each check, so that every byte is of its step. A peer is at most one
 * operation ahead, and writes to a half again two steps later. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ep_gpu.h"
#include "rank_thread.h"

#define POISON 0x5a
#define SILENCED (-EREMOTEIO)

int ep_end(struct ep_run *u)
{
    struct weir_control *ctl = u->r->cfg.control;
    atomic_store(&ctl->ending, weir_monotonic());
    if (u->killed) {
        kill(getpid(), SIGKILL);
        for (;;) {
            pause();
        }
    }
    u->silenced = 1;
    return SILENCED;
}

static size_t count_bytes(const struct weir_ep *e)
{
    return (size_t)e->per_rank * sizeof *e->counts;
}

static int make_expected(struct ep_run *u)
{
    const struct weir_ep *e = u->e;
    uint64_t pass = e->of.index;
    size_t row = ep_row_bytes(e),
           all = e->nmessages * e->message + (e->nincoming + (size_t)e->tokens) * row;
    int rc;
    free(u->want);
    u->want = malloc(all ? all : 1);
    if (!u->want) {
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for %zu expected bytes", all);
    }
    char *to = u->want;
    for (uint32_t i = 0; i < e->nmessages; i++, to += e->message) {
        ep_expect_message(u, pass, e->messages[i].rank, e->messages[i].token, u->expected);
        memcpy(to, u->expected, e->message);
        if ((rc = rank_tick(u->r)) < 0) {
            return rc;
        }
    }
    for (uint32_t i = 0; i < e->nincoming; i++, to += row) {
        ep_expect_row(u, pass, &e->incoming[i], (uint16_t *)u->expected);
        memcpy(to, u->expected, row);
        if ((rc = rank_tick(u->r)) < 0) {
            return rc;
        }
    }
    for (uint32_t t = 0; t < (uint32_t)e->tokens; t++, to += row) {
        ep_expect_total(u, pass, t, (uint16_t *)u->expected);
        memcpy(to, u->expected, row);
        if ((rc = rank_tick(u->r)) < 0) {
            return rc;
        }
    }
    return 0;
}

static int prepare(struct weir_rank *r, void *arg)
{
    const struct weir_ep *e = arg;
    int rc;
    r->wait.limit = e->of.timeout;
    r->wait.deadline = weir_monotonic() + e->of.timeout;
    rank_phase(r, PH_VERIFY, 0);
    if ((rc = ep_make(r, e)) < 0) {
        return rc;
    }
    r->ep->timed = !ep_by_kernels(r->ep); /* GPU steps are not stamped: events are around them */
    rc = ep_fill(r->ep, e->of.index);
    return rc < 0 ? rc : make_expected(r->ep);
}

struct step_check { /* of the received data of a step */
    struct ep_run *u;
    struct weir_ep_steps_result *out;
    uint64_t step;
    int64_t flip;
};

/* Returns whether n bytes are right; poisons them for the next step. */
static int same(struct step_check *l, char *is, const char *want, size_t n)
{
    if (l->flip >= 0 && (uint64_t)l->flip < n) {
        is[l->flip] ^= 1;
    }
    l->flip -= (int64_t)n;
    int wrong = memcmp(is, want, n) != 0;
    memset(is, POISON, n);
    return !wrong;
}

static void wrong(struct step_check *l, const char *what, int source, long token)
{
    struct weir_rank *r = l->u->r;
    struct weir_err *call = r->err;
    if (l->out->wrong++) {
        return;
    }
    l->out->first.peer = -1;
    r->err = &l->out->first;
    (void)rank_fail(r, -EBADMSG, "verify", source == r->cfg.rank ? -1 : source,
                    "wrong %s at rank %d in step %llu: rank %d, token %ld", what, r->cfg.rank,
                    (unsigned long long)l->step, source, token);
    r->err = call;
}

static void check_step(struct step_check *l)
{
    struct ep_run *u = l->u;
    const struct weir_ep *e = u->e;
    const char *want = u->want;
    const char *counts = (const char *)(e->counts + (size_t)u->r->cfg.ranks * (size_t)e->per_rank);
    char *dispatched = ep_half(u, EP_DISPATCH, l->step),
         *received = ep_half(u, EP_COMBINE, l->step);
    for (uint32_t i = 0; i < e->nmessages; i++, want += e->message) {
        if (!same(l, dispatched + e->messages[i].at, want, e->message)) {
            wrong(l, "dispatch", e->messages[i].rank, e->messages[i].token);
        }
    }
    for (int s = 0; s < u->r->cfg.ranks; s++, counts += count_bytes(e)) {
        if (!u->r->barrier.absent[s] &&
            !same(l, dispatched + e->counts_at[s], counts, count_bytes(e))) {
            wrong(l, "counts of a dispatch", s, -1);
        }
    }
    for (uint32_t i = 0; i < e->nincoming; i++, want += ep_row_bytes(e)) {
        if (!same(l, received + e->incoming[i].at, want, ep_row_bytes(e))) {
            const struct weir_ep_place *c = &e->incoming[i];
            int32_t expert = e->experts[c->rank][(size_t)c->token * (size_t)e->top_k + c->k];
            wrong(l, "row of a combine", expert / e->per_rank, c->token);
        }
    }
    for (uint32_t t = 0; t < (uint32_t)e->tokens; t++, want += ep_row_bytes(e)) {
        if (!same(l, (char *)u->out + t * ep_row_bytes(e), want, ep_row_bytes(e))) {
            wrong(l, "sum of a combine", u->r->cfg.rank, t);
        }
    }
}

static int step(struct ep_run *u, uint64_t i)
{
    if (ep_by_kernels(u)) {
        return ep_gpu_step(u, i, u->times + i * EP_OPERATIONS);
    }
    int rc = ep_iterate(u, i);
    return rc < 0 || !u->gpu ? rc : ep_gpu_take(u, i);
}

static int take_steps(struct weir_rank *r, const struct weir_ep_steps *s,
                      struct weir_ep_steps_result *out)
{
    struct ep_run *u = r->ep;
    int rc = 0;
    if (!u || s->n > u->e->of.iterations) {
        return rank_fail(r, -EINVAL, "start", -1, "%llu steps, but no rows were prepared",
                         (unsigned long long)s->n);
    }
    r->wait.limit = s->timeout;
    r->wait.deadline = weir_monotonic() + s->timeout;
    rank_phase(r, PH_RUN, s->n);
    uint64_t first = u->next & 1; /* halves alternate */
    u->silence = r->elastic.peer_timeout = s->silence;
    u->killed = s->killed;
    u->stopped = 0;
    memset(u->missing, 0, (size_t)r->cfg.ranks);
    out->times = u->times + first * EP_OPERATIONS;
    out->missing = u->missing;
    for (uint64_t i = 0; i < s->n && rc == 0; i++) {
        int ends = i == s->end_at;
        u->end = ends && s->end_in != EP_OPERATIONS ? s->end_in : -1;
        if (ends && s->end_in == EP_OPERATIONS) {
            if ((rc = ep_end(u)) < 0) {
                break;
            }
        }
        if ((rc = step(u, first + i)) < 0) {
            break;
        }
        struct step_check l = {u, out, first + i, i + 1 == s->n ? s->corrupt : -1};
        check_step(&l);
        out->done = i + 1;
        u->next++;
        atomic_store_explicit(&r->cfg.control->done, i + 1, memory_order_relaxed);
    }
    u->end = -1;
    out->silenced = u->silenced;
    out->stopped = u->stopped;
    return u->silenced ? 0 : rc;
}

int weir_ep_prepare(struct weir_rank *r, struct weir_ep *e, struct weir_err *err)
{
    return rank_call_and_progress(r, prepare, e, err);
}

struct step_args {
    const struct weir_ep_steps *s;
    struct weir_ep_steps_result *out;
};

static int do_steps(struct weir_rank *r, void *arg)
{
    struct step_args *a = arg;
    return take_steps(r, a->s, a->out);
}

int weir_ep_steps(struct weir_rank *r, const struct weir_ep_steps *s,
                  struct weir_ep_steps_result *out, struct weir_err *err)
{
    memset(out, 0, sizeof *out);
    int rc = rank_call(r, do_steps, &(struct step_args){s, out}, err);
    if (rc == 0 && !out->silenced) {
        thread_idle_progress(r->thread, 1);
    }
    return rc;
}
