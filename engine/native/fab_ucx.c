/* ucx: libucp, loaded at run time, worker and endpoints in one thread. Memory
 * comes from ucp_mem_map itself: only then are puts over shared memory plain
 * stores, as in ucx_perftest. A put's own completion says that the source may be
 * reused; that it is at the target is what a flush says. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ceiling.h"
#include "dl.h"
#include "rank.h"
#include "unsupported.h"

#if __has_include(<ucp/api/ucp.h>)
#include <ucp/api/ucp.h>

/* The whole foreign interface: one list gives the members, the loader and the
 * name that is missing. */
#define UCX_SYMBOLS(F) \
    F(ucp_get_version_string) F(ucp_config_read) F(ucp_config_release) F(ucp_init_version) F(ucp_cleanup) F(ucp_worker_create) \
    F(ucp_worker_destroy) F(ucp_worker_get_address) F(ucp_worker_release_address) F(ucp_worker_progress) F(ucp_ep_create) \
    F(ucp_ep_close_nbx) F(ucp_ep_flush_nbx) F(ucp_ep_print_info) F(ucp_mem_map) F(ucp_mem_unmap) F(ucp_mem_query) \
    F(ucp_rkey_pack) F(ucp_rkey_buffer_release) F(ucp_ep_rkey_unpack) F(ucp_rkey_destroy) F(ucp_rkey_ptr) F(ucp_put_nbx) F(ucp_get_nbx) \
    F(ucp_request_free) F(ucp_request_check_status) F(ucs_status_string)

#define MEMBER(f) __typeof__(f) *f;
static struct {
    UCX_SYMBOLS(MEMBER)
} api;

#define ENTRY(f) {#f, (void **)&api.f},
static const struct dl_symbol symbols[] = {UCX_SYMBOLS(ENTRY)};

struct ucx_peer {
    ucp_ep_h   ep;
    ucp_rkey_h rkey;
    uint64_t   base;
    uint64_t   word; /* source of signals: stable until the put is complete */
};

struct ucx {
    ucp_context_h    context;
    ucp_worker_h     worker;
    ucp_mem_h        memh;
    struct ucx_peer *peers;
};

struct blob {
    char     version[16];
    uint64_t base;
    uint32_t address, rkey; /* lengths of what follows */
};

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

static int load(char *why, size_t cap)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int rc = load_locked(why, cap);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int failed(struct weir_rank *r, const char *op, int peer, ucs_status_t s)
{
    return rank_fail(r, s < 0 ? (int)s : -EIO, op, peer, "%s", api.ucs_status_string(s));
}

static ucs_status_t init(ucp_context_h *context)
{
    ucp_config_t *config;
    ucs_status_t  s = api.ucp_config_read(NULL, NULL, &config);
    if (s != UCS_OK)
        return s;
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA};
    s              = api.ucp_init_version(1, 13, &p, config, context); /* the floor: newer libraries run it */
    api.ucp_config_release(config);
    return s;
}

static void ucx_probe(struct weir_info *out)
{
    ucp_context_h context;
    if (load(out->reason, sizeof out->reason) < 0)
        return;
    snprintf(out->version, sizeof out->version, "%s", api.ucp_get_version_string());
    ucs_status_t s = init(&context);
    if (s != UCS_OK) {
        snprintf(out->reason, sizeof out->reason, "UCX %s: ucp_init: %s", out->version, api.ucs_status_string(s));
        return;
    }
    api.ucp_cleanup(context);
    out->available = 1;
}

static int ucx_open(struct weir_rank *r)
{
    struct ucx  *u = calloc(1, sizeof *u);
    char         why[WEIR_TEXT];
    ucs_status_t s;
    if (!u || !(u->peers = calloc((size_t)r->cfg.ranks, sizeof *u->peers)))
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    r->fs  = u;
    int rc = load(why, sizeof why);
    if (rc < 0)
        return rank_fail(r, rc, "load", -1, "%s", why);
    if ((s = init(&u->context)) != UCS_OK)
        return failed(r, "ucp_init", -1, s);
    ucp_worker_params_t w = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
    if ((s = api.ucp_worker_create(u->context, &w, &u->worker)) != UCS_OK)
        return failed(r, "ucp_worker_create", -1, s);
    return 0;
}

static int ucx_attach(struct weir_rank *r, size_t bytes)
{
    struct ucx          *u = r->fs;
    ucp_mem_map_params_t p = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS, .length = bytes, .flags = UCP_MEM_MAP_ALLOCATE};
    ucs_status_t         s = api.ucp_mem_map(u->context, &p, &u->memh);
    if (s != UCS_OK)
        return rank_fail(r, (int)s, "ucp_mem_map", -1, "allocating %zu bytes: %s", bytes, api.ucs_status_string(s));
    ucp_mem_attr_t a = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    if ((s = api.ucp_mem_query(u->memh, &a)) != UCS_OK)
        return failed(r, "ucp_mem_query", -1, s);
    r->mem = (struct weir_region){a.address, a.length, -1};
    memset(r->mem.base, 0, bytes);
    return 0;
}

static int64_t ucx_address(struct weir_rank *r, void *buf, size_t cap)
{
    struct ucx    *u = r->fs;
    ucp_address_t *address;
    void          *rkey;
    size_t         na, nk;
    ucs_status_t   s;
    if ((s = api.ucp_worker_get_address(u->worker, &address, &na)) != UCS_OK)
        return failed(r, "ucp_worker_get_address", -1, s);
    if ((s = api.ucp_rkey_pack(u->context, u->memh, &rkey, &nk)) != UCS_OK)
        return failed(r, "ucp_rkey_pack", -1, s);
    struct blob b = {.base = (uint64_t)(uintptr_t)r->mem.base, .address = (uint32_t)na, .rkey = (uint32_t)nk};
    snprintf(b.version, sizeof b.version, "%s", api.ucp_get_version_string());
    if (sizeof b + na + nk > cap)
        return rank_fail(r, -ENOBUFS, "address", -1, "%zu bytes are too few for an address of %zu", cap, sizeof b + na + nk);
    memcpy(buf, &b, sizeof b);
    memcpy((char *)buf + sizeof b, address, na);
    memcpy((char *)buf + sizeof b + na, rkey, nk);
    api.ucp_worker_release_address(u->worker, address);
    api.ucp_rkey_buffer_release(rkey);
    return (int64_t)(sizeof b + na + nk);
}

static int ucx_progress(struct weir_rank *r)
{
    api.ucp_worker_progress(((struct ucx *)r->fs)->worker);
    return 0;
}

/* Waits for one operation, under progress. */
static int await(struct weir_rank *r, ucs_status_ptr_t p, const char *op, int peer)
{
    int          rc;
    ucs_status_t s;
    if (!UCS_PTR_IS_PTR(p))
        return UCS_PTR_STATUS(p) == UCS_OK ? 0 : failed(r, op, peer, UCS_PTR_STATUS(p));
    while ((s = api.ucp_request_check_status(p)) == UCS_INPROGRESS)
        if ((rc = ucx_progress(r)) < 0 || (rc = rank_tick(r)) < 0)
            return rc; /* a put cannot be cancelled: the request is abandoned with the process */
    api.ucp_request_free(p);
    return s == UCS_OK ? 0 : failed(r, op, peer, s);
}

static int ucx_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    struct ucx *u = r->fs;
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct blob  b;
        ucs_status_t s;
        if (p == r->cfg.rank)
            continue;
        if (lens[p] < sizeof b)
            return rank_fail(r, -EPROTO, "connect", p, "its address has only %zu bytes", lens[p]);
        memcpy(&b, blobs[p], sizeof b);
        if (lens[p] != sizeof b + b.address + b.rkey)
            return rank_fail(r, -EPROTO, "connect", p, "its address is malformed");
        b.version[sizeof b.version - 1] = 0;
        if (strcmp(b.version, api.ucp_get_version_string()))
            return rank_fail(r, -EPROTO, "connect", p, "it has UCX %s and this rank %s; unequal versions do not understand each other on every transport",
                             b.version, api.ucp_get_version_string());
        ucp_ep_params_t ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (const ucp_address_t *)(blobs[p] + sizeof b)};
        if ((s = api.ucp_ep_create(u->worker, &ep, &u->peers[p].ep)) != UCS_OK)
            return failed(r, "ucp_ep_create", p, s);
        if ((s = api.ucp_ep_rkey_unpack(u->peers[p].ep, blobs[p] + sizeof b + b.address, &u->peers[p].rkey)) != UCS_OK)
            return failed(r, "ucp_ep_rkey_unpack", p, s);
        u->peers[p].base = b.base;
    }
    ucp_request_param_t none = {0};
    for (int p = 0; p < r->cfg.ranks; p++) /* wire-up is lazy: finish it before anything is timed */
        if (p != r->cfg.rank) {
            int rc = await(r, api.ucp_ep_flush_nbx(u->peers[p].ep, &none), "wire-up", p);
            if (rc < 0)
                return rc;
        }
    return 0;
}

static void part_done(void *request, ucs_status_t s, void *q)
{
    weir_part_done(q, s == UCS_OK ? 0 : (int)s);
    api.ucp_request_free(request);
}

static inline int posted(struct weir_rank *r, ucs_status_ptr_t p, const char *op, int peer)
{
    if (p == NULL)
        return WEIR_DONE;
    if (UCS_PTR_IS_ERR(p))
        return failed(r, op, peer, UCS_PTR_STATUS(p));
    return WEIR_PENDING;
}

/* MULTI_SEND lets UCX choose its protocol for throughput, as ucx_perftest does in
 * its bandwidth tests; with one operation at a time it would choose wrongly. */
static inline ucp_request_param_t stream_param(struct weir_req *q)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_OP_ATTR_FLAG_MULTI_SEND,
        .cb.send      = part_done,
        .user_data    = q,
    };
}

static int ucx_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n, struct weir_req *q)
{
    struct ucx_peer    *p     = &((struct ucx *)r->fs)->peers[peer];
    ucp_request_param_t param = stream_param(q);
    return posted(r, api.ucp_put_nbx(p->ep, local, n, p->base + roff, p->rkey, &param), "ucp_put_nbx", peer);
}

static int ucx_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n, struct weir_req *q)
{
    struct ucx_peer    *p     = &((struct ucx *)r->fs)->peers[peer];
    ucp_request_param_t param = stream_param(q);
    return posted(r, api.ucp_get_nbx(p->ep, local, n, p->base + roff, p->rkey, &param), "ucp_get_nbx", peer);
}

static int ucx_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA, .cb.send = part_done, .user_data = q};
    return posted(r, api.ucp_ep_flush_nbx(((struct ucx *)r->fs)->peers[peer].ep, &param), "ucp_ep_flush_nbx", peer);
}

static int ucx_signal(struct weir_rank *r, int peer, uint64_t value)
{
    struct ucx_peer    *p    = &((struct ucx *)r->fs)->peers[peer];
    ucp_request_param_t none = {0};
    p->word                  = value;
    return await(r, api.ucp_put_nbx(p->ep, &p->word, sizeof p->word, p->base + (size_t)r->cfg.rank * WEIR_LINE, p->rkey, &none), "signal", peer);
}

/* The mark is the last byte, as in ucx_perftest's ucp_put_lat: one put, and no
 * order between two of them to rely on. */
static inline unsigned char mark(uint64_t seq) { return (unsigned char)(seq % 255 + 1); }

static int ucx_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct ucx_peer    *p        = &((struct ucx *)r->fs)->peers[peer];
    ucp_request_param_t none     = {0};
    ((unsigned char *)local)[n - 1] = mark(seq);
    return await(r, api.ucp_put_nbx(p->ep, local, n, p->base + r->exposed, p->rkey, &none), "ping", peer);
}

static int ucx_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    (void)peer;
    volatile unsigned char *last = (unsigned char *)rank_exposed(r) + n - 1;
    if (*last == mark(seq))
        return 1;
    api.ucp_worker_progress(((struct ucx *)r->fs)->worker);
    return 0;
}

/* The lanes as the library itself prints them: "lane[0]: 5:posix/memory.0 …". */
static void ucx_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    char  *text = NULL, *save = NULL;
    size_t size = 0, at = (size_t)snprintf(buf, cap, "ucx %s (", api.ucp_get_version_string()), begin = at;
    FILE  *f    = open_memstream(&text, &size);
    if (!f)
        return;
    api.ucp_ep_print_info(((struct ucx *)r->fs)->peers[peer].ep, f);
    fclose(f);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *lane = strstr(line, "lane["), *colon = lane ? strchr(lane, ']') : NULL, name[64];
        int   md;
        if (!colon || sscanf(colon, "]: %d:%63s", &md, name) != 2 || at + strlen(name) + 4 > cap)
            continue;
        if (!strstr(buf + begin, name))
            at += (size_t)snprintf(buf + at, cap - at, "%s%s", at > begin ? ", " : "", name);
    }
    free(text);
    snprintf(buf + at, cap - at, ")");
}

/* Those of 1.16 and later, unless UCX_PROTO_ENABLE chooses. */
static int second_protocols(void)
{
    const char *set = getenv("UCX_PROTO_ENABLE");
    unsigned    major = 0, minor = 0;
    if (set && *set)
        return strchr("yY1tT", *set) || !strcasecmp(set, "on");
    return sscanf(api.ucp_get_version_string(), "%u.%u", &major, &minor) == 2 && (major > 1 || minor >= 16);
}

static void ucx_carriers(struct weir_rank *r, int peer, char *list)
{
    struct ucx_peer *p = &((struct ucx *)r->fs)->peers[peer];
    char            *text = NULL;
    size_t           size = 0;
    void            *here = NULL;
    FILE            *f    = open_memstream(&text, &size);
    if (!f)
        return;
    api.ucp_ep_print_info(p->ep, f);
    fclose(f);
    carriers_ucx(list, text, api.ucp_rkey_ptr(p->rkey, p->base, &here) == UCS_OK ? carriers_mapping(here) : "", second_protocols());
    free(text);
}

static void ucx_close(struct weir_rank *r)
{
    struct ucx         *u    = r->fs;
    ucp_request_param_t none = {0};
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (!u->peers[p].ep)
            continue;
        api.ucp_rkey_destroy(u->peers[p].rkey);
        (void)await(r, api.ucp_ep_close_nbx(u->peers[p].ep, &none), "ucp_ep_close_nbx", p);
    }
    /* before the context: UCX 1.13 aborts the process if memory is still mapped then */
    api.ucp_mem_unmap(u->context, u->memh);
    r->mem = (struct weir_region){.fd = -1};
    api.ucp_worker_destroy(u->worker);
    api.ucp_cleanup(u->context);
    free(u->peers);
    free(u);
    fflush(NULL); /* UCX logs through stdio, and Go's exit does not flush it */
}

const struct weir_fabric weir_fab_ucx = {
    .name = "ucx", .caps = CAP_ALLOCATES | CAP_NETWORK, .probe = ucx_probe, .open = ucx_open, .attach = ucx_attach, .address = ucx_address,
    .connect = ucx_connect, .put = ucx_put, .get = ucx_get, .progress = ucx_progress, .flush = ucx_flush, .signal = ucx_signal,
    .ping = ucx_ping, .arrived = ucx_arrived, .ceiling = ceiling_raw, .transport = ucx_transport, .carriers = ucx_carriers, .close = ucx_close,
};

#else
static void ucx_probe(struct weir_info *out)
{
    snprintf(out->reason, sizeof out->reason, "weir was built without UCX's headers (install libucx-dev and build again)");
}

const struct weir_fabric weir_fab_ucx = {
    .name = "ucx", .caps = CAP_NETWORK, .probe = ucx_probe, .open = unsupported_open, .attach = unsupported_attach, .address = unsupported_address,
    .connect = unsupported_connect, .put = unsupported_put, .get = unsupported_get, .progress = unsupported_progress, .flush = unsupported_flush,
    .signal = unsupported_signal, .ping = unsupported_ping, .arrived = unsupported_arrived, .ceiling = ceiling_is_memcpy,
    .transport = unsupported_transport, .carriers = unsupported_carriers, .close = unsupported_close,
};
#endif
