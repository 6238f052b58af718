/* clock.h: time stamps cheap enough for a hot loop. The invariant TSC where the
 * processor has one and the kernel has not found that of its cores apart, calibrated
 * against CLOCK_MONOTONIC, so that stamps of different ranks of a host are on one time
 * line, on whatever core they are taken; clock_gettime elsewhere. */
#ifndef WEIR_CLOCK_H
#define WEIR_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct weir_clock {
    double  ns_per_tick;
    int64_t scale; /* the same as a fixed-point number of 32 binary places */
    int64_t first_ticks, first_ns; /* of the base line that the rate is measured over */
    int64_t base_ticks, base_ns;
    double  cost_ns;       /* of one weir_ticks() */
    double  settled_ns;    /* of one weir_ticks_settled() */
    double  resolution_ns; /* the step by which it advances */
};

extern int weir_has_tsc; /* set before any clock is used */

/* Of the stamps, for a reader. */
const char *weir_clock_name(void);

/* Whether the kernel, which compares the cores' counters when it starts and watches them,
 * still offers them as a clock in this list; it takes them off for good when they differ. */
int weir_tsc_trusted(const char *path);

/* About 2 ms the first time. Again before each case: the longer the base line, the
 * better the rate. */
void weir_clock_calibrate(struct weir_clock *c);

static inline int64_t weir_monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What reading it costs in ns. */
double weir_monotonic_cost(void);

static inline int64_t weir_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(weir_has_tsc, 1))
        return (int64_t)__rdtsc();
#endif
    return weir_monotonic();
}

/* The same between what comes before and what comes after it: a processor reads its counter while
 * stores of a copy are still on their way, and begins the copy before. MFENCE waits for the
 * stores, LFENCE keeps RDTSC behind it and what follows behind RDTSC (Intel SDM, RDTSC; on AMD
 * both serialise). */
static inline int64_t weir_ticks_settled(void)
{
#if defined(__x86_64__)
    _mm_mfence();
    if (__builtin_expect(weir_has_tsc, 1)) {
        _mm_lfence();
        int64_t t = (int64_t)__rdtsc();
        _mm_lfence();
        return t;
    }
#else
    __sync_synchronize();
#endif
    return weir_monotonic();
}

/* A span of ticks in ns. */
static inline int64_t weir_span(const struct weir_clock *c, int64_t ticks)
{
    return (int64_t)((double)ticks * c->ns_per_tick);
}

/* The same for the recorder, rounded down: a product of integers is ready sooner. */
static inline int64_t weir_short_span(const struct weir_clock *c, int64_t ticks)
{
    return (int64_t)((__int128)ticks * c->scale >> 32);
}

/* The tick at a CLOCK_MONOTONIC time. */
static inline int64_t weir_tick_at(const struct weir_clock *c, int64_t ns)
{
    return c->base_ticks + (int64_t)((double)(ns - c->base_ns) / c->ns_per_tick);
}

/* A tick as CLOCK_MONOTONIC ns. */
static inline int64_t weir_when(const struct weir_clock *c, int64_t tick)
{
    return c->base_ns + weir_span(c, tick - c->base_ticks);
}

#endif
