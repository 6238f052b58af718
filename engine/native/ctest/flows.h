/* flows.h: the lists of targets and sources of the ranks of a launch. */
#ifndef WEIR_CTEST_FLOWS_H
#define WEIR_CTEST_FLOWS_H

#include "../rank.h"
#include "../weir.h"

#define MOST 3                            /* ranks of a launch */
#define AREA ((uint64_t)4 << 20)          /* exceeds the cells of a rank, and its shares */
#define ROOM(n) (((n) + 127) / 128 * 128) /* bytes that a cell takes in its region */

struct peers { /* lists of a rank, for one op */
    struct weir_flow targets[MOST];
    struct weir_incoming sources[MOST];
    struct weir_link_probe probes[MOST];
};

extern const uint64_t own_cells[MOST]; /* bytes of a rank's cell for itself, by rank */
/* Bytes that the initiator of a write sends, or that the one of a read gets. */
uint64_t cell_bytes(int op, int initiator, int target);

/* The lists of a rank of two or three ranks that send to each other. */
struct weir_flows flows_of(int self, int ranks, struct peers *p);
/* The lists of a rank for the cells of the matrix, for OP_WRITE or OP_READ. */
struct weir_flows cells_of(int self, int op, struct peers *p);

#endif
