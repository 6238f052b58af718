/* processor.h: how long a thread ran and how long it waited for its processor. */
#ifndef WEIR_PROCESSOR_H
#define WEIR_PROCESSOR_H

#include "weir.h"

/* A span of the calling thread, which opens, begins and ends it. */
struct processor_span {
    int     fd; /* of its schedstat; -1: the kernel has none */
    int64_t wall, ran, waited;
};

/* Before the clock of a timed part runs: opening takes longer than reading. */
void processor_open(struct processor_span *s);
void processor_begin(struct processor_span *s);
/* Once; it closes what was opened. */
void processor_end(struct processor_span *s, struct weir_processor_time *out);

#endif
