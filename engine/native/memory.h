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
    int (*alloc)(size_t bytes, int pages, struct weir_region *out, struct weir_err *err); /* touched */
    void (*fill)(void *p, size_t n, uint64_t key);
    int64_t (*check)(const void *p, size_t n, uint64_t key); /* first wrong offset or -1 */
    void (*free)(struct weir_region *m);
};

extern const struct weir_memory weir_mem_dram;

/* Maps shared memory at a multiple of 256 MiB, so that where two areas lie to each
 * other is decided by their offsets and not by chance: first-level caches tag lines
 * with a hash of the virtual address (on AMD Zen bits 12 to 27), and of two streams
 * with equal tags each keeps evicting the other. Seen here as copies of 4 KiB at 33
 * or 83 GB/s, changing from launch to launch. NULL and errno on failure. */
char *weir_map_shared(int fd, size_t bytes, int populate);

#endif
