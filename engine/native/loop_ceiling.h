/* loop_ceiling.h: probes what memory copies and the path can carry, with the rank's own buffers. */
#ifndef WEIR_LOOP_CEILING_H
#define WEIR_LOOP_CEILING_H

#include "weir.h"

struct weir_copy;
struct weir_role;

#define CEILING_SPANS 9
#define CEILING_MIN_SPANS 3 /* at least, if the path is slow and ceiling_time_ns runs out */
#define CEILING_LARGE ((size_t)1 << 20) /* bytes; every area is at least this large */
/* Two areas that nearly fill a cache need tens of requests to settle in it. Probes of at least
 * CEILING_SETTLES bytes per request discard the first CEILING_SETTLE spans and requests. */
#define CEILING_SETTLES ((size_t)4 << 20)
#define CEILING_SETTLE 10
/* Minimum length of a span: 18 spans outlast the bursts of load on a shared host. */
#define CEILING_SPAN_NS 1000000
#define CEILING_TIME_NS 1000000000
#ifdef WEIR_TEST /* tests shorten both, and count the rates added in this process */
extern int64_t ceiling_span_ns, ceiling_time_ns;
extern _Atomic uint64_t ceiling_spans;
#else
static const int64_t ceiling_span_ns = CEILING_SPAN_NS, ceiling_time_ns = CEILING_TIME_NS;
#endif

/* Rates in bytes/s of the spans of a probe, before and after a timed part. The median is used, so
 * that disturbed and lucky spans do not count. */
struct ceiling {
    double rate[2 * CEILING_SPANS];
    size_t n;
};

/* Adds a rate; drops it if there is no space. */
void ceiling_add(struct ceiling *c, double rate);
double ceiling_rate(struct ceiling *c); /* 0: not probed */
/* rate of the best span; 0: not probed */
double ceiling_best(const struct ceiling *c);

/* Selects, by a short trial, the method that copies the case's requests fastest from the source to
 * the probe area of the sink; leaves it unchanged if this processor cannot copy. */
int ceiling_choose(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   const struct weir_copy **best);
/* Measures that copy by one thread with the rank's method, CEILING_SPANS times; for a matrix with
 * small cells a copy of CEILING_LARGE if that is faster. Adds nothing if this processor cannot
 * copy. */
int ceiling_memcpy(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   struct ceiling *out);

/* Probes copies and paths of all ranks, before or after a timed part; collective. */
int ceiling_probe(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                  int after, struct ceiling *copies, struct ceiling *path);

/* Implementations of weir_fabric.ceiling. ceiling_is_memcpy: memory copies bound paths through
 * shared memory. ceiling_by_requests: probes the fabric's own requests, with the number and size
 * that it carries best. */
int ceiling_is_memcpy(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                      struct ceiling *c);
int ceiling_by_requests(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                        struct ceiling *c);

#endif
