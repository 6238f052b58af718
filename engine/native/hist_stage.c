#include "hist_stage.h"

/* Returns the largest value of a counter. */
static double top(uint32_t index)
{
    if (index < 2u << STAGE_BITS) {
        return index;
    }
    uint32_t shift = (index >> STAGE_BITS) - 1,
             within = (index & ((1u << STAGE_BITS) - 1)) + (1u << STAGE_BITS);
    return (double)((((uint64_t)within + 1) << shift) - 1);
}

/* Returns the smallest rank, from 1, with 99 % of n values at or below it: results.NearestRank
 * without overflow, as 99 % of n, rounded up, is n minus 1 % of n, rounded down. */
static uint64_t nearest_rank_99(uint64_t n) { return n - n / 100; }

void stage_record_all(struct weir_stage *s, const uint64_t *counts, uint64_t sum)
{
    for (size_t i = 0; i < HIST_COUNTS; i++) {
        s->counts[stage_index(hist_value(i))] += (uint32_t)counts[i];
        s->n += counts[i];
    }
    s->sum += sum;
}

struct weir_stage_time stage_summary(const struct weir_stage *s, uint64_t zeros)
{
    struct weir_stage_time out = {.n = s->n + zeros};
    if (!out.n) {
        return out;
    }
    out.mean = (double)s->sum / (double)out.n / 1e9;
    uint64_t rank = nearest_rank_99(out.n), seen = zeros;
    for (uint32_t i = 0; i < STAGE_COUNTS; i++) {
        seen += s->counts[i];
        if (seen >= rank) {
            out.p99 = top(i) / 1e9;
            break;
        }
    }
    return out;
}
