//go:build weirtest

package native

/*
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ep_rows_simd.h"

#define TOKENS 8

static double rate_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// What is done: rows are made FP8, added up in eights, or copied.
enum rate_of { RATE_QUANTISE, RATE_REDUCE, RATE_COPY };

static void rate_step(const struct rows_simd *v, enum rate_of of, const uint16_t *x,
                      int channels, uint8_t *to, float *scales)
{
    const uint16_t *rows[TOKENS];
    float           weights[TOKENS];
    for (int k = 0; k < TOKENS; k++)
        rows[k] = x + (size_t)k * (size_t)channels, weights[k] = 0.125f;
    if (of == RATE_REDUCE)
        v->reduce((uint16_t *)to, channels, TOKENS, rows, weights);
    for (int k = 0; k < TOKENS && of == RATE_QUANTISE; k++)
        v->quantise(rows[k], channels, SCALES_F32, to, scales);
    for (int k = 0; k < TOKENS && of == RATE_COPY; k++) {
        memcpy(to, rows[k], (size_t)channels * 2);
        __asm__ volatile("" ::"r"(to) : "memory");
    }
}

// Returns the bytes read per second, cycling over the rows of tokens.
static double rate_of(const struct rows_simd *v, enum rate_of of, const uint16_t *x,
                      int channels, int tokens, uint8_t *to, float *scales)
{
    size_t n  = 0;
    double t0 = rate_now(), took;
    do {
        for (int t = 0; t < tokens; t += TOKENS, n += TOKENS)
            rate_step(v, of, x + (size_t)t * (size_t)channels, channels, to, scales);
    } while ((took = rate_now() - t0) < 0.2);
    return (double)n * (double)channels * 2 / took;
}

static const struct rows_simd rows_reference = {rows_quantise_reference, rows_reduce_reference};
static const struct rows_simd rows_chosen = {rows_quantise, rows_reduce};

static const struct rows_simd *rows_version(int i)
{
    const struct rows_simd *all[] = {&rows_reference, &rows_chosen, &rows_any,
#if defined(__x86_64__)
        __builtin_cpu_supports("avx2") ? &rows_avx2 : NULL,
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") ? &rows_avx512 : NULL,
#endif
    };
    return i < (int)(sizeof all / sizeof *all) ? all[i] : NULL;
}

static void rows_call_quantise(const struct rows_simd *v, const uint16_t *x, int n, int scales,
                               uint8_t *to, void *stored)
{
    v->quantise(x, n, (enum weir_scales)scales, to, stored);
}

static void rows_call_reduce(const struct rows_simd *v, uint16_t *out, int channels, int n,
                             const uint16_t *const *rows, const float *weights)
{
    v->reduce(out, channels, n, rows, weights);
}
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// rowsVersion has the functions of ep_rows.h for one instruction set.
type rowsVersion struct{ v *C.struct_rows_simd }

// rowsVersions returns those that this processor supports, by name.
func rowsVersions() map[string]rowsVersion {
	all := map[string]rowsVersion{}
	for i, name := range []string{"reference", "chosen", "any", "avx2", "avx512"} {
		if v := C.rows_version(C.int(i)); v != nil {
			all[name] = rowsVersion{v}
		}
	}
	return all
}

func (r rowsVersion) quantise(x []uint16, scales string) (values, stored []byte) {
	kind := epScales[scales]
	values, stored = make([]byte, len(x)), make([]byte, C.rows_scales_bytes(C.int(len(x)), uint32(kind)))
	C.rows_call_quantise(r.v, (*C.uint16_t)(&x[0]), C.int(len(x)), kind, (*C.uint8_t)(&values[0]),
		unsafe.Pointer(&stored[0]))
	return values, stored
}

func (r rowsVersion) reduce(channels int, rows [][]uint16, weights []float32) []uint16 {
	out, pointers := make([]uint16, channels), make([]*C.uint16_t, len(rows)+1)
	var pins runtime.Pinner
	defer pins.Unpin()
	for i, row := range rows {
		pins.Pin(&row[0])
		pointers[i] = (*C.uint16_t)(&row[0])
	}
	weights = append(weights, 0)
	C.rows_call_reduce(r.v, (*C.uint16_t)(&out[0]), C.int(channels), C.int(len(rows)), &pointers[0],
		(*C.float)(&weights[0]))
	return out
}

// rates returns the rates at which rows are read: quantised to FP8, added up, and copied by memcpy, in
// bytes/s.
func (r rowsVersion) rates(channels, tokens int) (quantise, reduce, copying float64) {
	x := plainRow(channels * tokens)
	to, scales := make([]byte, 2*channels), make([]float32, channels)
	rate := func(of uint32) float64 {
		return float64(C.rate_of(r.v, of, (*C.uint16_t)(&x[0]), C.int(channels), C.int(tokens), (*C.uint8_t)(&to[0]),
			(*C.float)(&scales[0])))
	}
	return rate(C.RATE_QUANTISE), rate(C.RATE_REDUCE), rate(C.RATE_COPY)
}

// plainRow returns numbers from 1 to below 2.
func plainRow(n int) []uint16 {
	x := make([]uint16, n)
	for i := range x {
		x[i] = 0x3f80 | uint16(i*7&127)
	}
	return x
}
