/* selftest.h: faults made on purpose, for the tests that show they are noticed. */
#ifndef WEIR_SELFTEST_H
#define WEIR_SELFTEST_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

int64_t selftest_pattern(size_t n, int64_t flip);
void    selftest_break_tcp(struct weir_rank *r);

/* Nanoseconds that recording one stamped request takes, with its clock read. */
double selftest_record_ns(uint64_t n);

#endif
