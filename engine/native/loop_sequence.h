/* loop_sequence.h: the record of the last sequence of matrices. */
#ifndef WEIR_LOOP_SEQUENCE_H
#define WEIR_LOOP_SEQUENCE_H

#include "weir.h"

struct sequence_state {
    struct weir_step_times *played; /* by pass, then by step: passes of steps alone come first */
    uint64_t nalone;                /* passes in which steps run alone */
    int nsteps;
    int64_t *starts; /* of the other passes, ns of rank 0's clock */
    int64_t bound;   /* error bound of the clock offset during the sequence, ns */
    struct weir_processor_time processor;
};

struct weir_loop;
struct weir_role;

/* Fills a loop with the iterations of step c->sequence_step running alone, as if loop_matrix had
 * run them now. */
int sequence_take_over(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o);

/* Frees the record. */
void sequence_drop(struct weir_rank *r);

#endif
