#include "hist.h"

#include <stdlib.h>
#include <string.h>

struct weir_hist *hist_new(void)
{
    struct weir_hist *h = malloc(sizeof *h);
    if (h) {
        hist_reset(h);
    }
    return h;
}

void hist_reset(struct weir_hist *h) { memset(h, 0, sizeof *h); }

void hist_merge(struct weir_hist *h)
{
    for (size_t i = 0; i < HIST_COUNTS; i++) {
        h->counts[i] += h->immediate[i];
    }
    memset(h->immediate, 0, sizeof h->immediate);
}

int64_t hist_value(size_t index)
{
    if (index < 2u << HIST_HALF_BITS) {
        return (int64_t)index;
    }
    size_t bucket = (index >> HIST_HALF_BITS) - 1;
    return (int64_t)(((index & ((1u << HIST_HALF_BITS) - 1)) + (1u << HIST_HALF_BITS)) << bucket);
}

size_t hist_order_last(struct weir_hist *h)
{
    size_t n = h->n < WEIR_MAX_STAMPS ? h->n : WEIR_MAX_STAMPS;
    for (size_t i = 0; i < n; i++) {
        h->last[i] = h->ring[(h->n - n + i) % WEIR_MAX_STAMPS];
    }
    return n;
}
