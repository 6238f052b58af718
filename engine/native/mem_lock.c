/* The limit on locked memory: the usual reason why a network driver refuses to register memory. */
#include <stdio.h>
#include <sys/resource.h>

#include "memory.h"

void weir_lock_limit(size_t bytes, char *words, size_t cap)
{
    struct rlimit lock;
    *words = 0;
    if (getrlimit(RLIMIT_MEMLOCK, &lock) == 0 && lock.rlim_cur != RLIM_INFINITY &&
        lock.rlim_cur < bytes) {
        snprintf(words, cap, "; this process may lock %llu KiB (ulimit -l)",
                 (unsigned long long)lock.rlim_cur / 1024);
    }
}
