/* Generates rows that any rank can compute for any token. */
#include "ep_gpu.h"

#include <string.h>

#include "pattern.h"

/* Finaliser of splitmix64, as in pattern.c. */
uint64_t ep_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Converts 16 random bits to a BF16 number in (-2, 2): a sign, seven bits of mantissa, and an
 * exponent from the leading zeros of eight bits. */
static uint16_t number(uint64_t bits)
{
    uint32_t high = (uint32_t)(bits >> 7) & 255,
             zeros = high ? (uint32_t)__builtin_clz(high) - 24 : 8;
    return (uint16_t)((bits >> 15 & 1) << 15 | (127 - zeros) << 7 | (bits & 127));
}

void ep_make_row(const struct ep_run *u, uint64_t pass, enum ep_row what, int rank, uint32_t token,
                 uint32_t k, uint16_t *row)
{
    uint64_t key = pattern_key(u->r->cfg.seed, u->e->of.index, rank, what, pass);
    key = ep_mix(key + ((uint64_t)token << 16 | k));
    for (int c = 0; c < u->e->channels; c += 4) {
        uint64_t w = ep_mix(key + (uint64_t)c);
        for (int i = 0; i < 4; i++) {
            row[c + i] = number(w >> (16 * i) & 0xffff);
        }
    }
}

#define POISON 0xa5

int ep_fill(struct ep_run *u, uint64_t pass)
{
    const struct weir_ep *e = u->e;
    struct weir_rank *r = u->r;
    size_t n = (size_t)e->channels;
    int rc;
    memset(u->out, POISON, (size_t)e->tokens * n * sizeof *u->out);
    for (int o = 0; o < EP_OPERATIONS; o++) {
        memset(u->sink + e->parts[o].sink, POISON, 2 * e->parts[o].half);
    }
    for (int t = 0; t < e->tokens; t++) {
        ep_make_row(u, pass, OF_TOKEN, r->cfg.rank, (uint32_t)t, 0, u->x + (size_t)t * n);
        if ((rc = rank_tick(r)) < 0) {
            return rc;
        }
    }
    for (uint32_t i = 0; i < e->nmade; i++) {
        const struct weir_ep_place *m = &e->made[i];
        ep_make_row(u, pass, OF_EXPERT, m->rank, m->token, m->k, (uint16_t *)(u->source + m->at));
        if ((rc = rank_tick(r)) < 0) {
            return rc;
        }
    }
    if (ep_does(u, EP_DISPATCH)) {
        for (int i = 0; i < r->cfg.ranks; i++) {
            memcpy(u->source + e->counts_from[i], e->counts + i * e->per_rank,
                   (size_t)e->per_rank * sizeof *e->counts);
        }
        if (e->before) {
            ep_prepare(u);
        }
    }
    return u->gpu ? ep_gpu_upload(u) : 0;
}
