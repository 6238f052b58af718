#include "unsupported.h"

#include <errno.h>
#include <stdio.h>

#include "rank.h"

static int cannot(struct weir_rank *r, const char *op)
{
    return rank_fail(r, -EOPNOTSUPP, op, -1, "fabric %s cannot do this", r->fab->name);
}

int unsupported_open(struct weir_rank *r) { return cannot(r, "open"); }
int unsupported_attach(struct weir_rank *r, enum weir_region_name name)
{
    (void)name;
    return cannot(r, "register");
}
int64_t unsupported_address(struct weir_rank *r, void *buf, size_t cap)
{
    (void)buf, (void)cap;
    return cannot(r, "address");
}
int unsupported_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    (void)blobs, (void)lens;
    return cannot(r, "connect");
}
int unsupported_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    (void)peer, (void)local, (void)roff, (void)n, (void)q;
    return cannot(r, "put");
}
int unsupported_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    (void)peer, (void)local, (void)roff, (void)n, (void)q;
    return cannot(r, "get");
}
int unsupported_progress(struct weir_rank *r) { return cannot(r, "progress"); }
int unsupported_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    (void)peer, (void)q;
    return cannot(r, "flush");
}
int unsupported_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    (void)peer, (void)place, (void)value;
    return cannot(r, "signal");
}
int unsupported_tell(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    (void)peer, (void)place, (void)value;
    return cannot(r, "tell");
}
int unsupported_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    (void)peer, (void)local, (void)n, (void)seq;
    return cannot(r, "ping");
}
int unsupported_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    (void)peer, (void)n, (void)seq;
    return cannot(r, "arrived");
}
void unsupported_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    (void)r, (void)peer;
    if (cap)
        buf[0] = 0;
}
void unsupported_carriers(struct weir_rank *r, int peer, char *list)
{
    (void)r, (void)peer, (void)list;
}
int unsupported_disconnect(struct weir_rank *r) { return cannot(r, "disconnect"); }
int unsupported_close(struct weir_rank *r)
{
    (void)r;
    return 0;
}

int unsupported_export(const struct weir_region *m, struct weir_handle *out, struct weir_err *err)
{
    *out = (struct weir_handle){.fd = -1};
    err->code = -EOPNOTSUPP;
    snprintf(err->text, sizeof err->text, "memory of kind %s cannot be shared with another process",
             m->kind->name);
    return err->code;
}

int unsupported_import(const struct weir_handle *h, size_t bytes, struct weir_region *out,
                       struct weir_err *err)
{
    (void)h, (void)bytes, (void)out;
    err->code = -EOPNOTSUPP;
    snprintf(err->text, sizeof err->text, "memory of this kind cannot be that of another process");
    return err->code;
}

int posts_itself(struct weir_rank *r)
{
    (void)r;
    return 0;
}
int expects_nothing(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    (void)r, (void)c, (void)o;
    return 0;
}
