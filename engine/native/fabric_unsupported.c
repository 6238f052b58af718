#include "fabric_unsupported.h"

#include <errno.h>

#include "rank.h"

static int cannot(struct weir_rank *r, const char *op)
{
    return rank_fail(r, -EOPNOTSUPP, op, -1, "fabric %s cannot do this", r->fab->name);
}

int unsupported_open(struct weir_rank *r) { return cannot(r, "open"); }
int unsupported_attach(struct weir_rank *r, enum weir_region_name name)
{
    return cannot(r, "register");
}
int64_t unsupported_address(struct weir_rank *r, void *buf, size_t cap)
{
    return cannot(r, "address");
}
int unsupported_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    return cannot(r, "connect");
}
int unsupported_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    return cannot(r, "put");
}
int unsupported_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    return cannot(r, "get");
}
int unsupported_progress(struct weir_rank *r) { return cannot(r, "progress"); }
int unsupported_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    return cannot(r, "flush");
}
int unsupported_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    return cannot(r, "signal");
}
int unsupported_notify(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    return cannot(r, "tell");
}
int unsupported_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    return cannot(r, "ping");
}
int unsupported_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    return cannot(r, "arrived");
}
int64_t unsupported_run_pingpong(struct weir_rank *r, int peer, struct weir_pingpong *g)
{
    return cannot(r, "ping-pong");
}
void unsupported_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    if (cap) {
        buf[0] = 0;
    }
}
void unsupported_carriers(struct weir_rank *r, int peer, char *list) {}
int unsupported_disconnect(struct weir_rank *r) { return cannot(r, "disconnect"); }
int unsupported_close(struct weir_rank *r) { return 0; }

int posts_itself(struct weir_rank *r) { return 0; }
int preposts_nothing(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    return 0;
}
int no_idle_wait(struct weir_rank *r) { return 0; }
int runs_no_pingpong(struct weir_rank *r, int peer, size_t bytes) { return 0; }
