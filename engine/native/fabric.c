#include "fabric.h"

#include <stdio.h>
#include <string.h>

#define ENTRY(name) &weir_fab_##name,
static const struct weir_fabric *const fabrics[] = {WEIR_FABRICS(ENTRY)};

#define NFABRICS (sizeof fabrics / sizeof *fabrics)

const struct weir_fabric *weir_fabric_find(const char *name)
{
    for (size_t i = 0; i < NFABRICS; i++) {
        if (!strcmp(fabrics[i]->name, name)) {
            return fabrics[i];
        }
    }
    return NULL;
}

const char *weir_fabric_name(int i)
{
    return i >= 0 && (size_t)i < NFABRICS ? fabrics[i]->name : NULL;
}

const char *weir_library_version(const char *name)
{
    const struct weir_fabric *f = weir_fabric_find(name);
    const char *version = f && f->version ? f->version() : NULL;
    return version && *version ? version : NULL;
}

int weir_probe(const char *name, struct weir_info *out)
{
    const struct weir_fabric *f = weir_fabric_find(name);
    memset(out, 0, sizeof *out);
    if (!f) {
        snprintf(out->reason, sizeof out->reason, "this version of weir has no fabric %s", name);
        return -1;
    }
    f->probe(out);
    out->library = f->library;
    return 0;
}
