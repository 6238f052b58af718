/* libfabric: the address of a rank, with the keys of its memory, connecting to the addresses of the
 * other ranks, and leaving them. */
#define _GNU_SOURCE
#include "fab_libfabric.h"

#ifdef WEIR_HAS_LIBFABRIC
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rank.h"

#define KEYS 2 /* of the regions that peers access */
static const enum weir_region_name reached[KEYS] = {REGION_CONTROL, REGION_SINK};

struct blob_key {
    uint64_t base, key;
    uint64_t raw; /* bytes of the raw key, which follows; 0: none */
};

struct blob {
    char provider[64];
    /* address: bytes that follow */
    uint32_t protocol, protocol_version, format, address;
    struct blob_key keys[KEYS];
};

/* Packs the key of a region; a raw key goes to `to`. */
static int pack_key(struct weir_rank *r, enum weir_region_name name, struct blob_key *k, char *to,
                    size_t cap)
{
    struct libfabric_rank *f = r->fs;
    int mode = f->info->domain_attr->mr_mode, rc;
    k->base = mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)r->regions[name].base : 0;
    if (mode & FI_MR_RAW) {
        uint64_t base = k->base;
        if ((rc = fi_mr_raw_attr(f->mr[name], &base, (uint8_t *)to, &cap, 0)) < 0) {
            return libfabric_failed(r, "fi_mr_raw_attr", -1, rc);
        }
        k->base = mode & FI_MR_VIRT_ADDR ? base : 0;
        k->raw = cap;
        return 0;
    }
    k->key = fi_mr_key(f->mr[name]);
    return k->key != FI_KEY_NOTAVAIL
               ? 0
               : rank_fail(r, -EIO, "fi_mr_key", -1,
                           "the provider has no key for the registered memory");
}

static size_t blob_bytes(const struct blob *b)
{
    return sizeof *b + b->address + b->keys[0].raw + b->keys[1].raw;
}

int64_t libfabric_address(struct weir_rank *r, void *buf, size_t cap)
{
    struct libfabric_rank *f = r->fs;
    struct fi_info *i = f->info;
    struct blob b = {.protocol = i->ep_attr->protocol,
                     .protocol_version = i->ep_attr->protocol_version,
                     .format = i->addr_format};
    size_t n = cap - sizeof b;
    int rc;
    if (cap < sizeof b) {
        return rank_fail(r, -ENOBUFS, "address", -1, "%zu bytes are too few for an address", cap);
    }
    if ((rc = fi_getname(&f->ep->fid, (char *)buf + sizeof b, &n)) < 0) {
        return libfabric_failed(r, "fi_getname", -1, rc);
    }
    snprintf(b.provider, sizeof b.provider, "%s", i->fabric_attr->prov_name);
    b.address = (uint32_t)n;
    for (int k = 0; k < KEYS; k++) {
        size_t at = blob_bytes(&b);
        if ((rc = pack_key(r, reached[k], &b.keys[k], (char *)buf + at, cap - at)) < 0) {
            return rc;
        }
    }
    memcpy(buf, &b, sizeof b);
    return (int64_t)blob_bytes(&b);
}

/* Fails unless both ends selected the same; lists may differ between hosts. */
static int same_choice(struct weir_rank *r, int peer, struct blob *b)
{
    const struct fi_info *i = ((struct libfabric_rank *)r->fs)->info;
    b->provider[sizeof b->provider - 1] = 0;
    if (strcmp(b->provider, i->fabric_attr->prov_name)) {
        return rank_fail(r, -EPROTO, "connect", peer,
                         "it chose provider %s and this rank %s; set the option provider",
                         b->provider, i->fabric_attr->prov_name);
    }
    if (b->protocol != i->ep_attr->protocol ||
        b->protocol_version != i->ep_attr->protocol_version || b->format != i->addr_format) {
        return rank_fail(
            r, -EPROTO, "connect", peer,
            "its %s uses protocol %u.%u with addresses of format %u, and this rank's %u.%u with %u",
            b->provider, b->protocol, b->protocol_version, b->format, i->ep_attr->protocol,
            i->ep_attr->protocol_version, i->addr_format);
    }
    return 0;
}

static int take_key(struct weir_rank *r, int peer, const struct blob_key *k, const char *from,
                    struct libfabric_remote_region *out)
{
    uint8_t raw[1024]; /* non-const: the provider may write to it */
    int rc;
    *out = (struct libfabric_remote_region){k->base, k->key};
    if (!k->raw) {
        return 0;
    }
    if (k->raw > sizeof raw) {
        return rank_fail(r, -EPROTO, "connect", peer, "its key has %llu bytes",
                         (unsigned long long)k->raw);
    }
    memcpy(raw, from, k->raw);
    rc =
        fi_mr_map_raw(((struct libfabric_rank *)r->fs)->domain, k->base, raw, k->raw, &out->key, 0);
    return rc < 0 ? libfabric_failed(r, "fi_mr_map_raw", peer, rc) : 0;
}

static int take_address(struct weir_rank *r, int peer, const char *blob, size_t len)
{
    struct libfabric_rank *f = r->fs;
    struct libfabric_peer *p = &f->peers[peer];
    struct blob b;
    int rc;
    if (len < sizeof b) {
        return rank_fail(r, -EPROTO, "connect", peer, "its address has only %zu bytes", len);
    }
    memcpy(&b, blob, sizeof b);
    if (len != blob_bytes(&b)) {
        return rank_fail(r, -EPROTO, "connect", peer, "its address is malformed");
    }
    if ((rc = same_choice(r, peer, &b)) < 0) {
        return rc;
    }
    rc = fi_av_insert(f->av, blob + sizeof b, 1, &p->address, 0, NULL);
    if (rc != 1) {
        return rc < 0 ? libfabric_failed(r, "fi_av_insert", peer, rc)
                      : rank_fail(r, -EADDRNOTAVAIL, "fi_av_insert", peer,
                                  "the provider rejects its address");
    }
    const char *raw = blob + sizeof b + b.address;
    for (int k = 0; k < KEYS; raw += b.keys[k].raw, k++) {
        if ((rc = take_key(r, peer, &b.keys[k], raw, &p->regions[reached[k]])) < 0) {
            return rc;
        }
    }
    return 0;
}

int libfabric_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    int rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = take_address(r, p, blobs[p], lens[p])) < 0) {
                return rc;
            }
        }
    }
    return libfabric_connect_peers(r);
}

int libfabric_leave(struct weir_rank *r, int peer)
{
    struct libfabric_rank *f = r->fs;
    struct libfabric_peer *p = &f->peers[peer];
    int rc = fi_av_remove(f->av, &p->address, 1, 0);
    if (rc < 0) {
        return libfabric_failed(r, "fi_av_remove", peer, rc);
    }
    for (int k = 0; k < KEYS && f->info->domain_attr->mr_mode & FI_MR_RAW; k++) {
        if ((rc = fi_mr_unmap_key(f->domain, p->regions[reached[k]].key)) < 0) {
            return libfabric_failed(r, "fi_mr_unmap_key", peer, rc);
        }
    }
    memset(p, 0, sizeof *p);
    return 0;
}

/* Closes all objects in the order in which the provider allows it. */
#endif
