/* UCX: the library, loaded at run time. */
#include "ucx.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "dl.h"

struct ucx_library ucx;

#define ENTRY(f) {#f, (void **)&ucx.f},
static const struct dl_symbol symbols[] = {UCX_SYMBOLS(ENTRY)};

static int load_locked(char *why, size_t cap)
{
    static int loaded;
    if (loaded)
        return 0;
    void *lib = dl_open((const char *const[]){"libucp.so.0", NULL}, why, cap);
    if (!lib)
        return -ENOENT;
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

int ucx_has_vram(ucp_context_h context)
{
    ucp_context_attr_t a = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    return ucx.ucp_context_query(context, &a) == UCS_OK &&
           a.memory_types >> UCS_MEMORY_TYPE_CUDA & 1;
}

/* Devices of transports that end at this host. */
static const char *const within[] = {"SHM_DEVICES", "SELF_DEVICES", "ACC_DEVICES"};

ucs_status_t ucx_init(uint64_t features, enum ucx_reach reach, ucp_context_h *context)
{
    ucp_config_t *config;
    ucs_status_t  s = ucx.ucp_config_read(NULL, NULL, &config);
    if (s != UCS_OK)
        return s;
    for (size_t i = 0;
         reach == UCX_OTHER_HOSTS && s == UCS_OK && i < sizeof within / sizeof *within; i++)
        s = ucx.ucp_config_modify(config, within[i], "");
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
    if (s == UCS_OK)
        /* the floor: newer libraries run it */
        s = ucx.ucp_init_version(1, 13, &p, config, context);
    ucx.ucp_config_release(config);
    return s;
}
#endif
