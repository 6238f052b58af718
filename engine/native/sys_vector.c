/* __builtin_cpu_supports says the same, with tables of libgcc that clang's runtime may lack. */
#include "sys_vector.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define XCR0_YMM 0x06u /* the kernel saves these registers: Intel SDM, XGETBV */
#define XCR0_ZMM 0xe6u

static int find(void)
{
    unsigned a, b, c, d, saved;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) {
        return 0;
    }
    __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        return 0;
    }
    unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512VL;
    if ((b & avx512) == avx512 && (saved & XCR0_ZMM) == XCR0_ZMM) {
        return 512;
    }
    return b & bit_AVX2 && (saved & XCR0_YMM) == XCR0_YMM ? 256 : 0;
}
#else
static int find(void) { return 0; }
#endif

static int bits = -1;

/* A constructor, so that threads never see it change. */
__attribute__((constructor)) static void find_now(void) { bits = find(); }

int vector_bits(void) { return bits < 0 ? find() : bits; }
