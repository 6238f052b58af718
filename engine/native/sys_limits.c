/* Without threads or address space the Go runtime aborts with a stack trace and exit status 2,
 * before or after main. So the program reports what is missing before the runtime starts. */
#define _GNU_SOURCE
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys_limits.h"

#define EXIT_EXECUTION 6 /* as gate/exitcode.go has it */

/* Bytes. The runtime reserves 1.2 GiB at start (0.7 suffice, but it fails later), and 8 MiB per
 * thread. */
#define ADDRESS_SPACE ((rlim_t)2 << 30)

/* File descriptors; planning a scenario needs 7. */
#define DESCRIPTORS 16

/* A process limit of at least this many threads is not tested by creating them. */
#define ENOUGH_THREADS 4096

struct trial {
    pthread_mutex_t lock;
    int made;
};

static void *wait_for_end(void *arg)
{
    struct trial *t = arg;
    pthread_mutex_lock(&t->lock);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

int weir_threads_fit(int threads)
{
    pthread_t *all = calloc((size_t)threads, sizeof *all);
    pthread_attr_t small;
    if (!all || pthread_attr_init(&small) != 0) {
        free(all);
        return 0;
    }
    /* if refused: the default size */
    (void)pthread_attr_setstacksize(&small, (size_t)PTHREAD_STACK_MIN * 2);
    struct trial t = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_mutex_lock(&t.lock);
    while (t.made < threads && pthread_create(&all[t.made], &small, wait_for_end, &t) == 0) {
        t.made++;
    }
    pthread_mutex_unlock(&t.lock);
    for (int i = 0; i < t.made; i++) {
        pthread_join(all[i], NULL);
    }
    pthread_attr_destroy(&small);
    free(all);
    return t.made == threads;
}

/* Threads of an idle process: 11 on 2 processors, and the runtime may use one more per
 * processor. */
static int threads_needed(void)
{
    cpu_set_t allowed;
    int processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 16;
    return 12 + (processors < 16 ? processors : 16);
}

static void check_descriptors(void)
{
    struct rlimit files;
    /* the runtime raises it to rlim_max */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < DESCRIPTORS) {
        dprintf(STDERR_FILENO,
                "weir: this process may have %llu files open and needs %d: raise the limit with "
                "ulimit -n\n",
                (unsigned long long)files.rlim_max, DESCRIPTORS);
        _exit(EXIT_EXECUTION);
    }
}

static void check_address_space(void)
{
    struct rlimit as;
    if (getrlimit(RLIMIT_AS, &as) != 0 || as.rlim_cur == RLIM_INFINITY) {
        return;
    }
    if (as.rlim_cur < ADDRESS_SPACE) {
        dprintf(STDERR_FILENO,
                "weir: this process may have %llu KiB of address space and needs %llu: raise the "
                "limit with ulimit -v\n",
                (unsigned long long)as.rlim_cur / 1024, (unsigned long long)ADDRESS_SPACE / 1024);
        _exit(EXIT_EXECUTION);
    }
    (void)mallopt(M_ARENA_MAX, 1); /* each arena takes 64 MiB of it */
}

static void check_threads(void)
{
    struct rlimit nproc;
    /* includes RLIM_INFINITY */
    if (getrlimit(RLIMIT_NPROC, &nproc) != 0 || nproc.rlim_cur >= ENOUGH_THREADS) {
        return;
    }
    int needed = threads_needed();
    if (!weir_threads_fit(needed)) {
        dprintf(STDERR_FILENO,
                "weir: this user may have %llu processes and threads, which does not leave the %d "
                "that weir needs: raise the limit with ulimit -u\n",
                (unsigned long long)nproc.rlim_cur, needed);
        _exit(EXIT_EXECUTION);
    }
}

/* glibc passes the arguments of main. The launcher of the ranks has checked for all of them
 * together; checking in each of many ranks at once would create more threads than needed. */
__attribute__((constructor)) static void check_process_limits(int argc, char **argv)
{
    check_descriptors();
    check_address_space();
    if (argc < 2 || strcmp(argv[1], "rank") != 0) {
        check_threads();
    }
}
