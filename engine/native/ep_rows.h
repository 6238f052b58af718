/* ep_rows.h: arithmetic on rows of tokens: BF16 to FP8 with a scale per group of channels, and
 * weighted sums. Each function has the fastest version for this processor, and a plain one, which
 * tests require to be bit-identical. */
#ifndef WEIR_EP_ROWS_H
#define WEIR_EP_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* How a group's scale is stored: as float32, rounded up to a power of two, or as the exponent byte
 * of that. */
enum weir_scales { SCALES_F32, SCALES_POW2, SCALES_UE8M0 };

#define ROW_GROUP 128 /* channels that share a scale; rows consist of whole groups */

/* Returns the bytes of a row's scales. */
size_t rows_scales_bytes(int channels, enum weir_scales s);

/* FP8 e4m3 (no infinities, NaN 0x7f and 0xff): with amax = max(1e-4, max |x|) of the group, the
 * scale is amax / 448. A value is x * (448 / amax), or x / scale if that is a power of two, rounded
 * to nearest even and saturated at 448. NaN stays NaN and is ignored in amax; an infinity counts as
 * the largest BF16. All in float32, each operation rounded. */
void rows_quantise(const uint16_t *bf16, int channels, enum weir_scales s, uint8_t *fp8,
                   void *scales);
void rows_quantise_reference(const uint16_t *bf16, int channels, enum weir_scales s, uint8_t *fp8,
                             void *scales);

/* BF16 of the float32 sum of weight times row, in the order of the rows, starting from 0; each
 * product and each sum is rounded. */
void rows_reduce(uint16_t *out, int channels, int n, const uint16_t *const *rows,
                 const float *weights);
void rows_reduce_reference(uint16_t *out, int channels, int n, const uint16_t *const *rows,
                           const float *weights);

#endif
