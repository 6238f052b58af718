/* pattern.h: self-describing block contents. Word i of a buffer is a hash of a key and i, so a
 * block at the wrong offset, from the wrong rank or of the wrong pass differs in nearly every
 * byte. */
#ifndef WEIR_PATTERN_H
#define WEIR_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Returns the key of what one rank sends to another in a pass of a case. */
uint64_t pattern_key(uint64_t seed, uint32_t case_index, int from, int to, uint64_t pass);
/* Fills n bytes with the pattern of a key. */
void pattern_fill(void *buf, size_t n, uint64_t key);
/* Returns the first wrong offset, or -1. */
int64_t pattern_check(const void *buf, size_t n, uint64_t key);
/* Returns the expected byte at an offset. */
uint8_t pattern_byte(uint64_t key, size_t offset);

#endif
