/* A rank's life outside the measured loops: opening, connecting, meeting, closing. */
#include "rank.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ep.h"
#include "options.h"
#include "tcp_wire.h"
#include "team.h"
#include "thread.h"

int rank_fail(struct weir_rank *r, int code, const char *op, int peer, const char *format, ...)
{
    struct weir_err *e = r->err;
    if (!e || e->code)
        return code;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->code  = code;
    e->peer  = peer;
    e->phase = atomic_load(&r->cfg.control->phase);
    snprintf(e->op, sizeof e->op, "%s", op);
    return code;
}

void rank_phase(struct weir_rank *r, enum weir_phase phase, uint64_t total)
{
    struct weir_control *ctl = r->cfg.control;
    atomic_store(&ctl->done, 0);
    atomic_store(&ctl->total, total);
    atomic_store(&ctl->phase, (uint32_t)phase);
}

int rank_expired(struct weir_rank *r)
{
    atomic_fetch_add_explicit(&r->cfg.control->heartbeat, 1, memory_order_relaxed);
    if (atomic_load(&r->cfg.control->abort) || team_over(r->cfg.team))
        return rank_fail(r, -ECANCELED, "wait", -1, "told to stop");
    if (atomic_load(&r->broken_off))
        return rank_fail(r, -ECONNABORTED, "wait", -1, "told to break off");
    if (r->deadline && weir_monotonic() > r->deadline) {
        struct weir_control *ctl = r->cfg.control;
        if (!atomic_load(&ctl->total))
            return rank_fail(r, -ETIMEDOUT, "wait", -1, "the time of %.3g s is up",
                             (double)r->limit / 1e9);
        return rank_fail(r, -ETIMEDOUT, "wait", -1,
                         "the time of %.3g s is up after %llu of %llu iterations",
                         (double)r->limit / 1e9, (unsigned long long)atomic_load(&ctl->done),
                         (unsigned long long)atomic_load(&ctl->total));
    }
    return 0;
}

int rank_sleep(struct weir_rank *r, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, WEIR_NAP_MS) < 0 && errno != EINTR)
        return rank_fail(r, -errno, "poll", -1, "%s", strerror(errno));
    if (p.revents & (POLLNVAL | POLLERR | POLLHUP) && !(p.revents & POLLIN))
        return rank_fail(r, p.revents & POLLNVAL ? -EBADF : -EIO, "poll", -1,
                         "the file that wakes this rank is %s",
                         p.revents & POLLNVAL ? "closed" : "broken");
    r->turns = r->turn_mask; /* the clock is looked at in the next turn: this one was long */
    return 0;
}

int rank_look(struct weir_rank *r)
{
    int rc = r->fab->wait(r);
    return rc < 0 || !r->fab->rest ? rc : r->fab->rest(r);
}

int rank_waited_for(struct weir_rank *r, int rc, int peer, const char *op)
{
    if (rc != -ETIMEDOUT || !r->err || strcmp(r->err->op, "wait"))
        return rc;
    r->err->peer = peer;
    snprintf(r->err->op, sizeof r->err->op, "%s", op);
    snprintf(
        r->err->text, sizeof r->err->text,
        "rank %d did not let it complete within %.3g s: it is gone, does not answer, or cannot be reached",
        peer, (double)r->limit / 1e9);
    return rc;
}

int rank_turn(struct weir_rank *r, int peer, const char *op)
{
    int rc = rank_look(r);
    return rc < 0 ? rc : rank_tick_for(r, peer, op);
}

/* Waits for one part that a fabric has pending. It must not end before: the fabric
 * would write to what is gone. */
int rank_await(struct weir_rank *r, const char *op, int peer, struct weir_req *q)
{
    int rc;
    while (q->pending == 2)
        if ((rc = rank_turn(r, peer, op)) < 0)
            return rc;
    return q->failed ? rank_fail(r, q->failed, op, peer, "failed with status %d", q->failed) : 0;
}

int rank_flush(struct weir_rank *r, int peer)
{
    struct weir_req q  = {.pending = 2}; /* never falls to 0, so no loop hears of it */
    int             rc = r->fab->flush(r, peer, &q);
    return rc == WEIR_PENDING ? rank_await(r, "flush", peer, &q) : rc;
}

/* What the process has used so far: all its threads, because a library's own work
 * for the same bytes. */
void rank_usage(double *cpu_s, uint64_t *switches)
{
    struct rusage u = {0};
    (void)getrusage(RUSAGE_SELF, &u); /* fails only for a bad address */
    *cpu_s    = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    *switches = (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
}

/* ---- the functions for Go, each a call on the rank's thread; life.c has the others ---- */

int rank_call(struct weir_rank *r, int (*fn)(struct weir_rank *, void *), void *arg,
              struct weir_err *err)
{
    memset(err, 0, sizeof *err);
    err->peer       = -1;
    thread_idle_progress(r->thread, 0);
    int rc = thread_call(r->thread, fn, arg, err);
    if (rc < 0 && !err->code) {
        err->code  = rc;
        err->phase = atomic_load(&r->cfg.control->phase);
        snprintf(err->text, sizeof err->text, "failed with %d and no word why", rc);
    }
    if (rc < 0 && r->cfg.team)
        atomic_store(&r->cfg.team->given_up, 1);
    if (rc < 0)
        fflush(NULL); /* libraries log through stdio, and the process ends without flushing it */
    return rc;
}

struct run_args {
    const struct weir_case *c;
    struct weir_result     *out;
};

static int do_run(struct weir_rank *r, void *arg)
{
    struct run_args *a = arg;
    return rank_case(r, a->c, a->out);
}

int weir_run(struct weir_rank *r, const struct weir_case *c, struct weir_result *out,
             struct weir_err *err)
{
    struct run_args a = {c, out};
    memset(out, 0, sizeof *out);
    int rc = rank_call(r, do_run, &a, err);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}

struct ep_args {
    const struct weir_ep  *e;
    struct weir_ep_result *out;
};

static int do_run_ep(struct weir_rank *r, void *arg)
{
    struct ep_args *a = arg;
    return rank_ep(r, a->e, a->out);
}

int weir_run_ep(struct weir_rank *r, const struct weir_ep *e, struct weir_ep_result *out,
                struct weir_err *err)
{
    struct ep_args a = {e, out};
    memset(out, 0, sizeof *out);
    int rc = rank_call(r, do_run_ep, &a, err);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}

static int do_ep_prepare(struct weir_rank *r, void *arg) { return rank_ep_prepare(r, arg); }

int weir_ep_prepare(struct weir_rank *r, struct weir_ep *e, struct weir_err *err)
{
    int rc = rank_call(r, do_ep_prepare, e, err);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}

struct step_args {
    const struct weir_ep_steps *s;
    struct weir_ep_stepped     *out;
};

static int do_ep_steps(struct weir_rank *r, void *arg)
{
    struct step_args *a = arg;
    return rank_ep_steps(r, a->s, a->out);
}

int weir_ep_steps(struct weir_rank *r, const struct weir_ep_steps *s, struct weir_ep_stepped *out,
                  struct weir_err *err)
{
    struct step_args a = {s, out};
    memset(out, 0, sizeof *out);
    int rc = rank_call(r, do_ep_steps, &a, err);
    if (rc == 0 && !out->mute)
        thread_idle_progress(r->thread, 1);
    return rc;
}

struct play_args {
    const struct weir_sequence *s;
    struct weir_playing        *out;
};

static int do_play(struct weir_rank *r, void *arg)
{
    struct play_args *a = arg;
    return rank_play(r, a->s, a->out);
}

int weir_play(struct weir_rank *r, const struct weir_sequence *s, struct weir_playing *out,
              struct weir_err *err)
{
    struct play_args a = {s, out};
    memset(out, 0, sizeof *out);
    int rc = rank_call(r, do_play, &a, err);
    if (rc == 0)
        thread_idle_progress(r->thread, 1);
    return rc;
}
