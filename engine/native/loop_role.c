#include "loop_role.h"

#include <errno.h>

void role_of(const struct weir_rank *r, const struct weir_case *c, struct weir_role *o)
{
    const struct weir_flows *f = &r->cfg.flows[c->flows];
    *o = (struct weir_role){
        .initiator = f->ntargets > 0,
        .targets = f->targets,
        .sources = f->sources,
        .ntargets = f->ntargets,
        .nsources = f->nsources,
        .own = f->own,
        .slots = c->slots ? c->slots : 1,
        .request = c->block * c->batch,
        .stride = c->stride,
    };
    o->buffer = o->slots * o->stride;
    if (c->mode != MODE_PINGPONG) {
        return;
    }
    int peer = o->initiator ? f->targets[0].peer : f->sources[0].peer;
    o->back = (struct weir_flow){.peer = peer};
    o->served = (struct weir_incoming){.peer = peer};
    o->from = peer;
    o->targets = &o->back;
    o->sources = &o->served;
    o->ntargets = o->nsources = 1;
}

static int inside(struct weir_rank *r, int peer, const char *what, uint64_t at, uint64_t bytes,
                  uint64_t size)
{
    if (at <= size && bytes <= size - at) {
        return 0;
    }
    return rank_fail(r, -EINVAL, "start", peer,
                     "%llu bytes at offset %llu of %s exceed its %llu bytes: the launch was opened "
                     "for smaller cases",
                     (unsigned long long)bytes, (unsigned long long)at, what,
                     (unsigned long long)size);
}

int role_fits(struct weir_rank *r, const struct weir_role *o)
{
    const struct weir_layout *l = &r->cfg.layout;
    uint64_t source = l->source - l->first, sink = r->sinks[r->cfg.rank];
    int rc;
    /* ceilings are probed with it */
    if (o->initiator) {
        if ((rc = inside(r, -1, "the source", 0, o->buffer, source)) < 0) {
            return rc;
        }
        if ((rc = inside(r, -1, "the sink", l->probe, o->buffer, l->sink)) < 0) {
            return rc;
        }
    }
    for (int k = 0; k < o->ntargets; k++) {
        const struct weir_flow *f = &o->targets[k];
        uint64_t n = f->bytes ? f->bytes : o->buffer;
        if ((rc = inside(r, -1, "the source", role_local(o, k), n, source)) < 0) {
            return rc;
        }
        if ((rc = inside(r, f->peer, "its sink", role_remote(o, k), n, r->sinks[f->peer])) < 0) {
            return rc;
        }
    }
    for (int k = 0; k < o->nsources; k++) {
        if ((rc = inside(r, -1, "the sink", role_served(o, k),
                         o->sources[k].bytes ? o->sources[k].bytes : o->buffer, sink)) < 0) {
            return rc;
        }
    }
    if (o->own.bytes) {
        if ((rc = inside(r, -1, "the source", o->own.from, o->own.bytes, source)) < 0) {
            return rc;
        }
        if ((rc = inside(r, -1, "the sink", o->own.to, o->own.bytes, sink)) < 0) {
            return rc;
        }
    }
    return 0;
}

static size_t bytes_of(const struct weir_role *o, uint64_t cell)
{
    return cell ? cell : o->request;
}

struct weir_buffer role_own(struct weir_rank *r, const struct weir_role *o, int receiving)
{
    int self = r->cfg.rank;
    char *at = receiving ? rank_sink(r) + o->own.to : rank_source(r) + o->own.from;
    return (struct weir_buffer){.from = self,
                                .to = self,
                                .receiving = receiving,
                                .at = at,
                                .bytes = o->own.bytes,
                                .kind = receiving ? r->cfg.sink : r->cfg.source};
}

int role_buffer(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o, int i,
                struct weir_buffer *out)
{
    int self = r->cfg.rank, writes = c->op == OP_WRITE;
    if (i < o->ntargets) {
        int peer = o->targets[i].peer;
        *out = (struct weir_buffer){.from = writes ? self : peer,
                                    .to = writes ? peer : self,
                                    .receiving = !writes,
                                    .at = rank_source(r) + role_local(o, i),
                                    .bytes = bytes_of(o, o->targets[i].bytes),
                                    .kind = r->cfg.source};
        return 1;
    }
    i -= o->ntargets;
    if (i >= o->nsources) { /* own cell: first where it is sent from, then where it is received */
        if (!o->own.bytes || i - o->nsources > 1) {
            return 0;
        }
        *out = role_own(r, o, i - o->nsources);
        return 1;
    }
    int peer = o->sources[i].peer;
    *out = (struct weir_buffer){.from = writes ? peer : self,
                                .to = writes ? self : peer,
                                .receiving = writes,
                                .at = rank_sink(r) + role_served(o, i),
                                .bytes = bytes_of(o, o->sources[i].bytes),
                                .kind = r->cfg.sink};
    return 1;
}
