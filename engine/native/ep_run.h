/* ep_run.h: what the parts of a rank's dispatch and combine share. */
#ifndef WEIR_EP_RUN_H
#define WEIR_EP_RUN_H

#include "ep.h"
#include "rank.h"

struct ep_gpu;
struct ep_together;

struct ep_run {
    struct weir_rank     *r;
    const struct weir_ep *e;
    /* Where rows are made and checked: the rank's source and sink, or copies of them in host
     * memory, where kernels move the data (gpu). used: bytes of the source. */
    char                 *source, *sink;
    size_t                used;
    struct ep_gpu        *gpu; /* NULL: the host moves them */
    struct ep_together   *together; /* NULL: the rank has one thread */
    uint16_t             *x, *out; /* rows of this rank's tokens, and the sums that come of them */
    char                 *expected; /* room for two messages */
    struct weir_req      *requests; /* by peer */
    struct weir_ep_times *times;
    struct weir_ep_wait  *waits;
    int                   timed;
    /* of a group that changes: the operation in which this rank ends or falls silent; -1: in
     * none */
    int                   end;
    int                   dies, mute; /* which of the two; mute: it has */
    int64_t               silence; /* how long a peer may say nothing; 0: as long as it likes */
    char                 *missing; /* by rank: nothing came of it for so long */
    uint64_t              next;    /* iteration since the rows were made */
    char                 *want;    /* what comes in each of them */
    int64_t               stopped; /* how long kernels took to end when they were told to */
};

/* Which half of a sink an iteration writes into: where ranks meet before each, one is enough. */
static inline uint64_t ep_half_of(const struct ep_run *u, uint64_t iteration)
{
    return u->e->aligned ? 0 : iteration & 1;
}

static inline char *ep_half(const struct ep_run *u, enum weir_ep_operation o, uint64_t iteration)
{
    const struct weir_ep_part *p = &u->e->parts[o];
    return u->sink + p->sink + ep_half_of(u, iteration) * p->half;
}

/* A row of channels in BF16. */
static inline size_t ep_row_bytes(const struct weir_ep *e)
{
    return (size_t)e->channels * sizeof(uint16_t);
}

/* The place of a rank among the members of its group, and which rank has a place. */
static inline int ep_place(const struct weir_ep *e, int rank)
{
    return e->places ? e->places[rank] : rank;
}

static inline int ep_rank_at(const struct ep_run *u, int place)
{
    int rank = u->r->cfg.rank;
    for (int i = 0; i < u->r->cfg.ranks; i++)
        if (!u->r->absent[i] && ep_place(u->e, i) == place)
            rank = i;
    return rank;
}

/* An expert as its group numbers it. */
static inline int32_t ep_number(const struct weir_ep *e, int32_t expert)
{
    return expert == EP_MASKED
               ? expert
               : ep_place(e, expert / e->per_rank) * e->per_rank + expert % e->per_rank;
}

/* The rows of a combine stay in a half of their rank's sink, where the owners of tokens read them;
 * in a group that changes they are pushed. */
static inline int ep_pulls(const struct ep_run *u)
{
    return u->gpu && u->e->layout == EP_MESSAGE && !u->e->places;
}

static inline int ep_does(const struct ep_run *u, enum weir_ep_operation o)
{
    return u->e->operations >> o & 1;
}

/* ---- ep_produce.c ---- */

/* Writes the messages of tokens into the source, until one of them; *at goes through their
 * copies. */
void ep_write_messages(struct ep_run *u, uint32_t until, uint32_t *at);
/* Adds up the terms of the i-th sum. */
void ep_add_up(struct ep_run *u, const struct weir_ep_sums *s, uint32_t i, const char *from,
               char *to);
/* Writes the messages of all tokens into the source, as a dispatch does it without
 * `before`. */
void ep_prepare(struct ep_run *u);

/* ---- ep_operate.c ---- */

/* One iteration: its operations one after the other. */
int ep_iterate(struct ep_run *u, uint64_t iteration);
/* Waits for iterations that kernels carry out. */
int ep_finish(struct ep_run *u);

/* ---- ep_contents.c ---- */

/* Rows of a token before a dispatch, and of its experts before a combine. */
enum ep_row { OF_TOKEN, OF_EXPERT };

/* What a row is in a pass: of the k-th selection of a rank's token, or of the token. Contents
 * depend on integers only, so that any processor makes the same. */
void ep_make_row(const struct ep_run *u, uint64_t pass, enum ep_row what, int rank, uint32_t token,
                 uint32_t k, uint16_t *row);

/* Mixes the bits of a word. */
uint64_t ep_mix(uint64_t x);

/* Rows of a pass where this rank sends from, and poison where it receives. */
int ep_fill(struct ep_run *u, uint64_t pass);

/* ---- ep.c ---- */

/* Makes r->ep. */
int ep_make(struct weir_rank *r, const struct weir_ep *e);

/* ---- ep_steps.c ---- */

/* This rank dies here, or says nothing any more (then less than 0). */
int ep_end(struct ep_run *u);
/* A peer has done nothing for too long. */
int ep_silent(struct ep_run *u, int peer);

/* ---- ep_check.c ---- */

/* What must come, by the reference and not by what made it: a token's message; the row of a
 * selection, or what a rank sends for its selections; and the sum of a token, to whose end there is
 * room for more rows. */
void ep_expect_message(struct ep_run *u, uint64_t pass, int rank, uint32_t token, char *to);
void ep_expect_row(struct ep_run *u, uint64_t pass, const struct weir_ep_place *of, uint16_t *to);
void ep_expect_total(struct ep_run *u, uint64_t pass, uint32_t token, uint16_t *to);


/* Checks what came in an iteration of a pass: every byte. flip: the received byte that is
 * changed before, counted over messages, counts, rows and sums; -1: none. */
int ep_check(struct ep_run *u, uint64_t pass, uint64_t iteration, int64_t flip);

/* tests have so many random bytes flipped after each check, and count those that it does not
 * find */
#ifdef WEIR_TEST
extern _Atomic uint64_t ep_flips, ep_flips_missed;
/* and have a rank start no kernels, as if its process hung; -1: none */
extern _Atomic int ep_gpu_idle;
/* in which unobserved iteration rank 1 sends contents of the one before; -1: in none */
extern _Atomic int64_t ep_gpu_stale;
#endif

#endif
