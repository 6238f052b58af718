/* loop.h: the measured loops, generic over fabrics. */
#ifndef WEIR_LOOP_H
#define WEIR_LOOP_H

#include "rank.h"

struct weir_role;

struct weir_loop {
    struct weir_rank *r;
    int64_t until; /* tick: end of the duration; 0: no duration */
    /* set by the loop */
    uint64_t done;
    int status, failed; /* of the first failed part, and its peer */
    int64_t start, end; /* ticks */
    /* loops run by the fabric: ns by its clock, and that clock's resolution */
    uint64_t took;
    double resolution;
    uint32_t stamp_every; /* one request in this many is time-stamped, rounded down */
    /* stamp_every is too small by stamp_rest / stamps; stamp_carry: the sum of what was left out */
    uint64_t stamps, stamp_rest, stamp_carry;
    /* time to prepare one request of the window; the fabric's part is in weir_prep */
    double prep_s;
    /* transfer: only of requests that were not complete when posted */
    struct weir_stage post, transfer;
    /* total ns to post stamped requests that were complete then; their transfer is 0 */
    uint64_t immediate_ns;
    /* between loop and weir_part_done */
    struct weir_req *free;
    uint64_t next_point, point_step, request_bytes;
    int64_t clock_ns;           /* cost of a clock read, ns */
    int64_t immediate_clock_ns; /* the same for a request that was complete when posted, ns */
};

/* Returns the number of requests between this stamped request and the next one. */
static inline uint32_t loop_until_stamp(struct weir_loop *l)
{
    l->stamp_carry += l->stamp_rest;
    if (l->stamp_carry < l->stamps || !l->stamps) {
        return l->stamp_every - 1;
    }
    l->stamp_carry -= l->stamps;
    return l->stamp_every;
}

static inline int loop_stamps_each(const struct weir_loop *l)
{
    return l->stamp_every == 1 && !l->stamp_rest;
}

/* Requests that complete when posted need no polling. The loop polls after this many of them, or
 * this many bytes (about 10 ms), to drive progress for peers. */
#define POSTS_PER_POLL 256
#define BYTES_PER_POLL ((size_t)64 << 20)

struct loop_posts { /* since the last poll */
    uint32_t n;
    size_t bytes; /* of posts that were complete when posted */
};

/* Counts a post, of which n bytes were complete when posted, and polls when one is due: posts that
 * copy leave no other occasion. */
static inline int loop_poll_after(struct weir_rank *r, struct loop_posts *since_poll, size_t n)
{
    since_poll->bytes += n;
    if (++since_poll->n < POSTS_PER_POLL && since_poll->bytes < BYTES_PER_POLL) {
        return 0;
    }
    *since_poll = (struct loop_posts){0};
    int rc = r->fab->progress(r);
    return rc < 0 ? rc : rank_tick(r);
}

#define START_LEAD_NS 50000 /* from the release of a barrier to a common start */

/* Functions returning int return 0, or a negative code with the error of the rank's call filled. */

/* Resets a loop for n requests of this size. */
void loop_begin(struct weir_loop *l, const struct weir_case *c, uint64_t bytes, uint64_t n);

/* Polls once; loop_await may block while waiting for a request. Both advance the heartbeat, and
 * fail with a failed request, after the deadline and when the rank is to stop. */
int loop_poll(struct weir_loop *l);
int loop_await(struct weir_loop *l);

/* Moves n requests with a window, cycling over the targets and their slots. Timed requests are
 * recorded; with l->until set none is posted later, except one per target. Returns 0 when all of
 * them are at their target (write) or here (read). */
int loop_stream(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                uint64_t n, int timed);

/* Runs n round trips of c->block bytes; with l->until set, as many as end before, at least one.
 * Call contents_no_ping first. */
int loop_pingpong(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                  uint64_t n);

/* Like loop_pingpong, run by the fabric itself. */
int loop_pingpong_parts(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                        uint64_t n);

/* Runs n iterations of a matrix; collective over all ranks, also those without cells. Each
 * iteration starts at a common instant, moves all cells of this rank, and ends when they are at
 * their targets (write) or here (read). Timed iterations are recorded. */
int loop_matrix(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                uint64_t n, int timed);

/* Fills in the recorded iterations, and the cost and resolution of their clock in ns. */
void loop_matrix_result(const struct weir_loop *l, struct weir_result *out);

/* Returns the state of the GPU that holds this rank's memory, before or after the timed part; adds
 * to out->gpu_slowed. */
struct weir_gpu_health;
struct weir_gpu_health rank_gpu_health(struct weir_rank *r, struct weir_result *out);

/* Returns the offset of request k of a cell split into shards requests; k = shards: the end. */
uint64_t matrix_edge(uint64_t bytes, uint64_t shards, uint64_t k);

#endif
