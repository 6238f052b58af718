#include "role.h"

void role_of(const struct weir_rank *r, const struct weir_case *c, struct weir_role *o)
{
    *o = (struct weir_role){
        .initiator = r->cfg.ntargets > 0,
        .targets   = r->cfg.targets,
        .sources   = r->cfg.sources,
        .ntargets  = r->cfg.ntargets,
        .nsources  = r->cfg.nsources,
        .slots     = c->slots ? c->slots : 1,
        .request   = c->block * c->batch,
    };
    o->stride = role_stride(o->request);
    o->region = o->slots * o->stride;
    if (c->mode != MODE_PINGPONG)
        return;
    int peer    = o->initiator ? r->cfg.targets[0].peer : r->cfg.sources[0];
    o->back     = (struct weir_flow){.peer = peer, .region = 0};
    o->from     = peer;
    o->targets  = &o->back;
    o->sources  = &o->from;
    o->ntargets = o->nsources = 1;
}

int role_share(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o, int i, struct weir_share *out)
{
    int self = r->cfg.rank, writes = c->op == OP_WRITE;
    if (i < o->ntargets) {
        int peer = o->targets[i].peer;
        *out     = (struct weir_share){.from = writes ? self : peer, .to = writes ? peer : self, .receiving = !writes, .at = rank_local(r) + (size_t)i * o->region};
        return 1;
    }
    i -= o->ntargets;
    if (i >= o->nsources)
        return 0;
    int peer = o->sources[i];
    *out     = (struct weir_share){.from = writes ? peer : self, .to = writes ? self : peer, .receiving = writes, .at = rank_exposed(r) + (size_t)i * o->region};
    return 1;
}
