/* fab_tcp_ring.h: queues of messages and pending operations of a tcp rank. */
#ifndef WEIR_FAB_TCP_RING_H
#define WEIR_FAB_TCP_RING_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ring { /* of elements; head and tail only grow; the capacity never shrinks */
    char *at;
    size_t size, mask;
    uint64_t head, tail;
};

static inline void *ring_at(struct ring *g, uint64_t i) { return g->at + (i & g->mask) * g->size; }

static inline void *ring_push(struct ring *g)
{
    if (!g->at || g->tail - g->head > g->mask) {
        size_t n = g->at ? 2 * (g->mask + 1) : 64;
        char *to = malloc(n * g->size);
        if (!to) {
            return NULL;
        }
        for (uint64_t i = g->head; i < g->tail; i++) {
            memcpy(to + (i & (n - 1)) * g->size, ring_at(g, i), g->size);
        }
        free(g->at);
        g->at = to;
        g->mask = n - 1;
    }
    return ring_at(g, g->tail++);
}

#endif
