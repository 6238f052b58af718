#include "stage.h"

/* The largest value of a counter. */
static double top(uint32_t index)
{
    if (index < 2u << STAGE_BITS)
        return index;
    uint32_t shift = (index >> STAGE_BITS) - 1, within = (index & ((1u << STAGE_BITS) - 1)) + (1u << STAGE_BITS);
    return (double)((((uint64_t)within + 1) << shift) - 1);
}

void stage_record_all(struct weir_stage *s, const uint64_t *counts, uint64_t sum)
{
    for (size_t i = 0; i < HIST_COUNTS; i++) {
        s->counts[stage_index(hist_least(i))] += (uint32_t)counts[i];
        s->n += counts[i];
    }
    s->sum += sum;
}

struct weir_part_time stage_span(const struct weir_stage *s, uint64_t none)
{
    struct weir_part_time out = {.n = s->n + none};
    if (!out.n)
        return out;
    out.mean      = (double)s->sum / (double)out.n / 1e9;
    uint64_t rank = (uint64_t)(0.99 * (double)out.n + 0.5), seen = none;
    for (uint32_t i = 0; i < STAGE_COUNTS; i++) {
        seen += s->counts[i];
        if (seen >= (rank ? rank : 1)) {
            out.p99 = top(i) / 1e9;
            break;
        }
    }
    return out;
}
