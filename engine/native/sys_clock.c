#include "sys_clock.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

int weir_has_tsc;

#define SOURCES "/sys/devices/system/clocksource/clocksource0/available_clocksource"

int weir_tsc_trusted(const char *path)
{
    char word[32] = "";
    int tsc = 0, any = 0;
    FILE *f = fopen(path, "re");
    if (!f) {
        return 1; /* the processor's flag is all there is */
    }
    while (fscanf(f, "%31s", word) == 1) {
        any = 1;
        tsc |= !strcmp(word, "tsc");
    }
    fclose(f);
    return tsc || !any;
}

#if defined(__x86_64__)
/* A constructor, so that threads never see it change. */
__attribute__((constructor)) static void find_tsc(void)
{
    unsigned a, b, c, d;
    weir_has_tsc =
        __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1) && weir_tsc_trusted(SOURCES);
}
#endif

const char *weir_clock_name(void) { return weir_has_tsc ? "invariant TSC" : "CLOCK_MONOTONIC"; }

/* Reads a tick and the matching time: the closest of several pairs, since an interrupt between the
 * two reads would shift the time line. */
static void pair(int64_t *ticks, int64_t *ns)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < 16; i++) {
        int64_t a = weir_ticks(), n = weir_monotonic(), b = weir_ticks();
        if (b - a < best) {
            best = b - a;
            *ticks = a + (b - a) / 2;
            *ns = n;
        }
    }
}

/* Returns the step of a counter that advances in steps: all differences are multiples of it. */
static int64_t step(void)
{
    int64_t divisor = 0, before = weir_ticks();
    for (int i = 0; i < 256; i++) {
        int64_t now = weir_ticks(), a = now - before, b = divisor;
        while (a) {
            int64_t rest = b % a;
            b = a;
            a = rest;
        }
        divisor = b;
        before = now;
    }
    return divisor;
}

void weir_clock_calibrate(struct weir_clock *c)
{
    c->ns_per_tick = 1;
    if (weir_has_tsc) {
        if (!c->first_ns) {
            pair(&c->first_ticks, &c->first_ns);
            while (weir_monotonic() - c->first_ns < 2000000) {
                ;
            }
        }
        pair(&c->base_ticks, &c->base_ns);
        c->ns_per_tick =
            (double)(c->base_ns - c->first_ns) / (double)(c->base_ticks - c->first_ticks);
    }
    c->scale = (int64_t)(c->ns_per_tick * 4294967296.);
    c->resolution_ns = (double)step() * c->ns_per_tick;
    /* minimum of several: a preemption in between is not the clock's cost */
    c->cost_ns = c->serialized_ns = 1e9;
    for (int k = 0; k < 16; k++) {
        int64_t t0 = weir_ticks();
        for (int i = 0; i < 32; i++) {
            __asm__ volatile("" ::"r"(weir_ticks()));
        }
        double each = (double)(weir_ticks() - t0) * c->ns_per_tick / 33;
        c->cost_ns = each < c->cost_ns ? each : c->cost_ns;
        t0 = weir_ticks_serialized();
        for (int i = 0; i < 31; i++) {
            __asm__ volatile("" ::"r"(weir_ticks_serialized()));
        }
        each = (double)(weir_ticks_serialized() - t0) * c->ns_per_tick / 32;
        c->serialized_ns = each < c->serialized_ns ? each : c->serialized_ns;
    }
}

double weir_monotonic_cost(void)
{
    int64_t least = INT64_MAX;
    for (int k = 0; k < 16; k++) {
        int64_t t0 = weir_monotonic(), t1 = t0;
        for (int i = 0; i < 32; i++) {
            t1 = weir_monotonic();
        }
        least = t1 - t0 < least ? t1 - t0 : least;
    }
    return (double)least / 32;
}
