/* loop_role.h: what a rank does in a case: its targets, its sources, and their buffers. */
#ifndef WEIR_LOOP_ROLE_H
#define WEIR_LOOP_ROLE_H

#include "rank.h"

struct weir_role {
    int initiator;
    const struct weir_flow *targets;
    const struct weir_incoming *sources;
    int ntargets, nsources;
    struct weir_own_cell own; /* of a matrix; otherwise empty */
    uint64_t slots;           /* per buffer; each holds one request */
    size_t request;           /* bytes; for a matrix, of this rank's probes */
    size_t stride;            /* from slot to slot */
    size_t buffer;            /* bytes of one, including padding */
    /* ping-pong: the path back; both ends move over one pair of buffers */
    struct weir_flow back;
    struct weir_incoming served;
    int from;
};

/* Offset of the buffer for the k-th target, in the source and in the target's sink, and of that for
 * the k-th source in this rank's sink. */
static inline size_t role_local(const struct weir_role *o, int k)
{
    return o->targets[k].bytes ? o->targets[k].local : (size_t)k * o->buffer;
}
static inline size_t role_remote(const struct weir_role *o, int k)
{
    const struct weir_flow *f = &o->targets[k];
    return f->bytes ? f->remote : (size_t)f->buffer * o->buffer;
}
static inline size_t role_served(const struct weir_role *o, int k)
{
    return o->sources[k].bytes ? o->sources[k].offset : (size_t)k * o->buffer;
}

/* Returns the role of a rank in a case. */
void role_of(const struct weir_rank *r, const struct weir_case *c, struct weir_role *o);

/* Fails if buffers of the role exceed the regions of this rank or of a target. */
int role_fits(struct weir_rank *r, const struct weir_role *o);

/* A buffer through which this rank sends or receives. */
struct weir_buffer {
    int from, to; /* ranks */
    int receiving;
    char *at;
    size_t bytes; /* of a request, or of a cell */
    const struct weir_memory *kind;
};

/* Returns where the rank's own cell is sent from, or where it is received. */
struct weir_buffer role_own(struct weir_rank *r, const struct weir_role *o, int receiving);

/* Returns the i-th buffer of this rank in a case; 0: no such buffer. */
int role_buffer(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o, int i,
                struct weir_buffer *out);

#endif
