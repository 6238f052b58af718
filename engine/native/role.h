/* role.h: what a rank does in a case: to whom it moves, from whom it receives,
 * and where in memory that is. */
#ifndef WEIR_ROLE_H
#define WEIR_ROLE_H

#include "rank.h"

struct weir_role {
    int                       initiator;
    const struct weir_flow   *targets;
    const struct weir_source *sources;
    int                       ntargets, nsources;
    struct weir_own           own;     /* of a matrix; others have none */
    uint64_t                  slots;   /* of a region; each holds one request */
    size_t                    request; /* bytes; in a matrix of what this rank probes with */
    size_t                    stride;  /* from slot to slot */
    size_t                    region;  /* bytes, padding included */
    /* in a ping-pong both ends move, over one pair of regions */
    struct weir_flow          back;
    struct weir_source        served;
    int                       from;
};

/* Where the region of the k-th target begins, in the local area and in the target's
 * exposed one, and that of the k-th source in this rank's exposed one. */
static inline size_t role_local(const struct weir_role *o, int k) { return o->targets[k].bytes ? o->targets[k].local : (size_t)k * o->region; }
static inline size_t role_remote(const struct weir_role *o, int k)
{
    const struct weir_flow *f = &o->targets[k];
    return f->bytes ? f->remote : (size_t)f->region * o->region;
}
static inline size_t role_served(const struct weir_role *o, int k) { return o->sources[k].bytes ? o->sources[k].offset : (size_t)k * o->region; }

void role_of(const struct weir_rank *r, const struct weir_case *c, struct weir_role *o);

/* One region through which this rank sends or receives. */
struct weir_share {
    int    from, to; /* ranks */
    int    receiving;
    char  *at;
    size_t bytes; /* of a request, or of a cell */
};

/* Where the rank's own cell is sent from, and where it is received. */
struct weir_share role_own(struct weir_rank *r, const struct weir_role *o, int receiving);

/* All regions of this rank in a case, counted from 0; 0: there is no such. */
int role_share(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o, int i, struct weir_share *out);

#endif
