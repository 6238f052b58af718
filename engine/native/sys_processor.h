/* sys_processor.h: how long a thread ran and how long it waited for its processor. */
#ifndef WEIR_SYS_PROCESSOR_H
#define WEIR_SYS_PROCESSOR_H

#include "weir.h"

/* A measured span of the calling thread. That thread opens, begins and ends it. */
struct processor_span {
    int fd; /* the thread's schedstat; -1: not available */
    int64_t wall, ran, waited;
};

/* Called before the clock of a timed part starts: opening takes longer than reading. */
void processor_open(struct processor_span *s);
/* Starts the span. */
void processor_begin(struct processor_span *s);
/* Ends the span and closes the file; call it once. */
void processor_end(struct processor_span *s, struct weir_processor_time *out);

#endif
