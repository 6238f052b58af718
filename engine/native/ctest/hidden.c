/* Memory like a device's: host memory that claims not to be. AddressSanitizer reports accesses
 * other than by its functions; also by libraries, where they call memcpy, unless ASAN_OPTIONS has
 * replace_intrin=0. */
#include "hidden.h"

#include <stddef.h>

extern void __asan_poison_memory_region(void const volatile *p, size_t n) __attribute__((weak));
extern void __asan_unpoison_memory_region(void const volatile *p, size_t n) __attribute__((weak));

static void hide(const void *p, size_t n)
{
    if (__asan_poison_memory_region) {
        __asan_poison_memory_region(p, n);
    }
}

static void show(const void *p, size_t n)
{
    if (__asan_unpoison_memory_region) {
        __asan_unpoison_memory_region(p, n);
    }
}

static int hidden_alloc(size_t bytes, int pages, struct weir_region *out, struct weir_err *err)
{
    int rc = weir_mem_heap.alloc(bytes, pages, out, err);
    if (rc < 0) {
        return rc;
    }
    out->kind = &hidden_memory;
    hide(out->base, out->size);
    return 0;
}

static int hidden_clear(struct weir_region *m, struct weir_err *err)
{
    show(m->base, m->size);
    int rc = host_clear(m, err);
    hide(m->base, m->size);
    return rc;
}

static int hidden_fill(void *p, size_t n, uint64_t key, struct weir_err *err)
{
    show(p, n);
    int rc = host_fill(p, n, key, err);
    hide(p, n);
    return rc;
}

static int hidden_check(const void *p, size_t n, uint64_t key, int64_t *wrong, struct weir_err *err)
{
    show(p, n);
    int rc = host_check(p, n, key, wrong, err);
    hide(p, n);
    return rc;
}

static int hidden_copy_in(void *to, const void *from, size_t n, struct weir_err *err)
{
    show(to, n);
    int rc = host_copy(to, from, n, err);
    hide(to, n);
    return rc;
}

static int hidden_copy_out(void *to, const void *from, size_t n, struct weir_err *err)
{
    show(from, n);
    int rc = host_copy(to, from, n, err);
    hide(from, n);
    return rc;
}

static void hidden_free(struct weir_region *m)
{
    if (m->base) {
        show(m->base, m->size);
    }
    weir_mem_heap.free(m);
}

const struct weir_memory hidden_memory = {
    .name = "hidden",
    .bind = host_bind,
    .unbind = host_unbind,
    .alloc = hidden_alloc,
    .clear = hidden_clear,
    .fill = hidden_fill,
    .check = hidden_check,
    .copy_in = hidden_copy_in,
    .copy_out = hidden_copy_out,
    .export = unsupported_export,
    .import = unsupported_import,
    .free = hidden_free,
};
