/* hist.h: latency recorder with the counters of HdrHistogram (3 significant digits, 1 ns to 2^40
 * ns), so that Go and HDR tools read them exactly. */
#ifndef WEIR_HIST_H
#define WEIR_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

#define HIST_HALF_BITS 10 /* log2 of half of the 2048 sub-buckets for 3 digits */
#define HIST_BUCKETS 30
#define HIST_COUNTS ((HIST_BUCKETS + 1) << HIST_HALF_BITS)
#define HIST_MAX (((int64_t)1 << 40) - 1)

struct weir_hist {
    uint64_t counts[HIST_COUNTS];
    /* of requests that were complete when posted; hist_merge adds them to counts */
    uint64_t immediate[HIST_COUNTS];
    uint64_t n;
    int64_t first[WEIR_MAX_STAMPS], ring[WEIR_MAX_STAMPS], last[WEIR_MAX_STAMPS];
};

/* Returns the index of the counter for a value in ns. */
static inline size_t hist_index(int64_t v)
{
    int bucket =
        63 - __builtin_clzll((uint64_t)v | ((1u << (HIST_HALF_BITS + 1)) - 1)) - HIST_HALF_BITS;
    return ((size_t)bucket << HIST_HALF_BITS) + (size_t)(v >> bucket);
}

static inline void hist_record_in(struct weir_hist *h, uint64_t *counts, int64_t ns)
{
    if (ns < 1) {
        ns = 1; /* below the clock's resolution */
    }
    if (ns > HIST_MAX) {
        ns = HIST_MAX;
    }
    counts[hist_index(ns)]++;
    if (h->n < WEIR_MAX_STAMPS) {
        h->first[h->n] = ns;
    }
    h->ring[h->n % WEIR_MAX_STAMPS] = ns;
    h->n++;
}

/* Records the latency of a request, in ns. */
static inline void hist_record(struct weir_hist *h, int64_t ns)
{
    hist_record_in(h, h->counts, ns);
}
/* Records the latency of a request that was complete when posted, in ns. */
static inline void hist_record_immediate(struct weir_hist *h, int64_t ns)
{
    hist_record_in(h, h->immediate, ns);
}

struct weir_hist *hist_new(void); /* prefaulted; NULL: out of memory */
void hist_reset(struct weir_hist *h);
void hist_merge(struct weir_hist *h);        /* counts cover all requests afterwards */
int64_t hist_value(size_t index);            /* lower bound of a counter */
size_t hist_order_last(struct weir_hist *h); /* orders the last stamps; returns their number */

#endif
