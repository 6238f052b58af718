#include "loop_contents.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pattern.h"
#include "rank.h"
#include "loop_role.h"

#define PIECE ((size_t)64 << 20) /* of a long fill or check, between two heartbeats */
#define HEAD 8                   /* leading bytes that identify a block of zeros */

static uint64_t key_of(struct weir_rank *r, const struct weir_case *c, const struct weir_buffer *s,
                       uint64_t pass)
{
    return pattern_key(r->cfg.seed, c->index, s->from, s->to, pass);
}

static int failed(struct weir_rank *r, const struct weir_err *e)
{
    return rank_fail(r, e->code, "contents", -1, "%s", e->text);
}

/* Fills memory at p with the pattern of a key, by the buffer's kind of memory. */
static int fill(struct weir_rank *r, const struct weir_buffer *s, char *p, size_t n, uint64_t key)
{
    struct weir_err e = {0};
    for (size_t off = 0; off < n; off += PIECE) {
        int rc = rank_tick(r);
        if (rc < 0) {
            return rc;
        }
        /* word i of a pattern depends on key + i: a piece is a pattern with a later key */
        if (s->kind->fill(p + off, n - off < PIECE ? n - off : PIECE, key + off / 8, &e) < 0) {
            return failed(r, &e);
        }
    }
    return 0;
}

/* *wrong: the first wrong offset, or -1. */
static int find_wrong(struct weir_rank *r, const struct weir_buffer *s, const char *p, size_t n,
                      uint64_t key, int64_t *wrong)
{
    struct weir_err e = {0};
    *wrong = -1;
    for (size_t off = 0; off < n && *wrong < 0; off += PIECE) {
        int rc = rank_tick(r);
        if (rc < 0) {
            return rc;
        }
        if (s->kind->check(p + off, n - off < PIECE ? n - off : PIECE, key + off / 8, wrong, &e) <
            0) {
            return failed(r, &e);
        }
        *wrong += *wrong < 0 ? 0 : (int64_t)off;
    }
    return 0;
}

#define ZEROS ((size_t)16 << 10) /* copied at a time */

static int clear(const struct weir_buffer *s, char *p, size_t n, struct weir_err *e)
{
    static const char zeros[ZEROS];
    int rc = 0;
    for (size_t off = 0; off < n && rc == 0; off += ZEROS) {
        rc = s->kind->copy_in(p + off, zeros, n - off < ZEROS ? n - off : ZEROS, e);
    }
    return rc;
}

static int find_nonzero(const struct weir_buffer *s, const char *p, size_t n, int64_t *wrong,
                        struct weir_err *e)
{
    char piece[ZEROS];
    *wrong = -1;
    for (size_t off = 0; off < n; off += ZEROS) {
        size_t left = n - off < ZEROS ? n - off : ZEROS;
        int rc = s->kind->copy_out(piece, p + off, left, e);
        if (rc < 0) {
            return rc;
        }
        for (size_t i = 0; i < left; i++) {
            if (piece[i]) {
                *wrong = (int64_t)(off + i);
                return 0;
            }
        }
    }
    return 0;
}

/* Blocks of zeros begin with a word that distinguishes passes and blocks. */
static int fill_zeros(struct weir_rank *r, const struct weir_case *c, const struct weir_buffer *s,
                      char *p, uint64_t key)
{
    struct weir_err e = {0};
    for (size_t off = 0, k = 0; off < s->bytes; off += c->block, k++) {
        size_t left = s->bytes - off < c->block ? s->bytes - off : c->block,
               head = left < HEAD ? left : HEAD;
        int rc = k % 1024 ? 0 : rank_tick(r);
        if (rc < 0) {
            return rc;
        }
        if (clear(s, p + off + head, left - head, &e) < 0 ||
            s->kind->fill(p + off, head, key + k, &e) < 0) {
            return failed(r, &e);
        }
    }
    return 0;
}

static int find_wrong_zeros(struct weir_rank *r, const struct weir_case *c,
                            const struct weir_buffer *s, const char *p, size_t n, uint64_t key,
                            int64_t *wrong)
{
    struct weir_err e = {0};
    *wrong = -1;
    for (size_t off = 0, k = 0; off < n && *wrong < 0; off += c->block, k++) {
        size_t left = n - off < c->block ? n - off : c->block, head = left < HEAD ? left : HEAD;
        int rc = k % 1024 ? 0 : rank_tick(r);
        if (rc < 0) {
            return rc;
        }
        if (s->kind->check(p + off, head, key + k, wrong, &e) < 0) {
            return failed(r, &e);
        }
        if (*wrong < 0) {
            if (find_nonzero(s, p + off + head, left - head, wrong, &e) < 0) {
                return failed(r, &e);
            }
            *wrong += *wrong < 0 ? 0 : (int64_t)head;
        }
        *wrong += *wrong < 0 ? 0 : (int64_t)off;
    }
    return 0;
}

/* Keys of the slots of a buffer are so far apart that no two slots share a word. */
static uint64_t slot_key(const struct weir_role *o, uint64_t key, uint64_t slot)
{
    return key + slot * (o->stride / 8);
}

static int fill_region(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                       const struct weir_buffer *s, uint64_t pass)
{
    uint64_t key = key_of(r, c, s, pass);
    if (!c->zeros) {
        return fill(r, s, s->at, o->slots > 1 ? o->buffer : s->bytes, key);
    }
    for (uint64_t k = 0; k < o->slots; k++) {
        int rc = fill_zeros(r, c, s, s->at + k * o->stride, slot_key(o, key, k));
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int poison_region(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                         const struct weir_buffer *s, uint64_t pass)
{
    return fill(r, s, s->at, o->slots > 1 ? o->buffer : s->bytes,
                ~key_of(r, c, s, PASS_POISON + pass));
}

int contents_prepare(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                     uint64_t pass)
{
    struct weir_buffer s;
    for (int i = 0; role_buffer(r, c, o, i, &s); i++) {
        int rc = s.receiving ? poison_region(r, c, o, &s, pass) : fill_region(r, c, o, &s, pass);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

int contents_no_ping(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    struct weir_err e = {0};
    if (r->cfg.sink->copy_in(rank_sink(r) + c->block - 1, "", 1, &e) < 0) {
        return failed(r, &e);
    }
    /* and nothing else in its line: the peer may be ahead, and its signal already there */
    atomic_store(rank_ping_slot(r, o->from), 0);
    return 0;
}

/* Renews both ends of a rank's own cell; both are local, whatever the op. */
static int renew_own(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    struct weir_buffer from = role_own(r, o, 0), to = role_own(r, o, 1);
    if (!o->own.bytes) {
        return 0;
    }
    int rc = fill_region(r, c, o, &from, PASS_TIMED);
    return rc < 0 ? rc : poison_region(r, c, o, &to, 0);
}

/* Between warm-up and timed part only the initiator's own memory may change: the target would pull
 * the lines into its cache and slow the first timed requests. A new source makes the whole target
 * stale; a poisoned destination does that for a reader. */
int contents_renew(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    struct weir_buffer s;
    if (c->mode == MODE_PINGPONG) {
        int rc = contents_prepare(r, c, o, PASS_TIMED);
        return rc < 0 ? rc : contents_no_ping(r, c, o);
    }
    for (int i = 0; i < o->ntargets && role_buffer(r, c, o, i, &s); i++) {
        int rc = s.receiving ? poison_region(r, c, o, &s, 0) : fill_region(r, c, o, &s, PASS_TIMED);
        if (rc < 0) {
            return rc;
        }
    }
    return renew_own(r, c, o);
}

#define NUMBER_BITS 40

uint64_t contents_word(const struct weir_case *c, uint64_t number)
{
    uint64_t most = ((uint64_t)1 << NUMBER_BITS) - 1;
    return ((uint64_t)c->index + 1) << NUMBER_BITS | (number < most ? number : most);
}

int64_t contents_number(const struct weir_case *c, uint64_t word)
{
    return word >> NUMBER_BITS == (uint64_t)c->index + 1
               ? (int64_t)(word & (((uint64_t)1 << NUMBER_BITS) - 1))
               : -1;
}

/* Returns the number of requests to the k-th target, of done that cycled over the targets. */
static uint64_t to_target(const struct weir_role *o, int k, uint64_t done)
{
    uint64_t n = (uint64_t)o->ntargets;
    return done / n + ((uint64_t)k < done % n);
}

int contents_send_counts(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                         uint64_t done)
{
    for (int k = 0; k < o->ntargets; k++) {
        int rc = rank_notify(r, o->targets[k].peer, contents_word(c, to_target(o, k, done)));
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Returns the slots of the i-th region that the timed part touched. */
static int touched(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o, int i,
                   uint64_t done, uint64_t *slots)
{
    int64_t requests;
    if (i < o->ntargets) {
        requests = (int64_t)to_target(o, i, done);
    } else {
        int source = o->sources[i - o->ntargets].peer;
        requests = contents_number(c, rank_counter(r, source));
        if (requests < 1) {
            return rank_fail(r, -EPROTO, "verify", source,
                             "rank %d did not report its number of requests to rank %d", source,
                             r->cfg.rank);
        }
    }
    *slots = (uint64_t)requests < o->slots ? (uint64_t)requests : o->slots;
    return 0;
}

static int wrong(struct weir_rank *r, const struct weir_case *c, const struct weir_buffer *s,
                 uint64_t slot, const char *p, size_t n, int64_t at, uint64_t key, int timed)
{
    int64_t block = (int64_t)c->block;
    uint64_t k = (uint64_t)(at / block);
    uint8_t want = pattern_byte(key, (size_t)at), is;
    struct weir_err e = {0};
    char place[48] = "", part[64] = "of their cell";
    if (c->zeros) {
        want = at % block < HEAD ? pattern_byte(key + k, (size_t)(at % block)) : 0;
    }
    if (c->slots > 1) {
        snprintf(place, sizeof place, " at place %llu", (unsigned long long)slot);
    }
    if (s->from == s->to) {
        snprintf(part, sizeof part, "of its own cell");
    }
    if (s->kind->copy_out(&is, p + at, 1, &e) < 0) {
        return failed(r, &e);
    }
    if (c->mode != MODE_MATRIX) {
        snprintf(part, sizeof part, "(block %llu, offset %lld in it)", (unsigned long long)k,
                 (long long)(at % block));
    }
    rank_phase(r, PH_VERIFY, 0);
    return rank_fail(r, -EBADMSG, "verify", s->from == r->cfg.rank ? s->to : s->from,
                     "wrong data from rank %d to rank %d after %s%s: byte %lld of %zu %s is "
                     "0x%02x, should be 0x%02x",
                     s->from, s->to, timed ? "the timed part" : "an untimed pass", place,
                     (long long)at, n, part, is, want);
}

static int check_slot(struct weir_rank *r, const struct weir_case *c, const struct weir_buffer *s,
                      uint64_t slot, const char *p, size_t n, uint64_t key, int timed)
{
    int64_t at;
    int rc =
        c->zeros ? find_wrong_zeros(r, c, s, p, n, key, &at) : find_wrong(r, s, p, n, key, &at);
    return rc < 0 || at < 0 ? rc : wrong(r, c, s, slot, p, n, at, key, timed);
}

/* Corrupts a byte as if it had arrived so. */
static int flip_byte(struct weir_rank *r, const struct weir_buffer *s, int64_t at)
{
    struct weir_err e = {0};
    unsigned char byte;
    if (s->kind->copy_out(&byte, s->at + at, 1, &e) < 0) {
        return failed(r, &e);
    }
    byte ^= 1;
    return s->kind->copy_in(s->at + at, &byte, 1, &e) < 0 ? failed(r, &e) : 0;
}

int contents_check(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   uint64_t pass, int timed, uint64_t done)
{
    struct weir_buffer s;
    /* a ping may carry its sequence mark in its last byte */
    size_t marked = c->mode == MODE_PINGPONG && timed;
    int64_t flip = c->corrupt_timed == timed ? c->corrupt : -1;
    for (int i = 0; role_buffer(r, c, o, i, &s); i++) {
        uint64_t slots = o->slots;
        size_t n = s.bytes - marked;
        int rc;
        if (!s.receiving) {
            continue;
        }
        if (flip >= 0 && (size_t)flip < n) {
            if ((rc = flip_byte(r, &s, flip)) < 0) {
                return rc;
            }
        }
        flip -= (int64_t)s.bytes;
        uint64_t of = timed && s.from == s.to ? PASS_TIMED : pass; /* see renew_own */
        if (timed && c->mode == MODE_STREAM) {
            if ((rc = touched(r, c, o, i, done, &slots)) < 0) {
                return rc;
            }
        }
        for (uint64_t k = 0; k < slots; k++) {
            if ((rc = check_slot(r, c, &s, k, s.at + k * o->stride, n,
                                 slot_key(o, key_of(r, c, &s, of), k), timed)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}
