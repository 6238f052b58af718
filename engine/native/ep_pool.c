/* Threads of a rank that share the steps of an operation. Work is handed out under a lock, some ten
 * microseconds at a time. Between two operations a thread with a processor of its own polls for a
 * while before it sleeps; other threads sleep at once. */
#define _GNU_SOURCE
#include "ep_pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 16          /* taken by a thread at a time */
#define PIECE (128 << 10) /* bytes of puts taken at a time, if there are as many */
#define NONE UINT32_MAX
#define SPIN_NS 1000000
#define POLLS_PER_CLOCK_READ 64 /* polls between two clock reads */

struct worker {
    struct ep_pool *t;
    int number; /* the rank's thread is 0 */
    int cpu;    /* < 0: not pinned */
    pthread_t id;
};

struct ep_pool {
    struct ep_run *u;
    int workers; /* running */
    struct ep_pool_job *now;
    _Atomic uint64_t submitted; /* operations submitted to workers, and the end */
    _Atomic int working;        /* workers still busy with the last one */
    int over, sleeping;
    pthread_mutex_t lock;
    pthread_cond_t notify;
    /* of the operation, under the lock */
    uint32_t taken;      /* steps */
    uint32_t next;       /* put, of those that are copied */
    uint64_t at;         /* bytes taken of it */
    int stop;            /* the rank's thread gives up */
    uint32_t *under_way; /* by thread: the first step in progress, or NONE */
    struct worker list[];
};

enum kind { OVER, WAIT, WORK, COPY };

struct unit { /* taken by a thread */
    enum kind kind;
    uint32_t from, until; /* steps, or puts */
    uint64_t at, n;       /* bytes of the put, if it is one */
};

/* Returns the number of steps done without a gap; without steps, puts wait for nothing. */
static uint32_t done(const struct ep_pool *t)
{
    uint32_t least = t->now->steps ? t->taken : NONE;
    for (int i = 0; i <= t->workers; i++) {
        least = t->under_way[i] < least ? t->under_way[i] : least;
    }
    return least;
}

/* Takes copied puts from the next one on: a piece of a large one, or several small ones. */
static int take_puts(struct ep_pool *t, const struct ep_pool_job *s, struct unit *w)
{
    uint32_t ready = done(t), i = t->next;
    uint64_t bytes;
    while (i < s->nputs && !s->copied(s->u, &s->puts[i])) {
        i++;
    }
    t->next = i;
    if (i == s->nputs || s->puts[i].ready > ready) {
        return 0;
    }
    uint64_t left = s->puts[i].bytes - t->at;
    if (left > PIECE) {
        *w = (struct unit){COPY, i, i + 1, t->at, PIECE};
        t->at += PIECE;
        return 1;
    }
    *w = (struct unit){COPY, i, i + 1, t->at, left};
    for (bytes = left, i++, t->at = 0; i < s->nputs && s->puts[i].ready <= ready; i++) {
        if (!s->copied(s->u, &s->puts[i])) {
            continue;
        }
        if (bytes + s->puts[i].bytes > PIECE) {
            break;
        }
        bytes += s->puts[i].bytes;
        w->until = i + 1;
    }
    t->next = i;
    return 1;
}

/* Takes the next unit, and marks the thread's previous one as done. */
static struct unit take(struct ep_pool *t, int thread)
{
    const struct ep_pool_job *s = t->now;
    struct unit w = {.kind = OVER};
    pthread_mutex_lock(&t->lock);
    t->under_way[thread] = NONE;
    if (t->stop) {
        ;
    } else if (take_puts(t, s, &w)) {
        ;
    } else if (t->taken < s->steps) {
        uint32_t until = s->steps - t->taken < STEPS ? s->steps : t->taken + STEPS;
        w = (struct unit){.kind = WORK, .from = t->taken, .until = until};
        t->under_way[thread] = t->taken;
        t->taken = until;
    } else if (t->next < s->nputs) {
        w.kind = WAIT; /* for the steps of other threads */
    }
    pthread_mutex_unlock(&t->lock);
    return w;
}

static void carry_out(struct ep_pool_job *s, const struct unit *w)
{
    if (w->kind == WORK) {
        s->step(s->u, s->arg, w->from, w->until);
    }
    for (uint32_t i = w->from; w->kind == COPY && i < w->until; i++) {
        if (i == w->from) {
            s->copy(s->u, s->arg, &s->puts[i], w->at, w->n);
        } else if (s->copied(s->u, &s->puts[i])) {
            s->copy(s->u, s->arg, &s->puts[i], 0, s->puts[i].bytes);
        }
    }
}

/* ---- worker threads ---- */

/* Waits for more operations than before; returns 0 at the end. */
static int await_work(struct worker *w, uint64_t before)
{
    struct ep_pool *t = w->t;
    int64_t until = w->cpu < 0 ? 0 : weir_monotonic() + SPIN_NS;
    for (int i = 1; w->cpu >= 0; i++) {
        if (atomic_load_explicit(&t->submitted, memory_order_acquire) != before) {
            break;
        }
        if (i % POLLS_PER_CLOCK_READ == 0 && weir_monotonic() > until) {
            break;
        }
        rank_pause();
    }
    pthread_mutex_lock(&t->lock);
    while (atomic_load_explicit(&t->submitted, memory_order_relaxed) == before) {
        pthread_cond_wait(&t->notify, &t->lock);
    }
    int over = t->over;
    pthread_mutex_unlock(&t->lock);
    return !over;
}

static void *body(void *arg)
{
    struct worker *w = arg;
    struct ep_pool *t = w->t;
    if (w->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((unsigned)w->cpu, &set);
        /* losing an affinity CPU costs speed, not the run */
        (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    }
    for (uint64_t operation = 0; await_work(w, operation); operation++) {
        for (struct unit u; (u = take(t, w->number)).kind != OVER;) {
            if (u.kind == WAIT) {
                sched_yield();
            }
            carry_out(t->now, &u);
        }
        atomic_fetch_sub_explicit(&t->working, 1, memory_order_release);
    }
    return NULL;
}

static void submit(struct ep_pool *t, struct ep_pool_job *s)
{
    pthread_mutex_lock(&t->lock);
    t->now = s;
    t->taken = t->next = 0;
    t->at = 0;
    t->stop = 0;
    t->over = !s;
    atomic_store_explicit(&t->working, t->workers, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->submitted, 1, memory_order_release);
    pthread_cond_broadcast(&t->notify);
    pthread_mutex_unlock(&t->lock);
}

static int start(struct ep_pool *t, int number)
{
    const struct weir_ep *e = t->u->e;
    struct worker *w = &t->list[number - 1];
    sigset_t all, old;
    *w = (struct worker){.t = t, .number = number, .cpu = e->cpus ? e->cpus[number] : -1};
    /* Go handles signals on its own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int rc = pthread_create(&w->id, NULL, body, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

int ep_pool_create(struct ep_run *u)
{
    int n = u->e->threads - 1, rc = 0;
    if (n < 1) {
        return 0;
    }
    struct ep_pool *t = calloc(1, sizeof *t + (size_t)n * sizeof(struct worker));
    if (t) {
        t->under_way = calloc((size_t)n + 1, sizeof *t->under_way);
        if (!t->under_way) {
            free(t);
            t = NULL;
        }
    }
    if (!t) {
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for %d threads", n + 1);
    }
    t->u = u;
    for (int i = 0; i <= n; i++) {
        t->under_way[i] = NONE;
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->notify, NULL);
    u->pool = t;
    for (; t->workers < n; t->workers++) {
        rc = start(t, t->workers + 1);
        if (rc) {
            return rank_fail(u->r, -rc, "start", -1, "starting thread %d of %d: %s", t->workers + 1,
                             n + 1, strerror(rc));
        }
    }
    return 0;
}

void ep_pool_drop(struct ep_run *u)
{
    struct ep_pool *t = u->pool;
    if (!t) {
        return;
    }
    submit(t, NULL);
    for (int i = 0; i < t->workers; i++) {
        pthread_join(t->list[i].id, NULL);
    }
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->notify);
    free(t->under_way);
    free(t);
    u->pool = NULL;
}

/* ---- the rank's thread ---- */

/* Posts puts that are not copied and have their steps done, from *next on. */
static int post_ready(struct ep_pool_job *s, uint32_t *next)
{
    struct ep_pool *t = s->u->pool;
    int rc;
    while (*next < s->nputs && s->copied(s->u, &s->puts[*next])) {
        ++*next;
    }
    if (*next == s->nputs) {
        return 0;
    }
    pthread_mutex_lock(&t->lock);
    uint32_t ready = done(t);
    pthread_mutex_unlock(&t->lock);
    for (; *next < s->nputs; ++*next) {
        if (s->copied(s->u, &s->puts[*next])) {
            continue;
        }
        if (s->puts[*next].ready > ready) {
            return 0;
        }
        if ((rc = s->post(s->arg, &s->puts[*next])) < 0) {
            return rc;
        }
    }
    return 0;
}

static int turn(struct weir_rank *r)
{
    int rc = r->fab->progress(r);
    rank_pause();
    return rc < 0 ? rc : rank_tick(r);
}

static int take_part(struct ep_pool_job *s)
{
    struct ep_pool *t = s->u->pool;
    struct weir_rank *r = s->u->r;
    struct unit w = {.kind = WAIT};
    uint32_t next = 0;
    int rc;
    while (w.kind != OVER || next < s->nputs) {
        if ((rc = post_ready(s, &next)) < 0) {
            return rc;
        }
        w = take(t, 0);
        int64_t from = weir_monotonic();
        carry_out(s, &w);
        s->work += w.kind == WORK ? weir_monotonic() - from : 0;
        if ((rc = turn(r)) < 0) {
            return rc;
        }
    }
    return 0;
}

int ep_pool_run(struct ep_pool_job *s)
{
    struct ep_pool *t = s->u->pool;
    struct weir_rank *r = s->u->r;
    submit(t, s);
    int rc = take_part(s);
    if (rc < 0) {
        pthread_mutex_lock(&t->lock);
        t->stop = 1;
        t->under_way[0] = NONE;
        pthread_mutex_unlock(&t->lock);
    }
    /* they end soon: each waits only for steps of other threads */
    while (atomic_load_explicit(&t->working, memory_order_acquire)) {
        if (rc == 0) {
            rc = turn(r);
        } else {
            sched_yield();
        }
    }
    return rc;
}
