/* selftest.h: faults made on purpose, for the tests that show they are noticed. */
#ifndef WEIR_SELFTEST_H
#define WEIR_SELFTEST_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

int64_t selftest_pattern(size_t n, int64_t flip);
/* Where a rank has one of its regions, and how much. */
const void *selftest_memory(struct weir_rank *r, int region, size_t *bytes);
/* Binds, allocates and releases, with and without a policy of before; NULL, or what went wrong. */
const char *selftest_binding(void);
void    selftest_break_tcp(struct weir_rank *r);
/* How libfabric's ranks that open from now on may learn of delivery (a bit per way; 0:
 * any), and the most bytes of one of their operations (0: as the provider says). */
void    selftest_libfabric(unsigned ways, size_t piece);
/* How long, in ns, its ranks wait for lower ones to connect; 0: as always. */
void    selftest_libfabric_listening(int64_t ns);

/* carriers_between_hosts where the devices mlx5_… read and write remote memory. */
void    selftest_between_hosts(char *list, char *resources, char *lanes, int second);

/* The next so many workers of UCX find that a device that was listed is gone. -1: there
 * is no UCX. */
int     selftest_ucx_devices_gone(int times);

/* The next so many times UCX refuses memory of more than 64 KiB, as a card's driver does that
 * may not lock as much. */
void    selftest_ucx_refuses_memory(int times);

/* How long a span of a probe of ceilings takes at least, from now on. */
void selftest_ceiling_span(int64_t ns);
/* From now on a probe of a path has so long before it takes no more spans than it must;
 * the spans that probes have taken since the last call. */
uint64_t selftest_ceiling_time(int64_t ns);

/* The 99th percentile, in seconds, of a part that took 0, 1 and 2 ns so many times. */
double selftest_stage_p99(uint32_t none, uint32_t ones, uint32_t twos);
/* Nanoseconds that recording one stamped request takes, with its clock read. */
double selftest_record_ns(uint64_t n);
/* Nanoseconds in which a word that one processor stores is seen by another that looks for
 * nothing else, half of a round trip of n. Negative: a thread could not be made, or not be
 * kept on its processor. */
double selftest_handover_ns(int cpu, int other, uint64_t n);

#endif
