/* Steps of a group that changes while traffic goes on: each is a dispatch and a combine. All steps
 * of a group move the same rows, and what must come of them is made once by the reference; where it
 * comes is poisoned again after each check, so that every byte of each step is of that step. A peer
 * is at most one operation ahead, and writes to a half again only two steps later. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ep_gpu.h"

#define POISON 0x5a
#define MUTE   (-EREMOTEIO)

int ep_end(struct ep_run *u)
{
    struct weir_control *ctl = u->r->cfg.control;
    atomic_store(&ctl->ending, weir_monotonic());
    if (u->dies) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    u->mute = 1;
    return MUTE;
}

static size_t count_bytes(const struct weir_ep *e)
{
    return (size_t)e->per_rank * sizeof *e->counts;
}

static int make_expected(struct ep_run *u)
{
    const struct weir_ep *e    = u->e;
    uint64_t              pass = e->of.index;
    size_t                row  = ep_row_bytes(e),
           all = e->nmessages * e->message + (e->ncome + (size_t)e->tokens) * row;
    int    rc;
    free(u->want);
    if (!(u->want = malloc(all ? all : 1)))
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for %zu bytes that must come", all);
    char *to = u->want;
    for (uint32_t i = 0; i < e->nmessages; i++, to += e->message) {
        ep_expect_message(u, pass, e->messages[i].rank, e->messages[i].token, u->expected);
        memcpy(to, u->expected, e->message);
        if ((rc = rank_tick(u->r)) < 0)
            return rc;
    }
    for (uint32_t i = 0; i < e->ncome; i++, to += row) {
        ep_expect_row(u, pass, &e->come[i], (uint16_t *)u->expected);
        memcpy(to, u->expected, row);
        if ((rc = rank_tick(u->r)) < 0)
            return rc;
    }
    for (uint32_t t = 0; t < (uint32_t)e->tokens; t++, to += row) {
        ep_expect_total(u, pass, t, (uint16_t *)u->expected);
        memcpy(to, u->expected, row);
        if ((rc = rank_tick(u->r)) < 0)
            return rc;
    }
    return 0;
}

int rank_ep_prepare(struct weir_rank *r, const struct weir_ep *e)
{
    int rc;
    r->limit    = e->of.timeout;
    r->deadline = weir_monotonic() + e->of.timeout;
    rank_phase(r, PH_VERIFY, 0);
    if ((rc = ep_make(r, e)) < 0)
        return rc;
    r->ep->timed = !r->ep->gpu; /* kernels of a step are not stamped: events are around them */
    return (rc = ep_fill(r->ep, e->of.index)) < 0 ? rc : make_expected(r->ep);
}

struct looking { /* at what came in a step */
    struct ep_run          *u;
    struct weir_ep_stepped *out;
    uint64_t                step;
    int64_t                 flip;
};

/* Whether n bytes are right; they are poisoned for the next time. */
static int same(struct looking *l, char *is, const char *want, size_t n)
{
    if (l->flip >= 0 && (uint64_t)l->flip < n)
        is[l->flip] ^= 1;
    l->flip -= (int64_t)n;
    int wrong = memcmp(is, want, n) != 0;
    memset(is, POISON, n);
    return !wrong;
}

static void wrong(struct looking *l, const char *what, int source, long token)
{
    struct weir_rank *r    = l->u->r;
    struct weir_err  *call = r->err;
    if (l->out->wrong++)
        return;
    l->out->first.peer = -1;
    r->err             = &l->out->first;
    (void)rank_fail(r, -EBADMSG, "verify", source == r->cfg.rank ? -1 : source,
                    "wrong %s at rank %d in step %llu: rank %d, token %ld", what, r->cfg.rank,
                    (unsigned long long)l->step, source, token);
    r->err = call;
}

static void look(struct looking *l)
{
    struct ep_run        *u = l->u;
    const struct weir_ep *e = u->e;
    const char           *want = u->want;
    const char *counts = (const char *)(e->counts + (size_t)u->r->cfg.ranks * (size_t)e->per_rank);
    char *dispatched = ep_half(u, EP_DISPATCH, l->step), *come = ep_half(u, EP_COMBINE, l->step);
    for (uint32_t i = 0; i < e->nmessages; i++, want += e->message)
        if (!same(l, dispatched + e->messages[i].at, want, e->message))
            wrong(l, "dispatch", e->messages[i].rank, e->messages[i].token);
    for (int s = 0; s < u->r->cfg.ranks; s++, counts += count_bytes(e))
        if (!u->r->absent[s] && !same(l, dispatched + e->counts_at[s], counts, count_bytes(e)))
            wrong(l, "counts of a dispatch", s, -1);
    for (uint32_t i = 0; i < e->ncome; i++, want += ep_row_bytes(e))
        if (!same(l, come + e->come[i].at, want, ep_row_bytes(e))) {
            const struct weir_ep_place *c = &e->come[i];
            int32_t expert = e->experts[c->rank][(size_t)c->token * (size_t)e->top_k + c->k];
            wrong(l, "row of a combine", expert / e->per_rank, c->token);
        }
    for (uint32_t t = 0; t < (uint32_t)e->tokens; t++, want += ep_row_bytes(e))
        if (!same(l, (char *)u->out + t * ep_row_bytes(e), want, ep_row_bytes(e)))
            wrong(l, "sum of a combine", u->r->cfg.rank, t);
}

int rank_ep_steps(struct weir_rank *r, const struct weir_ep_steps *s, struct weir_ep_stepped *out)
{
    struct ep_run *u = r->ep;
    int            rc = 0;
    if (!u || s->n > u->e->of.iterations)
        return rank_fail(r, -EINVAL, "start", -1, "%llu steps without rows for them",
                         (unsigned long long)s->n);
    r->limit    = s->timeout;
    r->deadline = weir_monotonic() + s->timeout;
    rank_phase(r, PH_RUN, s->n);
    uint64_t first = u->next & 1; /* halves go on in turns */
    u->silence = r->patience = s->silence;
    u->dies    = s->dies;
    u->stopped = 0;
    memset(u->missing, 0, (size_t)r->cfg.ranks);
    out->times   = u->times + first * EP_OPERATIONS;
    out->missing = u->missing;
    for (uint64_t i = 0; i < s->n && rc == 0; i++) {
        int ends = i == s->end_at;
        u->end   = ends && s->end_in != EP_OPERATIONS ? s->end_in : -1;
        if (ends && s->end_in == EP_OPERATIONS && (rc = ep_end(u)) < 0)
            break;
        if ((rc = u->gpu ? ep_gpu_step(u, first + i, u->times + (first + i) * EP_OPERATIONS)
                         : ep_iterate(u, first + i)) < 0)
            break;
        struct looking l = {u, out, first + i, i + 1 == s->n ? s->corrupt : -1};
        look(&l);
        out->done = i + 1;
        u->next++;
        atomic_store_explicit(&r->cfg.control->done, i + 1, memory_order_relaxed);
    }
    u->end       = -1;
    out->mute    = u->mute;
    out->stopped = u->stopped;
    return u->mute ? 0 : rc;
}
