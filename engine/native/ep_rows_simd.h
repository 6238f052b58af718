/* ep_rows_simd.h: the fast versions of ep_rows.h, one per instruction set. */
#ifndef WEIR_EP_ROWS_SIMD_H
#define WEIR_EP_ROWS_SIMD_H

#include "ep_rows.h"

/* Products and sums are rounded separately, even if the processor could fuse them, so that results
 * are the same everywhere. */
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

/* Quantises a group by the plain version; group is its index in the row, for scales. */
void rows_quantise_group(const uint16_t *bf16, enum weir_scales s, uint8_t *fp8, void *scales,
                         int group);

/* Stores the scale of a group with this largest magnitude (bits); returns the factor for its
 * values. */
float rows_scale(uint32_t amax, enum weir_scales s, void *scales, int group);

#endif
