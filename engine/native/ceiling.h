/* ceiling.h: what memory copies can do here, with the rank's own buffers. */
#ifndef WEIR_CEILING_H
#define WEIR_CEILING_H

#include "rank.h"

#define CEILING_SPANS 9

/* Rates in bytes/s of spans of a probe, before and after a timed part. The median
 * is the path's: a span in which the host did something else does not count, nor
 * does a lucky one. */
struct ceiling {
    double rate[2 * CEILING_SPANS];
    size_t n;
};

void   ceiling_add(struct ceiling *c, double rate);
double ceiling_rate(struct ceiling *c); /* 0: nothing was probed */

/* The method that copies a request of n blocks from the local to the exposed area
 * fastest, by a short trial of each. */
int ceiling_choose(struct weir_rank *r, size_t block, size_t n, const struct weir_copy **best);
/* One thread makes that copy by the rank's method, CEILING_SPANS times. */
int ceiling_memcpy(struct weir_rank *r, size_t block, size_t n, struct ceiling *c);

#endif
