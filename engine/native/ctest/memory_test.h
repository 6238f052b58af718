/* memory_test.h: tests of host memory: copies, sharing and population. */
#ifndef WEIR_CTEST_MEMORY_TEST_H
#define WEIR_CTEST_MEMORY_TEST_H

int memory_tested(void); /* number of failed tests; each prints its name */

#endif
