/* Host memory behind a memfd, so that a rank of the same host can map it: no name
 * anywhere, hence nothing to leave behind when a rank is killed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "pattern.h"

static int fail(struct weir_err *err, const char *what, size_t bytes)
{
    int e = errno;
    err->code = -e;
    snprintf(err->text, sizeof err->text, "%s %zu bytes of host memory: %s", what, bytes, strerror(e));
    return -e;
}

static int dram_alloc(size_t bytes, struct weir_region *out, struct weir_err *err)
{
    int fd = memfd_create("weir", MFD_CLOEXEC);
    if (fd < 0)
        return fail(err, "creating", bytes);
    if (ftruncate(fd, (off_t)bytes) < 0) {
        fail(err, "sizing", bytes);
        goto close_fd;
    }
    /* fallocate first: where memory is short it says so, while a touch would be killed */
    if (fallocate(fd, 0, 0, (off_t)bytes) < 0 && errno != EOPNOTSUPP) {
        fail(err, "reserving", bytes);
        goto close_fd;
    }
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        fail(err, "mapping", bytes);
        goto close_fd;
    }
    (void)madvise(p, bytes, MADV_HUGEPAGE); /* before the first touch, or it has no effect */
    memset(p, 0, bytes);
    *out = (struct weir_region){p, bytes, fd};
    return 0;
close_fd:
    close(fd);
    return err->code;
}

static void dram_free(struct weir_region *m)
{
    if (m->base)
        munmap(m->base, m->size);
    if (m->fd >= 0)
        close(m->fd);
    *m = (struct weir_region){.fd = -1};
}

const struct weir_memory weir_mem_dram = {"dram", dram_alloc, pattern_fill, pattern_check, dram_free};
