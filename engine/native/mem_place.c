/* Where memory lies in a rank's address space. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#define MAP_AT ((size_t)256 << 20)

char *weir_map(int fd, size_t bytes, int flags)
{
    char *space = mmap(NULL, bytes + MAP_AT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        return NULL;
    char *at = (char *)(((uintptr_t)space + MAP_AT - 1) / MAP_AT * MAP_AT);
    char *p  = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | flags, fd, 0);
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

void weir_unmap(struct weir_region *m)
{
    if (m->base)
        munmap(m->base, m->size);
    if (m->fd >= 0)
        close(m->fd);
    *m = (struct weir_region){.fd = -1};
}
