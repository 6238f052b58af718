/* ceiling.h: what memory copies can do here, with the rank's own buffers. */
#ifndef WEIR_CEILING_H
#define WEIR_CEILING_H

#include "rank.h"

/* Rate in bytes/s at which one thread copies a request of n blocks from the local
 * to the exposed area, by the best of the copy methods; *best is that method.
 * *bps only grows, so that of several probes the fastest counts. */
int ceiling_memcpy(struct weir_rank *r, size_t block, size_t n, double *bps, const struct weir_copy **best);

#endif
