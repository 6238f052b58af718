/* copy.h: the ways in which one core can copy memory. Which is fastest depends on
 * the size and the machine, and by a factor of two for sizes beyond the cache. */
#ifndef WEIR_COPY_H
#define WEIR_COPY_H

#include <stddef.h>

typedef void (*weir_copy_fn)(void *dst, const void *src, size_t n);

struct weir_copy {
    const char  *name;
    weir_copy_fn fn;
};

/* The methods of this machine; the first is libc's memcpy. */
const struct weir_copy *weir_copies(size_t *n);

#endif
