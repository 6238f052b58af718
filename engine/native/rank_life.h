/* rank_life.h: shared by the functions that open, connect and close a rank. */
#ifndef WEIR_RANK_LIFE_H
#define WEIR_RANK_LIFE_H

#include "rank.h"

/* Adds the time since *from to *to and advances *from to now. */
static inline void rank_add_step_time(double *to, int64_t *from)
{
    int64_t now = weir_monotonic();
    *to += (double)(now - *from) / 1e9;
    *from = now;
}

#endif
