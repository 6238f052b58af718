/* loop_matrix.h: the cells of a traffic matrix that one rank moves concurrently. */
#ifndef WEIR_LOOP_MATRIX_H
#define WEIR_LOOP_MATRIX_H

#include "loop.h"
#include "loop_role.h"

struct weir_cell {
    int peer;
    char *local;
    uint64_t remote, bytes, shards;
    int64_t done; /* time of its delivery; 0: not delivered, or not stamped */
    struct weir_req q;
};

struct weir_traffic {
    struct weir_loop *l;
    const struct weir_case *c;
    struct weir_cell *cells;
    int n, delivered; /* delivered: a completed request is at its target */
    /* cells before it were delivered */
    int first;
    uint64_t bytes; /* of the cells */
    uint64_t own;   /* bytes of the rank's own cell; 0: none */
    struct weir_buffer own_from, own_to;
    struct loop_posts since_poll;
};

struct matrix_state { /* recorded of the last matrix */
    struct weir_iteration iterations[WEIR_MAX_STAMPS];
    size_t niterations;
    struct weir_delivery delivered[]; /* by target, one per rank */
};

/* Clears the record, and allocates it first if needed; its memory is touched before the clock
 * runs. */
int matrix_reset(struct weir_rank *r);
void matrix_drop(struct weir_rank *r); /* frees it */
/* Records iteration i of n, in ns of CLOCK_MONOTONIC; only the first and the last WEIR_MAX_STAMPS
 * / 2. */
void matrix_record(struct weir_rank *r, uint64_t i, uint64_t n, int64_t start, int64_t end);

/* Returns whether the rank has any cell. */
static inline int traffic_any(const struct weir_traffic *t) { return t->n || t->own; }

/* Makes the requests of all cells that this rank initiates. The caller frees cells once nothing is
 * in flight. */
int traffic_make(struct weir_traffic *t, struct weir_loop *l, const struct weir_case *c,
                 const struct weir_role *o);

/* Moves each cell once; all are posted at *posted, and delivered on return. stamped: records each
 * cell's delivery time. The rank's own cell is copied while the others are in flight. */
int traffic_move(struct weir_traffic *t, int stamped, int64_t *posted);

/* Time from the release of a barrier to the common start: over sockets ranks are released one after
 * the other, some microseconds each. */
static inline int64_t matrix_lead(int ranks) { return START_LEAD_NS + (int64_t)5000 * ranks; }

#endif
