/* The plain versions, and the selection of the fast one for this processor. */
#include "ep_rows.h"

#include <math.h>
#include <string.h>

#include "ep_rows_simd.h"
#include "sys_vector.h"

static float of_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

size_t rows_scales_bytes(int channels, enum weir_scales s)
{
    return (size_t)channels / ROW_GROUP * (s == SCALES_UE8M0 ? 1 : sizeof(float));
}

/* An infinity counts as the largest BF16. */
float rows_scale(uint32_t amax, enum weir_scales s, void *scales, int group)
{
    float most = of_bits((amax > 0x7f7f ? 0x7f7f : amax) << 16);
    most = most < 1e-4f ? 1e-4f : most;
    float scale = most / 448, times = 448 / most;
    if (s != SCALES_F32) {
        uint32_t exponent = (bits_of(scale) + 0x7fffff) >> 23; /* of the next power of two */
        scale = of_bits(exponent << 23);
        times = of_bits((254 - exponent) << 23);
        if (s == SCALES_UE8M0) {
            ((uint8_t *)scales)[group] = (uint8_t)exponent;
            return times;
        }
    }
    memcpy((char *)scales + (size_t)group * sizeof scale, &scale, sizeof scale);
    return times;
}

static uint8_t to_e4m3(float f)
{
    uint8_t sign = bits_of(f) >> 31 ? 0x80 : 0;
    float size = fabsf(f);
    if (isnan(f)) {
        return sign | 0x7f;
    }
    if (size >= 448) {
        return sign | 0x7e;
    }
    if (size == 0) {
        return sign; /* without exponent */
    }
    int exponent;
    frexpf(size, &exponent);                          /* size is below 2^exponent */
    int last = exponent - 4 < -9 ? -9 : exponent - 4; /* exponent of the last place */
    float units = rintf(ldexpf(size, -last));         /* to nearest even: at most 16 */
    if (last == -9) {
        /* subnormal or the lowest binade: 8 and more carry into the exponent */
        return sign | (uint8_t)units;
    }
    return (uint8_t)(sign + ((uint32_t)(last + 10) << 3) + (uint32_t)units - 8);
}

void rows_quantise_group(const uint16_t *x, enum weir_scales s, uint8_t *fp8, void *scales,
                         int group)
{
    uint32_t amax = 0;
    for (int i = 0; i < ROW_GROUP; i++) {
        uint32_t size = x[i] & 0x7fff;
        if (size <= 0x7f80 && size > amax) {
            amax = size;
        }
    }
    float times = rows_scale(amax, s, scales, group);
    for (int i = 0; i < ROW_GROUP; i++) {
        fp8[i] = to_e4m3(of_bits((uint32_t)x[i] << 16) * times);
    }
}

void rows_quantise_reference(const uint16_t *x, int channels, enum weir_scales s, uint8_t *fp8,
                             void *scales)
{
    for (int g = 0; g < channels / ROW_GROUP; g++, x += ROW_GROUP, fp8 += ROW_GROUP) {
        rows_quantise_group(x, s, fp8, scales, g);
    }
}

static uint16_t to_bf16(float f)
{
    uint32_t u = bits_of(f);
    if (isnan(f)) {
        return (uint16_t)(u >> 16 | 0x40);
    }
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

void rows_reduce_reference(uint16_t *out, int channels, int n, const uint16_t *const *rows,
                           const float *weights)
{
    for (int i = 0; i < channels; i++) {
        float sum = 0;
        for (int k = 0; k < n; k++) {
            float product = weights[k] * of_bits((uint32_t)rows[k][i] << 16);
            sum = sum + product;
        }
        out[i] = to_bf16(sum);
    }
}

/* ---- selection by processor ---- */

static const struct rows_simd *chosen(void)
{
#if defined(__x86_64__)
    if (vector_bits() == 512) {
        return &rows_avx512;
    }
    if (vector_bits() == 256) {
        return &rows_avx2;
    }
#endif
    return &rows_any;
}

void rows_quantise(const uint16_t *x, int channels, enum weir_scales s, uint8_t *fp8, void *scales)
{
    chosen()->quantise(x, channels, s, fp8, scales);
}

void rows_reduce(uint16_t *out, int channels, int n, const uint16_t *const *rows,
                 const float *weights)
{
    chosen()->reduce(out, channels, n, rows, weights);
}
