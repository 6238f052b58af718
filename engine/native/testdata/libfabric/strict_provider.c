/* A libfabric provider for tests that requires everything that network cards require and the
 * providers of a plain host do not: registered local buffers (FI_MR_LOCAL), keys chosen by the
 * provider and longer than a word (FI_MR_PROV_KEY, FI_MR_RAW), virtual addresses, memory bound to
 * an endpoint before use, a context that it writes to, short operations, a full queue every other
 * time (injected ones find room), no confirmation of delivery, and with STRICT_LOCKS a limit on
 * locked memory. Violations return an error; bytes travel by a provider of the library. With
 * STRICT_KEYS=plain it requires neither FI_MR_RAW nor virtual addresses. libfabric loads it from
 * FI_PROVIDER_PATH as lib*-fi.so. One user thread at a time per endpoint; its tables are locked. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/providers/fi_prov.h>

#define MAX_MESSAGE 100000
#define QUEUE 64
#define MAGIC 0x7374726963746b79u
#define ALWAYS (FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)
#define MAX_MAPPED 4096

struct raw_key {
    uint64_t magic, key, base;
};

struct strict_mr {
    struct fid_mr     mr; /* first */
    struct fid_mr    *real;
    struct fid       *domain, *ep;
    char             *base;
    size_t            len;
    uint64_t          access, key;
    struct strict_mr *next;
};

static pthread_mutex_t   lock = PTHREAD_MUTEX_INITIALIZER;
static struct strict_mr *all; /* closed registrations stay in it, without their real one */
static struct raw_key    mapped[MAX_MAPPED];
static size_t            nmapped;
static uint64_t          next_key = 0x5eed00;

/* The tables of the carrying provider: one of each kind for all its objects. */
static const struct fi_ops_fabric *real_fabric;
static const struct fi_ops_domain *real_domain;
static const struct fi_ops        *real_domain_fid;
static const struct fi_ops_mr     *real_mr;
static const struct fi_ops_rma    *real_rma;

static int plain(void)
{
    const char *keys = getenv("STRICT_KEYS");
    return keys && !strcmp(keys, "plain");
}

static int modes(void) { return plain() ? ALWAYS : ALWAYS | FI_MR_RAW | FI_MR_VIRT_ADDR; }

static int broken(const char *rule)
{
    fprintf(stderr, "strict provider: %s\n", rule);
    return -FI_EINVAL;
}

/* ---- memory ---- */

static int mr_close(struct fid *fid)
{
    struct strict_mr *m  = (struct strict_mr *)fid;
    int               rc = m->real ? fi_close(&m->real->fid) : 0;
    pthread_mutex_lock(&lock);
    m->real = NULL;
    pthread_mutex_unlock(&lock);
    return rc;
}

static int mr_bind(struct fid *fid, struct fid *ep, uint64_t flags)
{
    if (flags || ep->fclass != FI_CLASS_EP)
        return broken("memory is bound to something that is no endpoint");
    ((struct strict_mr *)fid)->ep = ep;
    return 0;
}

static int mr_enable(struct strict_mr *m)
{
    if (!m->ep)
        return broken("memory is enabled before it is bound");
    if (m->real)
        return broken("memory is enabled twice");
    return real_mr->reg(m->domain, m->base, m->len, m->access, 0, m->key, 0, &m->real, NULL);
}

static int mr_raw(const struct strict_mr *m, struct fi_mr_raw_attr *a)
{
    struct raw_key raw = {MAGIC, m->key, (uint64_t)(uintptr_t)m->base};
    if (plain())
        return -FI_ENOSYS;
    size_t room  = *a->key_size;
    *a->key_size = sizeof raw;
    if (room < sizeof raw)
        return -FI_ETOOSMALL;
    memcpy(a->raw_key, &raw, sizeof raw);
    *a->base_addr = raw.base;
    return 0;
}

static int mr_control(struct fid *fid, int command, void *arg)
{
    struct strict_mr *m = (struct strict_mr *)fid;
    switch (command) {
    case FI_ENABLE:
        return mr_enable(m);
    case FI_GET_RAW_MR:
        return mr_raw(m, arg);
    default:
        return -FI_ENOSYS;
    }
}

static struct fi_ops mr_ops = {.size = sizeof(struct fi_ops), .close = mr_close, .bind = mr_bind,
                               .control = mr_control};

static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                  uint64_t requested_key, uint64_t flags, struct fid_mr **mr, void *context)
{
    struct rlimit lim;
    (void)requested_key; /* keys are chosen here */
    if (offset || flags)
        return broken("an offset or flags that nobody defined");
    /* as the kernel does for a driver, within the process's limit */
    if (getrlimit(RLIMIT_MEMLOCK, &lim) == 0 && getenv("STRICT_LOCKS") && len > lim.rlim_cur)
        return -FI_ENOMEM;
    struct strict_mr *m = calloc(1, sizeof *m);
    if (!m)
        return -FI_ENOMEM;
    m->mr.fid      = (struct fid){.fclass = FI_CLASS_MR, .context = context, .ops = &mr_ops};
    m->mr.mem_desc = m;
    m->domain = fid, m->base = (char *)buf, m->len = len, m->access = access;
    pthread_mutex_lock(&lock);
    m->key    = next_key++;
    m->mr.key = plain() ? m->key : FI_KEY_NOTAVAIL;
    m->next   = all;
    all       = m;
    pthread_mutex_unlock(&lock);
    *mr = &m->mr;
    return 0;
}

static struct fi_ops_mr strict_mr = {.size = sizeof(struct fi_ops_mr), .reg = mr_reg};

static int map_raw(const struct fi_mr_map_raw *m)
{
    struct raw_key raw;
    if (m->key_size != sizeof raw)
        return broken("a raw key of another length");
    memcpy(&raw, m->raw_key, sizeof raw);
    if (raw.magic != MAGIC || raw.base != m->base_addr)
        return broken("a raw key or its base that was never given out");
    pthread_mutex_lock(&lock);
    size_t i = nmapped < MAX_MAPPED ? nmapped++ : MAX_MAPPED;
    if (i < MAX_MAPPED)
        mapped[i] = raw;
    pthread_mutex_unlock(&lock);
    *m->key = MAGIC + i;
    return i < MAX_MAPPED ? 0 : -FI_ENOSPC;
}

static int domain_control(struct fid *fid, int command, void *arg)
{
    if (command == FI_MAP_RAW_MR)
        return plain() ? -FI_ENOSYS : map_raw(arg);
    return real_domain_fid->control ? real_domain_fid->control(fid, command, arg) : -FI_ENOSYS;
}

/* ---- operations ---- */

/* Translates the target's address and key for the underlying provider. */
static int translate(uint64_t *addr, uint64_t *key)
{
    if (plain())
        return 0;
    uint64_t i = *key - MAGIC;
    if (i >= nmapped)
        return broken("a key that was not mapped");
    if (*addr < mapped[i].base)
        return broken("an address that is not virtual");
    *addr -= mapped[i].base;
    *key = mapped[i].key;
    return 0;
}

static int local(const void *buf, size_t len, const void *desc)
{
    const char *p = buf;
    pthread_mutex_lock(&lock);
    const struct strict_mr *m = all;
    while (m && m != desc)
        m = m->next;
    int enabled = m && m->real, inside = m && p >= m->base && p + len <= m->base + m->len;
    pthread_mutex_unlock(&lock);
    if (!m)
        return broken("a local buffer without the descriptor of its registration");
    if (!enabled)
        return broken("a local buffer whose registration is not enabled");
    return inside ? 0 : broken("a local buffer outside of its registration");
}

/* Checks common to all operations; -FI_EAGAIN every other time, before any effect. */
static int admit(const void *buf, size_t len, const void *desc, void *context, uint64_t *addr,
                 uint64_t *key)
{
    static __thread unsigned turn;
    int                      rc;
    if (len > MAX_MESSAGE)
        return broken("an operation longer than max_msg_size");
    if (!context)
        return broken("an operation without a context");
    if (turn++ % 2 == 0)
        return -FI_EAGAIN;
    /* owned by the provider while the operation runs */
    memset(context, 0xee, sizeof(struct fi_context2));
    if ((rc = local(buf, len, desc)) < 0)
        return rc;
    return translate(addr, key);
}

static ssize_t do_write(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                        uint64_t addr, uint64_t key, void *context)
{
    int rc = admit(buf, len, desc, context, &addr, &key);
    return rc < 0 ? rc : real_rma->write(ep, buf, len, NULL, to, addr, key, context);
}

static ssize_t do_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                       uint64_t addr, uint64_t key, void *context)
{
    int rc = admit(buf, len, desc, context, &addr, &key);
    return rc < 0 ? rc : real_rma->read(ep, buf, len, NULL, from, addr, key, context);
}

static ssize_t message(struct fid_ep *ep, const struct fi_msg_rma *given, uint64_t flags,
                       ssize_t (*real)(struct fid_ep *, const struct fi_msg_rma *, uint64_t))
{
    if (given->iov_count != 1 || given->rma_iov_count != 1 ||
        given->msg_iov->iov_len != given->rma_iov->len)
        return broken("a message of several parts, or of two lengths");
    if (flags & (FI_DELIVERY_COMPLETE | FI_FENCE))
        return broken("a promise that was not given");
    struct fi_rma_iov remote = *given->rma_iov;
    struct fi_msg_rma m      = *given;
    int rc = admit(given->msg_iov->iov_base, given->msg_iov->iov_len,
                   given->desc ? *given->desc : NULL, given->context, &remote.addr, &remote.key);
    if (rc < 0)
        return rc;
    m.rma_iov = &remote;
    m.desc    = NULL;
    return real(ep, &m, flags);
}

static ssize_t do_writemsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    return message(ep, m, flags, real_rma->writemsg);
}
static ssize_t do_readmsg(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    return message(ep, m, flags, real_rma->readmsg);
}

static ssize_t do_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
                             fi_addr_t to, uint64_t addr, uint64_t key)
{
    int rc = translate(&addr, &key);
    return rc < 0 ? rc : real_rma->injectdata(ep, buf, len, data, to, addr, key);
}

static struct fi_ops_rma strict_rma = {.size = sizeof(struct fi_ops_rma), .read = do_read,
                                       .readmsg = do_readmsg, .write = do_write,
                                       .writemsg = do_writemsg, .injectdata = do_injectdata};

/* ---- opening ---- */

/* The underlying provider: net became tcp in 1.18. */
static const char *carrier(void)
{
    return FI_VERSION_LT(fi_version(), FI_VERSION(1, 18)) ? "net" : "tcp";
}

/* What the underlying provider sees: its own name, without the extra requirements. */
static struct fi_info *underneath(const struct fi_info *info)
{
    struct fi_info *i = fi_dupinfo(info);
    if (!i)
        return NULL;
    free(i->fabric_attr->prov_name);
    i->fabric_attr->prov_name = strdup(carrier());
    i->domain_attr->mr_mode   = 0;
    i->nic                    = NULL;
    i->mode                   = 0;
    return i;
}

static int do_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                       void *context)
{
    /* a connection that the underlying provider makes for itself */
    if (info->ep_attr->type != FI_EP_RDM)
        return real_domain->endpoint(domain, info, ep, context);
    struct fi_info *i  = underneath(info);
    int             rc = i ? real_domain->endpoint(domain, i, ep, context) : -FI_ENOMEM;
    fi_freeinfo(i);
    if (rc == 0) {
        real_rma   = (*ep)->rma;
        (*ep)->rma = &strict_rma;
    }
    return rc;
}

static int do_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                     void *context)
{
    static struct fi_ops_domain domain_ops;
    static struct fi_ops        domain_fid;
    if (!(info->mode & FI_CONTEXT2) || (info->domain_attr->mr_mode & modes()) != modes())
        return broken("a domain without the modes that were asked for");
    struct fi_info *i  = underneath(info);
    int             rc = i ? real_fabric->domain(fabric, i, domain, context) : -FI_ENOMEM;
    fi_freeinfo(i);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&lock);
    if (!real_domain) {
        real_domain = (*domain)->ops, real_domain_fid = (*domain)->fid.ops, real_mr = (*domain)->mr;
        domain_ops = *real_domain, domain_fid = *real_domain_fid;
        domain_ops.endpoint = do_endpoint;
        domain_fid.control  = domain_control;
    }
    pthread_mutex_unlock(&lock);
    (*domain)->ops     = &domain_ops;
    (*domain)->fid.ops = &domain_fid;
    (*domain)->mr      = &strict_mr;
    return 0;
}

static int do_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    static struct fi_ops_fabric fabric_ops;
    struct fi_fabric_attr       real = *attr;
    real.prov_name                   = (char *)carrier();
    int rc                           = fi_fabric(&real, fabric, context);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&lock);
    if (!real_fabric) {
        real_fabric       = (*fabric)->ops;
        fabric_ops        = *real_fabric;
        fabric_ops.domain = do_domain;
    }
    pthread_mutex_unlock(&lock);
    (*fabric)->ops = &fabric_ops;
    return 0;
}

/* ---- the card ---- */

static int card_close(struct fid *fid)
{
    (void)fid;
    return 0;
}

static int card_control(struct fid *fid, int command, void *arg)
{
    if (command != FI_DUP)
        return -FI_ENOSYS;
    *(struct fid_nic **)arg = (struct fid_nic *)fid; /* there is one, and it is constant */
    return 0;
}

/* STRICT_CARD is up or down; unset: no card, like a software provider. */
static struct fid_nic *card(void)
{
    static char                  name[] = "card0";
    static struct fi_ops         ops    = {.size = sizeof ops, .close = card_close,
                                           .control = card_control};
    static struct fi_device_attr device = {.name = name};
    static struct fi_link_attr   link;
    static struct fid_nic        nic = {.fid = {.fclass = FI_CLASS_NIC, .ops = &ops},
                                        .device_attr = &device, .link_attr = &link};
    const char                  *state = getenv("STRICT_CARD");
    if (!state || !*state)
        return NULL;
    link.state = strcmp(state, "up") ? FI_LINK_DOWN : FI_LINK_UP;
    return &nic;
}

static int getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **info)
{
    if (!hints || !hints->domain_attr || (hints->domain_attr->mr_mode & modes()) != modes() ||
        !(hints->mode & FI_CONTEXT2))
        return -FI_ENODATA;
    if (hints->caps & FI_FENCE ||
        (hints->tx_attr && hints->tx_attr->op_flags & FI_DELIVERY_COMPLETE))
        return -FI_ENODATA;
    struct fi_info *h  = underneath(hints);
    int             rc = h ? fi_getinfo(version, node, service, flags, h, info) : -FI_ENOMEM;
    fi_freeinfo(h);
    for (struct fi_info *i = rc ? NULL : *info; i; i = i->next) {
        free(i->fabric_attr->prov_name);
        i->fabric_attr->prov_name      = NULL; /* the library sets the name */
        i->domain_attr->mr_mode        = modes();
        i->mode                        = FI_CONTEXT2;
        i->ep_attr->max_msg_size       = MAX_MESSAGE;
        i->ep_attr->max_order_raw_size = MAX_MESSAGE;
        i->tx_attr->size               = QUEUE;
        i->tx_attr->mode               = FI_CONTEXT2;
        i->nic                         = card();
    }
    return rc;
}

static struct fi_provider provider = {.version = FI_VERSION(1, 0), .fi_version = FI_VERSION(1, 9),
                                      .name = "strict", .getinfo = getinfo, .fabric = do_fabric};

struct fi_provider *fi_prov_ini(void);
struct fi_provider *fi_prov_ini(void)
{
    provider.fi_version = fi_version();
    return &provider;
}
