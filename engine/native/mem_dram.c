/* Host memory behind a memfd, so that a rank of the same host can map it: no name
 * anywhere, hence nothing to leave behind when a rank is killed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/memfd.h>
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

#define MAP_AT ((size_t)256 << 20)

char *weir_map_shared(int fd, size_t bytes, int populate)
{
    char *space = mmap(NULL, bytes + MAP_AT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        return NULL;
    char *at = (char *)(((uintptr_t)space + MAP_AT - 1) / MAP_AT * MAP_AT);
    char *p  = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | (populate ? MAP_POPULATE : 0), fd, 0);
    int   e  = errno;
    if (p == MAP_FAILED) {
        munmap(space, bytes + MAP_AT);
        errno = e;
        return NULL;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (bytes + page - 1) / page * page;
    if (at > space)
        munmap(space, (size_t)(at - space));
    munmap(at + end, (size_t)(space + bytes + MAP_AT - at) - end);
    return p;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels say EINVAL, and the touch below does it */
#endif
#define HUGE_PAGE ((size_t)2 << 20)
#define SHMEM_POLICY "/sys/kernel/mm/transparent_hugepage/shmem_enabled"

/* Whether this kernel gives transparent huge pages to shared memory that asks. Asking
 * one that does not would measure small pages under another name. */
static int grants_huge(struct weir_err *err)
{
    char text[128] = "";
    FILE *f = fopen(SHMEM_POLICY, "re");
    if (f) {
        size_t n = fread(text, 1, sizeof text - 1, f);
        text[n]  = 0;
        fclose(f);
    }
    if (strstr(text, "[always]") || strstr(text, "[advise]") || strstr(text, "[within_size]") || strstr(text, "[force]"))
        return 0;
    text[strcspn(text, "\n")] = 0;
    err->code = -EOPNOTSUPP;
    snprintf(err->text, sizeof err->text, "pages thp: this kernel gives no transparent huge pages to shared memory (" SHMEM_POLICY " has '%s'; advise would do)", text);
    return err->code;
}

static int dram_alloc(size_t bytes, int pages, struct weir_region *out, struct weir_err *err)
{
    if (pages == PAGES_THP && grants_huge(err) < 0)
        return err->code;
    if (pages == PAGES_2MIB)
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    int fd = memfd_create("weir", MFD_CLOEXEC | (pages == PAGES_2MIB ? MFD_HUGETLB | MFD_HUGE_2MB : 0));
    if (fd < 0)
        return fail(err, "creating", bytes);
    if (ftruncate(fd, (off_t)bytes) < 0) {
        fail(err, "sizing", bytes);
        goto close_fd;
    }
    /* fallocate first: where memory is short it says so, while a touch would be killed; but
     * what it reserves are small pages */
    if (pages != PAGES_THP && fallocate(fd, 0, 0, (off_t)bytes) < 0 && errno != EOPNOTSUPP) {
        fail(err, "reserving", bytes);
        if (pages == PAGES_2MIB)
            snprintf(err->text, sizeof err->text, "pages 2MiB: the kernel has not %zu huge pages free (see HugePages_Free in /proc/meminfo; vm.nr_hugepages sets how many there are)",
                     bytes / HUGE_PAGE);
        goto close_fd;
    }
    char *p = weir_map_shared(fd, bytes, 0);
    if (!p) {
        fail(err, "mapping", bytes);
        goto close_fd;
    }
    /* before the first touch, or it has no effect */
    if (pages == PAGES_THP && (madvise(p, bytes, MADV_HUGEPAGE) < 0 || (madvise(p, bytes, MADV_POPULATE_WRITE) < 0 && errno != EINVAL))) {
        fail(err, "getting transparent huge pages for", bytes);
        goto close_fd;
    }
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
