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

/* Host memory that ranks of the same host can map, and such that is private to its rank. */
extern const struct weir_memory weir_mem_dram, weir_mem_heap;

/* ---- mem_place.c ---- */

/* Maps memory at a multiple of 256 MiB, so that where two areas lie to each
 * other is decided by their offsets and not by chance: first-level caches tag lines
 * with a hash of the virtual address (on AMD Zen bits 12 to 27), and of two streams
 * with equal tags each keeps evicting the other. Seen here as copies of 4 KiB at 33
 * or 83 GB/s, changing from launch to launch. fd and flags are those of mmap. NULL and
 * errno on failure. */
char *weir_map(int fd, size_t bytes, int flags);
void  weir_unmap(struct weir_region *m);

/* ---- mem_lock.c ---- */

/* Words to put behind an error of registering as many bytes; "" if this process may lock
 * them. */
#define LOCK_WORDS 64
void weir_lock_limit(size_t bytes, char *words, size_t cap);

/* ---- mem_pages.c ---- */

struct weir_reserved { /* huge pages that are set aside beforehand */
    size_t      size;
    unsigned    memfd; /* flags of memfd_create for them */
    int         map;   /* and of mmap */
    const char *name;
};

/* Those that an option pages names; NULL: it names none. */
const struct weir_reserved *weir_reserved(int pages);

/* An error of as many bytes, in the kernel's words: errno. */
int weir_memory_failed(struct weir_err *err, const char *what, size_t bytes);

/* That there are too few of such pages for as many bytes: errno. */
int weir_reserved_failed(struct weir_err *err, const struct weir_reserved *of, size_t bytes);

/* Gives memory transparent huge pages, before its first touch: after it that has no
 * effect. The policy is the kernel's for that sort of memory. */
int weir_thp_granted(struct weir_err *err, const char *sort, const char *policy, const char *enough);
int weir_thp(struct weir_err *err, char *p, size_t bytes);

#endif
