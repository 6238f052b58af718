/* loop.h: the measured loops, generic over the fabric table. */
#ifndef WEIR_LOOP_H
#define WEIR_LOOP_H

#include "role.h"
#include "stage.h"

struct weir_loop {
    struct weir_rank *r;
    int64_t           until; /* tick: with a duration, the common end */
    /* filled by the loop */
    uint64_t done;
    int      status, failed; /* of the first part that failed, and to whom it was */
    int64_t  start, end;     /* ticks */
    /* of a loop that the fabric runs by itself: ns by its clock, and the step of that */
    uint64_t took;
    double   resolution;
    uint32_t every;          /* one request in so many is stamped */
    /* making one request of the window; the fabric's part of it is in weir_made */
    double   prep_s;
    /* transfer: of those that were not complete when they were posted */
    struct weir_stage post, transfer;
    /* ns of stamped requests that were: to post them, and their transfer took 0 */
    uint64_t          at_once;
    /* between loop and weir_part_done */
    struct weir_req *free;
    uint64_t         next_point, point_step, request_bytes;
    int64_t          read; /* ns of a clock read */
    int64_t          read_at_once; /* of those of a request that is complete when it is posted */
};

/* Requests that complete when they are posted leave no turn in which to wait: one is
 * taken after so many, or so many bytes, which take some 10 ms. */
#define POSTS_PER_TURN 256
#define BYTES_PER_TURN ((size_t)64 << 20)

#define START_LEAD_NS 50000 /* from the release of a barrier to a common start */

/* Nothing is done yet of n requests of so many bytes. */
void loop_begin(struct weir_loop *l, const struct weir_case *c, uint64_t bytes, uint64_t n);

/* A turn of progress; and of who cannot go on before a request is complete. Both show
 * life, and see a failed request, the deadline and an order to stop. */
int loop_turn(struct weir_loop *l);
int loop_await(struct weir_loop *l);

/* Moves n requests with a window, going round the targets and the slots of their
 * regions; timed ones are recorded, and posted only before l->until, if that is
 * set, but one to each target in any case. Returns 0 when all of them are at their
 * target (write) or here (read). */
int loop_stream(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                uint64_t n, int timed);

/* n messages there and back; or, if l->until is set, as many as end before that, at
 * least one. Before it contents_no_ping. */
int loop_pingpong(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                  uint64_t n);

/* The same where the fabric runs it by itself. */
int loop_pingpong_parts(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                        uint64_t n);

/* n iterations of a matrix, of all ranks at a time, whether they move or not: each
 * begins at a common instant, moves all cells of this rank, and is over when they are
 * at their targets (write) or here (read). Timed ones are recorded. */
int loop_matrix(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                uint64_t n, int timed);

/* The iterations of a step that was moved alone in a sequence, as if loop_matrix had
 * made them now. */
int loop_take_over(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o);

/* The iterations that were recorded, and the clock of their stamps. */
void loop_matrix_result(const struct weir_loop *l, struct weir_result *out);

/* Where the k-th of the requests begins that a cell is cut into; that of one more than
 * there are is its end. */
uint64_t matrix_edge(uint64_t bytes, uint64_t shards, uint64_t k);

#endif
