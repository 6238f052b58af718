/* selftest.h: injected faults, for tests that they are detected. */
#ifndef WEIR_SELFTEST_H
#define WEIR_SELFTEST_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

int64_t selftest_pattern(size_t n, int64_t flip);
/* Returns the address and the size of one of the regions of a rank. */
const void *selftest_memory(struct weir_rank *r, int region, size_t *bytes);
/* Binds, allocates and releases memory, with and without a previous policy; returns NULL or an
 * error. */
const char *selftest_binding(void);
/* Shuts the sockets of a tcp rank down, as its death would. */
void selftest_break_tcp(struct weir_rank *r);
/* Restricts ranks of libfabric opened from now on: ways to learn of delivery (bit mask; 0: any),
 * and bytes per operation (0: the provider's limit). */
void selftest_libfabric(unsigned ways, size_t piece);
/* Sets how long, in ns, ranks of libfabric wait for lower ranks to connect; 0: the default. */
void selftest_libfabric_listening(int64_t ns);

/* Calls carriers_between_hosts as if the devices mlx5_… accessed remote memory. */
void selftest_between_hosts(char *list, char *resources, char *lanes, int second);

/* Makes the next workers of UCX find a listed device missing. Returns -1 without UCX. */
int selftest_ucx_devices_gone(int times);

/* Makes UCX refuse memory of more than 64 KiB the next times, like a driver under a limit on locked
 * memory. */
void selftest_ucx_refuses_memory(int times);

/* Sets the minimum length of a span of a ceiling probe. */
void selftest_ceiling_span(int64_t ns);
/* Sets the time budget of a path probe, after which it takes only the required spans; returns the
 * spans taken since the last call. */
uint64_t selftest_ceiling_time(int64_t ns);

/* Returns the 99th percentile, in seconds, of a stage with the given numbers of 0, 1 and 2 ns. */
double selftest_stage_p99(uint32_t none, uint32_t ones, uint32_t twos);
/* Returns the time to record one stamped request, in ns, including its clock read. */
double selftest_record_ns(uint64_t n);
/* Returns the latency, in ns, until a word stored by one processor is seen by a polling one: half
 * of the mean round trip of n. Negative: a thread could not be created or pinned. */
double selftest_handover_ns(int cpu, int other, uint64_t n);

#endif
