/* placeholder until the rows branch is merged: the same interface */
#ifndef WEIR_ROWS_H
#define WEIR_ROWS_H
#include <stddef.h>
#include <stdint.h>
enum weir_scales { SCALES_F32, SCALES_POW2, SCALES_UE8M0 };
#define ROW_GROUP 128
size_t rows_scales_bytes(int channels, enum weir_scales s);
void rows_quantise(const uint16_t *bf16, int channels, enum weir_scales s, uint8_t *fp8, void *scales);
void rows_quantise_reference(const uint16_t *bf16, int channels, enum weir_scales s, uint8_t *fp8, void *scales);
void rows_reduce(uint16_t *out, int channels, int n, const uint16_t *const *rows, const float *weights);
void rows_reduce_reference(uint16_t *out, int channels, int n, const uint16_t *const *rows, const float *weights);
#endif
