/* Produces what a rank sends: messages of its tokens, and sums of rows. */
#include <string.h>

#include "ep_run.h"

static char *source(const struct ep_run *u, uint64_t at) { return u->source + at; }

static void write_message(struct ep_run *u, uint32_t token, char *to)
{
    const struct weir_ep *e = u->e;
    const uint16_t *x = u->x + (size_t)token * (size_t)e->channels;
    char *at = to + EP_HEADER + e->row;
    memset(to, 0, EP_HEADER);
    memcpy(to, &token, sizeof token);
    if (e->fp8) {
        rows_quantise(x, e->channels, (enum weir_scales)e->scales, (uint8_t *)to + EP_HEADER, at);
        at += rows_scales_bytes(e->channels, (enum weir_scales)e->scales);
    } else {
        memcpy(to + EP_HEADER, x, e->row);
    }
    if (e->layout != EP_RANK) {
        return;
    }
    for (int k = 0; k < e->top_k; k++, at += 8) {
        size_t i = (size_t)token * (size_t)e->top_k + (size_t)k;
        int32_t number = ep_number(e, e->experts[u->r->cfg.rank][i]);
        memcpy(at, &number, 4);
        memcpy(at + 4, &e->weights[u->r->cfg.rank][i], 4);
    }
}

void ep_write_messages(struct ep_run *u, uint32_t until, uint32_t *at)
{
    const struct weir_ep *e = u->e;
    while (*at < e->ncopies && e->copies[*at].token < until) {
        const struct weir_ep_copy *c = &e->copies[(*at)++];
        char *first = source(u, c->at);
        write_message(u, c->token, first);
        for (; *at < e->ncopies && e->copies[*at].token == c->token; (*at)++) {
            memcpy(source(u, e->copies[*at].at), first, e->message);
        }
    }
}

void ep_prepare(struct ep_run *u) { ep_write_messages(u, (uint32_t)u->e->tokens, &(uint32_t){0}); }

void ep_add_up(struct ep_run *u, const struct weir_ep_sums *s, uint32_t i, const char *from,
               char *to)
{
    const struct weir_ep_sum *sum = &s->list[i];
    const uint16_t *rows[64];
    float weights[64];
    for (uint32_t k = 0; k < sum->n; k++) {
        const struct weir_ep_term *t = &s->terms[sum->first + k];
        rows[k] = (const uint16_t *)(from + t->at);
        weights[k] = t->weight;
    }
    rows_reduce((uint16_t *)(to + sum->to), u->e->channels, (int)sum->n, rows, weights);
}
