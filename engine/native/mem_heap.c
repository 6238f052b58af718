/* Private host memory, like an application's heap: no other process can map it, so a fabric treats
 * it as memory that it did not allocate. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "memory.h"

static int heap_alloc(size_t bytes, int pages, struct weir_region *out, struct weir_err *err)
{
    const struct weir_reserved *huge = weir_reserved(pages);
    if (pages == PAGES_THP &&
        weir_thp_granted(err, "private", "/sys/kernel/mm/transparent_hugepage/enabled", "madvise") <
            0) {
        return err->code;
    }
    if (huge) {
        bytes = (bytes + huge->size - 1) / huge->size * huge->size;
    }
    char *p = weir_map(-1, bytes, MAP_PRIVATE | MAP_ANONYMOUS | (huge ? huge->map : 0));
    if (!p) {
        return huge ? weir_reserved_failed(err, huge, bytes)
                    : weir_memory_failed(err, "mapping", bytes);
    }
    if (pages == PAGES_THP && weir_thp(err, p, bytes) < 0) {
        munmap(p, bytes);
        return err->code;
    }
    *out = (struct weir_region){.base = p, .size = bytes, .fd = -1, .kind = &weir_mem_heap};
    return 0;
}

const struct weir_memory weir_mem_heap = {
    .name = "heap",
    .host = 1,
    .bind = host_bind,
    .unbind = host_unbind,
    .alloc = heap_alloc,
    .clear = host_clear_new,
    .fill = host_fill,
    .check = host_check,
    .copy_in = host_copy,
    .copy_out = host_copy,
    .export = unsupported_export,
    .import = unsupported_import,
    .free = weir_unmap,
};
