/* The time of a thread on its processor. CLOCK_THREAD_CPUTIME_ID is exact while the thread
 * runs, where the first number of schedstat is as old as the last tick; the second one, which is
 * how long it was runnable and waited, is brought up to date whenever it gets a processor
 * (Linux: Documentation/scheduler/sched-stats.rst). */
#define _GNU_SOURCE
#include "processor.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

static int64_t thread_time(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) < 0)
        return 0;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* -1: the kernel does not say. */
static int64_t waited(int fd)
{
    char    text[128];
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    int64_t ran, wait;
    if (n <= 0)
        return -1;
    text[n] = 0;
    return sscanf(text, "%ld %ld", &ran, &wait) == 2 ? wait : -1;
}

void processor_open(struct processor_span *s)
{
    *s = (struct processor_span){.fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)};
}

void processor_begin(struct processor_span *s)
{
    s->waited = waited(s->fd);
    s->ran    = thread_time();
    s->wall   = weir_monotonic();
}

void processor_end(struct processor_span *s, struct weir_processor_time *out)
{
    int64_t wall = weir_monotonic() - s->wall, ran = thread_time() - s->ran, wait = waited(s->fd);
    *out = (struct weir_processor_time){
        .wall_s   = (double)wall / 1e9,
        .ran_s    = (double)ran / 1e9,
        .told     = wait >= 0 && s->waited >= 0,
        .waited_s = (double)(wait - s->waited) / 1e9,
    };
    if (s->fd >= 0)
        close(s->fd);
}
