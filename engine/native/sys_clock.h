/* sys_clock.h: time stamps cheap enough for a hot loop. Uses the invariant TSC if the processor has
 * one and the kernel trusts its synchronisation across cores, calibrated against CLOCK_MONOTONIC,
 * so that stamps of all ranks and cores of a host share one time line; otherwise clock_gettime. */
#ifndef WEIR_SYS_CLOCK_H
#define WEIR_SYS_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct weir_clock {
    double ns_per_tick;
    int64_t scale;                 /* ns per tick as a fixed-point number with 32 fractional bits */
    int64_t first_ticks, first_ns; /* start of the baseline that the rate is measured over */
    int64_t base_ticks, base_ns;
    double cost_ns;       /* cost of weir_ticks() */
    double serialized_ns; /* cost of weir_ticks_serialized() */
    double resolution_ns; /* smallest step of the clock */
};

extern int weir_has_tsc; /* set before any clock is used */

/* Returns the name of the clock, for users. */
const char *weir_clock_name(void);

/* Returns whether the list of clock sources at path still has the TSC; the kernel, which compares
 * the cores' counters, removes it for good when they differ. */
int weir_tsc_trusted(const char *path);

/* Calibrates the clock; takes about 2 ms the first time. Called again before each case: a longer
 * baseline gives a more accurate rate. */
void weir_clock_calibrate(struct weir_clock *c);

/* Returns CLOCK_MONOTONIC in ns. */
static inline int64_t weir_monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns the cost of reading CLOCK_MONOTONIC, in ns. */
double weir_monotonic_cost(void);

/* Returns the current tick. */
static inline int64_t weir_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(weir_has_tsc, 1)) {
        return (int64_t)__rdtsc();
    }
#endif
    return weir_monotonic();
}

/* Like weir_ticks, ordered after earlier stores and before later instructions: without fences the
 * counter is read while stores of a copy are pending, or after the copy begins. MFENCE waits for
 * the stores, LFENCE keeps RDTSC behind it and what follows behind RDTSC (Intel SDM, RDTSC; on AMD
 * both serialise). On Arm DSB waits for the stores, where DMB would only order them; the kernel's
 * function has an ISB before it reads CNTVCT_EL0. */
static inline int64_t weir_ticks_serialized(void)
{
#if defined(__x86_64__)
    _mm_mfence();
    if (__builtin_expect(weir_has_tsc, 1)) {
        _mm_lfence();
        int64_t t = (int64_t)__rdtsc();
        _mm_lfence();
        return t;
    }
#elif defined(__aarch64__)
    __asm__ volatile("dsb ish" ::: "memory");
#else
    __sync_synchronize();
#endif
    return weir_monotonic();
}

/* Converts a span of ticks to ns. */
static inline int64_t weir_ticks_to_ns(const struct weir_clock *c, int64_t ticks)
{
    return (int64_t)((double)ticks * c->ns_per_tick);
}

/* Like weir_ticks_to_ns, rounded down: an integer product has less latency, for the recorder. */
static inline int64_t weir_ticks_to_ns_fast(const struct weir_clock *c, int64_t ticks)
{
    return (int64_t)((__int128)ticks * c->scale >> 32);
}

/* Converts a CLOCK_MONOTONIC time to ticks. */
static inline int64_t weir_ns_to_tick(const struct weir_clock *c, int64_t ns)
{
    return c->base_ticks + (int64_t)((double)(ns - c->base_ns) / c->ns_per_tick);
}

/* Converts ticks to a CLOCK_MONOTONIC time. */
static inline int64_t weir_tick_to_ns(const struct weir_clock *c, int64_t tick)
{
    return c->base_ns + weir_ticks_to_ns(c, tick - c->base_ticks);
}

#endif
