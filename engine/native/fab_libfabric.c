/* libfabric: found and described. Moving data over it is not in this version, and
 * the probe says so. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "dl.h"
#include "unsupported.h"

#if __has_include(<rdma/fabric.h>)
#include <rdma/fabric.h>

static void fabric_probe(struct weir_info *out)
{
    char  why[WEIR_TEXT];
    void *lib = dl_open((const char *const[]){"libfabric.so.1", NULL}, why, sizeof why);
    if (!lib) {
        snprintf(out->reason, sizeof out->reason, "%s", why);
        return;
    }
    /* pinned versions: fi_info grew with FABRIC_1.7, and an unversioned lookup takes the library's newest */
    __typeof__(fi_version)  *version  = (__typeof__(fi_version) *)dl_versioned(lib, "fi_version", "FABRIC_1.0");
    __typeof__(fi_getinfo)  *getinfo  = (__typeof__(fi_getinfo) *)dl_versioned(lib, "fi_getinfo", "FABRIC_1.3");
    __typeof__(fi_freeinfo) *freeinfo = (__typeof__(fi_freeinfo) *)dl_versioned(lib, "fi_freeinfo", "FABRIC_1.3");
    if (!version || !getinfo || !freeinfo) {
        snprintf(out->reason, sizeof out->reason, "libfabric.so.1 lacks fi_version, fi_getinfo or fi_freeinfo");
        return;
    }
    uint32_t v = version();
    snprintf(out->version, sizeof out->version, "%u.%u", FI_MAJOR(v), FI_MINOR(v));
    struct fi_info *list = NULL;
    size_t          at   = (size_t)snprintf(out->details, sizeof out->details, "providers=");
    size_t          from = at;
    if (getinfo(FI_VERSION(1, 9), NULL, NULL, 0, NULL, &list) == 0) {
        for (struct fi_info *i = list; i; i = i->next) {
            const char *name = i->fabric_attr && i->fabric_attr->prov_name ? i->fabric_attr->prov_name : "?";
            char        item[64];
            snprintf(item, sizeof item, "%s,", name);
            if (!strstr(out->details + from, item) && at + strlen(item) < sizeof out->details)
                at += (size_t)snprintf(out->details + at, sizeof out->details - at, "%s", item);
        }
        freeinfo(list);
        if (at > from)
            out->details[at - 1] = 0;
    }
    snprintf(out->reason, sizeof out->reason, "libfabric %s is here (%.320s), but this version of weir does not move data over it", out->version, out->details);
}
#else
static void fabric_probe(struct weir_info *out)
{
    snprintf(out->reason, sizeof out->reason, "weir was built without libfabric's headers (install libfabric-dev and build again)");
}
#endif

const struct weir_fabric weir_fab_libfabric = {
    .name = "libfabric", .caps = CAP_NETWORK, .probe = fabric_probe, .open = unsupported_open, .attach = unsupported_attach, .address = unsupported_address,
    .connect = unsupported_connect, .put = unsupported_put, .get = unsupported_get, .progress = unsupported_progress, .flush = unsupported_flush,
    .signal = unsupported_signal, .ping = unsupported_ping, .arrived = unsupported_arrived, .ceiling = ceiling_is_memcpy,
    .transport = unsupported_transport, .close = unsupported_close,
};
