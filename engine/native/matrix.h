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
    uint64_t                bytes;
    uint32_t                posts;  /* since the last turn */
    size_t                  posted; /* bytes */
};

/* Makes the requests of all cells that this rank begins; cells is freed by the caller,
 * once nothing is under way. */
int traffic_make(struct weir_traffic *t, struct weir_loop *l, const struct weir_case *c, const struct weir_role *o);

/* Moves each cell once; all are posted at *posted, and delivered when it returns. If it
 * is to be stamped, each cell has the time then. */
int traffic_move(struct weir_traffic *t, int stamped, int64_t *posted);

/* From the release of so many ranks to their common start: they hear of the instant
 * one after the other, over a socket in some microseconds each. */
static inline int64_t matrix_lead(int ranks) { return START_LEAD_NS + (int64_t)5000 * ranks; }

#endif
