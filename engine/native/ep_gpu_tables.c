/* Builds the kernels' tables for a rank, from the lists that the host implementation uses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ep_gpu.h"
#include "fab_cuda.h"

struct ep_gpu_tables {
    u64 *prepared; /* NULL: messages are made in each dispatch */
    struct ep_group *groups;
    struct ep_item *items;
    struct ep_term *terms;
    struct ep_sum *sums;
    u32 ngroups, nitems, nterms, nsums;
};

uint64_t weir_ep_signal_bytes(int ranks, int experts, int tokens)
{
    uint64_t words = (uint64_t)experts + (uint64_t)ranks + 1;
    return 2 * (uint64_t)ranks * (words + EP_GPU_BLOCKS + (uint64_t)tokens + 2) * sizeof(u32) +
           (uint64_t)ranks * sizeof(u64);
}

void ep_tables_drop(struct ep_gpu *g)
{
    struct ep_gpu_tables *t = g->tables;
    if (!t) {
        return;
    }
    free(t->prepared);
    free(t->groups);
    free(t->items);
    free(t->terms);
    free(t->sums);
    free(t);
    g->tables = NULL;
}

static int allocate(struct ep_run *u, struct ep_gpu_tables *t)
{
    const struct weir_ep *e = u->e;
    size_t rows = e->nmade, terms = rows, tokens = (size_t)e->tokens;
    for (u32 i = 0; i < e->total.n; i++) {
        terms += e->total.list[i].n;
    }
    t->prepared = e->before ? calloc(tokens + 1, sizeof *t->prepared) : NULL;
    t->groups = calloc(rows + 1, sizeof *t->groups);
    t->items = calloc(rows + 1, sizeof *t->items);
    t->terms = calloc(terms + 1, sizeof *t->terms);
    t->sums = calloc(tokens + 1, sizeof *t->sums);
    if ((e->before && !t->prepared) || !t->groups || !t->items || !t->terms || !t->sums) {
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for the places of %zu rows", rows);
    }
    return 0;
}

static void add_item(struct ep_gpu_tables *t, struct ep_item item, u32 peer, u32 token)
{
    struct ep_group *g = t->ngroups ? &t->groups[t->ngroups - 1] : NULL;
    if (!g || g->peer != peer || g->token != token) {
        g = &t->groups[t->ngroups++];
        *g = (struct ep_group){.peer = peer, .token = token, .first = t->nitems};
    }
    t->items[t->nitems++] = item;
    g->n++;
}

/* Each row of this rank's experts goes to the destination of its put. */
static void add_rows(const struct ep_run *u, struct ep_gpu_tables *t)
{
    const struct weir_ep *e = u->e;
    const struct weir_ep_put *p = e->parts[EP_COMBINE].puts;
    for (u32 i = 0; i < e->nmade; i++) {
        const struct weir_ep_place *m = &e->made[i];
        while (m->at < p->local || m->at >= p->local + p->bytes) {
            p++;
        }
        struct ep_item item = {p->remote + (m->at - p->local), t->nterms, 1};
        t->terms[t->nterms++] = (struct ep_term){m->at, 1, (u32)u->gpu->args.rank};
        add_item(t, item, (u32)ep_place(e, m->rank), m->token);
    }
}

/* Each partial sum goes to the destination of its put; rows are in the order of their terms. The
 * sum of a rank's own token is made with the token's. */
static void add_partial_sums(const struct ep_run *u, struct ep_gpu_tables *t)
{
    const struct weir_ep *e = u->e;
    for (u32 i = 0; i < e->partial.n; i++) {
        const struct weir_ep_sum *s = &e->partial.list[i];
        const struct weir_ep_put *p = &e->parts[EP_COMBINE].puts[i];
        struct ep_item item = {p->remote, t->nterms, s->n};
        for (u32 k = 0; k < s->n; k++) {
            const struct weir_ep_term *of = &e->partial.terms[s->first + k];
            t->terms[t->nterms++] = (struct ep_term){of->at, of->weight, (u32)u->gpu->args.rank};
        }
        u32 token = e->made[s->first].token;
        if (p->peer == u->r->cfg.rank) {
            t->sums[token].own_first = item.first;
            t->sums[token].own_n = item.n;
        } else {
            add_item(t, item, (u32)ep_place(e, p->peer), token);
        }
    }
}

/* Adds a selection's row; with EP_RANK that of the first selection of its rank. */
static void add_terms(const struct ep_run *u, struct ep_gpu_tables *t, u32 token)
{
    const struct weir_ep *e = u->e;
    const struct weir_ep_term *of = &e->total.terms[e->total.list[token].first];
    const int32_t *experts = e->experts[u->r->cfg.rank] + (size_t)token * (size_t)e->top_k;
    struct ep_sum *sum = &t->sums[t->nsums++];
    sum->first = t->nterms;
    for (int k = 0; k < e->top_k; k++) {
        u32 rank = experts[k] == EP_MASKED ? 0 : (u32)ep_place(e, experts[k] / e->per_rank);
        if (experts[k] == EP_MASKED || (e->layout == EP_RANK && sum->from >> rank & 1)) {
            continue;
        }
        u64 from = ep_pulls(u) ? u->gpu->args.sinks[rank] + e->parts[EP_COMBINE].sink : 0;
        t->terms[t->nterms++] = (struct ep_term){from + of->at, of->weight, rank};
        sum->from |= 1u << rank;
        sum->n++;
        of++;
    }
}

static void add_sums(const struct ep_run *u, struct ep_gpu_tables *t)
{
    for (u32 i = 0; i < u->e->total.n; i++) {
        add_terms(u, t, i);
    }
}

static void add_all(struct ep_run *u, struct ep_gpu_tables *t)
{
    if (u->e->layout == EP_RANK) {
        add_partial_sums(u, t);
    } else if (!ep_pulls(u)) {
        add_rows(u, t);
    }
    add_sums(u, t);
}

static void describe(struct ep_run *u)
{
    const struct weir_ep *e = u->e;
    struct weir_rank *r = u->r;
    struct ep_args *a = &u->gpu->args;
    int members = e->places ? e->members : r->cfg.ranks;
    u64 ranks = (u64)members, words = ranks * (u64)e->per_rank + ranks + 1;
    *a = (struct ep_args){.rank = ep_place(e, r->cfg.rank),
                          .ranks = members,
                          .tokens = e->tokens,
                          .top_k = e->top_k,
                          .per_rank = e->per_rank,
                          .layout = e->layout,
                          .fp8 = e->fp8,
                          .scales = e->scales,
                          .channels = e->channels,
                          .row = (u32)e->row,
                          .room = (u32)e->message_stride,
                          .inverse = (u32)(((u64)1 << 32) / (u64)e->per_rank) + 1,
                          .count_room = (u32)e->count_stride,
                          .most_tokens = (u32)e->most_tokens};
    for (int i = 0; i < r->cfg.ranks; i++) {
        if (i == r->cfg.rank) {
            a->sinks[ep_place(e, i)] = (u64)(uintptr_t)rank_sink(r);
        } else if (!e->posted && !r->barrier.absent[i]) {
            a->sinks[ep_place(e, i)] = cuda_of(r)->peers[i].sink_dev;
        }
    }
    a->source = (u64)(uintptr_t)rank_source(r);
    a->dispatch_at = e->parts[EP_DISPATCH].sink;
    a->dispatch_half = e->parts[EP_DISPATCH].half;
    a->combine_at = e->parts[EP_COMBINE].sink;
    a->combine_half = e->parts[EP_COMBINE].half;
    a->counts_at = e->signals;
    a->sent_at = a->counts_at + 2 * ranks * words * sizeof(u32);
    a->rows_at = a->sent_at + 2 * ranks * EP_GPU_BLOCKS * sizeof(u32);
    a->begun_at = a->rows_at + 2 * ranks * a->most_tokens * sizeof(u32);
    a->clocks_at = a->begun_at + 2 * ranks * 2 * sizeof(u32);
}

static void lay_out(struct ep_run *u)
{
    const struct weir_ep *e = u->e;
    struct ep_gpu *g = u->gpu;
    struct ep_args *a = &g->args;
    const struct ep_gpu_tables *t = g->tables;
    size_t at = 0, selections = (size_t)e->tokens * (size_t)e->top_k,
           rows = (size_t)e->tokens * ep_row_bytes(e);
    a->experts = ep_gpu_reserve(&at, selections * sizeof(int32_t));
    a->weights = ep_gpu_reserve(&at, selections * sizeof(float));
    a->prepared = ep_gpu_reserve(&at, t->prepared ? (size_t)e->tokens * sizeof *t->prepared : 0);
    a->group = ep_gpu_reserve(&at, t->ngroups * sizeof *t->groups);
    a->item = ep_gpu_reserve(&at, t->nitems * sizeof *t->items);
    a->term = ep_gpu_reserve(&at, t->nterms * sizeof *t->terms);
    a->sum = ep_gpu_reserve(&at, t->nsums * sizeof *t->sums);
    g->in = at;
    a->error = ep_gpu_reserve(&at, sizeof(u32));
    a->stamps = ep_gpu_reserve(&at, ep_gpu_stamps(e) * sizeof(struct ep_stamps));
    a->x = ep_gpu_reserve(&at, rows);
    a->out = ep_gpu_reserve(&at, rows);
    a->groups = t->ngroups;
    g->flush = ep_gpu_reserve(&at, e->flushed ? EP_GPU_FLUSH : 0);
    g->bytes = at;
}

void ep_tables_place(struct ep_run *u)
{
    struct ep_gpu *g = u->gpu;
    struct ep_args *a = &g->args;
    u64 *each[] = {&a->experts, &a->weights, &a->group,  &a->item, &a->term,
                   &a->sum,     &a->error,   &a->stamps, &a->x,    &a->out};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        *each[i] += g->memory;
    }
    g->flush += g->memory;
    a->prepared = g->tables->prepared ? a->prepared + g->memory : 0;
    a->abort = g->words_dev + EP_WORD_ABORT * sizeof(u64);
}

static void put(const struct ep_run *u, char *to, u64 at, const void *from, size_t n)
{
    if (n) {
        memcpy(to + (at - u->gpu->memory), from, n);
    }
}

void ep_tables_copy(const struct ep_run *u, char *to)
{
    const struct weir_ep *e = u->e;
    const struct ep_args *a = &u->gpu->args;
    const struct ep_gpu_tables *t = u->gpu->tables;
    size_t n = (size_t)e->tokens * (size_t)e->top_k;
    int32_t *numbers = (int32_t *)(to + (a->experts - u->gpu->memory));
    for (size_t i = 0; i < n; i++) {
        numbers[i] = ep_number(e, e->experts[u->r->cfg.rank][i]);
    }
    put(u, to, a->weights, e->weights[u->r->cfg.rank], n * sizeof(float));
    if (t->prepared) {
        put(u, to, a->prepared, t->prepared, (size_t)e->tokens * sizeof *t->prepared);
    }
    put(u, to, a->group, t->groups, t->ngroups * sizeof *t->groups);
    put(u, to, a->item, t->items, t->nitems * sizeof *t->items);
    put(u, to, a->term, t->terms, t->nterms * sizeof *t->terms);
    put(u, to, a->sum, t->sums, t->nsums * sizeof *t->sums);
}

int ep_tables_make(struct ep_run *u)
{
    const struct weir_ep *e = u->e;
    struct ep_gpu_tables *t = u->gpu->tables = calloc(1, sizeof *t);
    int rc;
    if (!t) {
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for places of rows");
    }
    if ((rc = allocate(u, t)) < 0) {
        return rc;
    }
    for (u32 i = e->ncopies; e->before && i-- > 0;) { /* the first of a token comes last */
        t->prepared[e->copies[i].token] = e->copies[i].at;
    }
    describe(u);
    if (!e->posted) {
        add_all(u, t);
    }
    u->gpu->terms = t->nterms;
    lay_out(u);
    return 0;
}
