/* rows_simd.h: the fast versions of rows.h, one for each set of instructions. */
#ifndef WEIR_ROWS_SIMD_H
#define WEIR_ROWS_SIMD_H

#include "rows.h"

/* A product and the sum with it are rounded by themselves, also where the processor could do both
 * in one step: results are the same on all of them. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

struct rows_simd {
    void (*quantise)(const uint16_t *bf16, int channels, enum weir_scales s, uint8_t *fp8,
                     void *scales);
    void (*reduce)(uint16_t *out, int channels, int n, const uint16_t *const *rows,
                   const float *weights);
};

extern const struct rows_simd rows_any;
#if defined(__x86_64__)
extern const struct rows_simd rows_avx2, rows_avx512;
#endif

/* A group by the plain version: group is its number in the row, of whose scales this is one. */
void rows_quantise_group(const uint16_t *bf16, enum weir_scales s, uint8_t *fp8, void *scales,
                         int group);

/* Stores the scale of a group whose largest value has these bits without sign; by what values are
 * multiplied. */
float rows_scale(uint32_t amax, enum weir_scales s, void *scales, int group);

#endif
