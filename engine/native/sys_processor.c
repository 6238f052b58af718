/* CPU time of a thread. CLOCK_THREAD_CPUTIME_ID is exact while the thread runs, whereas the first
 * field of schedstat is as old as the last tick. The second field, the time spent runnable but not
 * running, is updated whenever the thread is scheduled (Linux:
 * Documentation/scheduler/sched-stats.rst). */
#define _GNU_SOURCE
#include "sys_processor.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "sys_clock.h"

static int64_t thread_time(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) < 0) {
        return 0;
    }
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns the time spent runnable but not running, in ns; -1: not reported by the kernel. */
static int64_t waited(int fd)
{
    char text[128];
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    int64_t ran, wait;
    if (n <= 0) {
        return -1;
    }
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
    s->ran = thread_time();
    s->wall = weir_monotonic();
}

void processor_end(struct processor_span *s, struct weir_processor_time *out)
{
    int64_t wall = weir_monotonic() - s->wall, ran = thread_time() - s->ran, wait = waited(s->fd);
    *out = (struct weir_processor_time){
        .wall_s = (double)wall / 1e9,
        .ran_s = (double)ran / 1e9,
        .wait_known = wait >= 0 && s->waited >= 0,
        .waited_s = (double)(wait - s->waited) / 1e9,
    };
    if (s->fd >= 0) {
        close(s->fd);
    }
}
