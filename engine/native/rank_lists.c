/* Copies of the configuration's lists and strings, and per-peer state of a rank. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rank.h"

struct weir_allocation { /* all are freed together */
    struct weir_allocation *next;
    max_align_t data[];
};

/* Allocates n elements, at least one. NULL: out of memory; lists_make reports it at the end. */
static void *allocate_kept(struct weir_rank *r, size_t n, size_t each)
{
    struct weir_allocation *k =
        n < SIZE_MAX / 2 / each ? calloc(1, sizeof *k + (n + 1) * each) : NULL;
    if (!k) {
        return NULL;
    }
    k->next = r->allocations;
    r->allocations = k;
    return k->data;
}

static void *copy_list(struct weir_rank *r, const void *list, int n, size_t each, int *enough)
{
    void *copy = allocate_kept(r, (size_t)n, each);
    if (copy && n) {
        memcpy(copy, list, (size_t)n * each);
    }
    *enough = *enough && copy;
    return copy;
}

/* Copies a string; NULL stays NULL. */
static const char *copy_string(struct weir_rank *r, const char *text, int *enough)
{
    return text ? copy_list(r, text, (int)strlen(text), 1, enough) : NULL;
}

void lists_drop(struct weir_rank *r)
{
    while (r->allocations) {
        struct weir_allocation *k = r->allocations;
        r->allocations = k->next;
        free(k);
    }
}

static void copy_strings(struct weir_rank *r, int *enough)
{
    r->cfg.fabric = copy_string(r, r->cfg.fabric, enough);
    r->cfg.options = copy_string(r, r->cfg.options, enough);
}

static void copy_flows(struct weir_rank *r, int *enough)
{
    struct weir_flows *flows = copy_list(r, r->cfg.flows, r->cfg.nflows, sizeof *flows, enough);
    r->cfg.flows = flows;
    for (int i = 0; flows && i < r->cfg.nflows; i++) {
        struct weir_flows *f = &flows[i];
        f->targets = copy_list(r, f->targets, f->ntargets, sizeof *f->targets, enough);
        f->sources = copy_list(r, f->sources, f->nsources, sizeof *f->sources, enough);
        f->probes = copy_list(r, f->probes, f->nprobes, sizeof *f->probes, enough);
    }
}

int lists_make(struct weir_rank *r)
{
    size_t ranks = (size_t)r->cfg.ranks;
    int enough = 1, *all = allocate_kept(r, ranks, sizeof *all);
    r->barrier.all = (struct weir_group){all, r->cfg.ranks};
    r->barrier.pairs = allocate_kept(r, ranks, sizeof *r->barrier.pairs);
    r->barrier.absent = allocate_kept(r, ranks, sizeof *r->barrier.absent);
    for (int i = 0; all && i < r->cfg.ranks; i++) {
        all[i] = i;
    }
    copy_strings(r, &enough);
    copy_flows(r, &enough);
    if (enough && all && r->barrier.absent && r->barrier.pairs) {
        return 0;
    }
    lists_drop(r);
    return rank_fail(r, -ENOMEM, "alloc", -1, "no memory for the list of peers");
}
