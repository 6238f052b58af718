/* libfabric: loading it, and choosing one of its providers by what it can do. No
 * provider is named here. */
#define _GNU_SOURCE
#include "libfabric.h"

#ifdef WEIR_HAS_LIBFABRIC
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dl.h"
#include "options.h"
#include "rank.h"

/* Of the interface that is asked for, whatever the library's own version. */
#define API FI_VERSION(1, 9)
/* What of registration is handled: see libfabric_attach and libfabric_connect. */
#define MR_MODES \
    (FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)
#define CQ_DATA_BYTES 4 /* that travel with a write and tell the target who wrote, and why */

struct libfabric_api libfabric;
#ifdef WEIR_TEST
unsigned libfabric_ways = LIBFABRIC_ALL_WAYS;
size_t   libfabric_piece;
int64_t  libfabric_listening = LIBFABRIC_LISTENING;
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
    if (loaded)
        return 0;
    lib = dl_open((const char *const[]){"libfabric.so.1", NULL}, why, cap);
    if (!lib)
        return -ENOENT;
#define FILL(f, version)                                                                        \
    if (!(libfabric.f = (__typeof__(f) *)dl_versioned(lib, #f, version))) {                     \
        snprintf(why, cap, "libfabric.so.1 has no %s of %s: weir needs libfabric 1.9 or newer", \
                 #f, version);                                                                  \
        return -ENOSYS;                                                                         \
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
    if (!h)
        return NULL;
    h->caps                      = FI_RMA | reach;
    h->mode                      = FI_CONTEXT | FI_CONTEXT2;
    h->ep_attr->type             = FI_EP_RDM;
    h->domain_attr->mr_mode      = MR_MODES | (reach & FI_HMEM ? FI_MR_HMEM : 0);
    h->domain_attr->threading    = FI_THREAD_DOMAIN; /* a rank has one thread and one domain */
    h->domain_attr->cq_data_size = CQ_DATA_BYTES;
    if (provider && *provider && !(h->fabric_attr->prov_name = strdup(provider))) {
        libfabric.fi_freeinfo(h);
        return NULL;
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

/* The list for a demand, which is freed; 0 or the library's error. */
static int ask(struct fi_info *h, struct fi_info **list)
{
    struct dl_handlers handlers;
    *list = NULL;
    if (!h)
        return -FI_ENOMEM;
    pthread_mutex_lock(&lock);
    /* providers initialise in the first call, and some install handlers */
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
               i->addr_format != FI_SOCKADDR))
        return 0;
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
    if (a->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
    return 0;
}

/* Whether what it offers is of use. */
static int fits(const struct fi_info *i, int one_host, enum libfabric_delivery way)
{
    if (!one_host && loopback(i))
        return 0;
    /* else it names the order, and keeps it for no size */
    return way != DELIVERY_ORDER || i->ep_attr->max_order_raw_size;
}

/* What the same provider offers on loopback, or the same: ranks of one host need no port that
 * others can reach. */
static const struct fi_info *unreachable(const struct fi_info *i, const struct fi_info *list,
                                         enum libfabric_delivery way)
{
    for (const struct fi_info *other = list; other; other = other->next)
        if (loopback(other) && fits(other, 1, way) && other->addr_format == i->addr_format &&
            strcmp(other->fabric_attr->prov_name, i->fabric_attr->prov_name) == 0)
            return other;
    return i;
}

/* The first that is of use to this rank: libfabric's order is its preference. */
static struct fi_info *first_fit(struct weir_rank *r, const struct fi_info *list,
                                 enum libfabric_delivery way)
{
    for (const struct fi_info *i = list; i; i = i->next) {
        if (!fits(i, r->cfg.one_host, way))
            continue;
        struct fi_info *mine =
            libfabric.fi_dupinfo(r->cfg.one_host ? unreachable(i, list, way) : i);
        if (mine && way == DELIVERY_COMPLETION)
            /* granted: the default of what is posted */
            mine->tx_attr->op_flags |= FI_DELIVERY_COMPLETE;
        return mine;
    }
    return NULL;
}

/* Whether a provider that takes memory of GPUs (FI_HMEM) takes that of CUDA: a libfabric that was
 * built without, or finds no driver, registers none. What is registered here is no such memory, so
 * that the others refuse it for another reason. */
static int takes_cuda(struct fi_info *i)
{
    static char        memory[4096];
    struct fid_fabric *fabric = NULL;
    struct fid_domain *domain = NULL;
    struct fid_mr     *mr     = NULL;
    struct iovec       whole  = {memory, sizeof memory};
    struct fi_mr_attr  a      = {.mr_iov = &whole, .iov_count = 1, .access = FI_READ | FI_WRITE,
                                 .iface = FI_HMEM_CUDA};
    int rc = libfabric.fi_fabric(i->fabric_attr, &fabric, NULL);
    if (rc == 0)
        rc = fi_domain(fabric, i, &domain, NULL);
    int takes = rc == 0 && (rc = fi_mr_regattr(domain, &a, 0, &mr)) != -FI_ENOSYS;
    if (mr && rc == 0)
        (void)fi_close(&mr->fid);
    if (domain)
        (void)fi_close(&domain->fid);
    if (fabric)
        (void)fi_close(&fabric->fid);
    return takes;
}

/* Providers that could be used here by name, separated by commas. */
static void names(uint64_t reach, char *buf, size_t cap)
{
    struct fi_info *list;
    size_t          at = 0;
    buf[0] = 0;
    if (ask(demand(NULL, reach), &list) < 0)
        return;
    for (struct fi_info *i = list; i; i = i->next) {
        const char *name = i->fabric_attr->prov_name, *seen = buf;
        size_t      n = strlen(name);
        while ((seen = strstr(seen, name)) &&
               ((seen > buf && seen[-1] != ',') || (seen[n] && seen[n] != ',')))
            seen += n;
        if (!seen && at + n + 2 < cap && (!(reach & FI_HMEM) || takes_cuda(i)))
            at += (size_t)snprintf(buf + at, cap - at, "%s%s", at ? "," : "", name);
    }
    libfabric.fi_freeinfo(list);
}

static int none(struct weir_rank *r, const char *provider, uint64_t reach)
{
    char            have[256], filter[96] = "";
    struct fi_info *list;
    const char *env = getenv("FI_PROVIDER"),
               *where = r->cfg.one_host ? "on this host" : "between hosts";
    if (*provider && ask(demand(provider, reach), &list) == 0) {
        libfabric.fi_freeinfo(list);
        return rank_fail(
            r, -EOPNOTSUPP, "fi_getinfo", -1,
            "provider %s neither completes writes on delivery (FI_DELIVERY_COMPLETE) nor fences or orders a read after them, so when they are in the target's memory cannot be known",
            provider);
    }
    names(reach, have, sizeof have);
    if (env && *env)
        snprintf(filter, sizeof filter, "; FI_PROVIDER=%.60s allows no others", env);
    return rank_fail(r, -ENODEV, "fi_getinfo", -1,
                     "no provider%s%s can write and read remote memory%s %s; %s%s%s",
                     *provider ? " named " : "", provider,
                     reach & FI_HMEM ? " of GPUs (FI_HMEM)" : "", where,
                     *have ? "there are: " : "there are none", have, filter);
}

/* What is offered for one way, the list to be freed; 0 or the library's error. */
static int offers(const char *provider, uint64_t reach, enum libfabric_delivery way,
                  struct fi_info **list)
{
    struct fi_info *h = demand(provider, reach);
    if (h)
        demand_delivery(h, way);
    return ask(h, list);
}

struct fi_info *libfabric_choose(struct weir_rank *r, enum libfabric_delivery *way)
{
    char     provider[WEIR_TEXT] = ""; /* none: libfabric chooses */
    /* FI_LOCAL_COMM is not asked for: shm does not claim it */
    uint64_t reach = (r->cfg.one_host ? 0 : FI_REMOTE_COMM) |
                     (r->cfg.source->gpu || r->cfg.sink->gpu ? FI_HMEM : 0);
    if (option_copy(r, "provider", provider, sizeof provider) < 0)
        return NULL;
    for (*way = 0; *way < DELIVERY_WAYS; ++*way) {
        struct fi_info *list;
        if (!(libfabric_ways & 1u << *way))
            continue;
        int rc = offers(provider, reach, *way, &list);
        if (rc < 0 && rc != -FI_ENODATA) {
            rank_fail(r, rc, "fi_getinfo", -1, "%s", libfabric.fi_strerror(-rc));
            return NULL;
        }
        if (rc < 0)
            continue;
        struct fi_info *mine = first_fit(r, list, *way);
        libfabric.fi_freeinfo(list);
        if (mine)
            return mine;
    }
    none(r, provider, reach);
    return NULL;
}

/* Providers of software offer writes to remote memory too; only one that drives a card
 * tells of it. */
static enum weir_carrier_use who_writes(const struct fid_nic *nic)
{
    int down = nic && nic->link_attr && nic->link_attr->state == FI_LINK_DOWN;
    return nic && !down ? CARRIES_DATA : CARRIES_EMULATED;
}

static void probe_paths(char *list)
{
    for (enum libfabric_delivery way = 0; way < DELIVERY_WAYS; way++) {
        struct fi_info *all;
        if (offers(NULL, FI_REMOTE_COMM, way, &all) < 0)
            continue;
        for (const struct fi_info *i = all; i; i = i->next) {
            const char *device = i->nic && i->nic->device_attr && i->nic->device_attr->name
                                     ? i->nic->device_attr->name
                                     : i->domain_attr->name;
            if (fits(i, 0, way))
                carrier_add(list, who_writes(i->nic), i->fabric_attr->prov_name,
                            device ? device : "");
        }
        libfabric.fi_freeinfo(all);
    }
}

void libfabric_probe(struct weir_info *out)
{
    char have[sizeof out->details - 16];
    if (libfabric_load(out->reason, sizeof out->reason) < 0)
        return;
    uint32_t v = libfabric.fi_version();
    snprintf(out->version, sizeof out->version, "%u.%u", FI_MAJOR(v), FI_MINOR(v));
    names(0, have, sizeof have);
    if (!*have) {
        snprintf(
            out->reason, sizeof out->reason,
            "libfabric %s has no provider here that can write and read remote memory (FI_EP_RDM with FI_RMA)",
            out->version);
        return;
    }
    char vram[sizeof have];
    names(FI_HMEM, vram, sizeof vram);
    const char *all = "yes\nproviders with vram=",
               *none = "no provider here takes memory of CUDA (FI_HMEM)";
    snprintf(out->details, sizeof out->details, "providers=%.230s\nvram=%s%.200s\n", have,
             *vram ? all : none, vram);
    out->available = 1;
    probe_paths(out->paths);
}
#endif
