#define _GNU_SOURCE
#include "mem_node.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD_BITS (8 * sizeof(unsigned long))
#define MAX_NODES (NODE_WORDS * WORD_BITS)

/* The kernel uses one bit less than maxnode. */
static long set_policy(int mode, const unsigned long *nodes)
{
    return syscall(SYS_set_mempolicy, mode, nodes, MAX_NODES + 1);
}
static long get_policy(int *mode, unsigned long *nodes, const void *at, unsigned long flags)
{
    return syscall(SYS_get_mempolicy, mode, nodes, nodes ? MAX_NODES : 0, at, flags);
}

static int failed(struct weir_err *err, const char *what)
{
    int e = errno;
    err->code = -e;
    snprintf(err->text, sizeof err->text, "numa: %s: %s%s", what, strerror(e),
             e == EPERM    ? " (a container forbids it, unless it has the capability SYS_NICE)"
             : e == ENOSYS ? " (this kernel has no NUMA nodes)"
                           : "");
    return -e;
}

static int no_such_node(struct weir_err *err, int node)
{
    char nodes[128] = "";
    FILE *f = fopen("/sys/devices/system/node/has_memory", "re");
    if (f) {
        if (!fgets(nodes, sizeof nodes, f)) {
            nodes[0] = 0;
        }
        fclose(f);
    }
    nodes[strcspn(nodes, "\n")] = 0;
    err->code = -EINVAL;
    snprintf(err->text, sizeof err->text,
             "numa %d: no such node for this process: nodes with memory here: %s", node,
             *nodes ? nodes : "the kernel lists none");
    return err->code;
}

int node_bind(int numa, struct weir_binding *b, struct weir_err *err)
{
    unsigned cpu, node = (unsigned)(numa - NUMA_NODE);
    *b = (struct weir_binding){.node = -1};
    if (numa == NUMA_DEFAULT) {
        return 0;
    }
    if (get_policy(&b->mode, b->nodes, NULL, 0) < 0) {
        return failed(err, "get_mempolicy");
    }
    if (numa == NUMA_LOCAL && syscall(SYS_getcpu, &cpu, &node, NULL) < 0) {
        return failed(err, "getcpu");
    }
    unsigned long nodes[NODE_WORDS] = {0};
    if (node >= MAX_NODES) {
        return no_such_node(err, (int)node);
    }
    nodes[node / WORD_BITS] = 1ul << node % WORD_BITS;
    if (set_policy(MPOL_BIND, nodes) < 0) {
        return errno == EINVAL ? no_such_node(err, (int)node) : failed(err, "set_mempolicy");
    }
    b->node = (int)node;
    return 0;
}

int node_release(const struct weir_binding *b, struct weir_err *err)
{
    /* the default policy takes no nodes, not even those that get_mempolicy returned */
    if (b->node >= 0 && set_policy(b->mode, b->mode == MPOL_DEFAULT ? NULL : b->nodes) < 0) {
        return failed(err, "set_mempolicy, restoring the policy");
    }
    return 0;
}

int node_check(const struct weir_binding *b, const void *at, struct weir_err *err)
{
    int is = -1;
    if (b->node < 0) {
        return 0;
    }
    if (get_policy(&is, NULL, at, MPOL_F_NODE | MPOL_F_ADDR) < 0) {
        return failed(err, "get_mempolicy");
    }
    if (is == b->node) {
        return 0;
    }
    err->code = -EXDEV;
    snprintf(err->text, sizeof err->text, "numa: memory bound to node %d has a page on node %d",
             b->node, is);
    return err->code;
}
