/* role.h: what a rank does in a case: to whom it moves, from whom it receives,
 * and where in memory that is. */
#ifndef WEIR_ROLE_H
#define WEIR_ROLE_H

#include "rank.h"

struct weir_role {
    int                     initiator;
    const struct weir_flow *targets;
    const int              *sources;
    int                     ntargets, nsources;
    uint64_t                slots;   /* of a region; each holds one request */
    size_t                  request; /* bytes */
    size_t                  stride;  /* from slot to slot */
    size_t                  region;  /* bytes, padding included */
    /* in a ping-pong both ends move, over one pair of regions */
    struct weir_flow        back;
    int                     from;
};

/* Bytes from one request's place to the next: whole cache lines, in pairs because
 * they are fetched in pairs, so that neighbours do not disturb each other. */
static inline size_t role_stride(size_t request) { return (request + 127) / 128 * 128; }

void role_of(const struct weir_rank *r, const struct weir_case *c, struct weir_role *o);

/* One region through which this rank sends or receives. */
struct weir_share {
    int   from, to; /* ranks */
    int   receiving;
    char *at;
};

/* All regions of this rank in a case, counted from 0; 0: there is no such. */
int role_share(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o, int i, struct weir_share *out);

#endif
