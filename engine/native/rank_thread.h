/* rank_thread.h: the rank's own thread. Vendor libraries are only called on it. Between calls it
 * drives the fabric's progress, because a peer may need it while Go processes results. */
#ifndef WEIR_RANK_THREAD_H
#define WEIR_RANK_THREAD_H

struct weir_rank;
struct weir_err;

/* Starts the rank's thread, pinned to its CPU. */
struct weir_thread *thread_start(struct weir_rank *r, struct weir_err *err);
/* Runs fn on the thread and waits for its result. */
int thread_call(struct weir_thread *t, int (*fn)(struct weir_rank *, void *), void *arg,
                struct weir_err *err);
/* Switches progress between calls on or off. */
void thread_idle_progress(struct weir_thread *t, int on);
/* Stops and joins the thread, and frees it. */
void thread_stop(struct weir_thread *t);

/* Runs fn on the rank's thread, which then stops making progress between calls. Returns 0, or a
 * negative code with *err filled. */
int rank_call(struct weir_rank *r, int (*fn)(struct weir_rank *, void *), void *arg,
              struct weir_err *err);

/* Like rank_call; on success the thread makes progress again between calls. */
int rank_call_and_progress(struct weir_rank *r, int (*fn)(struct weir_rank *, void *), void *arg,
                           struct weir_err *err);

#endif
