#include "rows.h"
#include <math.h>
#include <string.h>
static float f(uint16_t v) { uint32_t u = (uint32_t)v << 16; float x; memcpy(&x, &u, 4); return x; }
static uint16_t b(float x) { uint32_t u; memcpy(&u, &x, 4); if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)(u >> 16 | 64); return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16); }
size_t rows_scales_bytes(int c, enum weir_scales s) { return (size_t)c / ROW_GROUP * (s == SCALES_UE8M0 ? 1 : 4); }
static uint8_t e4m3(float x) {
    uint32_t u; memcpy(&u, &x, 4); uint8_t sign = u >> 24 & 128; float a = fabsf(x);
    if (a >= 448) return sign | 0x7e;
    if (a < 0x1p-6f) return (uint8_t)(sign | (int)rintf(a * 512));
    memcpy(&u, &a, 4); u += 0x7ffff + (u >> 20 & 1); return (uint8_t)(sign | ((u >> 20) - (120 << 3)));
}
void rows_quantise_reference(const uint16_t *x, int n, enum weir_scales s, uint8_t *o, void *sc) {
    for (int g = 0; g < n / 128; g++, x += 128, o += 128) {
        float m = 1e-4f;
        for (int i = 0; i < 128; i++) { float a = fabsf(f(x[i])); m = a > m ? a : m; }
        float inv = m / 448, mul = 448 / m;
        if (s != SCALES_F32) { int e; frexpf(inv, &e); float p = ldexpf(1, e); if (p / 2 == inv) p /= 2; inv = p; mul = 1 / p; }
        if (s == SCALES_UE8M0) { uint32_t u; memcpy(&u, &inv, 4); ((uint8_t *)sc)[g] = (uint8_t)(u >> 23); } else memcpy((char *)sc + 4 * g, &inv, 4);
        for (int i = 0; i < 128; i++) o[i] = e4m3(f(x[i]) * mul);
    }
}
void rows_quantise(const uint16_t *x, int n, enum weir_scales s, uint8_t *o, void *sc) { rows_quantise_reference(x, n, s, o, sc); }
void rows_reduce_reference(uint16_t *out, int c, int n, const uint16_t *const *rows, const float *w) {
    for (int i = 0; i < c; i++) { float a = 0; for (int k = 0; k < n; k++) { volatile float p = w[k] * f(rows[k][i]); a += p; } out[i] = b(a); }
}
void rows_reduce(uint16_t *out, int c, int n, const uint16_t *const *rows, const float *w) { rows_reduce_reference(out, c, n, rows, w); }
