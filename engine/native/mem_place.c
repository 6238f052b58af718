/* Placement of memory in a rank's address space. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

#define MAP_AT ((size_t)256 << 20)

/* Huge pages of 1 GiB need addresses at multiples of their size. */
static size_t multiple_for(int fd, int flags)
{
    struct stat of;
    size_t page = 0;
    if (flags & MAP_HUGETLB) {
        page = (size_t)1 << (flags >> MAP_HUGE_SHIFT & MAP_HUGE_MASK);
    } else if (fd >= 0 && fstat(fd, &of) == 0) {
        page = (size_t)of.st_blksize; /* of a memfd: its page size */
    }
    return page > MAP_AT ? page : MAP_AT;
}

char *weir_map(int fd, size_t bytes, int flags)
{
    size_t multiple = multiple_for(fd, flags);
    char *space =
        mmap(NULL, bytes + multiple, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) {
        return NULL;
    }
    char *at = (char *)(((uintptr_t)space + multiple - 1) / multiple * multiple);
    char *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | flags, fd, 0);
    int e = errno;
    if (p == MAP_FAILED) {
        munmap(space, bytes + multiple);
        errno = e;
        return NULL;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (bytes + page - 1) / page * page;
    if (at > space) {
        munmap(space, (size_t)(at - space));
    }
    munmap(at + end, (size_t)(space + bytes + multiple - at) - end);
    return p;
}

void weir_unmap(struct weir_region *m)
{
    if (m->base) {
        munmap(m->base, m->size);
    }
    if (m->fd >= 0) {
        close(m->fd);
    }
    *m = (struct weir_region){.fd = -1};
}
