/* ep_run.h: the state shared by the parts of a rank's dispatch and combine. */
#ifndef WEIR_EP_RUN_H
#define WEIR_EP_RUN_H

#include "ep.h"
#include "rank.h"

struct ep_gpu;
struct ep_pool;

struct ep_run {
    struct weir_rank *r;
    const struct weir_ep *e;
    /* Where rows are made and checked: the rank's source and sink, or host copies if kernels move
     * the data (gpu). used: bytes of the source. */
    char *source, *sink;
    size_t used;
    struct ep_gpu *gpu;        /* NULL: moved by the host */
    struct ep_pool *pool;      /* NULL: single-threaded */
    uint16_t *x, *out;         /* rows of this rank's tokens, and their sums */
    char *expected;            /* space for two messages */
    struct weir_req *requests; /* by peer */
    struct weir_ep_times *times;
    struct weir_ep_wait *waits;
    int timed;
    uint64_t flags_sent; /* word of the last operation sent to all peers; it only grows */
    /* groups that change: the operation in which this rank fails; -1: none */
    int end;
    int killed, silenced; /* kind of failure; silenced: it has fallen silent */
    int64_t silence;      /* time limit for a peer's silence, ns; 0: none */
    char *missing;        /* by rank: nothing arrived within that time */
    uint64_t next;        /* iteration since the rows were made */
    char *want;           /* expected data of each */
    int64_t stopped;      /* time until kernels ended once told to stop, ns */
    struct weir_ep_spent spent;
};

/* Returns the half of a sink that an iteration writes into; 0 if ranks synchronise before each. */
static inline uint64_t ep_half_of(const struct ep_run *u, uint64_t iteration)
{
    return u->e->aligned ? 0 : iteration & 1;
}

static inline char *ep_half(const struct ep_run *u, enum weir_ep_operation o, uint64_t iteration)
{
    const struct weir_ep_part *p = &u->e->parts[o];
    return u->sink + p->sink + ep_half_of(u, iteration) * p->half;
}

/* Returns the bytes of a row of channels in BF16. */
static inline size_t ep_row_bytes(const struct weir_ep *e)
{
    return (size_t)e->channels * sizeof(uint16_t);
}

/* Converts between a rank and its index among the members of its group. */
static inline int ep_place(const struct weir_ep *e, int rank)
{
    return e->places ? e->places[rank] : rank;
}

static inline int ep_rank_at(const struct ep_run *u, int place)
{
    int rank = u->r->cfg.rank;
    for (int i = 0; i < u->r->cfg.ranks; i++) {
        if (!u->r->barrier.absent[i] && ep_place(u->e, i) == place) {
            rank = i;
        }
    }
    return rank;
}

/* Returns the number of an expert within its group. */
static inline int32_t ep_number(const struct weir_ep *e, int32_t expert)
{
    return expert == EP_MASKED
               ? expert
               : ep_place(e, expert / e->per_rank) * e->per_rank + expert % e->per_rank;
}

/* Returns whether the owners of tokens pull a combine's rows from the sinks of their ranks; groups
 * that change push them. */
static inline int ep_pulls(const struct ep_run *u)
{
    return u->gpu && !u->e->posted && u->e->layout == EP_MESSAGE && !u->e->places;
}

/* Returns whether kernels send, without the host. */
static inline int ep_by_kernels(const struct ep_run *u) { return u->gpu && !u->e->posted; }

/* Returns whether a case has an operation. */
static inline int ep_does(const struct ep_run *u, enum weir_ep_operation o)
{
    return u->e->operations >> o & 1;
}

/* ---- ep_produce.c ---- */

/* Writes the messages of tokens below until into the source; *at advances over their copies. */
void ep_write_messages(struct ep_run *u, uint32_t until, uint32_t *at);
/* Adds up the terms of the i-th sum. */
void ep_add_up(struct ep_run *u, const struct weir_ep_sums *s, uint32_t i, const char *from,
               char *to);
/* Writes the messages of all tokens into the source, as a dispatch does it without `before`. */
void ep_prepare(struct ep_run *u);

/* ---- ep_operate.c ---- */

/* Runs one iteration: its operations one after the other. */
int ep_iterate(struct ep_run *u, uint64_t iteration);
/* Runs one operation, with puts by the host. */
int ep_operate(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration,
               struct weir_ep_times *t);
/* Waits for iterations run by kernels. */
int ep_finish(struct ep_run *u);

/* ---- ep_contents.c ---- */

/* Rows of a token before a dispatch, and of its experts before a combine. */
enum ep_row { OF_TOKEN, OF_EXPERT };

/* Makes a row of a pass: of the k-th selection of a rank's token, or of the token. Contents depend
 * on integers only, so every processor makes the same. */
void ep_make_row(const struct ep_run *u, uint64_t pass, enum ep_row what, int rank, uint32_t token,
                 uint32_t k, uint16_t *row);

/* Mixes the bits of a word. */
uint64_t ep_mix(uint64_t x);

/* Fills what this rank sends from with the rows of a pass, and poisons where it receives. */
int ep_fill(struct ep_run *u, uint64_t pass);

/* ---- ep_case.c ---- */

/* Allocates r->ep; frees the previous one. */
int ep_make(struct weir_rank *r, const struct weir_ep *e);
/* Frees r->ep. */
void ep_drop(struct weir_rank *r);

/* ---- ep_steps.c ---- */

/* This rank is killed here, or falls silent (returns < 0). */
int ep_end(struct ep_run *u);
/* Fails because a peer was silent for too long. */
int ep_silent(struct ep_run *u, int peer);

/* ---- ep_check.c ---- */

/* Compute expected data by the reference code: a token's message; the row of a selection, or what a
 * rank sends for its selections; and the sum of a token, followed by scratch space for rows. */
void ep_expect_message(struct ep_run *u, uint64_t pass, int rank, uint32_t token, char *to);
void ep_expect_row(struct ep_run *u, uint64_t pass, const struct weir_ep_place *of, uint16_t *to);
void ep_expect_total(struct ep_run *u, uint64_t pass, uint32_t token, uint16_t *to);

/* Checks every received byte of an iteration of a pass. flip: a received byte to flip before,
 * counted over messages, counts, rows and sums; -1: none. */
int ep_check(struct ep_run *u, uint64_t pass, uint64_t iteration, int64_t flip);

/* for tests: random bytes to flip after each check; counts those that the check missed */
#ifdef WEIR_TEST
extern _Atomic uint64_t ep_flips, ep_flips_missed;
/* for tests: the rank that starts no kernels, as if hung; -1: none */
extern _Atomic int ep_gpu_hung_rank;
/* for tests: the unobserved iteration in which rank 1 sends stale contents; -1: none */
extern _Atomic int64_t ep_gpu_stale_iteration;
#endif

#endif
