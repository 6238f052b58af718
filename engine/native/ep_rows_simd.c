/* The fast versions of ep_rows.h. */
#include "ep_rows_simd.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define SELECT(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))

#define GROUPS 64
typedef uint16_t eight __attribute__((vector_size(16)));

#define LANES 4
#define ATTRIBUTES
#define NAME(x) x##_any
#include "ep_rows_body.h"

#if defined(__x86_64__)
#define LANES 8
#define ATTRIBUTES __attribute__((target("avx2")))
#define NAME(x) x##_avx2
#include "ep_rows_body.h"

#define LANES 16
#define ATTRIBUTES __attribute__((target("avx512f,avx512bw,avx512vl")))
#define NAME(x) x##_avx512
#include "ep_rows_body.h"
#endif
