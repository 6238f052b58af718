#ifndef UCX_WATCH_H
#define UCX_WATCH_H

void ucx_watch(void);   /* before the first rank */
/* 0: all requests said that their buffers are registered; else 1, and it has told */
int  ucx_watched(void);

#endif
