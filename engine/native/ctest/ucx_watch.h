#ifndef UCX_WATCH_H
#define UCX_WATCH_H

void ucx_watch(void); /* call before the first rank */
/* Returns 0 if all requests named their registration; else 1, after printing it. */
int ucx_watched(void);

#endif
