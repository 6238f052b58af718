/* What a rank knows of its peers: whom it has to do with in which case, and what it
 * counts of each. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rank.h"

static void *copy_of(const void *list, int n, size_t each)
{
    void *copy = calloc((size_t)n + 1, each);
    if (copy && n)
        memcpy(copy, list, (size_t)n * each);
    return copy;
}

/* What weir_open has made itself. */
void lists_drop(struct weir_rank *r)
{
    struct weir_flows *flows = (struct weir_flows *)(uintptr_t)r->cfg.flows;
    for (int i = 0; flows && i < r->cfg.nflows; i++) {
        free((void *)(uintptr_t)flows[i].targets);
        free((void *)(uintptr_t)flows[i].sources);
        free((void *)(uintptr_t)flows[i].turns);
    }
    free(flows);
    free((void *)(uintptr_t)r->all.members);
    free(r->meetings);
    free(r->delivered);
}

/* The lists of the caller are gone when weir_open returns. */
static int keep_flows(struct weir_rank *r)
{
    struct weir_flows *flows = copy_of(r->cfg.flows, r->cfg.nflows, sizeof *flows);
    int                enough = flows != NULL;
    r->cfg.flows              = flows;
    for (int i = 0; flows && i < r->cfg.nflows; i++) {
        struct weir_flows *f = &flows[i];
        f->targets           = copy_of(f->targets, f->ntargets, sizeof *f->targets);
        f->sources           = copy_of(f->sources, f->nsources, sizeof *f->sources);
        f->turns             = copy_of(f->turns, f->nturns, sizeof *f->turns);
        enough               = enough && f->targets && f->sources && f->turns;
    }
    return enough;
}

int lists_make(struct weir_rank *r)
{
    int  enough = keep_flows(r), *all = calloc((size_t)r->cfg.ranks, sizeof *all);
    r->all      = (struct weir_group){all, r->cfg.ranks};
    r->meetings = calloc((size_t)r->cfg.ranks, sizeof *r->meetings);
    r->delivered = calloc((size_t)r->cfg.ranks, sizeof *r->delivered);
    for (int i = 0; all && i < r->cfg.ranks; i++)
        all[i] = i;
    if (enough && all && r->meetings && r->delivered)
        return 0;
    lists_drop(r);
    return rank_fail(r, -ENOMEM, "alloc", -1, "no memory for the list of peers");
}
