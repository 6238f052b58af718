/* process_limits.h: limits of this process under which the Go runtime cannot go on. */
#ifndef WEIR_PROCESS_LIMITS_H
#define WEIR_PROCESS_LIMITS_H

/* Whether so many more threads can be made now: tried, because what other processes of
 * the user have, and whom the limit binds, the kernel alone knows. 0: they cannot. */
int weir_threads_fit(int threads);

#endif
