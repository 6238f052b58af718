/* loop.h: the measured loops, generic over the fabric table. */
#ifndef WEIR_LOOP_H
#define WEIR_LOOP_H

#include "rank.h"

struct weir_loop {
    struct weir_rank *r;
    int               peer;
    /* filled by the loop */
    uint64_t done;
    int      status; /* of the first part that failed */
    int64_t  start, end; /* ticks */
    uint32_t every;      /* one request in so many is stamped */
    /* between loop and weir_part_done */
    struct weir_req *free;
    uint64_t         next_point, point_step, request_bytes;
};

/* Moves n requests with a window; timed ones are recorded. Returns 0 when all of
 * them are at the target (write) or here (read). */
int loop_stream(struct weir_loop *l, const struct weir_case *c, uint64_t n, int timed);

/* n messages there and back, of which the first skip are not recorded. */
int loop_pingpong(struct weir_loop *l, const struct weir_case *c, int initiator, uint64_t skip, uint64_t n);

#endif
