/* sys_copy.h: the memory copy methods of one core. The fastest one depends on size and machine, by
 * a factor of two for sizes beyond the cache. */
#ifndef WEIR_SYS_COPY_H
#define WEIR_SYS_COPY_H

#include <stddef.h>

typedef void (*weir_copy_fn)(void *dst, const void *src, size_t n);

struct weir_copy {
    const char *name;
    weir_copy_fn fn;
};

/* Returns the methods available on this machine; the first is libc's memcpy. */
const struct weir_copy *weir_copies(size_t *n);

#endif
