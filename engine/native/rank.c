/* Errors and waits of a rank. */
#include "rank.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rank_team.h"

int rank_fail(struct weir_rank *r, int code, const char *op, int peer, const char *format, ...)
{
    struct weir_err *e = r->err;
    if (!e || e->code) {
        return code;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->code = code;
    e->peer = peer;
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
    if (atomic_load(&r->cfg.control->abort) || team_stopping(r->cfg.team)) {
        return rank_fail(r, -ECANCELED, "wait", -1, "told to stop");
    }
    if (atomic_load(&r->elastic.interrupted)) {
        return rank_fail(r, -ECONNABORTED, "wait", -1, "interrupted");
    }
    if (r->wait.deadline && weir_monotonic() > r->wait.deadline) {
        struct weir_control *ctl = r->cfg.control;
        if (!atomic_load(&ctl->total)) {
            return rank_fail(r, -ETIMEDOUT, "wait", -1, "timed out after %.3g s",
                             (double)r->wait.limit / 1e9);
        }
        return rank_fail(r, -ETIMEDOUT, "wait", -1,
                         "timed out after %.3g s with %llu of %llu iterations done",
                         (double)r->wait.limit / 1e9, (unsigned long long)atomic_load(&ctl->done),
                         (unsigned long long)atomic_load(&ctl->total));
    }
    return 0;
}

int rank_sleep(struct weir_rank *r, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, WEIR_BLOCK_MS) < 0 && errno != EINTR) {
        return rank_fail(r, -errno, "poll", -1, "%s", strerror(errno));
    }
    if (p.revents & (POLLNVAL | POLLERR | POLLHUP) && !(p.revents & POLLIN)) {
        return rank_fail(r, p.revents & POLLNVAL ? -EBADF : -EIO, "poll", -1,
                         "the file descriptor of its events is %s",
                         p.revents & POLLNVAL ? "closed" : "broken");
    }
    /* check the clock in the next iteration: this one was long */
    r->wait.polls = r->wait.poll_mask;
    return 0;
}

int rank_poll(struct weir_rank *r)
{
    int rc = r->fab->poll(r);
    return rc < 0 ? rc : r->fab->idle_wait(r);
}

int rank_waited_for(struct weir_rank *r, int rc, int peer, const char *op)
{
    if (rc != -ETIMEDOUT || !r->err || strcmp(r->err->op, "wait")) {
        return rc;
    }
    r->err->peer = peer;
    snprintf(r->err->op, sizeof r->err->op, "%s", op);
    snprintf(r->err->text, sizeof r->err->text,
             "no completion from rank %d within %.3g s: it has ended, hangs, or is unreachable",
             peer, (double)r->wait.limit / 1e9);
    return rc;
}

int rank_poll_for(struct weir_rank *r, int peer, const char *op)
{
    int rc = rank_poll(r);
    return rc < 0 ? rc : rank_tick_for(r, peer, op);
}

/* Waits for one pending part. It must complete before return, since the fabric writes to q. */
int rank_await(struct weir_rank *r, const char *op, int peer, struct weir_req *q)
{
    int rc;
    while (q->pending == 2) {
        if ((rc = rank_poll_for(r, peer, op)) < 0) {
            return rc;
        }
    }
    return q->failed ? rank_fail(r, q->failed, op, peer, "failed with status %d", q->failed) : 0;
}

int rank_flush(struct weir_rank *r, int peer)
{
    struct weir_req q = {.pending = 2}; /* never reaches 0, so no loop is notified */
    int rc = r->fab->flush(r, peer, &q);
    return rc == WEIR_PENDING ? rank_await(r, "flush", peer, &q) : rc;
}

/* Covers all threads of the process, because some libraries move data on threads of their own. */
void rank_usage(double *cpu_s, uint64_t *switches)
{
    struct rusage u = {0};
    (void)getrusage(RUSAGE_SELF, &u); /* fails only for a bad address */
    *cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
             (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    *switches = (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
}
