/* ping.h: a part of a ping-pong that a fabric plays by itself. */
#ifndef WEIR_PING_H
#define WEIR_PING_H

#include <stddef.h>
#include <stdint.h>

#define RALLY_MOST 2048 /* messages of a part */

struct weir_rally {
    int       begins; /* this rank sends first */
    int       over;   /* the only message tells who answers that there are no more; it does not count */
    size_t    bytes;  /* of a message, from the beginning of the source to that of the sink */
    uint64_t  n;      /* messages, RALLY_MOST at most: both ranks have the same */
    uint64_t *round_trips; /* [n] of who begins, ns */
};

#endif
