#include "sys_copy.h"

#include <stdint.h>
#include <string.h>

#include "sys_vector.h"

static void copy_libc(void *dst, const void *src, size_t n) { memcpy(dst, src, n); }

#if defined(__x86_64__)
#include <immintrin.h>

static void copy_movsb(void *dst, const void *src, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(n)::"memory");
}

/* Non-temporal stores do not read the destination into the cache first. */
__attribute__((target("avx2"))) static void copy_nt(void *dst, const void *src, size_t n)
{
    unsigned char *d = dst;
    const unsigned char *s = src;
    size_t head = (32 - ((uintptr_t)d & 31)) & 31;
    if (n < 256) {
        memcpy(d, s, n);
        return;
    }
    memcpy(d, s, head);
    d += head;
    s += head;
    n -= head;
    for (; n >= 128; d += 128, s += 128, n -= 128) {
        __m256i a = _mm256_loadu_si256((const __m256i *)s),
                b = _mm256_loadu_si256((const __m256i *)(s + 32));
        __m256i c = _mm256_loadu_si256((const __m256i *)(s + 64)),
                e = _mm256_loadu_si256((const __m256i *)(s + 96));
        _mm_prefetch((const char *)(s + 1024), _MM_HINT_T0);
        _mm256_stream_si256((__m256i *)d, a);
        _mm256_stream_si256((__m256i *)(d + 32), b);
        _mm256_stream_si256((__m256i *)(d + 64), c);
        _mm256_stream_si256((__m256i *)(d + 96), e);
    }
    _mm_sfence();
    memcpy(d, s, n);
}
#endif

static struct weir_copy list[3] = {{"memcpy", copy_libc}};
static size_t count = 1;

#if defined(__x86_64__)
/* A constructor, so that threads never see the list change. */
__attribute__((constructor)) static void find_methods(void)
{
    list[count++] = (struct weir_copy){"rep-movsb", copy_movsb};
    if (vector_bits() >= 256) {
        list[count++] = (struct weir_copy){"non-temporal", copy_nt};
    }
}
#endif

const struct weir_copy *weir_copies(size_t *n)
{
    *n = count;
    return list;
}
