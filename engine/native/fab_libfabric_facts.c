/* libfabric: what the library says of the selected provider once a rank is connected: transport,
 * facts and settings. */
#include "fab_libfabric.h"

#ifdef WEIR_HAS_LIBFABRIC
#include <stdio.h>
#include <string.h>

#include "fab_libfabric_settings.h"
#include "rank.h"

static int has_gpu(struct weir_rank *r) { return r->cfg.source->gpu || r->cfg.sink->gpu; }

/* Returns whether the NIC accesses GPU memory directly, as the endpoint reports. */
static const char *peer_to_peer(struct libfabric_rank *f)
{
    static const char *const words[] = {[FI_HMEM_P2P_ENABLED] = "enabled",
                                        [FI_HMEM_P2P_REQUIRED] = "required",
                                        [FI_HMEM_P2P_PREFERRED] = "preferred",
                                        [FI_HMEM_P2P_DISABLED] = "disabled"};
    int is = -1;
    size_t n = sizeof is;
    if (fi_getopt(&f->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &is, &n) < 0 || is < 0 ||
        (size_t)is >= sizeof words / sizeof *words) {
        return NULL; /* not reported */
    }
    return words[is];
}

void libfabric_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    (void)peer; /* one endpoint reaches all */
    struct libfabric_rank *f = r->fs;
    struct fi_info *i = f->info;
    uint32_t v = libfabric.fi_version();
    size_t at = (size_t)snprintf(buf, cap, "libfabric/%s (%u.%u", i->fabric_attr->prov_name,
                                 FI_MAJOR(v), FI_MINOR(v));
    if (at < cap) { /* fi_tostr has one static buffer: call it separately */
        at += (size_t)snprintf(buf + at, cap - at, "; %s",
                               libfabric.fi_tostr(&i->ep_attr->protocol, FI_TYPE_PROTOCOL));
    }
    if (at < cap) {
        at += (size_t)snprintf(buf + at, cap - at, "; %s",
                               libfabric.fi_tostr(&i->addr_format, FI_TYPE_ADDR_FORMAT));
    }
    if (at < cap) {
        at += (size_t)snprintf(buf + at, cap - at, "; %s; %s", i->domain_attr->name,
                               libfabric_delivery_words[f->delivery]);
    }
    const char *p2p = has_gpu(r) ? peer_to_peer(f) : "";
    if (at < cap) {
        snprintf(buf + at, cap - at, "%s%s)", has_gpu(r) ? "; hmem_p2p " : "",
                 p2p ? p2p : "unknown");
    }
}

static void add_number(char *list, enum weir_carrier_use use, const char *name, size_t value)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", value);
    carrier_state(list, use, name, number);
}

/* Adds what the provider wants of registered memory, as "local,virt_addr". */
static void add_mr_mode(char *list, int mode)
{
    static const struct {
        int bit;
        const char *word;
    } modes[] = {{FI_MR_LOCAL, "local"},
                 {FI_MR_VIRT_ADDR, "virt_addr"},
                 {FI_MR_ALLOCATED, "allocated"},
                 {FI_MR_PROV_KEY, "prov_key"},
                 {FI_MR_RAW, "raw"},
                 {FI_MR_HMEM, "hmem"},
                 {FI_MR_ENDPOINT, "endpoint"},
                 {FI_MR_MMU_NOTIFY, "mmu_notify"},
                 {FI_MR_RMA_EVENT, "rma_event"}};
    char text[96] = "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (mode & modes[i].bit) {
            size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s%s", at ? "," : "", modes[i].word);
        }
    }
    carrier_state(list, PROVIDER_SETTING, "mr_mode", *text ? text : "none");
}

/* Adds the library's variables as it has read them: as set, or the default that it states. */
static void add_variables(char *list, const char *provider)
{
    int count;
    struct fi_param *all = libfabric_params(&count);
    for (int i = 0; i < count; i++) {
        const struct fi_param *p = &all[i];
        char text[64];
        if (strncmp(p->name, "FI_", 3) || !libfabric_concerns(p->name, provider)) {
            continue;
        }
        if (p->value) {
            carrier_state(list, PROVIDER_SETTING, p->name, p->value);
        } else if (p->help_string && libfabric_stated_default(p->help_string, text, sizeof text)) {
            carrier_state(list, PROVIDER_SETTING, p->name, text);
        }
    }
    libfabric_params_free(all);
}

void libfabric_carriers(struct weir_rank *r, int peer, char *list)
{
    struct libfabric_rank *f = r->fs;
    const struct fi_info *i = f->info;
    carrier_add(list, CARRIES_DATA, i->fabric_attr->prov_name,
                i->domain_attr->name ? i->domain_attr->name : "");
    if (strstr(list, "\nf tx_size/")) { /* one endpoint reaches all: another peer's call */
        return;
    }
    add_number(list, PROVIDER_FACT, "tx_size", i->tx_attr->size);
    add_number(list, PROVIDER_FACT, "rx_size", i->rx_attr->size);
    add_number(list, PROVIDER_FACT, "cq_size", libfabric_events(r, f));
    const char *p2p = has_gpu(r) ? peer_to_peer(f) : NULL;
    if (p2p) {
        carrier_state(list, PROVIDER_FACT, "hmem_p2p", p2p);
    }
    add_number(list, PROVIDER_SETTING, "inject_size", i->tx_attr->inject_size);
    add_number(list, PROVIDER_SETTING, "max_msg_size", i->ep_attr->max_msg_size);
    add_number(list, PROVIDER_SETTING, "cq_cnt", i->domain_attr->cq_cnt);
    add_number(list, PROVIDER_SETTING, "mr_cnt", i->domain_attr->mr_cnt);
    add_mr_mode(list, i->domain_attr->mr_mode);
    add_variables(list, i->fabric_attr->prov_name);
}
#endif
