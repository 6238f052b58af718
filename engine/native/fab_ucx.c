/* ucx: libucp with worker and endpoints in one thread, and one of its APIs for writes. ucp_mem_map
 * allocates the memory, unless private memory is requested: only then are puts over shared memory
 * plain stores, as in ucx_perftest. */
#include "loop_ceiling.h"
#include "rank_options.h"
#include "fab_ucx.h"
#include "fabric_unsupported.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_options(struct weir_rank *r, struct ucx_rank *u)
{
    static const struct ucx_api *const apis[] = {&ucx_rma, &ucx_am, &ucx_tag, &ucx_tag_sync};
    static const char *const names[] = {"rma", "am", "tag", "tag_sync"};
    static const char *const datatypes[] = {"contig", "iov"};
    int api = 0, rc;
    if ((rc = option_choice(r, "api", names, sizeof names / sizeof *names, &api)) < 0) {
        return rc;
    }
    u->api = apis[api];
    return option_choice(r, "datatype", datatypes, 2, &u->iov);
}

static void take_functions(struct ucx_rank *u)
{
    struct weir_fabric *t = &u->table;
    const struct ucx_api *a = u->api;
    *t = weir_fab_ucx;
    t->caps |= a->caps;
    t->put = a->put;
    t->get = a->get;
    t->flush = a->flush;
    t->signal = a->signal;
    t->notify = a->notify;
    t->prepost = a->prepost;
    t->ping = a->ping;
    t->arrived = a->arrived;
    t->ceiling = a->ceiling;
    if (u->iov) {
        ucx_lists(t);
    }
}

/* UCX reports neither what is missing nor where. */
static int no_worker(struct weir_rank *r, ucs_status_t s)
{
    const char *dir = getenv("UCX_POSIX_DIR");
    if (access("/proc/self/maps", R_OK) != 0) {
        return rank_fail(r, (int)s, "ucp_worker_create", -1, "%s; UCX needs /proc: mount it",
                         ucx.ucs_status_string(s));
    }
    if (s == UCS_ERR_NO_RESOURCE) {
        return rank_fail(
            r, (int)s, "ucp_worker_create", -1,
            "%s; if %s, where UCX has its shared memory, is full, free some space there",
            ucx.ucs_status_string(s), dir ? dir : "/dev/shm");
    }
    return ucx_failed(r, "ucp_worker_create", -1, s);
}

/* Creating a worker opens every network interface that the context listed, and fails if one
 * disappeared since, as those of containers do. A new context lists the current ones. */
#define LIST_ATTEMPTS 5

static ucs_status_t make_worker(struct ucx_rank *u)
{
    ucp_worker_params_t w = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                             .thread_mode = UCS_THREAD_MODE_SINGLE};
    return ucx.ucp_worker_create(u->context, &w, &u->worker);
}

/* Creates a worker that no peer knows. Operations in flight between peers and the old one end with
 * it. */
int ucx_renew_worker(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    ucs_status_t s;
    ucx.ucp_worker_destroy(u->worker);
    s = make_worker(u);
    if (s != UCS_OK) {
        return no_worker(r, s);
    }
    if (r->cfg.sleeps) {
        s = ucx.ucp_worker_get_efd(u->worker, &u->efd);
        if (s != UCS_OK) {
            return ucx_failed(r, "ucp_worker_get_efd", -1, s);
        }
    }
    return 0;
}

static int open_worker(struct weir_rank *r, struct ucx_rank *u)
{
    uint64_t features = u->api->features | (r->cfg.sleeps ? UCP_FEATURE_WAKEUP : 0);
    ucs_status_t s = UCS_ERR_NO_DEVICE;
    for (int i = 0; i < LIST_ATTEMPTS && s == UCS_ERR_NO_DEVICE; i++) {
        s = ucx_init(features, r->cfg.one_host ? UCX_THIS_HOST : UCX_ALL_HOSTS, &u->context);
        if (s != UCS_OK) {
            return ucx_failed(r, "ucp_init", -1, s);
        }
        s = make_worker(u);
        if (s != UCS_OK) {
            ucx.ucp_cleanup(u->context);
        }
    }
    if (s != UCS_OK) {
        return no_worker(r, s);
    }
    if (r->cfg.sleeps) {
        s = ucx.ucp_worker_get_efd(u->worker, &u->efd);
        if (s != UCS_OK) {
            return ucx_failed(r, "ucp_worker_get_efd", -1, s);
        }
    }
    return 0;
}

static int ucx_open(struct weir_rank *r)
{
    struct ucx_rank *u = calloc(1, sizeof *u);
    char why[WEIR_TEXT];
    if (!u) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    u->peers = calloc((size_t)r->cfg.ranks, sizeof *u->peers);
    if (!u->peers) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    r->fs = u;
    int rc = read_options(r, u);
    if (rc < 0) {
        return rc;
    }
    if ((rc = ucx_load(why, sizeof why)) < 0) {
        return rank_fail(r, rc, "load", -1, "%s", why);
    }
    if ((rc = open_worker(r, u)) < 0) {
        return rc;
    }
    if ((r->cfg.source->gpu || r->cfg.sink->gpu) && !ucx_has_vram(u->context)) {
        return rank_fail(r, -EOPNOTSUPP, "open", -1,
                         "UCX %s has no CUDA here, and moves no memory of GPUs",
                         ucx.ucp_get_version_string());
    }
    /* MULTI_SEND makes UCX choose its protocol for throughput, as in ucx_perftest's bandwidth
     * tests; for one operation at a time that would be wrong */
    u->stream = (ucp_request_param_t){
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_OP_ATTR_FLAG_MULTI_SEND,
        .cb.send = ucx_part_done,
    };
    take_functions(u);
    r->fab = &u->table;
    return u->api->open(r);
}

static int not_mapped(struct weir_rank *r, const char *what, size_t bytes, ucs_status_t s)
{
    char limit[LOCK_WORDS];
    weir_lock_limit(bytes, limit, sizeof limit);
    return rank_fail(r, (int)s, "ucp_mem_map", -1, "%s %zu bytes: %s%s", what, bytes,
                     ucx.ucs_status_string(s), limit);
}

static int allocate(struct weir_rank *r, enum weir_region_name name)
{
    struct ucx_rank *u = r->fs;
    struct weir_region *g = &r->regions[name];
    ucp_mem_map_params_t p = {.field_mask =
                                  UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                              .length = g->size,
                              .flags = UCP_MEM_MAP_ALLOCATE};
    ucs_status_t s = ucx.ucp_mem_map(u->context, &p, &u->memh[name]);
    if (s != UCS_OK) {
        return not_mapped(r, "allocating", g->size, s);
    }
    ucp_mem_attr_t a = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    s = ucx.ucp_mem_query(u->memh[name], &a);
    if (s != UCS_OK) {
        return ucx_failed(r, "ucp_mem_query", -1, s);
    }
    u->allocated[name] = 1;
    g->base = a.address;
    g->size = a.length;
    return 0;
}

static int register_own(struct weir_rank *r, enum weir_region_name name)
{
    struct ucx_rank *u = r->fs;
    struct weir_region *g = &r->regions[name];
    ucp_mem_map_params_t p = {.field_mask =
                                  UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                              .address = g->base,
                              .length = g->size};
    if (memory_is_gpus(g->kind)) { /* otherwise UCX detects it for each of its modules */
        u->type[name] = UCS_MEMORY_TYPE_CUDA;
        p.field_mask |= UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
        p.memory_type = UCS_MEMORY_TYPE_CUDA;
    }
    ucs_status_t s = ucx.ucp_mem_map(u->context, &p, &u->memh[name]);
    return s == UCS_OK ? 0 : not_mapped(r, "registering", g->size, s);
}

static int ucx_attach(struct weir_rank *r, enum weir_region_name name)
{
    struct ucx_rank *u = r->fs;
    int rc = r->regions[name].base ? register_own(r, name) : allocate(r, name);
    if (name == REGION_SOURCE) {
        ucx_own_memory(u, name, &u->stream);
        ucx_own_memory(u, name, &u->put_param);
    }
    return rc;
}

/* Functions that move data depend on the API: ucx_open fills them in. */
const struct weir_fabric weir_fab_ucx = {
    .name = "ucx",
    .library = "libucp.so",
    .version = ucx_version,
    .caps = CAP_ALLOCATES | CAP_NETWORK,
    .probe = ucx_probe,
    .open = ucx_open,
    .attach = ucx_attach,
    .address = ucx_address,
    .connect = ucx_connect,
    .put = unsupported_put,
    .get = unsupported_get,
    .post = posts_itself,
    .progress = ucx_progress,
    .poll = ucx_poll,
    .idle_wait = no_idle_wait,
    .flush = unsupported_flush,
    .signal = unsupported_signal,
    .notify = unsupported_notify,
    .prepost = preposts_nothing,
    .ping = unsupported_ping,
    .arrived = unsupported_arrived,
    .runs_pingpong = runs_no_pingpong,
    .run_pingpong = unsupported_run_pingpong,
    .ceiling = ceiling_is_memcpy,
    .transport = ucx_transport,
    .carriers = ucx_carriers,
    .disconnect = ucx_disconnect,
    .close = ucx_close,
};

#else
#include <stdio.h>

static void no_probe(struct weir_info *out)
{
    snprintf(out->reason, sizeof out->reason,
             "weir was built without UCX's headers (install libucx-dev, then go build -a)");
}

const struct weir_fabric weir_fab_ucx = {
    .name = "ucx",
    .caps = CAP_NETWORK,
    .probe = no_probe,
    .open = unsupported_open,
    .attach = unsupported_attach,
    .address = unsupported_address,
    .connect = unsupported_connect,
    .put = unsupported_put,
    .get = unsupported_get,
    .post = posts_itself,
    .progress = unsupported_progress,
    .poll = unsupported_progress,
    .idle_wait = no_idle_wait,
    .flush = unsupported_flush,
    .signal = unsupported_signal,
    .notify = unsupported_notify,
    .prepost = preposts_nothing,
    .ping = unsupported_ping,
    .arrived = unsupported_arrived,
    .runs_pingpong = runs_no_pingpong,
    .run_pingpong = unsupported_run_pingpong,
    .ceiling = ceiling_is_memcpy,
    .transport = unsupported_transport,
    .carriers = unsupported_carriers,
    .disconnect = unsupported_disconnect,
    .close = unsupported_close,
};
#endif
