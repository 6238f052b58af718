/* Receives the calls that instrumented code makes, and passes them on with the place of the call.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "litmus.h"

#define SITE __builtin_return_address(0)

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) {}
void __tsan_func_exit(void) {}

#define PLAIN(n)                                                                                   \
    void __tsan_read##n(const void *p);                                                            \
    void __tsan_write##n(const void *p);                                                           \
    void __tsan_unaligned_read##n(const void *p);                                                  \
    void __tsan_unaligned_write##n(const void *p);                                                 \
    void __tsan_read##n(const void *p) { litmus_plain(p, n, 0, SITE); }                            \
    void __tsan_write##n(const void *p) { litmus_plain(p, n, 1, SITE); }                           \
    void __tsan_unaligned_read##n(const void *p) { litmus_plain(p, n, 0, SITE); }                  \
    void __tsan_unaligned_write##n(const void *p) { litmus_plain(p, n, 1, SITE); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(const void *p, size_t n);
void __tsan_write_range(const void *p, size_t n);
void __tsan_read_range(const void *p, size_t n) { litmus_plain(p, n, 0, SITE); }
void __tsan_write_range(const void *p, size_t n) { litmus_plain(p, n, 1, SITE); }

#define ATOMIC(bits, type)                                                                         \
    type __tsan_atomic##bits##_load(const volatile type *p, int order);                            \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int order);                         \
    type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_fetch_sub(volatile type *p, type v, int order);                     \
    type __tsan_atomic##bits##_load(const volatile type *p, int order)                             \
    {                                                                                              \
        return (type)litmus_load((void *)(uintptr_t)p, sizeof *p, order, SITE);                    \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int order)                          \
    {                                                                                              \
        litmus_store((void *)(uintptr_t)p, sizeof *p, v, order, SITE);                             \
    }                                                                                              \
    type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int order)                      \
    {                                                                                              \
        return (type)litmus_add((void *)(uintptr_t)p, sizeof *p, v, order, SITE);                  \
    }                                                                                              \
    type __tsan_atomic##bits##_fetch_sub(volatile type *p, type v, int order)                      \
    {                                                                                              \
        return (type)litmus_add((void *)(uintptr_t)p, sizeof *p, -(uint64_t)v, order, SITE);       \
    }
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) { litmus_fence(order, SITE); }

/* ---- functions of libc ---- */

void *litmus_memcpy(void *to, const void *from, size_t n)
{
    litmus_plain(from, n, 0, SITE);
    litmus_plain(to, n, 1, SITE);
    return memcpy(to, from, n);
}

void *litmus_memset(void *to, int byte, size_t n)
{
    litmus_plain(to, n, 1, SITE);
    return memset(to, byte, n);
}

/* Deterministic: a model has the same steps each time. */
int litmus_clock_gettime(int clock, struct timespec *t)
{
    static int64_t now;
    *t = (struct timespec){.tv_sec = ++now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}
