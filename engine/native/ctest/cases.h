/* cases.h: the cases that engine_test runs over each fabric. */
#ifndef WEIR_CTEST_CASES_H
#define WEIR_CTEST_CASES_H

#include "../weir.h"

struct case_list {
    const struct weir_case *list;
    size_t n;
};

/* For two ranks, for three ranks without pairs, and for a matrix of three ranks. */
extern const struct case_list pair_cases, group_cases, matrix_cases;

#endif
