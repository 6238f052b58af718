/* Rows of tokens, as they are and quantised, and the messages that they make. */

DEVICE float of_bf16(u32 bits) { return float_of(bits << 16); }

DEVICE u32 to_bf16(float f)
{
    u32 u = bits_of(f);
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

/* As rows.c has it: of a group whose largest value has these bits as BF16. Gives what values are
 * multiplied by; one of the group's threads stores the scale. */
DEVICE float group_scale(u32 most_bits, int kind, char *scales, u64 group, int stores)
{
    float most  = of_bf16(most_bits), scale, times;
    most        = most < 1e-4f ? 1e-4f : most;
    scale       = most / 448.0f;
    times       = 448.0f / most;
    if (kind != EP_GPU_F32) {
        u32 exponent = (bits_of(scale) + 0x7fffff) >> 23;
        scale        = float_of(exponent << 23);
        times        = float_of((254 - exponent) << 23);
        if (kind == EP_GPU_UE8M0 && stores)
            scales[group] = (char)exponent;
    }
    if (kind != EP_GPU_UE8M0 && stores)
        ((float *)scales)[group] = scale;
    return times;
}

/* To nearest even; at most 448. Values are finite. */
DEVICE u32 to_e4m3(float f)
{
    u32   sign = bits_of(f) >> 24 & 0x80, u = bits_of(f) & 0x7fffffff;
    float size = float_of(u);
    if (size >= 448.0f)
        return sign | 0x7e;
    if (size < 0.015625f) /* subnormal: in steps of 2^-9; 2^23 has steps of 1 */
        return sign | (bits_of(size * 512.0f + 8388608.0f) & 0xf);
    u += 0x7ffff + (u >> 20 & 1);
    return sign | ((u >> 20) - (120u << 3));
}

#if defined(WEIR_ON_HOST) || __CUDA_ARCH__ < 890
DEVICE u32 four_e4m3(float a, float b, float c, float d)
{
    return to_e4m3(a) | to_e4m3(b) << 8 | to_e4m3(c) << 16 | to_e4m3(d) << 24;
}
#else
DEVICE u32 two_e4m3(float a, float b)
{
    unsigned short both;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(b), "f"(a));
    return both;
}

DEVICE u32 four_e4m3(float a, float b, float c, float d)
{
    return two_e4m3(a, b) | two_e4m3(c, d) << 16;
}
#endif

/* 8 channels of BF16 that are multiplied, as 8 bytes of e4m3. */
DEVICE void pack_fp8(const uint4 *v, float times, u32 *out)
{
    const u32 w[4] = {v->x, v->y, v->z, v->w};
    for (int i = 0; i < 2; i++)
        out[i] = four_e4m3(multiply(of_bf16(w[2 * i] & 0xffff), times),
                           multiply(of_bf16(w[2 * i] >> 16), times),
                           multiply(of_bf16(w[2 * i + 1] & 0xffff), times),
                           multiply(of_bf16(w[2 * i + 1] >> 16), times));
}

DEVICE u32 larger_of_pair(u32 most, u32 pair)
{
    u32 low = pair & 0x7fff, high = pair >> 16 & 0x7fff;
    most = low > most ? low : most;
    return high > most ? high : most;
}

#define GROUP 128 /* channels that share a scale */
#define VECTORS (GROUP / 8 / GROUP_LANES) /* of 16 bytes, for each lane of a group */

/* Neighbouring threads make a group together; a block has whole groups of threads. */
DEVICE void load_group(const uint4 *x, u32 g, uint4 *v)
{
    for (u32 i = 0; i < VECTORS; i++)
        v[i] = x[g * (GROUP / 8) + threadIdx.x % GROUP_LANES + i * GROUP_LANES];
}

DEVICE void quantise_group(const struct ep_args *a, u32 g, const uint4 *v, char *fp8, char *scales)
{
    u32 lane = threadIdx.x % GROUP_LANES, most = 0;
    for (u32 i = 0; i < VECTORS; i++) {
        most = larger_of_pair(larger_of_pair(most, v[i].x), v[i].y);
        most = larger_of_pair(larger_of_pair(most, v[i].z), v[i].w);
    }
    float times = group_scale(most_of_group(most), a->scales, scales, g, lane == 0);
    for (u32 i = 0; i < VECTORS; i++)
        pack_fp8(&v[i], times, (u32 *)(fp8 + g * GROUP + (lane + i * GROUP_LANES) * 8));
}

/* A group of the row goes into the message, quantised or as it is. */
DEVICE void put_group(const struct ep_args *a, u32 g, const uint4 *v, char *row, char *scales)
{
    if (a->fp8) {
        quantise_group(a, g, v, row, scales);
        return;
    }
    for (u32 i = 0; i < VECTORS; i++)
        ((uint4 *)row)[g * (GROUP / 8) + threadIdx.x % GROUP_LANES + i * GROUP_LANES] = v[i];
}

#define HEADER 16
#define HELD 2 /* groups of a row that a thread loads before it needs them */

/* The first groups of a token's row, of each thread. */
struct held {
    uint4 v[HELD][VECTORS];
};

DEVICE u32 held_group(u32 i)
{
    return threadIdx.x / GROUP_LANES + i * (blockDim.x / GROUP_LANES);
}

DEVICE const uint4 *row_of(const struct ep_args *a, u64 token)
{
    return AT(const uint4, a->x + token * (u64)a->channels * 2);
}

DEVICE void hold_row(const struct ep_args *a, u64 token, struct held *h)
{
    if (a->prepared || token >= (u64)a->tokens)
        return;
    for (u32 i = 0; i < HELD; i++)
        if (held_group(i) < (u32)a->channels / GROUP)
            load_group(row_of(a, token), held_group(i), h->v[i]);
}

/* The message of a token, in shared memory; its row's first groups are held. */
DEVICE void make_message(const struct ep_args *a, u64 token, const struct held *h, char *to)
{
    u64 units = a->room / EP_GPU_UNIT, scales = HEADER + a->row;
    u32 groups = (u32)a->channels / GROUP;
    if (a->prepared) {
        const uint4 *from = AT(const uint4, a->source + AT(const u64, a->prepared)[token]);
        for (u64 i = threadIdx.x; i < units; i += blockDim.x)
            ((uint4 *)to)[i] = from[i];
        return;
    }
    if (threadIdx.x == 0) {
        uint4 header = {(u32)token, 0, 0, 0};
        *(uint4 *)to = header;
    }
    for (u32 i = 0; i < HELD; i++)
        if (held_group(i) < groups)
            put_group(a, held_group(i), h->v[i], to + HEADER, to + scales);
    for (u32 i = HELD; held_group(i) < groups; i++) {
        uint4 v[VECTORS];
        load_group(row_of(a, token), held_group(i), v);
        put_group(a, held_group(i), v, to + HEADER, to + scales);
    }
    if (a->layout != EP_GPU_RANK)
        return;
    u64 bytes = !a->fp8                     ? 0
                : a->scales == EP_GPU_UE8M0 ? (u64)a->channels / GROUP
                                            : (u64)a->channels / GROUP * 4;
    const char *experts = AT(const char, a->experts + token * (u64)a->top_k * 4),
               *weights = AT(const char, a->weights + token * (u64)a->top_k * 4);
    for (u64 i = threadIdx.x; i < 8 * (u64)a->top_k; i += blockDim.x) /* may be at any byte */
        to[scales + bytes + i] =
            i % 8 < 4 ? experts[i / 8 * 4 + i % 4] : weights[i / 8 * 4 + i % 4];
}
