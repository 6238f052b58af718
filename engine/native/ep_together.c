/* Threads of a rank that share the steps of an operation. What is to be done is handed out under a
 * lock, some ten microseconds of work at a time. Between two operations a thread that has a
 * processor of its own looks for the next one for a while, and then sleeps, as others do at
 * once. */
#define _GNU_SOURCE
#include "ep_together.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS      16          /* that a thread takes at a time */
#define PIECE      (128 << 10) /* bytes of puts that it takes, at least where there are as many */
#define NONE       UINT32_MAX
#define LOOK_NS    1000000
#define LOOK_TURNS 64 /* between two looks at the clock */

struct worker {
    struct ep_together *t;
    int                 number; /* the rank's thread is 0 */
    int                 cpu;    /* less than 0: none of its own */
    pthread_t           id;
};

struct ep_together {
    struct ep_run    *u;
    int               workers; /* that run */
    struct ep_shared *now;
    _Atomic uint64_t  told;    /* operations that workers were told of, and the end */
    _Atomic int       working; /* workers that are not done with the last one */
    int               over, sleeping;
    pthread_mutex_t   lock;
    pthread_cond_t    tell;
    /* of the operation, under the lock */
    uint32_t          taken;    /* steps */
    uint32_t          next;     /* put, of those that are copied */
    uint64_t          at;       /* bytes of it that are taken */
    int               stop;     /* the rank's thread gives up */
    uint32_t         *under_way; /* by thread: the first of the steps that it does, or NONE */
    struct worker     list[];
};

enum kind { OVER, WAIT, WORK, COPY };

struct unit { /* what a thread takes */
    enum kind kind;
    uint32_t  from, until; /* steps, or puts */
    uint64_t  at, n;       /* bytes of the put, where it is one */
};

/* Steps that are done with all before them; where there are none, puts wait for nothing. */
static uint32_t done(const struct ep_together *t)
{
    uint32_t least = t->now->steps ? t->taken : NONE;
    for (int i = 0; i <= t->workers; i++)
        least = t->under_way[i] < least ? t->under_way[i] : least;
    return least;
}

/* Puts that are copied, from the next one on: a piece of it, or as many as make one. */
static int take_puts(struct ep_together *t, const struct ep_shared *s, struct unit *w)
{
    uint32_t ready = done(t), i = t->next;
    uint64_t bytes;
    while (i < s->nputs && !s->copied(s->u, &s->puts[i]))
        i++;
    t->next = i;
    if (i == s->nputs || s->puts[i].ready > ready)
        return 0;
    uint64_t left = s->puts[i].bytes - t->at;
    if (left > PIECE) {
        *w = (struct unit){COPY, i, i + 1, t->at, PIECE};
        t->at += PIECE;
        return 1;
    }
    *w = (struct unit){COPY, i, i + 1, t->at, left};
    for (bytes = left, i++, t->at = 0; i < s->nputs && s->puts[i].ready <= ready; i++) {
        if (!s->copied(s->u, &s->puts[i]))
            continue;
        if (bytes + s->puts[i].bytes > PIECE)
            break;
        bytes += s->puts[i].bytes;
        w->until = i + 1;
    }
    t->next = i;
    return 1;
}

/* Takes what is next, and says that the thread has done what it took before. */
static struct unit take(struct ep_together *t, int thread)
{
    const struct ep_shared *s = t->now;
    struct unit             w = {.kind = OVER};
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
        t->taken             = until;
    } else if (t->next < s->nputs) {
        w.kind = WAIT; /* for the steps of others */
    }
    pthread_mutex_unlock(&t->lock);
    return w;
}

static void carry_out(struct ep_shared *s, const struct unit *w)
{
    if (w->kind == WORK)
        s->step(s->u, s->of, w->from, w->until);
    for (uint32_t i = w->from; w->kind == COPY && i < w->until; i++)
        if (i == w->from)
            s->copy(s->u, s->of, &s->puts[i], w->at, w->n);
        else if (s->copied(s->u, &s->puts[i]))
            s->copy(s->u, s->of, &s->puts[i], 0, s->puts[i].bytes);
}

/* ---- the threads beside the rank's ---- */

/* Waits for more to do than was told before: 0 at the end. */
static int hear(struct worker *w, uint64_t before)
{
    struct ep_together *t     = w->t;
    int64_t             until = w->cpu < 0 ? 0 : weir_monotonic() + LOOK_NS;
    for (int i = 1; w->cpu >= 0; i++) {
        if (atomic_load_explicit(&t->told, memory_order_acquire) != before)
            break;
        if (i % LOOK_TURNS == 0 && weir_monotonic() > until)
            break;
        rank_pause();
    }
    pthread_mutex_lock(&t->lock);
    while (atomic_load_explicit(&t->told, memory_order_relaxed) == before)
        pthread_cond_wait(&t->tell, &t->lock);
    int over = t->over;
    pthread_mutex_unlock(&t->lock);
    return !over;
}

static void *body(void *arg)
{
    struct worker      *w = arg;
    struct ep_together *t = w->t;
    if (w->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((unsigned)w->cpu, &set);
        /* a CPU that went away costs speed, not the run */
        (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    }
    for (uint64_t operation = 0; hear(w, operation); operation++) {
        for (struct unit u; (u = take(t, w->number)).kind != OVER;) {
            if (u.kind == WAIT)
                sched_yield();
            carry_out(t->now, &u);
        }
        atomic_fetch_sub_explicit(&t->working, 1, memory_order_release);
    }
    return NULL;
}

static void tell(struct ep_together *t, struct ep_shared *s)
{
    pthread_mutex_lock(&t->lock);
    t->now   = s;
    t->taken = t->next = 0;
    t->at    = 0;
    t->stop  = 0;
    t->over  = !s;
    atomic_store_explicit(&t->working, t->workers, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->told, 1, memory_order_release);
    pthread_cond_broadcast(&t->tell);
    pthread_mutex_unlock(&t->lock);
}

static int start(struct ep_together *t, int number)
{
    const struct weir_ep *e = t->u->e;
    struct worker        *w = &t->list[number - 1];
    sigset_t              all, old;
    *w = (struct worker){.t = t, .number = number, .cpu = e->cpus ? e->cpus[number] : -1};
    /* signals are Go's business, on Go's threads */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int rc = pthread_create(&w->id, NULL, body, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

int ep_together_make(struct ep_run *u)
{
    int n = u->e->threads - 1, rc = 0;
    if (n < 1)
        return 0;
    struct ep_together *t = calloc(1, sizeof *t + (size_t)n * sizeof(struct worker));
    if (t && !(t->under_way = calloc((size_t)n + 1, sizeof *t->under_way)))
        free(t), t = NULL;
    if (!t)
        return rank_fail(u->r, -ENOMEM, "start", -1, "no memory for %d threads", n + 1);
    t->u = u;
    for (int i = 0; i <= n; i++)
        t->under_way[i] = NONE;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->tell, NULL);
    u->together = t;
    for (; t->workers < n; t->workers++)
        if ((rc = start(t, t->workers + 1)))
            return rank_fail(u->r, -rc, "start", -1, "starting thread %d of %d: %s",
                             t->workers + 1, n + 1, strerror(rc));
    return 0;
}

void ep_together_drop(struct ep_run *u)
{
    struct ep_together *t = u->together;
    if (!t)
        return;
    tell(t, NULL);
    for (int i = 0; i < t->workers; i++)
        pthread_join(t->list[i].id, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->tell);
    free(t->under_way);
    free(t);
    u->together = NULL;
}

/* ---- the rank's thread ---- */

/* Posts what nobody copies and whose steps are done, from *next on. */
static int post_ready(struct ep_shared *s, uint32_t *next)
{
    struct ep_together *t = s->u->together;
    int                 rc;
    while (*next < s->nputs && s->copied(s->u, &s->puts[*next]))
        ++*next;
    if (*next == s->nputs)
        return 0;
    pthread_mutex_lock(&t->lock);
    uint32_t ready = done(t);
    pthread_mutex_unlock(&t->lock);
    for (; *next < s->nputs; ++*next) {
        if (s->copied(s->u, &s->puts[*next]))
            continue;
        if (s->puts[*next].ready > ready)
            return 0;
        if ((rc = s->post(s->of, &s->puts[*next])) < 0)
            return rc;
    }
    return 0;
}

static int turn(struct weir_rank *r)
{
    int rc = r->fab->progress(r);
    rank_pause();
    return rc < 0 ? rc : rank_tick(r);
}

static int take_part(struct ep_shared *s)
{
    struct ep_together *t = s->u->together;
    struct weir_rank   *r = s->u->r;
    struct unit         w = {.kind = WAIT};
    uint32_t            next = 0;
    int                 rc;
    while (w.kind != OVER || next < s->nputs) {
        if ((rc = post_ready(s, &next)) < 0)
            return rc;
        w = take(t, 0);
        int64_t from = weir_monotonic();
        carry_out(s, &w);
        s->work += w.kind == WORK ? weir_monotonic() - from : 0;
        if ((rc = turn(r)) < 0)
            return rc;
    }
    return 0;
}

int ep_together(struct ep_shared *s)
{
    struct ep_together *t = s->u->together;
    struct weir_rank   *r = s->u->r;
    tell(t, s);
    int rc = take_part(s);
    if (rc < 0) {
        pthread_mutex_lock(&t->lock);
        t->stop         = 1;
        t->under_way[0] = NONE;
        pthread_mutex_unlock(&t->lock);
    }
    /* they end soon: none waits for anything but the steps of another */
    while (atomic_load_explicit(&t->working, memory_order_acquire))
        if (rc == 0)
            rc = turn(r);
        else
            sched_yield();
    return rc;
}
