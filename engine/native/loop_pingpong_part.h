/* loop_pingpong_part.h: a part of a ping-pong run by a fabric itself. */
#ifndef WEIR_LOOP_PINGPONG_PART_H
#define WEIR_LOOP_PINGPONG_PART_H

#include <stddef.h>
#include <stdint.h>

#define MAX_PART 2048 /* messages of a part */

struct weir_pingpong {
    int begins; /* this rank sends first */
    /* the first message tells the peer that there are no more; none is recorded */
    int over;
    size_t bytes;          /* of a message, from the start of the source to the start of the sink */
    uint64_t n;            /* messages, at most MAX_PART; equal on both ranks */
    uint64_t *round_trips; /* [n] of the first sender, ns */
    double step;           /* resolution of its clock, ns */
};

#endif
