/* hist_stage.h: recorder of one stage of each stamped request. Its counters stay in the first-level
 * cache beside those of the whole request: 64 per power of two, so a percentile is at most 1.6 %
 * too high. */
#ifndef WEIR_HIST_STAGE_H
#define WEIR_HIST_STAGE_H

#include <stdint.h>
#include <string.h>

#include "hist.h"

#define STAGE_BITS 6
#define STAGE_COUNTS ((40 - STAGE_BITS + 1) << STAGE_BITS)
#define STAGE_MAX (((int64_t)1 << 40) - 1)

struct weir_stage {
    uint64_t n, sum; /* ns */
    uint32_t counts[STAGE_COUNTS];
};

/* Returns the index of the counter for a duration in ns. */
static inline uint32_t stage_index(int64_t v)
{
    int shift = 63 - __builtin_clzll((uint64_t)v | (1u << STAGE_BITS)) - STAGE_BITS;
    return ((uint32_t)shift << STAGE_BITS) + (uint32_t)(v >> shift);
}

/* Records a duration; one below the clock's resolution is 0. */
static inline void stage_record(struct weir_stage *s, int64_t ns)
{
    ns = ns < 0 ? 0 : ns > STAGE_MAX ? STAGE_MAX : ns;
    s->counts[stage_index(ns)]++;
    s->n++;
    s->sum += (uint64_t)ns;
}

/* Records n durations from the counters of a histogram, which subdivide those of a stage, and their
 * sum. */
void stage_record_all(struct weir_stage *s, const uint64_t *counts, uint64_t sum);

static inline void stage_reset(struct weir_stage *s) { memset(s, 0, sizeof *s); }

/* Returns the summary of the recorded durations and of zeros further ones of 0 ns. */
struct weir_stage_time stage_summary(const struct weir_stage *s, uint64_t zeros);

#endif
