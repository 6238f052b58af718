#include "rank_team.h"

#include <stdlib.h>

struct page { /* written by its thread only */
    _Alignas(TEAM_LINE) struct weir_control control;
};

struct members {
    struct weir_team team;
    struct page others[]; /* of all threads except the first */
};

struct weir_team *team_new(int threads, struct weir_control *first)
{
    size_t n = sizeof(struct members) + (size_t)(threads - 1) * sizeof(struct page);
    struct members *m = aligned_alloc(TEAM_LINE, n);
    if (!m) {
        return NULL;
    }
    m->team = (struct weir_team){.threads = threads, .control = first};
    for (int i = 0; i < threads - 1; i++) {
        m->others[i] = (struct page){0};
    }
    return &m->team;
}

struct weir_control *team_control(struct weir_team *t, int thread)
{
    return thread ? &((struct members *)t)->others[thread - 1].control : t->control;
}

void team_free(struct weir_team *t) { free(t); }
