#include "fabric.h"

#include <stdio.h>
#include <string.h>

/* The list of fabrics: a new one is its .c file and its line here. */
static const struct weir_fabric *const fabrics[] = {&weir_fab_shm, &weir_fab_tcp, &weir_fab_ucx, &weir_fab_libfabric, &weir_fab_nixl};

#define NFABRICS (sizeof fabrics / sizeof *fabrics)

const struct weir_fabric *weir_fabric_find(const char *name)
{
    for (size_t i = 0; i < NFABRICS; i++)
        if (!strcmp(fabrics[i]->name, name))
            return fabrics[i];
    return NULL;
}

const char *weir_fabric_name(int i) { return i >= 0 && (size_t)i < NFABRICS ? fabrics[i]->name : NULL; }

int weir_probe(const char *name, struct weir_info *out)
{
    const struct weir_fabric *f = weir_fabric_find(name);
    memset(out, 0, sizeof *out);
    if (!f) {
        snprintf(out->reason, sizeof out->reason, "this version of weir has no fabric %s%s", name, strcmp(name, "cuda") ? "" : ", which is for the memory of GPUs: it moves between buffers in DRAM only");
        return -1;
    }
    f->probe(out);
    return 0;
}
