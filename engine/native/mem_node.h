/* mem_node.h: on which NUMA node memory is made, and on which it is. */
#ifndef WEIR_MEM_NODE_H
#define WEIR_MEM_NODE_H

#include <stddef.h>

#include "weir.h"

#define NODE_WORDS 16 /* of a set of nodes: as many as the kernel can have, 1024 */

struct weir_binding {
    int           node; /* that memory is made on; -1: wherever the kernel likes */
    int           mode; /* of before */
    unsigned long nodes[NODE_WORDS];
};

/* From now on all memory that this thread touches first is made on the node that numa
 * means (see weir_config), and on no other, whoever allocates it. */
int node_bind(int numa, struct weir_binding *b, struct weir_err *err);
/* As it was before. */
int node_release(const struct weir_binding *b, struct weir_err *err);

/* An error if the page at an address is not on the node that it was bound to. */
int node_check(const struct weir_binding *b, const void *at, struct weir_err *err);

#endif
