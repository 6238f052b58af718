/* UCX: loads the library at run time. */
#include "fab_ucx.h"
#include "mem_vram.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sys_dl.h"

struct ucx_library ucx;

#define ENTRY(f) {#f, (void **)&ucx.f},
static const struct dl_symbol symbols[] = {UCX_SYMBOLS(ENTRY)};

static int load_locked(char *why, size_t cap)
{
    static int loaded;
    if (loaded) {
        return 0;
    }
    void *lib = dl_open((const char *const[]){"libucp.so.0", NULL}, why, cap);
    if (!lib) {
        return -ENOENT;
    }
    const char *missing = dl_fill(lib, symbols, sizeof symbols / sizeof *symbols);
    if (missing) {
        snprintf(why, cap, "libucp.so.0 has no %s: weir needs UCX 1.13 or newer", missing);
        return -ENOSYS;
    }
    loaded = 1;
    return 0;
}

int ucx_load(char *why, size_t cap)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int rc = load_locked(why, cap);
    pthread_mutex_unlock(&lock);
    return rc;
}

const char *ucx_version(void)
{
    return ucx.ucp_get_version_string ? ucx.ucp_get_version_string() : NULL;
}

int ucx_has_vram(ucp_context_h context)
{
    ucp_context_attr_t a = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    return !memory_is_gpus(weir_mem_vram(VRAM_DEVICE)) ||
           (ucx.ucp_context_query(context, &a) == UCS_OK &&
            a.memory_types >> UCS_MEMORY_TYPE_CUDA & 1);
}

/* Devices of transports within this host. */
static const char *const within[] = {"SHM_DEVICES", "SELF_DEVICES", "ACC_DEVICES"};

/* Writes the network devices for ranks of one host: loopback, and RDMA devices by port. */
static void own_devices(char *list, size_t cap)
{
    glob_t ports;
    size_t at = (size_t)snprintf(list, cap, "lo");
    if (glob("/sys/class/infiniband/*/ports/*", 0, NULL, &ports) != 0) {
        return;
    }
    for (size_t i = 0; i < ports.gl_pathc; i++) {
        char device[64], port[16];
        if (sscanf(ports.gl_pathv[i], "/sys/class/infiniband/%63[^/]/ports/%15s", device, port) ==
                2 &&
            at + sizeof device + sizeof port + 2 < cap) {
            at += (size_t)snprintf(list + at, cap - at, ",%s:%s", device, port);
        }
    }
    globfree(&ports);
}

ucs_status_t ucx_init(uint64_t features, enum ucx_reach reach, ucp_context_h *context)
{
    ucp_config_t *config;
    ucs_status_t s = ucx.ucp_config_read(NULL, NULL, &config);
    if (s != UCS_OK) {
        return s;
    }
    for (size_t i = 0;
         reach == UCX_OTHER_HOSTS && s == UCS_OK && i < sizeof within / sizeof *within; i++) {
        s = ucx.ucp_config_modify(config, within[i], "");
    }
    if (reach == UCX_THIS_HOST && s == UCS_OK && !getenv("UCX_NET_DEVICES")) {
        char list[4096];
        own_devices(list, sizeof list);
        s = ucx.ucp_config_modify(config, "NET_DEVICES", list);
    }
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
    if (s == UCS_OK) {
        /* the minimum version: newer libraries support it */
        s = ucx.ucp_init_version(1, 13, &p, config, context);
    }
    ucx.ucp_config_release(config);
    return s;
}
#endif
