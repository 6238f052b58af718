/* Checks received data against what any rank can compute for any token. */
#include "ep_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct place { /* of received data, for an error */
    const char *what;
    int source;
    long token, expert;
};

static int wrong(struct ep_run *u, const struct place *p, uint64_t iteration, const char *part,
                 size_t unit, size_t at, uint8_t is, uint8_t want)
{
    char of[96] = "";
    if (p->expert >= 0) {
        snprintf(of, sizeof of, ", token %ld, expert %ld", p->token, p->expert);
    } else if (p->token >= 0) {
        snprintf(of, sizeof of, ", token %ld", p->token);
    }
    rank_phase(u->r, PH_VERIFY, 0);
    return rank_fail(u->r, -EBADMSG, "verify", p->source == u->r->cfg.rank ? -1 : p->source,
                     "wrong %s at rank %d in iteration %llu: rank %d%s, %s %zu: a byte is 0x%02x, "
                     "should be 0x%02x",
                     p->what, u->r->cfg.rank, (unsigned long long)iteration, p->source, of, part,
                     at / unit, is, want);
}

static size_t first_difference(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i;
}

/* Fails with the part of a message that contains an offset. */
static int wrong_message(struct ep_run *u, const struct place *p, uint64_t iteration, size_t at,
                         uint8_t is, uint8_t want)
{
    const struct weir_ep *e = u->e;
    size_t row = EP_HEADER + e->row,
           scales =
               row + (e->fp8 ? rows_scales_bytes(e->channels, (enum weir_scales)e->scales) : 0);
    if (at < EP_HEADER) {
        return wrong(u, p, iteration, "header, byte", 1, at, is, want);
    }
    if (at < row) {
        return wrong(u, p, iteration, "channel", e->fp8 ? 1 : 2, at - EP_HEADER, is, want);
    }
    if (at < scales) {
        return wrong(u, p, iteration, "scale of group", e->scales == SCALES_UE8M0 ? 1 : 4, at - row,
                     is, want);
    }
    return wrong(u, p, iteration, "selection", 8, at - scales, is, want);
}

void ep_expect_message(struct ep_run *u, uint64_t pass, int rank, uint32_t token, char *to)
{
    const struct weir_ep *e = u->e;
    uint16_t *x = (uint16_t *)(to + (e->message + 63) / 64 * 64);
    char *at = to + EP_HEADER + e->row;
    ep_make_row(u, pass, OF_TOKEN, rank, token, 0, x);
    memset(to, 0, e->message);
    memcpy(to, &token, sizeof token);
    if (e->fp8) {
        rows_quantise_reference(x, e->channels, (enum weir_scales)e->scales,
                                (uint8_t *)to + EP_HEADER, at);
        at += rows_scales_bytes(e->channels, (enum weir_scales)e->scales);
    } else {
        memcpy(to + EP_HEADER, x, e->row);
    }
    for (int k = 0; k < e->top_k && e->layout == EP_RANK; k++, at += 8) {
        size_t i = (size_t)token * (size_t)e->top_k + (size_t)k;
        int32_t number = ep_number(e, e->experts[rank][i]);
        memcpy(at, &number, 4);
        memcpy(at + 4, &e->weights[rank][i], 4);
    }
}

static long expert_of(const struct weir_ep *e, int rank, uint32_t token, uint32_t k)
{
    return e->experts[rank][(size_t)token * (size_t)e->top_k + k];
}

static int check_messages(struct ep_run *u, uint64_t pass, uint64_t iteration, int64_t *flip)
{
    const struct weir_ep *e = u->e;
    char *half = ep_half(u, EP_DISPATCH, iteration);
    for (uint32_t i = 0; i < e->nmessages; i++, *flip -= (int64_t)e->message) {
        const struct weir_ep_place *m = &e->messages[i];
        char *is = half + m->at;
        int rc;
        if (*flip >= 0 && (uint64_t)*flip < e->message) {
            is[*flip] ^= 1;
        }
        ep_expect_message(u, pass, m->rank, m->token, u->expected);
        if (memcmp(is, u->expected, e->message)) {
            struct place p = {"dispatch", m->rank, m->token, expert_of(e, m->rank, m->token, m->k)};
            size_t at = first_difference(is, u->expected, e->message);
            return wrong_message(u, &p, iteration, at, (uint8_t)is[at], (uint8_t)u->expected[at]);
        }
        if ((rc = rank_tick(u->r)) < 0) {
            return rc;
        }
    }
    return 0;
}

static int check_counts(struct ep_run *u, uint64_t iteration, int64_t *flip)
{
    const struct weir_ep *e = u->e;
    struct weir_rank *r = u->r;
    size_t each = (size_t)e->per_rank * sizeof *e->counts;
    const char *want = (const char *)(e->counts + (size_t)r->cfg.ranks * (size_t)e->per_rank);
    for (int s = 0; s < r->cfg.ranks; s++, want += each, *flip -= (int64_t)each) {
        char *is = ep_half(u, EP_DISPATCH, iteration) + e->counts_at[s];
        if (r->barrier.absent[s]) {
            continue;
        }
        if (*flip >= 0 && (uint64_t)*flip < each) {
            is[*flip] ^= 1;
        }
        size_t at = first_difference(is, want, each);
        if (at < each) {
            return wrong(u, &(struct place){"count of a dispatch", s, -1, -1}, iteration,
                         "expert of this rank", sizeof *e->counts, at, (uint8_t)is[at],
                         (uint8_t)want[at]);
        }
    }
    return 0;
}

/* Adds up, by the reference code, the rows of a token from the experts of a rank (-1: all). */
static void expect_sum(struct ep_run *u, uint64_t pass, int owner, uint32_t token, int rank,
                       uint16_t *to)
{
    const struct weir_ep *e = u->e;
    size_t n = (size_t)e->channels, first = (size_t)token * (size_t)e->top_k;
    uint16_t *at = to + n;
    const uint16_t *rows[64];
    float weights[64];
    int count = 0;
    for (int k = 0; k < e->top_k; k++) {
        int32_t expert = e->experts[owner][first + (size_t)k];
        if (expert == EP_MASKED || (rank >= 0 && expert / e->per_rank != rank)) {
            continue;
        }
        ep_make_row(u, pass, OF_EXPERT, owner, token, (uint32_t)k, at);
        rows[count] = at;
        weights[count++] = e->weights[owner][first + (size_t)k];
        at += n;
    }
    rows_reduce_reference(to, e->channels, count, rows, weights);
}

void ep_expect_row(struct ep_run *u, uint64_t pass, const struct weir_ep_place *of, uint16_t *to)
{
    if (u->e->layout == EP_RANK) {
        expect_sum(u, pass, of->rank, of->token,
                   (int)expert_of(u->e, of->rank, of->token, of->k) / u->e->per_rank, to);
    } else {
        ep_make_row(u, pass, OF_EXPERT, of->rank, of->token, of->k, to);
    }
}

/* Pulled rows are checked through their sums. */
static int check_rows(struct ep_run *u, uint64_t pass, uint64_t iteration, int64_t *flip)
{
    const struct weir_ep *e = u->e;
    size_t bytes = ep_row_bytes(e);
    uint16_t *want = (uint16_t *)u->expected;
    for (uint32_t i = 0; !ep_pulls(u) && i < e->nincoming; i++, *flip -= (int64_t)bytes) {
        const struct weir_ep_place *m = &e->incoming[i];
        char *is = ep_half(u, EP_COMBINE, iteration) + m->at;
        long expert = expert_of(e, m->rank, m->token, m->k);
        int rc, from = (int)expert / e->per_rank;
        if (*flip >= 0 && (uint64_t)*flip < bytes) {
            is[*flip] ^= 1;
        }
        ep_expect_row(u, pass, m, want);
        size_t at = first_difference(is, (char *)want, bytes);
        if (at < bytes) {
            return wrong(u, &(struct place){"row of a combine", from, m->token, expert}, iteration,
                         "channel", 2, at, (uint8_t)is[at], (uint8_t)((char *)want)[at]);
        }
        if ((rc = rank_tick(u->r)) < 0) {
            return rc;
        }
    }
    return 0;
}

/* With EP_RANK a token's sum adds the partial sums of ranks, in the order of their first
 * selection. */
void ep_expect_total(struct ep_run *u, uint64_t pass, uint32_t token, uint16_t *to)
{
    const struct weir_ep *e = u->e;
    size_t n = (size_t)e->channels, first = (size_t)token * (size_t)e->top_k;
    int self = u->r->cfg.rank, ranks[64], count = 0;
    const uint16_t *rows[64];
    float weights[64];
    if (e->layout != EP_RANK) {
        expect_sum(u, pass, self, token, -1, to);
        return;
    }
    uint16_t *parts = to + n, *room = parts + (size_t)e->top_k * n;
    for (int k = 0; k < e->top_k; k++) {
        int32_t expert = e->experts[self][first + (size_t)k];
        int rank = expert / e->per_rank, known = 0;
        for (int i = 0; i < count; i++) {
            known |= ranks[i] == rank;
        }
        if (expert == EP_MASKED || known) {
            continue;
        }
        expect_sum(u, pass, self, token, rank, room);
        rows[count] = memcpy(parts + (size_t)count * n, room, n * 2);
        weights[count] = 1;
        ranks[count++] = rank;
    }
    rows_reduce_reference(to, e->channels, count, rows, weights);
}

static int check_sums(struct ep_run *u, uint64_t pass, uint64_t iteration, int64_t *flip)
{
    const struct weir_ep *e = u->e;
    size_t bytes = ep_row_bytes(e);
    char *want = u->expected;
    for (uint32_t t = 0; t < (uint32_t)e->tokens; t++, *flip -= (int64_t)bytes) {
        char *is = (char *)u->out + t * bytes;
        int rc;
        if (*flip >= 0 && (uint64_t)*flip < bytes) {
            is[*flip] ^= 1;
        }
        ep_expect_total(u, pass, t, (uint16_t *)want);
        size_t at = first_difference(is, want, bytes);
        if (at < bytes) {
            return wrong(u, &(struct place){"sum of a combine", u->r->cfg.rank, t, -1}, iteration,
                         "channel", 2, at, (uint8_t)is[at], (uint8_t)want[at]);
        }
        if ((rc = rank_tick(u->r)) < 0) {
            return rc;
        }
    }
    return 0;
}

static int check(struct ep_run *u, uint64_t pass, uint64_t iteration, int64_t flip)
{
    int rc;
    if (ep_does(u, EP_DISPATCH)) {
        if ((rc = check_messages(u, pass, iteration, &flip)) < 0) {
            return rc;
        }
        if ((rc = check_counts(u, iteration, &flip)) < 0) {
            return rc;
        }
    }
    if (ep_does(u, EP_COMBINE)) {
        if ((rc = check_rows(u, pass, iteration, &flip)) < 0) {
            return rc;
        }
        if ((rc = check_sums(u, pass, iteration, &flip)) < 0) {
            return rc;
        }
    }
    return 0;
}

#ifdef WEIR_TEST
_Atomic uint64_t ep_flips, ep_flips_missed;

/* Flips random bytes one at a time, checks, flips each back, and counts the flips that the check
 * missed. */
static void flip_some(struct ep_run *u, uint64_t pass, uint64_t iteration)
{
    struct weir_err *err = u->r->err;
    uint64_t phase = atomic_load(&u->r->cfg.control->phase);
    u->r->err = NULL;
    for (uint64_t i = 0; i < ep_flips && u->e->received; i++) {
        int64_t at = (int64_t)(ep_mix(pass << 32 | i) % u->e->received);
        if (check(u, pass, iteration, at) != -EBADMSG || check(u, pass, iteration, at) != 0) {
            atomic_fetch_add(&ep_flips_missed, 1);
        }
    }
    u->r->err = err;
    atomic_store(&u->r->cfg.control->phase, (uint32_t)phase);
}
#else
#define flip_some(u, pass, iteration) (void)0
#endif

int ep_check(struct ep_run *u, uint64_t pass, uint64_t iteration, int64_t flip)
{
    int rc = u->gpu ? ep_gpu_download(u) : 0;
    if (rc == 0) {
        rc = check(u, pass, iteration, flip);
    }
    if (rc == 0) {
        flip_some(u, pass, iteration);
    }
    return rc;
}
