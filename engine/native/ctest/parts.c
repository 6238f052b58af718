/* What can be tested of the engine without peers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rank.h"
#include "parts.h"

static int told(const char *what, int yes)
{
    printf("%s %s\n", yes ? "ok  " : "FAIL", what);
    return !yes;
}

/* Whoever opens a rank frees what its configuration points to. */
static int keeps_its_configuration(void)
{
    char              texts[4][8] = {"shm", "tcp", "UCX", "key=no"};
    struct weir_flow  target = {.peer = 1};
    struct weir_turn  turn   = {.peer = 1, .initiator = 1};
    struct weir_flows flows  = {.targets = &target, .turns = &turn, .ntargets = 1, .nturns = 1};
    struct weir_rank *r      = calloc(1, sizeof *r);
    r->cfg = (struct weir_config){.ranks = 2, .fabric = texts[0], .provider = texts[1], .flows = &flows, .nflows = 1,
                                  .nixl = {.backend = texts[2], .params = texts[3]}};
    int rc = lists_make(r);
    memset(texts, 'x', sizeof texts), memset(&target, 'x', sizeof target), memset(&flows, 'x', sizeof flows);
    memset(&turn, 'x', sizeof turn);
    const struct weir_flows *f = r->cfg.flows;
    int kept = rc == 0 && !strcmp(r->cfg.fabric, "shm") && !strcmp(r->cfg.provider, "tcp") &&
               !strcmp(r->cfg.nixl.backend, "UCX") && !strcmp(r->cfg.nixl.params, "key=no") && f->ntargets == 1 &&
               f->targets->peer == 1 && f->nturns == 1 && f->turns->initiator == 1 && r->all.members[1] == 1;
    lists_drop(r);
    free(r);
    return told("a rank keeps its configuration", kept);
}

int parts_fail(void)
{
    return keeps_its_configuration();
}
