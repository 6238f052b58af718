/* libfabric: loads the library and selects a provider by its capabilities. No provider is named
 * here. */
#define _GNU_SOURCE
#include "fab_libfabric.h"
#include "mem_vram.h"

#ifdef WEIR_HAS_LIBFABRIC
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys_dl.h"
#include "rank_options.h"
#include "rank.h"

/* The requested interface version, whatever the library's own. */
#define API FI_VERSION(1, 9)
/* Registration modes that are supported: see libfabric_attach and libfabric_connect. */
#define MR_MODES                                                                                   \
    (FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)
#define CQ_DATA_BYTES 4 /* CQ data of a write: its kind, writer and message */

struct libfabric_api libfabric;
#ifdef WEIR_TEST
unsigned libfabric_ways = LIBFABRIC_ALL_WAYS;
size_t libfabric_piece;
int64_t libfabric_listening = LIBFABRIC_LISTEN_NS;
#endif

const char *const libfabric_delivery_words[DELIVERY_WAYS] = {
    "delivery complete", "flushed by a fenced read", "flushed by an ordered read"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *lib;

void *libfabric_symbol(const char *name)
{
    return lib ? dl_versioned(lib, name, "FABRIC_1.0") : NULL;
}

static int load_locked(char *why, size_t cap)
{
    static int loaded;
    if (loaded) {
        return 0;
    }
    lib = dl_open((const char *const[]){"libfabric.so.1", NULL}, why, cap);
    if (!lib) {
        return -ENOENT;
    }
#define FILL(f, version)                                                                           \
    libfabric.f = (__typeof__(f) *)dl_versioned(lib, #f, version);                                 \
    if (!libfabric.f) {                                                                            \
        snprintf(why, cap, "libfabric.so.1 has no %s of %s: weir needs libfabric 1.9 or newer",    \
                 #f, version);                                                                     \
        return -ENOSYS;                                                                            \
    }
    LIBFABRIC_SYMBOLS(FILL)
    if (FI_VERSION_LT(libfabric.fi_version(), API)) {
        uint32_t v = libfabric.fi_version();
        snprintf(why, cap, "libfabric here is %u.%u: weir needs 1.9 or newer", FI_MAJOR(v),
                 FI_MINOR(v));
        return -ENOSYS;
    }
    loaded = 1;
    return 0;
}

const char *libfabric_version(void)
{
    static char text[24];
    uint32_t v = libfabric.fi_version ? libfabric.fi_version() : 0;
    if (v) {
        snprintf(text, sizeof text, "%u.%u", FI_MAJOR(v), FI_MINOR(v));
    }
    return text;
}

int libfabric_load(char *why, size_t cap)
{
    pthread_mutex_lock(&lock);
    int rc = load_locked(why, cap);
    pthread_mutex_unlock(&lock);
    return rc;
}

static struct fi_info *demand(const char *provider, uint64_t reach)
{
    struct fi_info *h = libfabric.fi_dupinfo(NULL);
    if (!h) {
        return NULL;
    }
    h->caps = FI_RMA | reach;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->ep_attr->type = FI_EP_RDM;
    h->domain_attr->mr_mode = MR_MODES | (reach & FI_HMEM ? FI_MR_HMEM : 0);
    h->domain_attr->threading = FI_THREAD_DOMAIN; /* a rank has one thread and one domain */
    h->domain_attr->cq_data_size = CQ_DATA_BYTES;
    if (provider && *provider) {
        h->fabric_attr->prov_name = strdup(provider);
        if (!h->fabric_attr->prov_name) {
            libfabric.fi_freeinfo(h);
            return NULL;
        }
    }
    return h;
}

static void demand_delivery(struct fi_info *h, enum libfabric_delivery way)
{
    switch (way) {
    case DELIVERY_COMPLETION:
        h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
        break;
    case DELIVERY_FENCE:
        h->caps |= FI_FENCE;
        break;
    case DELIVERY_ORDER:
        h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_RAW;
        break;
    case DELIVERY_WAYS:
        break;
    }
}

/* Lists what matches the hints, which it frees; returns 0 or the library's error. */
static int ask(struct fi_info *h, struct fi_info **list)
{
    struct dl_handlers handlers;
    *list = NULL;
    if (!h) {
        return -FI_ENOMEM;
    }
    pthread_mutex_lock(&lock);
    /* providers initialise in the first call, and some install signal handlers */
    dl_handlers_keep(&handlers);
    int rc = libfabric.fi_getinfo(API, NULL, NULL, 0, h, list);
    dl_handlers_restore(&handlers);
    pthread_mutex_unlock(&lock);
    libfabric.fi_freeinfo(h);
    return rc;
}

static int loopback(const struct fi_info *i)
{
    const struct sockaddr *a = i->src_addr;
    if (!a || (i->addr_format != FI_SOCKADDR_IN && i->addr_format != FI_SOCKADDR_IN6 &&
               i->addr_format != FI_SOCKADDR)) {
        return 0;
    }
    if (a->sa_family == AF_INET) {
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
    }
    if (a->sa_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
    }
    return 0;
}

/* Returns whether an offered interface is usable. */
static int fits(const struct fi_info *i, int one_host, enum libfabric_delivery way)
{
    if (!one_host && loopback(i)) {
        return 0;
    }
    /* others announce the order but with size 0 do not keep it */
    return way != DELIVERY_ORDER || i->ep_attr->max_order_raw_size;
}

/* Returns what the same provider offers on loopback, else i: ranks of one host need no port
 * reachable from other hosts. */
static const struct fi_info *unreachable(const struct fi_info *i, const struct fi_info *list,
                                         enum libfabric_delivery way)
{
    for (const struct fi_info *other = list; other; other = other->next) {
        if (loopback(other) && fits(other, 1, way) && other->addr_format == i->addr_format &&
            strcmp(other->fabric_attr->prov_name, i->fabric_attr->prov_name) == 0) {
            return other;
        }
    }
    return i;
}

/* Returns the first usable interface: libfabric's order is its preference. */
static struct fi_info *first_fit(struct weir_rank *r, const struct fi_info *list,
                                 enum libfabric_delivery way)
{
    for (const struct fi_info *i = list; i; i = i->next) {
        if (!fits(i, r->cfg.one_host, way)) {
            continue;
        }
        struct fi_info *mine =
            libfabric.fi_dupinfo(r->cfg.one_host ? unreachable(i, list, way) : i);
        if (mine && way == DELIVERY_COMPLETION) {
            /* supported: make it the default of posted operations */
            mine->tx_attr->op_flags |= FI_DELIVERY_COMPLETE;
        }
        return mine;
    }
    return NULL;
}

/* Returns whether a provider for GPU memory (FI_HMEM) supports CUDA: a libfabric built without it,
 * or without a driver, registers none. The test registers host memory, so providers with support
 * refuse it for another reason. */
static int takes_cuda(struct fi_info *i)
{
    static char memory[4096];
    struct fid_fabric *fabric = NULL;
    struct fid_domain *domain = NULL;
    struct fid_mr *mr = NULL;
    struct iovec iov = {memory, sizeof memory};
    struct fi_mr_attr a = {
        .mr_iov = &iov, .iov_count = 1, .access = FI_READ | FI_WRITE, .iface = FI_HMEM_CUDA};
    int rc = libfabric.fi_fabric(i->fabric_attr, &fabric, NULL);
    if (rc == 0) {
        rc = fi_domain(fabric, i, &domain, NULL);
    }
    int takes = 0;
    if (rc == 0) {
        rc = fi_mr_regattr(domain, &a, 0, &mr);
        takes = rc != -FI_ENOSYS;
    }
    if (mr && rc == 0) {
        (void)fi_close(&mr->fid);
    }
    if (domain) {
        (void)fi_close(&domain->fid);
    }
    if (fabric) {
        (void)fi_close(&fabric->fid);
    }
    return takes;
}

/* Returns whether a list separated by commas has a name. */
static int listed(const char *list, const char *name, size_t n)
{
    for (const char *at = strstr(list, name); at; at = strstr(at + n, name)) {
        if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ',')) {
            return 1;
        }
    }
    return 0;
}

/* Writes the names of usable providers, separated by commas. */
static void names(uint64_t reach, char *buf, size_t cap)
{
    struct fi_info *list;
    size_t at = 0;
    buf[0] = 0;
    if (ask(demand(NULL, reach), &list) < 0) {
        return;
    }
    for (struct fi_info *i = list; i; i = i->next) {
        const char *name = i->fabric_attr->prov_name;
        size_t n = strlen(name);
        if (!listed(buf, name, n) && at + n + 2 < cap && (!(reach & FI_HMEM) || takes_cuda(i))) {
            at += (size_t)snprintf(buf + at, cap - at, "%s%s", at ? "," : "", name);
        }
    }
    libfabric.fi_freeinfo(list);
}

static int none(struct weir_rank *r, const char *provider, uint64_t reach)
{
    char have[256], filter[96] = "";
    struct fi_info *list;
    const char *env = getenv("FI_PROVIDER"),
               *where = r->cfg.one_host ? "on this host" : "between hosts";
    if (*provider && ask(demand(provider, reach), &list) == 0) {
        libfabric.fi_freeinfo(list);
        return rank_fail(r, -EOPNOTSUPP, "fi_getinfo", -1,
                         "provider %s neither completes writes on delivery (FI_DELIVERY_COMPLETE) "
                         "nor fences or orders reads after them, so delivery cannot be confirmed",
                         provider);
    }
    names(reach, have, sizeof have);
    if (env && *env) {
        snprintf(filter, sizeof filter, "; FI_PROVIDER=%.60s allows no others", env);
    }
    return rank_fail(r, -ENODEV, "fi_getinfo", -1,
                     "no provider%s%s can write and read remote memory%s %s; %s%s%s",
                     *provider ? " named " : "", provider,
                     reach & FI_HMEM ? " of GPUs (FI_HMEM)" : "", where,
                     *have ? "there are: " : "there are none", have, filter);
}

/* Lists what is offered for one delivery method; the caller frees the list. Returns 0 or the
 * library's error. */
static int offers(const char *provider, uint64_t reach, enum libfabric_delivery way,
                  struct fi_info **list)
{
    struct fi_info *h = demand(provider, reach);
    if (h) {
        demand_delivery(h, way);
    }
    return ask(h, list);
}

struct fi_info *libfabric_choose(struct weir_rank *r, enum libfabric_delivery *way)
{
    char provider[WEIR_TEXT] = ""; /* empty: libfabric chooses */
    /* FI_LOCAL_COMM is not requested: provider shm does not claim it */
    uint64_t reach = (r->cfg.one_host ? 0 : FI_REMOTE_COMM) |
                     (memory_is_gpus(r->cfg.source) || memory_is_gpus(r->cfg.sink) ? FI_HMEM : 0);
    if (option_copy(r, "provider", provider, sizeof provider) < 0) {
        return NULL;
    }
    for (*way = 0; *way < DELIVERY_WAYS; ++*way) {
        struct fi_info *list;
        if (!(libfabric_ways & 1u << *way)) {
            continue;
        }
        int rc = offers(provider, reach, *way, &list);
        if (rc < 0 && rc != -FI_ENODATA) {
            rank_fail(r, rc, "fi_getinfo", -1, "%s", libfabric.fi_strerror(-rc));
            return NULL;
        }
        if (rc < 0) {
            continue;
        }
        struct fi_info *mine = first_fit(r, list, *way);
        libfabric.fi_freeinfo(list);
        if (mine) {
            return mine;
        }
    }
    none(r, provider, reach);
    return NULL;
}

/* Software providers offer RMA too; only those that drive a card report a NIC. */
static enum weir_carrier_use rma_carrier(const struct fid_nic *nic)
{
    int down = nic && nic->link_attr && nic->link_attr->state == FI_LINK_DOWN;
    return nic && !down ? CARRIES_DATA : CARRIES_EMULATED;
}

static void probe_paths(char *list)
{
    for (enum libfabric_delivery way = 0; way < DELIVERY_WAYS; way++) {
        struct fi_info *all;
        if (offers(NULL, FI_REMOTE_COMM, way, &all) < 0) {
            continue;
        }
        for (const struct fi_info *i = all; i; i = i->next) {
            const char *device = i->nic && i->nic->device_attr && i->nic->device_attr->name
                                     ? i->nic->device_attr->name
                                     : i->domain_attr->name;
            if (fits(i, 0, way)) {
                carrier_add(list, rma_carrier(i->nic), i->fabric_attr->prov_name,
                            device ? device : "");
            }
        }
        libfabric.fi_freeinfo(all);
    }
}

void libfabric_probe(struct weir_info *out)
{
    char have[sizeof out->details - 16];
    if (libfabric_load(out->reason, sizeof out->reason) < 0) {
        return;
    }
    uint32_t v = libfabric.fi_version();
    snprintf(out->version, sizeof out->version, "%u.%u", FI_MAJOR(v), FI_MINOR(v));
    names(0, have, sizeof have);
    if (!*have) {
        snprintf(out->reason, sizeof out->reason,
                 "libfabric %s has no provider here that can write and read remote memory "
                 "(FI_EP_RDM with FI_RMA)",
                 out->version);
        return;
    }
    char vram[sizeof have];
    names(memory_is_gpus(weir_mem_vram(VRAM_DEVICE)) ? FI_HMEM : 0, vram, sizeof vram);
    const char *all = "yes\nproviders with vram=",
               *none = "no provider here takes memory of CUDA (FI_HMEM)";
    snprintf(out->details, sizeof out->details, "providers=%.230s\nvram=%s%.200s\n", have,
             *vram ? all : none, vram);
    out->available = 1;
    probe_paths(out->paths);
}
#endif
