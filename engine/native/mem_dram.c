/* Host memory backed by a memfd, so that ranks of the same host can map it. A memfd has no name, so
 * nothing is left behind when a rank is killed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/memfd.h>
#include <unistd.h>

#include "memory.h"

/* Reserves pages for all bytes, in steps of 64 MiB. */
static int reserve(int fd, size_t bytes, size_t page)
{
    size_t piece = page > WEIR_PIECE ? page : WEIR_PIECE;
    for (size_t off = 0; off < bytes; off += piece) {
        if (fallocate(fd, 0, (off_t)off, (off_t)(bytes - off < piece ? bytes - off : piece)) < 0) {
            return -1;
        }
        weir_memory_heartbeat();
    }
    return 0;
}

static int dram_alloc(size_t bytes, int pages, struct weir_region *out, struct weir_err *err)
{
    const struct weir_reserved *huge = weir_reserved(pages);
    if (pages == PAGES_THP &&
        weir_thp_granted(err, "shared", "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
                         "advise") < 0) {
        return err->code;
    }
    if (huge) {
        bytes = (bytes + huge->size - 1) / huge->size * huge->size;
    }
    int fd = memfd_create("weir", MFD_CLOEXEC | (huge ? huge->memfd : 0));
    if (fd < 0) {
        return huge ? weir_reserved_failed(err, huge, bytes)
                    : weir_memory_failed(err, "creating", bytes);
    }
    if (ftruncate(fd, (off_t)bytes) < 0) {
        weir_memory_failed(err, "sizing", bytes);
        goto close_fd;
    }
    /* fallocate first: it reports a shortage of memory, where a page fault would kill the process;
     * but it reserves small pages */
    if (pages != PAGES_THP && reserve(fd, bytes, huge ? huge->size : 0) < 0 &&
        errno != EOPNOTSUPP) {
        if (huge) {
            weir_reserved_failed(err, huge, bytes);
        } else {
            weir_memory_failed(err, "reserving", bytes);
        }
        goto close_fd;
    }
    char *p = weir_map(fd, bytes, MAP_SHARED);
    if (!p) {
        weir_memory_failed(err, "mapping", bytes);
        goto close_fd;
    }
    if (pages == PAGES_THP && weir_thp(err, p, bytes) < 0) {
        munmap(p, bytes);
        goto close_fd;
    }
    *out = (struct weir_region){.base = p, .size = bytes, .fd = fd, .kind = &weir_mem_dram};
    return 0;
close_fd:
    close(fd);
    return err->code;
}

/* A library that allocated the memory may have written to it. */
static int dram_clear(struct weir_region *m, struct weir_err *err)
{
    return m->fd < 0 ? host_clear(m, err) : host_clear_new(m, err);
}

static int dram_export(const struct weir_region *m, struct weir_handle *out, struct weir_err *err)
{
    *out = (struct weir_handle){.fd = m->fd};
    if (m->fd >= 0) {
        return 0;
    }
    err->code = -EOPNOTSUPP;
    snprintf(err->text, sizeof err->text,
             "this memory was allocated by a library, and only the library can share it");
    return err->code;
}

/* Maps the first populated bytes with their pages populated; all of it if the kernel cannot do
 * part. */
static char *map_with_pages(int fd, size_t bytes, size_t populated)
{
    char *p = populated < bytes ? weir_map(fd, bytes, MAP_SHARED) : NULL;
    if (!p) {
        return weir_map(fd, bytes, MAP_SHARED | MAP_POPULATE);
    }
    if (!populated || weir_populate(p, populated) == 0) {
        return p;
    }
    munmap(p, bytes);
    return weir_map(fd, bytes, MAP_SHARED | MAP_POPULATE);
}

static int dram_import(const struct weir_handle *h, size_t bytes, struct weir_region *out,
                       struct weir_err *err)
{
    char *p = map_with_pages(h->fd, bytes, h->populated);
    if (!p) {
        err->code = -errno;
        snprintf(err->text, sizeof err->text, "mapping %zu bytes of its memory: %s", bytes,
                 strerror(errno));
        return err->code;
    }
    *out = (struct weir_region){.base = p, .size = bytes, .fd = -1, .kind = &weir_mem_dram};
    return 0;
}

const struct weir_memory weir_mem_dram = {
    .name = "dram",
    .host = 1,
    .by_fabric = 1,
    .bind = host_bind,
    .unbind = host_unbind,
    .alloc = dram_alloc,
    .clear = dram_clear,
    .fill = host_fill,
    .check = host_check,
    .copy_in = host_copy,
    .copy_out = host_copy,
    .export = dram_export,
    .import = dram_import,
    .free = weir_unmap,
};
