/* ep_together.h: the threads of a rank that share the steps of a dispatch or a combine. The rank's
 * thread is one of them, and the only one that calls a vendor's library; the others quantise, add
 * up rows, and copy where sending is copying. Each step is of one thread, so that what it makes
 * does not depend on how many there are. */
#ifndef WEIR_EP_TOGETHER_H
#define WEIR_EP_TOGETHER_H

#include "ep_run.h"

struct ep_together; /* NULL: the rank has one thread */

/* What threads do together. Puts that are copied are taken by any of them, in pieces, once the
 * steps that they need are done; others by the rank's thread, which posts them. */
struct ep_shared {
    struct ep_run            *u;
    uint32_t                  steps, nputs;
    const struct weir_ep_put *puts;
    void                     *of; /* of the functions below */
    void (*step)(struct ep_run *u, void *of, uint32_t from, uint32_t until);
    int (*copied)(const struct ep_run *u, const struct weir_ep_put *p);
    void (*copy)(struct ep_run *u, void *of, const struct weir_ep_put *p, uint64_t at, size_t n);
    int (*post)(void *of, const struct weir_ep_put *p);
    int64_t                   work; /* ns of the rank's thread in steps */
};

/* Starts the threads beside the rank's. */
int  ep_together_make(struct ep_run *u);
void ep_together_drop(struct ep_run *u);

/* Does all steps and puts; no thread has anything under way then, whatever it returns. */
int ep_together(struct ep_shared *s);

#endif
