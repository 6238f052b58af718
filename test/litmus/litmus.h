/* litmus.h: what C and Rust of the litmus test call of each other. */
#ifndef WEIR_LITMUS_H
#define WEIR_LITMUS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* ---- in Rust: the model checker (memory.rs, threads.rs) ---- */

/* Accesses of instrumented code; site: the address after the call. */
void litmus_plain(const void *p, size_t n, int write, void *site);
uint64_t litmus_load(void *p, size_t n, int order, void *site);
void litmus_store(void *p, size_t n, uint64_t v, int order, void *site);
uint64_t litmus_add(void *p, size_t n, uint64_t v, int order, void *site);
void litmus_fence(int order, void *site);

/* Declares an atomic word that several threads use. Its value so far is the first one. An atomic
 * word that is not declared belongs to one thread, or nobody writes it. */
void litmus_word(void *p, size_t n);
/* Ends the execution: the model has failed. */
void litmus_fail(const char *why);

/* ---- hooks.c ---- */

int litmus_clock_gettime(int clock, struct timespec *t);
void *litmus_memcpy(void *to, const void *from, size_t n);
void *litmus_memset(void *to, int byte, size_t n);

/* ---- ranks.c ---- */

struct weir_rank;

#define RANKS 3   /* at most */
#define THREADS 2 /* of a rank, at most */

/* Opens connected ranks over fabric shm, from nothing. */
void ranks_open(int ranks, int threads);
struct weir_rank *rank_of(int rank, int thread);
/* Declares the word at an offset of a rank's control region. */
void declare(struct weir_rank *r, size_t place);
/* Writes a value to a word of a peer's sink by a put. */
void give(struct weir_rank *r, int peer, int word, uint64_t value);
/* Fails unless a word of this rank's sink has this value. */
void expect(struct weir_rank *r, int word, uint64_t value);
/* Fails unless a function of the engine succeeded. */
void succeed(int rc);

/* ---- models: prepare runs first, then a call of run in each thread, counted from 0 ---- */

struct model {
    const char *name;
    int threads, nested; /* nested: they start threads */
    void (*prepare)(void);
    void (*run)(int thread);
};

extern const struct model barriers_all, barriers_reuse, barriers_groups, barriers_team;
extern const struct model messages_short, messages_long, messages_counter;
extern const struct model exchange_two, exchange_three, exchange_combine;
extern const struct model exchange_pool, exchange_pinned;

#endif
