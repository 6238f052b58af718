/* What a rank keeps of its configuration, which is gone when weir_open returns, and of its
 * peers: whom it has to do with in which case, and what it counts of each. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rank.h"

struct weir_kept { /* all of them are freed together */
    struct weir_kept *next;
    max_align_t       data[];
};

/* Room for at least one; NULL: there is no memory, which lists_make tells in the end. */
static void *keep_room(struct weir_rank *r, size_t n, size_t each)
{
    struct weir_kept *k = n < SIZE_MAX / 2 / each ? calloc(1, sizeof *k + (n + 1) * each) : NULL;
    if (!k)
        return NULL;
    k->next = r->kept;
    r->kept = k;
    return k->data;
}

static void *keep_list(struct weir_rank *r, const void *list, int n, size_t each, int *enough)
{
    void *copy = keep_room(r, (size_t)n, each);
    if (copy && n)
        memcpy(copy, list, (size_t)n * each);
    *enough = *enough && copy;
    return copy;
}

/* NULL stays NULL. */
static const char *keep_text(struct weir_rank *r, const char *text, int *enough)
{
    return text ? keep_list(r, text, (int)strlen(text), 1, enough) : NULL;
}

void lists_drop(struct weir_rank *r)
{
    for (struct weir_kept *k; (k = r->kept);) {
        r->kept = k->next;
        free(k);
    }
}

static void keep_texts(struct weir_rank *r, int *enough)
{
    r->cfg.fabric  = keep_text(r, r->cfg.fabric, enough);
    r->cfg.options = keep_text(r, r->cfg.options, enough);
}

static void keep_flows(struct weir_rank *r, int *enough)
{
    struct weir_flows *flows = keep_list(r, r->cfg.flows, r->cfg.nflows, sizeof *flows, enough);
    r->cfg.flows             = flows;
    for (int i = 0; flows && i < r->cfg.nflows; i++) {
        struct weir_flows *f = &flows[i];
        f->targets           = keep_list(r, f->targets, f->ntargets, sizeof *f->targets, enough);
        f->sources           = keep_list(r, f->sources, f->nsources, sizeof *f->sources, enough);
        f->turns             = keep_list(r, f->turns, f->nturns, sizeof *f->turns, enough);
    }
}

int lists_make(struct weir_rank *r)
{
    size_t ranks  = (size_t)r->cfg.ranks;
    int    enough = 1, *all = keep_room(r, ranks, sizeof *all);
    r->all        = (struct weir_group){all, r->cfg.ranks};
    r->meetings   = keep_room(r, ranks, sizeof *r->meetings);
    r->absent     = keep_room(r, ranks, sizeof *r->absent);
    r->delivered  = keep_room(r, ranks, sizeof *r->delivered);
    for (int i = 0; all && i < r->cfg.ranks; i++)
        all[i] = i;
    keep_texts(r, &enough);
    keep_flows(r, &enough);
    if (enough && all && r->absent && r->meetings && r->delivered)
        return 0;
    lists_drop(r);
    return rank_fail(r, -ENOMEM, "alloc", -1, "no memory for the list of peers");
}
