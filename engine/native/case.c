/* One case: verify, warm up, start together, measure, verify again, probe the
 * ceilings. Which rank does what in it is the pattern; there is one, pairwise:
 * rank i of the first half moves with rank i of the second. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ceiling.h"
#include "loop.h"
#include "pattern.h"

#define START_LEAD_NS 50000 /* from the release of the barrier to the common start */

struct role {
    int    initiator, peer, receiver, sender;
    size_t bytes; /* of one request */
    char  *data;  /* where this rank's received bytes are; NULL: it receives none */
};

enum pass { PASS_POISON, PASS_VERIFY, PASS_TIMED, PASS_FULL };

static struct role role_of(struct weir_rank *r, const struct weir_case *c)
{
    int         half = r->cfg.ranks / 2;
    struct role o    = {.initiator = r->cfg.rank < half, .bytes = c->block * c->batch};
    o.peer           = o.initiator ? r->cfg.rank + half : r->cfg.rank - half;
    int both         = c->mode == MODE_PINGPONG;
    o.sender         = both || o.initiator == (c->op == OP_WRITE);
    o.receiver       = both || !o.sender;
    if (o.receiver)
        o.data = both || c->op == OP_WRITE ? rank_exposed(r) : rank_local(r);
    return o;
}

static uint64_t key_of(struct weir_rank *r, const struct weir_case *c, int rank, uint64_t pass)
{
    return pattern_key(r->cfg.seed, c->index, rank, pass);
}

#define PIECE ((size_t)64 << 20) /* of a long fill or check, between two signs of life */

static int fill(struct weir_rank *r, char *p, size_t n, uint64_t key)
{
    for (size_t off = 0; off < n; off += PIECE) {
        int rc = rank_tick(r);
        if (rc < 0)
            return rc;
        /* word i of a pattern depends on key + i: a piece is a pattern with a later key */
        r->memory->fill(p + off, n - off < PIECE ? n - off : PIECE, key + off / 8);
    }
    return 0;
}

/* The first wrong offset, or -1; an error of the rank comes back in *rc. */
static int64_t find_wrong(struct weir_rank *r, const char *p, size_t n, uint64_t key, int *rc)
{
    for (size_t off = 0; off < n; off += PIECE) {
        if ((*rc = rank_tick(r)) < 0)
            return -1;
        int64_t at = r->memory->check(p + off, n - off < PIECE ? n - off : PIECE, key + off / 8);
        if (at >= 0)
            return (int64_t)off + at;
    }
    return -1;
}

/* Fresh contents at the sender, poison at the receiver. */
static int prepare(struct weir_rank *r, const struct weir_case *c, const struct role *o, uint64_t pass)
{
    int rc = 0;
    if (o->sender)
        rc = fill(r, c->op == OP_WRITE ? rank_local(r) : rank_exposed(r), o->bytes, key_of(r, c, r->cfg.rank, pass));
    if (rc == 0 && o->receiver)
        rc = fill(r, o->data, o->bytes, ~key_of(r, c, r->cfg.rank, PASS_POISON + pass));
    return rc;
}

/* Between warm-up and timed part only the initiator's own memory may change: the
 * target would pull the lines into its cache and slow the first timed requests.
 * A new source makes the whole target stale, a poisoned destination the reader. */
static int rekey(struct weir_rank *r, const struct weir_case *c, const struct role *o)
{
    if (c->mode == MODE_PINGPONG) {
        int rc                        = prepare(r, c, o, PASS_TIMED);
        rank_exposed(r)[c->block - 1] = 0; /* no message has arrived */
        return rc;
    }
    if (!o->initiator)
        return 0;
    uint64_t key = c->op == OP_WRITE ? key_of(r, c, r->cfg.rank, PASS_TIMED) : ~key_of(r, c, r->cfg.rank, PASS_POISON);
    return fill(r, rank_local(r), o->bytes, key);
}

static int check(struct weir_rank *r, const struct weir_case *c, const struct role *o, uint64_t pass, int timed)
{
    if (!o->receiver)
        return 0;
    /* a ping may carry its number in its last byte */
    size_t n = c->mode == MODE_PINGPONG && timed ? o->bytes - 1 : o->bytes;
    if (c->corrupt >= 0 && (size_t)c->corrupt < n && c->corrupt_timed == timed)
        o->data[c->corrupt] ^= 1;
    uint64_t key = key_of(r, c, o->peer, pass);
    int      rc  = 0;
    int64_t  at  = find_wrong(r, o->data, n, key, &rc);
    if (at < 0)
        return rc;
    rank_phase(r, PH_VERIFY, 0);
    return rank_fail(r, -EBADMSG, "verify", o->peer, "wrong data from rank %d after %s: byte %lld of %zu (block %lld, offset %lld in it) is 0x%02x, should be 0x%02x",
                     o->peer, timed ? "the timed part" : "an untimed pass", (long long)at, n, (long long)(at / (int64_t)c->block), (long long)(at % (int64_t)c->block),
                     (unsigned char)o->data[at], pattern_byte(key, (size_t)at));
}

/* Moves every block once, with fresh contents, and checks it. */
static int verify_once(struct weir_rank *r, const struct weir_case *c, const struct role *o, struct weir_loop *l, uint64_t pass)
{
    int              rc;
    struct weir_case plain = *c;
    plain.mode             = MODE_STREAM;
    if ((rc = prepare(r, c, o, pass)) < 0 || (rc = rank_barrier(r, 0, NULL)) < 0)
        return rc;
    if (o->initiator || c->mode == MODE_PINGPONG)
        if ((rc = loop_stream(l, &plain, 1, 0)) < 0)
            return rc;
    if ((rc = rank_barrier(r, 0, NULL)) < 0)
        return rc;
    return check(r, c, o, pass, 0);
}

static int verify(struct weir_rank *r, const struct weir_case *c, const struct role *o, struct weir_loop *l)
{
    uint64_t passes = c->verify == VERIFY_NONE ? 0 : c->verify == VERIFY_FULL ? c->iterations : 1;
    int      rc;
    rank_phase(r, PH_VERIFY, passes);
    /* PASS_VERIFY comes last: it is what a read finds at the target afterwards */
    for (uint64_t i = passes; i-- > 0;) {
        if ((rc = verify_once(r, c, o, l, i ? PASS_FULL + i : PASS_VERIFY)) < 0)
            return rc;
        atomic_store(&r->cfg.control->done, passes - i);
    }
    return passes ? 0 : prepare(r, c, o, PASS_VERIFY);
}

static int measure(struct weir_rank *r, const struct weir_case *c, const struct role *o, struct weir_loop *l)
{
    int rc;
    hist_reset(r->hist);
    rank_phase(r, PH_RUN, o->initiator ? c->iterations : 0);
    if ((rc = rank_barrier(r, START_LEAD_NS, NULL)) < 0)
        return rc;
    if (c->mode == MODE_PINGPONG)
        rc = loop_pingpong(l, c, o->initiator, c->warmup, c->iterations);
    else if (o->initiator)
        rc = loop_stream(l, c, c->iterations, 1);
    if (rc < 0)
        return rc;
    return rank_barrier(r, 0, NULL); /* a target serves in here */
}

static void fill_result(struct weir_rank *r, const struct weir_case *c, const struct role *o, const struct weir_loop *l, struct weir_result *out)
{
    out->initiator  = o->initiator;
    out->verified   = c->verify != VERIFY_NONE;
    out->clock_ns   = r->clk.cost_ns;
    out->alloc_s    = r->alloc_s;
    out->register_s = r->register_s;
    out->connect_s  = r->connect_s;
    if (!o->initiator)
        return;
    r->fab->transport(r, o->peer, out->transport, sizeof out->transport);
    out->ops     = l->done;
    out->bytes   = l->done * l->request_bytes;
    out->start   = weir_when(&r->clk, l->start);
    out->end     = weir_when(&r->clk, l->end);
    out->every   = l->every;
    out->counts  = r->hist->counts;
    out->ncounts = HIST_COUNTS;
    out->first   = r->hist->first;
    out->nfirst  = r->hist->n < WEIR_KEEP ? r->hist->n : WEIR_KEEP;
    out->nlast   = hist_last(r->hist);
    out->last    = r->hist->last;
    for (size_t i = 0; i < r->npoints; i++)
        r->points[i].time = weir_when(&r->clk, r->points[i].time);
    out->points  = r->points;
    out->npoints = r->npoints;
    double s     = (double)(out->end - out->start) / 1e9;
    atomic_store(&r->cfg.control->rate, s > 0 ? (uint64_t)((double)out->bytes / s) : 0);
}

/* Before and after the timed part, so that the ceilings have had the same luck
 * with the host. */
static int probe_ceilings(struct weir_rank *r, const struct weir_case *c, const struct role *o, struct ceiling *copies, struct ceiling *path)
{
    int rc;
    rank_phase(r, PH_CEILING, 0);
    if (o->initiator && (rc = ceiling_memcpy(r, c->block, c->batch, copies)) < 0)
        return rc;
    if ((rc = rank_barrier(r, 0, NULL)) < 0)
        return rc;
    return r->fab->ceiling(r, o->peer, o->initiator, c->block, path);
}

int rank_case(struct weir_rank *r, const struct weir_case *c, struct weir_result *out)
{
    struct role      o = role_of(r, c);
    struct weir_loop l = {.r = r, .peer = o.peer};
    struct ceiling   copies = {.n = 0}, path = {.n = 0};
    int              rc;
    if (o.bytes > r->area)
        return rank_fail(r, -EINVAL, "start", -1, "a request of %zu bytes, but the launch was opened for %zu", o.bytes, r->area);
    weir_clock_calibrate(&r->clk); /* again for each case: the longer the base line, the better the rate */
    r->limit    = c->timeout;
    r->deadline = weir_monotonic() + c->timeout;
    atomic_store(&r->cfg.control->case_index, c->index);

    if ((rc = verify(r, c, &o, &l)) < 0)
        return rc;

    rank_phase(r, PH_WARMUP, c->warmup);
    if ((rc = rank_barrier(r, 0, NULL)) < 0)
        return rc;
    if (o.initiator && c->mode == MODE_STREAM && c->warmup && (rc = loop_stream(&l, c, c->warmup, 0)) < 0)
        return rc;
    if (o.initiator && (rc = ceiling_choose(r, c->block, c->batch, &r->copy)) < 0)
        return rc;
    if ((rc = probe_ceilings(r, c, &o, &copies, &path)) < 0 || (rc = rank_barrier(r, 0, NULL)) < 0)
        return rc;
    if ((rc = rekey(r, c, &o)) < 0)
        return rc;

    if ((rc = measure(r, c, &o, &l)) < 0)
        return rc;
    fill_result(r, c, &o, &l, out);
    if (c->verify != VERIFY_NONE && (rc = check(r, c, &o, c->op == OP_READ ? PASS_VERIFY : PASS_TIMED, 1)) < 0)
        return rc;

    if ((rc = probe_ceilings(r, c, &o, &copies, &path)) < 0)
        return rc;
    out->memcpy_bps  = ceiling_rate(&copies);
    out->ceiling_bps = path.n ? ceiling_rate(&path) : out->memcpy_bps;
    return 0;
}
