/* fabric_unsupported.h: default functions, so that no member of a fabric's table is NULL. */
#ifndef WEIR_FABRIC_UNSUPPORTED_H
#define WEIR_FABRIC_UNSUPPORTED_H

#include "fabric.h"

int unsupported_open(struct weir_rank *r);
int unsupported_attach(struct weir_rank *r, enum weir_region_name name);
int64_t unsupported_address(struct weir_rank *r, void *buf, size_t cap);
int unsupported_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens);
int unsupported_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                    struct weir_req *q);
int unsupported_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                    struct weir_req *q);
int unsupported_progress(struct weir_rank *r);
int unsupported_flush(struct weir_rank *r, int peer, struct weir_req *q);
int unsupported_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
int unsupported_notify(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
int unsupported_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq);
int unsupported_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq);
int64_t unsupported_run_pingpong(struct weir_rank *r, int peer, struct weir_pingpong *g);
void unsupported_transport(struct weir_rank *r, int peer, char *buf, size_t cap);
void unsupported_carriers(struct weir_rank *r, int peer, char *list);
int unsupported_disconnect(struct weir_rank *r);
int unsupported_close(struct weir_rank *r);

/* Defaults for optional functions: puts and gets post by themselves; the target preposts nothing;
 * polling never blocks; the fabric runs no ping-pong on its own. */
int posts_itself(struct weir_rank *r);
int preposts_nothing(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);
int no_idle_wait(struct weir_rank *r);
int runs_no_pingpong(struct weir_rank *r, int peer, size_t bytes);

#endif
