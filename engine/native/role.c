#include "role.h"

void role_of(const struct weir_rank *r, const struct weir_case *c, struct weir_role *o)
{
    const struct weir_flows *f = &r->cfg.flows[c->flows];
    *o = (struct weir_role){
        .initiator = f->ntargets > 0,
        .targets   = f->targets,
        .sources   = f->sources,
        .ntargets  = f->ntargets,
        .nsources  = f->nsources,
        .own       = f->own,
        .slots     = c->slots ? c->slots : 1,
        .request   = c->block * c->batch,
        .stride    = c->stride,
    };
    o->region = o->slots * o->stride;
    if (c->mode != MODE_PINGPONG)
        return;
    int peer    = o->initiator ? f->targets[0].peer : f->sources[0].peer;
    o->back     = (struct weir_flow){.peer = peer};
    o->served   = (struct weir_source){.peer = peer};
    o->from     = peer;
    o->targets  = &o->back;
    o->sources  = &o->served;
    o->ntargets = o->nsources = 1;
}

static size_t bytes_of(const struct weir_role *o, uint64_t cell) { return cell ? cell : o->request; }

struct weir_share role_own(struct weir_rank *r, const struct weir_role *o, int receiving)
{
    int   self = r->cfg.rank;
    char *at   = receiving ? rank_exposed(r) + o->own.to : rank_local(r) + o->own.from;
    return (struct weir_share){.from = self, .to = self, .receiving = receiving, .at = at, .bytes = o->own.bytes};
}

int role_share(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o, int i, struct weir_share *out)
{
    int self = r->cfg.rank, writes = c->op == OP_WRITE;
    if (i < o->ntargets) {
        int peer = o->targets[i].peer;
        *out     = (struct weir_share){.from = writes ? self : peer, .to = writes ? peer : self, .receiving = !writes, .at = rank_local(r) + role_local(o, i),
                                       .bytes = bytes_of(o, o->targets[i].bytes)};
        return 1;
    }
    i -= o->ntargets;
    if (i >= o->nsources) { /* first where the own cell is sent from, then where it is received */
        if (!o->own.bytes || i - o->nsources > 1)
            return 0;
        *out = role_own(r, o, i - o->nsources);
        return 1;
    }
    int peer = o->sources[i].peer;
    *out     = (struct weir_share){.from = writes ? peer : self, .to = writes ? self : peer, .receiving = writes, .at = rank_exposed(r) + role_served(o, i),
                                   .bytes = bytes_of(o, o->sources[i].bytes)};
    return 1;
}
