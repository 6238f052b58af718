/* hidden.h: memory that the CPU may not touch, for tests. */
#ifndef WEIR_HIDDEN_H
#define WEIR_HIDDEN_H

#include "../memory.h"

extern const struct weir_memory hidden_memory;

#endif
