/* unsupported.h: what a fabric or a kind of memory puts into its table where it cannot
 * do something, so that nobody has to ask for NULL. */
#ifndef WEIR_UNSUPPORTED_H
#define WEIR_UNSUPPORTED_H

#include "fabric.h"
#include "memory.h"

int     unsupported_open(struct weir_rank *r);
int     unsupported_attach(struct weir_rank *r, enum weir_region_name name);
int64_t unsupported_address(struct weir_rank *r, void *buf, size_t cap);
int     unsupported_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens);
int unsupported_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                    struct weir_req *q);
int unsupported_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                    struct weir_req *q);
int     unsupported_progress(struct weir_rank *r);
int     unsupported_flush(struct weir_rank *r, int peer, struct weir_req *q);
int     unsupported_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
int     unsupported_tell(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
int     unsupported_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq);
int     unsupported_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq);
void    unsupported_transport(struct weir_rank *r, int peer, char *buf, size_t cap);
void    unsupported_carriers(struct weir_rank *r, int peer, char *list);
int     unsupported_disconnect(struct weir_rank *r);
int     unsupported_close(struct weir_rank *r);

int unsupported_export(const struct weir_region *m, struct weir_handle *out, struct weir_err *err);
int unsupported_import(const struct weir_handle *h, size_t bytes, struct weir_region *out,
                       struct weir_err *err);

/* Not an "unsupported": the target need not know what comes. */
/* Not "unsupported": puts and gets are posted by themselves, and the target need not know
 * what comes. */
int posts_itself(struct weir_rank *r);
int expects_nothing(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);

#endif
