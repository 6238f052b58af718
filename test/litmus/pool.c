/* The engine's pool of threads, with its words declared before its first thread starts. */
#define _GNU_SOURCE
#include <pthread.h>

/* of Rust: the model checker's thread */
int litmus_thread(pthread_t *id, void *(*body)(void *), void *arg);

#include "../../engine/native/ep_pool.c"

#include "litmus.h"

int litmus_pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                          void *(*start_at)(void *), void *arg)
{
    struct worker *w = arg;
    if (w->number == 1) {
        litmus_word(&w->t->submitted, sizeof w->t->submitted);
        litmus_word(&w->t->working, sizeof w->t->working);
    }
    return litmus_thread(id, start_at, arg);
}
