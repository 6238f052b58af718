/* parts.h: unit tests of the engine, without peers. */
#ifndef WEIR_CTEST_PARTS_H
#define WEIR_CTEST_PARTS_H

/* Returns the number of failed tests; each prints its name. */
int parts_fail(void);

#endif
