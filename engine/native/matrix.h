/* matrix.h: what one rank moves of a traffic matrix, all of it at a time. */
#ifndef WEIR_MATRIX_H
#define WEIR_MATRIX_H

#include "loop.h"

struct weir_cell {
    int             peer;
    char           *local;
    uint64_t        remote, bytes, shards;
    int64_t         done; /* when it was seen to be delivered; 0: it is not, or nobody looks */
    struct weir_req q;
};

struct weir_traffic {
    struct weir_loop       *l;
    const struct weir_case *c;
    struct weir_cell       *cells;
    int                     n, delivered; /* delivered: what is complete is at its target */
    /* of the cells: those before it were seen to be delivered */
    int                     first;
    uint64_t                bytes;        /* of the cells */
    uint64_t                own;          /* bytes of the rank's own cell; 0: it has none */
    struct weir_buffer       own_from, own_to;
    uint32_t                posts;  /* since the last turn */
    size_t                  posted; /* bytes */
};

/* Whether the rank has anything to do. */
static inline int traffic_any(const struct weir_traffic *t) { return t->n || t->own; }

/* Makes the requests of all cells that this rank begins; cells is freed by the caller,
 * once nothing is under way. */
int traffic_make(struct weir_traffic *t, struct weir_loop *l, const struct weir_case *c,
                 const struct weir_role *o);

/* Moves each cell once; all are posted at *posted, and delivered when it returns. If it
 * is to be stamped, each cell has the time then. The rank's own cell is copied while
 * the others are under way. */
int traffic_move(struct weir_traffic *t, int stamped, int64_t *posted);

/* From the release of so many ranks to their common start: they hear of the instant
 * one after the other, over a socket in some microseconds each. */
static inline int64_t matrix_lead(int ranks) { return START_LEAD_NS + (int64_t)5000 * ranks; }

#endif
