/* thread.h: the rank's own thread. Vendor libraries are only ever called on it,
 * and between calls it keeps the fabric moving, because a peer may still need
 * this side's progress while Go is busy with results. */
#ifndef WEIR_THREAD_H
#define WEIR_THREAD_H

struct weir_rank;
struct weir_err;

struct weir_thread *thread_start(struct weir_rank *r, struct weir_err *err);
int thread_call(struct weir_thread *t, int (*fn)(struct weir_rank *, void *), void *arg,
                struct weir_err *err);
void                thread_idle_progress(struct weir_thread *t, int on);
void                thread_stop(struct weir_thread *t);

#endif
