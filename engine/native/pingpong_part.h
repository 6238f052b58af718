/* pingpong_part.h: a part of a ping-pong that a fabric runs by itself. */
#ifndef WEIR_PINGPONG_PART_H
#define WEIR_PINGPONG_PART_H

#include <stddef.h>
#include <stdint.h>

#define PART_MOST 2048 /* messages of a part */

struct weir_pingpong {
    int       begins; /* this rank sends first */
    /* the first message tells who answers that there are no more; none counts */
    int       over;
    size_t    bytes;  /* of a message, from the beginning of the source to that of the sink */
    uint64_t  n;      /* messages, PART_MOST at most: both ranks have the same */
    uint64_t *round_trips; /* [n] of who begins, ns */
    double    step;        /* of their clock, ns */
};

#endif
