/* Rows of tokens, plain and quantised, and their messages. */

DEVICE float of_bf16(u32 bits) { return float_of(bits << 16); }

DEVICE u32 to_bf16(float f)
{
    u32 u = bits_of(f);
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

/* As in ep_rows_plain.c: of a group with this largest magnitude as BF16 bits. Returns the factor
 * for its values; one of the group's threads stores the scale. */
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

/* Rounds to nearest even, at most 448. Values are finite. */
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

/* Multiplies 8 channels of BF16 and packs them as 8 bytes of e4m3. */
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

/* Puts a group of the row into the message, quantised or plain. */
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
#define HELD 2 /* groups of a row that a thread loads ahead */

/* Groups of a token's row that a thread holds. */
struct held {
    uint4 v[HELD][VECTORS];
};

DEVICE u32 held_group(u32 i)
{
    return threadIdx.x / GROUP_LANES + i * (blockDim.x / GROUP_LANES);
}

DEVICE void hold_groups(const struct ep_args *a, u64 token, u32 first, struct held *h)
{
    const uint4 *row = AT(const uint4, a->x + token * (u64)a->channels * 2);
    for (u32 i = 0; i < HELD; i++)
        if (held_group(first + i) < (u32)a->channels / GROUP)
            load_group(row, held_group(first + i), h->v[i]);
}

DEVICE void hold_row(const struct ep_args *a, u64 token, struct held *h)
{
    if (!a->prepared && token < (u64)a->tokens)
        hold_groups(a, token, 0, h);
}

DEVICE void copy_message(const struct ep_args *a, u64 token, char *to)
{
    const uint4 *from = AT(const uint4, a->source + AT(const u64, a->prepared)[token]);
    ROLLED for (u32 i = threadIdx.x; i < a->room / EP_GPU_UNIT; i += blockDim.x)
        ((uint4 *)to)[i] = from[i];
}

/* Puts a selection and its weight after the scales, at any alignment. */
DEVICE void put_selection(const struct ep_args *a, u32 k, int expert, float weight, char *to)
{
    u32 scale = a->scales == EP_GPU_UE8M0 ? 1 : 4,
        bytes = a->fp8 ? (u32)a->channels / GROUP * scale : 0;
    u64 both  = (u64)bits_of(weight) << 32 | (u32)expert;
    for (u32 i = 0; i < 8; i++)
        to[bytes + 8 * k + i] = byte_of(both, i);
}

/* Makes the message of a token, in shared memory; its row's first groups are held. */
DEVICE void make_message(const struct ep_args *a, u64 token, const int *selected,
                         const float *weights, struct held *h, char *to)
{
    char *row = to + HEADER, *scales = row + a->row;
    u32   groups = (u32)a->channels / GROUP;
    if (a->prepared) {
        copy_message(a, token, to);
        return;
    }
    if (threadIdx.x == 0) {
        uint4 header = {(u32)token, 0, 0, 0};
        *(uint4 *)to = header;
    }
    ROLLED for (u32 first = 0; held_group(first) < groups; first += HELD) {
        if (first)
            hold_groups(a, token, first, h);
        for (u32 i = 0; i < HELD; i++)
            if (held_group(first + i) < groups)
                put_group(a, held_group(first + i), h->v[i], row, scales);
    }
    ROLLED for (u32 k = threadIdx.x; a->layout == EP_GPU_RANK && k < (u32)a->top_k; k += blockDim.x)
        put_selection(a, k, selected[k], weights[k], scales);
}
