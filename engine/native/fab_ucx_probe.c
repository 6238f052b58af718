/* UCX: probes whether it is installed, and how it would reach other hosts. */
#define _GNU_SOURCE
#include "fabric_carriers.h"
#include "fab_ucx.h"

#ifdef WEIR_HAS_UCX
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns whether the kernel lists it as an RDMA device: UCX also puts through sockets, where a
 * processor copies. */
static int rdma_device(const char *device)
{
    char path[128];
    /* a port follows */
    snprintf(path, sizeof path, "/sys/class/infiniband/%.*s", (int)strcspn(device, ":"), device);
    return *device && access(path, F_OK) == 0;
}

static char *resources(ucp_context_h context)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return NULL;
    }
    ucx.ucp_context_print_info(context, f);
    fclose(f);
    return text;
}

/* Connects the worker to itself, over inter-host transports only: UCX selects the lanes that it
 * would use between two hosts like this one. Destroying the worker closes them. */
static const char *lanes(ucp_context_h context, char **text, ucs_status_t *s)
{
    ucp_worker_params_t w = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                             .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucp_ep_params_t p = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_address_t *address;
    size_t n;
    const char *call;
    *s = ucx.ucp_worker_create(context, &w, &worker);
    if (*s != UCS_OK) {
        return "ucp_worker_create";
    }
    call = "ucp_worker_get_address";
    *s = ucx.ucp_worker_get_address(worker, &address, &n);
    if (*s == UCS_OK) {
        call = "ucp_ep_create";
        p.address = address;
        *s = ucx.ucp_ep_create(worker, &p, &ep);
        if (*s == UCS_OK) {
            *text = ucx_lanes(ep);
        }
        ucx.ucp_worker_release_address(worker, address);
    }
    ucx.ucp_worker_destroy(worker);
    return call;
}

static void probe_paths(struct weir_info *out)
{
    ucp_context_h context;
    const char *call = "ucp_init";
    char *transports = NULL, *chosen = NULL;
    ucs_status_t s = ucx_init(UCP_FEATURE_RMA, UCX_OTHER_HOSTS, &context);
    if (s == UCS_OK) {
        transports = resources(context);
        call = lanes(context, &chosen, &s);
        ucx.ucp_cleanup(context);
    }
    if (s != UCS_OK) {
        snprintf(out->details, sizeof out->details, "other hosts=%s: %s\n", call,
                 ucx.ucs_status_string(s));
    }
    if (transports && chosen) {
        carriers_between_hosts(out->paths, transports, chosen, ucx_second_protocols(), rdma_device);
    }
    free(transports);
    free(chosen);
}

void ucx_probe(struct weir_info *out)
{
    ucp_context_h context;
    if (ucx_load(out->reason, sizeof out->reason) < 0) {
        return;
    }
    snprintf(out->version, sizeof out->version, "%s", ucx.ucp_get_version_string());
    ucs_status_t s = ucx_init(UCP_FEATURE_RMA, UCX_ALL_HOSTS, &context);
    if (s != UCS_OK) {
        snprintf(out->reason, sizeof out->reason, "UCX %s: ucp_init: %s", out->version,
                 ucx.ucs_status_string(s));
        return;
    }
    int vram = ucx_has_vram(context);
    ucx.ucp_cleanup(context);
    out->available = 1;
    probe_paths(out);
    size_t at = strlen(out->details);
    snprintf(out->details + at, sizeof out->details - at, "vram=%s\n",
             vram ? "yes"
                  : "this UCX has no CUDA, or has found none (ucx_info -d lists what it has)");
}
#endif
