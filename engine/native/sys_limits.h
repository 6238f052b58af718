/* sys_limits.h: checks for process limits under which the Go runtime cannot work. */
#ifndef WEIR_SYS_LIMITS_H
#define WEIR_SYS_LIMITS_H

/* Returns whether this many more threads can be created now. It creates them: only the kernel knows
 * how many the user has and which limits apply. */
int weir_threads_fit(int threads);

#endif
