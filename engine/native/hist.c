#include "hist.h"

#include <stdlib.h>
#include <string.h>

struct weir_hist *hist_new(void)
{
    struct weir_hist *h = malloc(sizeof *h);
    if (h)
        hist_reset(h);
    return h;
}

void hist_reset(struct weir_hist *h) { memset(h, 0, sizeof *h); }

size_t hist_last(struct weir_hist *h)
{
    size_t n = h->n < WEIR_KEEP ? h->n : WEIR_KEEP;
    for (size_t i = 0; i < n; i++)
        h->last[i] = h->ring[(h->n - n + i) % WEIR_KEEP];
    return n;
}
