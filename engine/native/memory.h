/* memory.h: one table of functions per kind of memory. */
#ifndef WEIR_MEMORY_H
#define WEIR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

enum weir_region_name { REGION_CONTROL, REGION_SOURCE, REGION_SINK, REGIONS }; /* see weir.h */

struct weir_region {
    char                     *base;
    size_t                    size;
    int                       fd; /* that other processes can map; -1: none */
    const struct weir_memory *kind;
    void                     *own; /* what the kind keeps of it */
};

#define WEIR_HANDLE 112 /* bytes */

/* By which another process imports memory: a descriptor, bytes, or both, as the kind likes. */
struct weir_handle {
    int           fd; /* -1: none */
    uint32_t      n;
    /* as many of its first bytes are mapped at once, and later pages when they are first written */
    uint64_t      at_once;
    unsigned char bytes[WEIR_HANDLE];
};

/* What can be done with memory of one kind. Only these functions touch data, but where
 * the kind is host memory and the caller is written for that. All return 0, or fill err
 * and return its code. What a kind cannot do is a function that says so. */
struct weir_memory {
    const char *name;
    int         host;      /* this processor can load from it and store to it */
    int         gpu;       /* it is that of the thread's GPU, see cuda.h */
    int         by_fabric; /* a fabric that allocates memory itself allocates it too */
    /* bind prepares a thread before it uses memory of the kind; unbind, after the last free,
     * undoes that. Both count. */
    int (*bind)(const struct weir_config *cfg, struct weir_err *err);
    void (*unbind)(void);
    /* some pages may not be there before clear */
    int (*alloc)(size_t bytes, int pages, struct weir_region *out, struct weir_err *err);
    int (*clear)(struct weir_region *m, struct weir_err *err); /* writes zeros */
    int (*fill)(void *p, size_t n, uint64_t key, struct weir_err *err);
    /* *wrong: the first wrong offset; -1: there is none */
    int (*check)(const void *p, size_t n, uint64_t key, int64_t *wrong, struct weir_err *err);
    int (*copy_in)(void *to, const void *host, size_t n, struct weir_err *err);
    int (*copy_out)(void *host, const void *from, size_t n, struct weir_err *err);
    /* A handle by which another process imports the memory; it stays the region's. */
    int (*export)(const struct weir_region *m, struct weir_handle *out, struct weir_err *err);
    /* Maps what another process exported; the descriptor stays the caller's. */
    int (*import)(const struct weir_handle *h, size_t bytes, struct weir_region *out,
                  struct weir_err *err);
    void (*free)(struct weir_region *m); /* allocated or imported */
};

/* Host memory that ranks of the same host can map, and such that is private to its rank. */
extern const struct weir_memory weir_mem_dram, weir_mem_heap;

/* Copies between memories of any two kinds of this rank. */
int memory_copy(const struct weir_memory *to_kind, void *to, const struct weir_memory *from_kind,
                const void *from, size_t n, struct weir_err *err);

/* ---- mem_host.c: what all kinds of host memory have in common ---- */

int  host_bind(const struct weir_config *cfg, struct weir_err *err);
void host_unbind(void);
int  host_clear(struct weir_region *m, struct weir_err *err);
/* Of memory that was mapped for this region and not written yet: its pages are zero. */
int  host_clear_new(struct weir_region *m, struct weir_err *err);
int host_fill(void *p, size_t n, uint64_t key, struct weir_err *err);
int host_check(const void *p, size_t n, uint64_t key, int64_t *wrong, struct weir_err *err);
int host_copy(void *to, const void *from, size_t n, struct weir_err *err);

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

/* Bytes of a piece: much memory is worked on in pieces, with a sign of life after each. */
#define WEIR_PIECE ((size_t)64 << 20)

/* Sets the heartbeat that this thread beats between pieces; NULL: none. */
void weir_memory_beats(_Atomic uint64_t *of_rank);
void weir_memory_beat(void);

/* Brings all pages in, zeroed where they are new. -1 and errno: EINVAL before Linux 5.14. */
int weir_populate(char *p, size_t bytes);

/* Gives memory transparent huge pages, before its first touch: after it that has no
 * effect. The policy is the kernel's for that sort of memory. */
int weir_thp_granted(struct weir_err *err, const char *sort, const char *policy,
                     const char *enough);
int weir_thp(struct weir_err *err, char *p, size_t bytes);

#endif
