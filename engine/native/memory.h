/* memory.h: one table of functions per kind of memory. */
#ifndef WEIR_MEMORY_H
#define WEIR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

struct weir_region {
    char  *base;
    size_t size;
    int    fd; /* that other processes can map; -1: none */
};

struct weir_memory {
    const char *name;
    int (*alloc)(size_t bytes, struct weir_region *out, struct weir_err *err); /* touched */
    void (*fill)(void *p, size_t n, uint64_t key);
    int64_t (*check)(const void *p, size_t n, uint64_t key); /* first wrong offset or -1 */
    void (*free)(struct weir_region *m);
};

extern const struct weir_memory weir_mem_dram;

#endif
