/* The lists of targets and sources of the ranks of a launch. */
#include "flows.h"

/* A matrix of three ranks, row by row: rank 0 sends to both, rank 1 to one, rank 2 to none.
 * Receivers initiate reads. Ranks 1 and 2 have cells for themselves. */
static const uint64_t cells[3][3] = {{0, 70001, 1}, {0, 0, 3 << 20}, {0, 0, 0}};
const uint64_t own_cells[MOST] = {0, (600 << 10) + 1, 3};

/* Lists of targets and sources: the first of two ranks to the second, or each of three to the two
 * others. Links are probed in the order of initiators. */
struct weir_flows flows_of(int self, int ranks, struct peers *p)
{
    struct weir_flows f = {.targets = p->targets, .sources = p->sources, .probes = p->probes};
    if (ranks == 2) {
        p->targets[0] = (struct weir_flow){.peer = 1, .buffer = 0};
        p->sources[0] = (struct weir_incoming){.peer = 0};
        p->probes[0] = (struct weir_link_probe){1 - self, self == 0};
        f.ntargets = self == 0;
        f.nsources = self == 1;
        f.nprobes = 1;
        return f;
    }
    for (int k = 0; k < 2; k++) {
        int to = (self + 1 + k) % 3;
        p->targets[k] = (struct weir_flow){.peer = to, .buffer = self < to ? self : self - 1};
        p->sources[k] = (struct weir_incoming){.peer = k < self ? k : k + 1};
    }
    for (int i = 0; i < 3; i++) {
        if (i == self || (i + 1) % 3 == self) {
            p->probes[f.nprobes++] =
                (struct weir_link_probe){i == self ? (i + 1) % 3 : i, i == self};
        }
    }
    f.ntargets = f.nsources = 2;
    return f;
}

uint64_t cell_bytes(int op, int initiator, int target)
{
    return op == OP_WRITE ? cells[initiator][target] : cells[target][initiator];
}

/* The cells with their offsets at both ends. */
struct weir_flows cells_of(int self, int op, struct peers *p)
{
    struct weir_flows f = {.targets = p->targets, .sources = p->sources, .probes = p->probes};
    uint64_t local = 0, exposed = 0;
    for (int to = 0; to < 3; to++) {
        uint64_t remote = 0, n = cell_bytes(op, self, to);
        for (int before = 0; before < self; before++) {
            remote += ROOM(cell_bytes(op, before, to));
        }
        if (n) {
            p->targets[f.ntargets++] =
                (struct weir_flow){.peer = to, .bytes = n, .local = local, .remote = remote};
        }
        local += ROOM(n);
        n = cell_bytes(op, to, self);
        if (n) {
            p->sources[f.nsources++] =
                (struct weir_incoming){.peer = to, .bytes = n, .offset = exposed};
        }
        exposed += ROOM(n);
    }
    f.own = (struct weir_own_cell){own_cells[self], local, exposed};
    for (int i = 0; i < 3; i++) {
        int best = -1;
        for (int to = 0; to < 3; to++) {
            if (cell_bytes(op, i, to) > (best < 0 ? 0 : cell_bytes(op, i, best))) {
                best = to;
            }
        }
        if (best >= 0 && (i == self || best == self)) {
            p->probes[f.nprobes++] = (struct weir_link_probe){i == self ? best : i, i == self};
        }
    }
    return f;
}
