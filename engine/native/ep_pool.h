/* ep_pool.h: a pool of threads that share the steps of a dispatch or a combine. The rank's
 * thread is one of them, and the only one that calls vendor libraries; the others quantise, add up
 * rows, and copy where sending is copying. Each step runs on one thread, so results do not depend
 * on the number of threads. */
#ifndef WEIR_EP_POOL_H
#define WEIR_EP_POOL_H

#include "ep_run.h"

struct ep_pool; /* NULL: single-threaded */

/* Work of one operation. Any thread takes copied puts, in pieces, once their steps are done; the
 * rank's thread posts the others. */
struct ep_pool_job {
    struct ep_run *u;
    uint32_t steps, nputs;
    const struct weir_ep_put *puts;
    void *arg; /* argument of the functions below */
    void (*step)(struct ep_run *u, void *arg, uint32_t from, uint32_t until);
    int (*copied)(const struct ep_run *u, const struct weir_ep_put *p);
    void (*copy)(struct ep_run *u, void *arg, const struct weir_ep_put *p, uint64_t at, size_t n);
    int (*post)(void *arg, const struct weir_ep_put *p);
    int64_t work; /* time of the rank's thread in steps, ns */
};

/* Starts the worker threads. */
int ep_pool_create(struct ep_run *u);
/* Ends the worker threads. */
void ep_pool_drop(struct ep_run *u);

/* Runs all steps and puts; no thread is busy on return, whatever it returns. */
int ep_pool_run(struct ep_pool_job *s);

#endif
