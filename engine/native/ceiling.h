/* ceiling.h: what memory copies can do here, with the rank's own buffers. */
#ifndef WEIR_CEILING_H
#define WEIR_CEILING_H

#include "role.h"

#define CEILING_SPANS 9
#define CEILING_FEWEST 3 /* of them where a path is so slow or so far that ceiling_time_ns are up */
#define CEILING_LARGE ((size_t)1 << 20) /* bytes; every area has as many */
/* Two areas that nearly fill a cache take tens of requests to settle in it, also where
 * one request lasts for several spans: before requests of so many bytes are probed, there
 * are so many spans, and so many requests, that do not count. */
#define CEILING_SETTLES ((size_t)4 << 20)
#define CEILING_SETTLE 10
/* A span takes at least ceiling_span_ns: 18 of them outlast the bursts of a shared host. */
#define CEILING_SPAN_NS 1000000
#define CEILING_TIME_NS 1000000000
#ifdef WEIR_TEST /* tests shorten both, and count the rates that are added in this process */
extern int64_t          ceiling_span_ns, ceiling_time_ns;
extern _Atomic uint64_t ceiling_spans;
#else
static const int64_t ceiling_span_ns = CEILING_SPAN_NS, ceiling_time_ns = CEILING_TIME_NS;
#endif

/* Rates in bytes/s of spans of a probe, before and after a timed part. The median
 * is the path's: a span in which the host did something else does not count, nor
 * does a lucky one. */
struct ceiling {
    double rate[2 * CEILING_SPANS];
    size_t n;
};

void   ceiling_add(struct ceiling *c, double rate);
double ceiling_rate(struct ceiling *c); /* 0: nothing was probed */
/* what at least one span reached; 0: nothing was probed */
double ceiling_best(const struct ceiling *c);

/* The method that copies the case's requests from the source to the place for probes
 * in the sink fastest, by a short trial of each; unchanged where this processor cannot copy. */
int ceiling_choose(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   const struct weir_copy **best);
/* One thread makes that copy by the rank's method, CEILING_SPANS times; where a matrix
 * has small cells, one of CEILING_LARGE if that is faster; none where it cannot copy. */
int ceiling_memcpy(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                   struct ceiling *out);

/* All ranks probe their copies and their paths, before a timed part or after it. */
int ceiling_probe(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o,
                  int after, struct ceiling *copies, struct ceiling *path);

/* A fabric's table takes one of these or its own: paths through shared memory are
 * bounded by copies; of other fabrics their own requests are probed, as many and as
 * large as they carry best. */
int ceiling_is_memcpy(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                      struct ceiling *c);
int ceiling_raw(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                struct ceiling *c);

#endif
