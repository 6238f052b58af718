/* memory.h: the interface of memory kinds. */
#ifndef WEIR_MEMORY_H
#define WEIR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

enum weir_region_name { REGION_CONTROL, REGION_SOURCE, REGION_SINK, REGIONS }; /* see weir.h */

struct weir_region {
    char *base;
    size_t size;
    int fd; /* that other processes can map; -1: none */
    const struct weir_memory *kind;
    void *priv; /* private state of the kind */
};

#define WEIR_HANDLE 112 /* bytes */

/* With which another process imports memory: a descriptor, bytes, or both. */
struct weir_handle {
    int fd; /* -1: none */
    uint32_t n;
    /* populated when mapped: this many of the first bytes; other pages fault in when written */
    uint64_t populated;
    unsigned char bytes[WEIR_HANDLE];
};

/* The operations on one kind of memory. Data is accessed only through these functions, except by
 * callers written for host memory. All return 0, or fill err and return its code. Unsupported
 * operations are functions that fail. */
struct weir_memory {
    const char *name;
    int host;      /* the CPU can load and store it */
    int gpu;       /* memory of the thread's GPU, see gpu_cuda.h */
    int by_fabric; /* fabrics that allocate memory (CAP_ALLOCATES) allocate it too */
    /* bind prepares a thread before it uses memory of the kind; unbind undoes that after the last
     * free. Calls nest. */
    int (*bind)(const struct weir_config *cfg, struct weir_err *err);
    void (*unbind)(void);
    /* some pages may be missing before clear */
    int (*alloc)(size_t bytes, int pages, struct weir_region *out, struct weir_err *err);
    int (*clear)(struct weir_region *m, struct weir_err *err); /* writes zeros */
    int (*fill)(void *p, size_t n, uint64_t key, struct weir_err *err);
    /* *wrong: the first wrong offset; -1: none */
    int (*check)(const void *p, size_t n, uint64_t key, int64_t *wrong, struct weir_err *err);
    int (*copy_in)(void *to, const void *host, size_t n, struct weir_err *err);
    int (*copy_out)(void *host, const void *from, size_t n, struct weir_err *err);
    /* Returns a handle with which another process imports the memory; the region keeps
     * ownership. */
    int (*export)(const struct weir_region *m, struct weir_handle *out, struct weir_err *err);
    /* Maps memory that another process exported; the caller keeps the descriptor. */
    int (*import)(const struct weir_handle *h, size_t bytes, struct weir_region *out,
                  struct weir_err *err);
    void (*free)(struct weir_region *m); /* memory that was allocated or imported */
};

/* Host memory that ranks of the same host can map, and host memory private to its rank. */
extern const struct weir_memory weir_mem_dram, weir_mem_heap;

/* Functions of kinds that other processes cannot map: fail with -EOPNOTSUPP. */
int unsupported_export(const struct weir_region *m, struct weir_handle *out, struct weir_err *err);
int unsupported_import(const struct weir_handle *h, size_t bytes, struct weir_region *out,
                       struct weir_err *err);

/* Returns whether libraries must be told that memory is a GPU's. Tests can let them take the memory
 * of the CUDA stand-in for the host's. */
int memory_is_gpus(const struct weir_memory *kind);

/* Copies between memories of any two kinds of this rank. */
int memory_copy(const struct weir_memory *to_kind, void *to, const struct weir_memory *from_kind,
                const void *from, size_t n, struct weir_err *err);

/* ---- mem_host.c: shared by all kinds of host memory ---- */

int host_bind(const struct weir_config *cfg, struct weir_err *err);
void host_unbind(void);
int host_clear(struct weir_region *m, struct weir_err *err);
/* Clears freshly mapped memory: its pages are already zero. */
int host_clear_new(struct weir_region *m, struct weir_err *err);
int host_fill(void *p, size_t n, uint64_t key, struct weir_err *err);
int host_check(const void *p, size_t n, uint64_t key, int64_t *wrong, struct weir_err *err);
int host_copy(void *to, const void *from, size_t n, struct weir_err *err);

/* ---- mem_place.c ---- */

/* Maps memory at a multiple of 256 MiB, so that offsets, not chance, decide how two areas are
 * aligned to each other. First-level caches tag lines with a hash of the virtual address (AMD Zen:
 * bits 12 to 27), and streams with equal tags evict each other: copies of 4 KiB ran at 33 or 83
 * GB/s depending on the launch. fd and flags are those of mmap. Returns NULL and sets errno on
 * failure. */
char *weir_map(int fd, size_t bytes, int flags);
/* Unmaps memory of weir_map. */
void weir_unmap(struct weir_region *m);

/* ---- mem_lock.c ---- */

/* Writes a suffix for errors of registering this many bytes: the limit on locked memory; "" if the
 * process may lock them. */
#define LOCK_WORDS 64
void weir_lock_limit(size_t bytes, char *words, size_t cap);

/* ---- mem_pages.c ---- */

struct weir_reserved { /* reserved huge pages */
    size_t size;
    unsigned memfd; /* flags for memfd_create */
    int map;        /* flags for mmap */
    const char *name;
};

/* Returns the reserved pages of a value of option pages; NULL: no reserved pages. */
const struct weir_reserved *weir_reserved(int pages);

/* Fills an error about this many bytes from errno. */
int weir_memory_failed(struct weir_err *err, const char *what, size_t bytes);

/* Fills an error that too few reserved pages are free for this many bytes, from errno. */
int weir_reserved_failed(struct weir_err *err, const struct weir_reserved *of, size_t bytes);

/* Large memory is processed in pieces of this many bytes, with a heartbeat after each. */
#define WEIR_PIECE ((size_t)64 << 20)

/* Sets the heartbeat that this thread advances between pieces; NULL: none. */
void weir_memory_set_heartbeat(_Atomic uint64_t *of_rank);
/* Advances the heartbeat of this thread, if it has one. */
void weir_memory_heartbeat(void);

/* Populates all pages, zeroed where new. Returns -1 and sets errno on failure: EINVAL before Linux
 * 5.14. */
int weir_populate(char *p, size_t bytes);

/* Enables transparent huge pages; must precede the first access. The policy is the kernel's for
 * this sort of memory. */
int weir_thp_granted(struct weir_err *err, const char *sort, const char *policy,
                     const char *enough);
int weir_thp(struct weir_err *err, char *p, size_t bytes);

#endif
