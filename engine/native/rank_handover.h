/* rank_handover.h: maps the memory of peers on the same host, for fabrics that access it
 * directly. */
#ifndef WEIR_RANK_HANDOVER_H
#define WEIR_RANK_HANDOVER_H

#include "memory.h"

struct weir_rank;

#define EXCHANGED 2 /* regions that peers map: control and sink */

struct handover {
    int listener;
    struct weir_handle handles[EXCHANGED];
    uint64_t cookie; /* proves that a peer has this rank's address from the session */
    struct weir_region (*mapped)[EXCHANGED]; /* by peer */
};

/* Opens the socket and allocates the state. */
int handover_open(struct weir_rank *r, struct handover *h);
/* Exports the region if peers map it. */
int handover_attach(struct weir_rank *r, struct handover *h, enum weir_region_name name);
/* Writes this rank's address: its socket and a cookie. */
int64_t handover_address(struct weir_rank *r, struct handover *h, void *buf, size_t cap);
size_t handover_address_bytes(void);
/* Sends this rank's regions to all peers, and fills mapped with theirs. */
int handover_connect(struct weir_rank *r, struct handover *h, const char *const *blobs,
                     const size_t *lens);
/* Unmaps the regions of all peers. */
void handover_disconnect(struct weir_rank *r, struct handover *h);
/* Closes the socket and frees the state. */
void handover_close(struct weir_rank *r, struct handover *h);

#endif
