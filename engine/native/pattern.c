#include "pattern.h"

#include <string.h>

/* Finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014): each bit of the input changes each of the
 * output with probability one half. */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t pattern_key(uint64_t seed, uint32_t case_index, int from, int to, uint64_t pass)
{
    uint64_t of_case = mix(mix(seed + 0x9e3779b97f4a7c15u) + case_index);
    return mix(mix(of_case + ((uint64_t)(uint32_t)from << 32 | (uint32_t)to)) + pass);
}

/* One multiplication per word, so that contents are generated at memory speed: a 64 MiB block is
 * filled and checked for every case. */
static inline uint64_t word(uint64_t key, uint64_t i)
{
    uint64_t x = (key + i) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
}

void pattern_fill(void *buf, size_t n, uint64_t key)
{
    unsigned char *p = buf;
    size_t i = 0;
    for (; i < n / 8; i++) {
        uint64_t w = word(key, i);
        memcpy(p + 8 * i, &w, 8);
    }
    if (n % 8) {
        uint64_t w = word(key, i);
        memcpy(p + 8 * i, &w, n % 8);
    }
}

int64_t pattern_check(const void *buf, size_t n, uint64_t key)
{
    const unsigned char *p = buf;
    size_t i = 0;
    /* compares in blocks of words without a branch, then locates the difference within the block */
    for (; i + 512 <= n / 8; i += 512) {
        uint64_t diff = 0;
        for (size_t j = i; j < i + 512; j++) {
            uint64_t w;
            memcpy(&w, p + 8 * j, 8);
            diff |= w ^ word(key, j);
        }
        if (diff) {
            break;
        }
    }
    for (size_t off = 8 * i; off < n; off++) {
        if (p[off] != pattern_byte(key, off)) {
            return (int64_t)off;
        }
    }
    return -1;
}

uint8_t pattern_byte(uint64_t key, size_t offset)
{
    uint64_t w = word(key, offset / 8);
    unsigned char b[8];
    memcpy(b, &w, 8);
    return b[offset % 8];
}
