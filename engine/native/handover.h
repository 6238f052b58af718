/* handover.h: the memory of peers on one host, for fabrics that reach it themselves. */
#ifndef WEIR_HANDOVER_H
#define WEIR_HANDOVER_H

#include "rank.h"

#define HANDED 2 /* regions that peers map: control, then the sink */

struct handover {
    int                listener;
    struct weir_handle handles[HANDED];
    uint64_t           cookie; /* a peer that knows it has our address blob from the session */
    struct weir_region (*mapped)[HANDED]; /* by peer */
};

int handover_open(struct weir_rank *r, struct handover *h);
/* Exports the region if it is one of those. */
int     handover_attach(struct weir_rank *r, struct handover *h, enum weir_region_name name);
int64_t handover_address(struct weir_rank *r, struct handover *h, void *buf, size_t cap);
size_t  handover_address_bytes(void);
/* Hands this rank's regions to all peers, and fills mapped with theirs. */
int  handover_connect(struct weir_rank *r, struct handover *h, const char *const *blobs,
                      const size_t *lens);
void handover_disconnect(struct weir_rank *r, struct handover *h);
void handover_close(struct weir_rank *r, struct handover *h);

#endif
