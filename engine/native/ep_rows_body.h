/* ep_rows_body.h: the body of ep_rows_simd.c for one instruction set with vectors of LANES words.
 * It uses compiler vectors, compiled for the set by ATTRIBUTES. NAME(x) is x with the set's suffix.
 * A word holds two channels: shifted left it is the first as float32, without its lower half the
 * second (little endian). So nothing needs widening. */

typedef uint16_t NAME(halves) __attribute__((vector_size(2 * LANES)));
typedef uint16_t NAME(pairs) __attribute__((vector_size(4 * LANES)));
typedef uint32_t NAME(words) __attribute__((vector_size(4 * LANES)));
typedef float NAME(floats) __attribute__((vector_size(4 * LANES)));

/* Returns the largest magnitude of a group as bits; above 0x7f7f there is an infinity or NaN. */
ATTRIBUTES INLINE uint32_t NAME(largest)(const uint16_t *x)
{
    NAME(pairs) top = {0}, v;
    eight parts[sizeof top / sizeof(eight)], most;
    uint32_t largest = 0;
    for (int i = 0; i < ROW_GROUP; i += 2 * LANES) {
        memcpy(&v, x + i, sizeof v);
        v &= 0x7fff;
        top = SELECT((NAME(pairs))(v > top), v, top);
    }
    memcpy(parts, &top, sizeof parts);
    most = parts[0];
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++) {
        most = SELECT((eight)(parts[i] > most), parts[i], most);
    }
    for (int i = 0; i < 8; i++) {
        largest = most[i] > largest ? most[i] : largest;
    }
    return largest;
}

/* Converts finite float32 of at most 448 to e4m3. Adding a number 20 binades above, and at least
 * 2^14, rounds to eighths of the number's binade (8 to 16 of them), or to 2^-9 where the result is
 * subnormal. Exponents change their bias from 127 to 7; the eight eighths that start each binade
 * count as one of the exponent. Uses pointers: vector arguments would depend on the caller's
 * instruction set. */
ATTRIBUTES INLINE void NAME(to_e4m3)(NAME(words) * x, float times)
{
    NAME(words) u = (NAME(words))((NAME(floats)) * x * times);
    NAME(words) size = u & 0x7fffffff, binade = u & 0x7f800000;
    NAME(words) least = (NAME(words)){0} + (121u << 23);
    binade = SELECT((NAME(words))(binade > least), binade, least);
    NAME(words) magic = binade + (20u << 23);
    NAME(words) eighth = (NAME(words))((NAME(floats))size + (NAME(floats))magic) - magic;
    *x = ((u >> 24) & 0x80) | (eighth + (binade >> 20) - (121u << 3));
}

ATTRIBUTES INLINE void NAME(convert)(const uint16_t *x, float times, uint8_t *fp8)
{
    for (int i = 0; i < ROW_GROUP; i += 2 * LANES) {
        NAME(words) first, second;
        memcpy(&second, x + i, sizeof second);
        first = second << 16;
        second &= 0xffff0000;
        NAME(to_e4m3)(&first, times);
        NAME(to_e4m3)(&second, times);
        NAME(halves) both = __builtin_convertvector(first | second << 8, NAME(halves));
        memcpy(fp8 + i, &both, sizeof both);
    }
}

/* Stage by stage for many groups, so that their latencies overlap. */
ATTRIBUTES static void NAME(quantise)(const uint16_t *x, int channels, enum weir_scales s,
                                      uint8_t *fp8, void *scales)
{
    uint32_t amax[GROUPS];
    float times[GROUPS];
    for (int first = 0, all = channels / ROW_GROUP; first < all;
         first += GROUPS, x += GROUPS * ROW_GROUP, fp8 += GROUPS * ROW_GROUP) {
        int n = all - first < GROUPS ? all - first : GROUPS;
        for (int g = 0; g < n; g++) {
            amax[g] = NAME(largest)(x + g * ROW_GROUP);
        }
        for (int g = 0; g < n; g++) {
            times[g] = rows_scale(amax[g], s, scales, first + g);
        }
        for (int g = 0; g < n; g++) {
            if (amax[g] <= 0x7f7f) {
                NAME(convert)(x + g * ROW_GROUP, times[g], fp8 + g * ROW_GROUP);
            } else {
                rows_quantise_group(x + g * ROW_GROUP, s, fp8 + g * ROW_GROUP, scales, first + g);
            }
        }
    }
}

ATTRIBUTES INLINE void NAME(add)(NAME(floats) * first, NAME(floats) * second, const uint16_t *row,
                                 float weight)
{
    NAME(words) v;
    memcpy(&v, row, sizeof v);
    *first = *first + (NAME(floats))(v << 16) * weight;
    *second = *second + (NAME(floats))(v & 0xffff0000) * weight;
}

/* Rounds float32 to BF16, in the upper half of each word. */
ATTRIBUTES INLINE void NAME(round)(const NAME(floats) * x, NAME(words) * to)
{
    NAME(words) u = (NAME(words)) * x, rounded = u + 0x7fff + (u >> 16 & 1);
    *to = SELECT((NAME(words))((u & 0x7fffffff) > 0x7f800000), u | 0x400000, rounded);
}

ATTRIBUTES INLINE void NAME(store)(const NAME(floats) * first, const NAME(floats) * second,
                                   uint16_t *to)
{
    NAME(words) a, b;
    NAME(round)(first, &a);
    NAME(round)(second, &b);
    a = a >> 16 | (b & 0xffff0000);
    memcpy(to, &a, sizeof a);
}

/* Two vectors of each row at a time: sums stay in registers. */
ATTRIBUTES static void NAME(reduce)(uint16_t *out, int channels, int n, const uint16_t *const *rows,
                                    const float *weights)
{
    for (int c = 0; c < channels; c += 4 * LANES) {
        NAME(floats) a = {0}, b = {0}, d = {0}, e = {0};
        for (int k = 0; k < n; k++) {
            NAME(add)(&a, &b, rows[k] + c, weights[k]);
            NAME(add)(&d, &e, rows[k] + c + 2 * LANES, weights[k]);
        }
        NAME(store)(&a, &b, out + c);
        NAME(store)(&d, &e, out + c + 2 * LANES);
    }
}

const struct rows_simd NAME(rows) = {NAME(quantise), NAME(reduce)};

#undef LANES
#undef ATTRIBUTES
#undef NAME
