/* parts.h: tests of parts of the engine, without peers. */
#ifndef WEIR_CTEST_PARTS_H
#define WEIR_CTEST_PARTS_H

/* How many of them fail; each says what it is of. */
int parts_fail(void);

#endif
