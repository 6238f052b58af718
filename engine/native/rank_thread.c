#define _GNU_SOURCE
#include "rank_thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rank.h"
#include "rank_team.h"

struct weir_thread {
    struct weir_rank *r;
    pthread_t id;
    pthread_mutex_t lock;
    pthread_cond_t called, returned;
    int (*fn)(struct weir_rank *, void *);
    void *arg;
    struct weir_err *err;
    int rc, busy, stop, progress;
};

#define IDLE_PROGRESS_NS 100000

static void *body(void *arg)
{
    struct weir_thread *t = arg;
    if (t->r->cfg.cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((unsigned)t->r->cfg.cpu, &set);
        /* losing an affinity CPU costs speed, not the run */
        (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    }
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->busy && !t->stop) {
            if (!t->progress) {
                pthread_cond_wait(&t->called, &t->lock);
                continue;
            }
            pthread_mutex_unlock(&t->lock);
            /* a broken connection is reported again by the next call */
            (void)t->r->fab->progress(t->r);
            pthread_mutex_lock(&t->lock);
            if (t->busy || t->stop) {
                break;
            }
            int64_t ns = IDLE_PROGRESS_NS;
            struct timespec until;
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += ns;
            if (until.tv_nsec >= 1000000000) {
                until.tv_nsec -= 1000000000;
                until.tv_sec++;
            }
            pthread_cond_timedwait(&t->called, &t->lock, &until);
        }
        if (t->stop && !t->busy) {
            break;
        }
        pthread_mutex_unlock(&t->lock);
        t->r->err = t->err;
        int rc = t->fn(t->r, t->arg);
        t->r->err = NULL;
        pthread_mutex_lock(&t->lock);
        t->rc = rc;
        t->busy = 0;
        pthread_cond_signal(&t->returned);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

struct weir_thread *thread_start(struct weir_rank *r, struct weir_err *err)
{
    struct weir_thread *t = calloc(1, sizeof *t);
    pthread_condattr_t monotonic;
    sigset_t all, old;
    int rc = ENOMEM;
    if (!t) {
        goto fail;
    }
    t->r = r;
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->called, &monotonic);
    pthread_cond_init(&t->returned, NULL);
    pthread_condattr_destroy(&monotonic);
    /* the thread inherits the mask: Go handles signals on its own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    rc = pthread_create(&t->id, NULL, body, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!rc) {
        return t;
    }
    free(t);
fail:
    err->code = -rc;
    snprintf(err->text, sizeof err->text, "starting the rank's thread: %s", strerror(rc));
    return NULL;
}

int thread_call(struct weir_thread *t, int (*fn)(struct weir_rank *, void *), void *arg,
                struct weir_err *err)
{
    pthread_mutex_lock(&t->lock);
    t->fn = fn;
    t->arg = arg;
    t->err = err;
    t->busy = 1;
    pthread_cond_signal(&t->called);
    while (t->busy) {
        pthread_cond_wait(&t->returned, &t->lock);
    }
    int rc = t->rc;
    pthread_mutex_unlock(&t->lock);
    return rc;
}

void thread_idle_progress(struct weir_thread *t, int on)
{
    pthread_mutex_lock(&t->lock);
    t->progress = on;
    pthread_cond_signal(&t->called);
    pthread_mutex_unlock(&t->lock);
}

void thread_stop(struct weir_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->stop = 1;
    pthread_cond_signal(&t->called);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->id, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->called);
    pthread_cond_destroy(&t->returned);
    free(t);
}

int rank_call(struct weir_rank *r, int (*fn)(struct weir_rank *, void *), void *arg,
              struct weir_err *err)
{
    memset(err, 0, sizeof *err);
    err->peer = -1;
    thread_idle_progress(r->thread, 0);
    int rc = thread_call(r->thread, fn, arg, err);
    if (rc < 0 && !err->code) {
        err->code = rc;
        err->phase = atomic_load(&r->cfg.control->phase);
        snprintf(err->text, sizeof err->text, "failed with code %d without an error message", rc);
    }
    if (rc < 0 && r->cfg.team) {
        atomic_store(&r->cfg.team->failed, 1);
    }
    if (rc < 0) {
        fflush(NULL); /* libraries log through stdio, and the process exits without flushing it */
    }
    return rc;
}

int rank_call_and_progress(struct weir_rank *r, int (*fn)(struct weir_rank *, void *), void *arg,
                           struct weir_err *err)
{
    int rc = rank_call(r, fn, arg, err);
    if (rc == 0) {
        thread_idle_progress(r->thread, 1);
    }
    return rc;
}
