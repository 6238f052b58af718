/* hist.h: latency recorder with the counters of HdrHistogram (3 significant
 * digits, 1 ns to 2^40 ns), so that Go and every HDR tool read them exactly. */
#ifndef WEIR_HIST_H
#define WEIR_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

#define HIST_HALF_BITS 10 /* log2 of half the 2048 sub-buckets that 3 digits need */
#define HIST_BUCKETS 30
#define HIST_COUNTS ((HIST_BUCKETS + 1) << HIST_HALF_BITS)
#define HIST_MAX (((int64_t)1 << 40) - 1)

struct weir_hist {
    uint64_t counts[HIST_COUNTS];
    /* of requests that were complete when they were posted, until hist_merge */
    uint64_t at_once[HIST_COUNTS];
    uint64_t n;
    int64_t  first[WEIR_KEEP], ring[WEIR_KEEP], last[WEIR_KEEP];
};

static inline size_t hist_index(int64_t v)
{
    int bucket =
        63 - __builtin_clzll((uint64_t)v | ((1u << (HIST_HALF_BITS + 1)) - 1)) - HIST_HALF_BITS;
    return ((size_t)bucket << HIST_HALF_BITS) + (size_t)(v >> bucket);
}

static inline void hist_record_in(struct weir_hist *h, uint64_t *counts, int64_t ns)
{
    if (ns < 1)
        ns = 1; /* shorter than the clock can tell */
    if (ns > HIST_MAX)
        ns = HIST_MAX;
    counts[hist_index(ns)]++;
    if (h->n < WEIR_KEEP)
        h->first[h->n] = ns;
    h->ring[h->n % WEIR_KEEP] = ns;
    h->n++;
}

static inline void hist_record(struct weir_hist *h, int64_t ns)
{
    hist_record_in(h, h->counts, ns);
}
static inline void hist_record_at_once(struct weir_hist *h, int64_t ns)
{
    hist_record_in(h, h->at_once, ns);
}

struct weir_hist *hist_new(void); /* prefaulted */
void              hist_reset(struct weir_hist *h);
void              hist_merge(struct weir_hist *h); /* counts are of all from now on */
int64_t           hist_least(size_t index); /* value of a counter */
size_t            hist_last(struct weir_hist *h); /* fills last in order; how many */

#endif
