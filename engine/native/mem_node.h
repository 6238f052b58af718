/* mem_node.h: binds memory to a NUMA node and checks where it is. */
#ifndef WEIR_MEM_NODE_H
#define WEIR_MEM_NODE_H

#include <stddef.h>

#include "weir.h"

#define NODE_WORDS 16 /* of a node set: room for the kernel's maximum of 1024 nodes */

struct weir_binding {
    int node; /* node of new memory; -1: not bound */
    int mode; /* the previous policy */
    unsigned long nodes[NODE_WORDS];
};

/* Binds all memory that this thread touches first from now on to the node given by numa (see
 * weir_config), no matter which library allocates it. */
int node_bind(int numa, struct weir_binding *b, struct weir_err *err);
/* Restores the previous policy. */
int node_release(const struct weir_binding *b, struct weir_err *err);

/* Fails if the page at an address is not on the bound node. */
int node_check(const struct weir_binding *b, const void *at, struct weir_err *err);

#endif
