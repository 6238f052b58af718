/* UCX: addresses, connecting, waiting, and the selected transports. */
#define _GNU_SOURCE
#include "fabric_carriers.h"
#include "loop.h"
#include "fab_ucx.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEYS 2 /* api rma: of the regions that peers access */
static const enum weir_region_name reached[KEYS] = {REGION_CONTROL, REGION_SINK};

struct blob {
    char version[16], api[16];
    uint64_t bases[KEYS];
    uint32_t address, rkeys[KEYS]; /* lengths of what follows */
};

int ucx_failed(struct weir_rank *r, const char *op, int peer, ucs_status_t s)
{
    return rank_fail(r, s < 0 ? (int)s : -EIO, op, peer, "%s", ucx.ucs_status_string(s));
}

static int uses_rma(const struct ucx_rank *u) { return (u->api->features & UCP_FEATURE_RMA) != 0; }

/* Packs the keys of the regions one after the other. */
static int pack_keys(struct weir_rank *r, struct blob *b, char *to, size_t cap)
{
    struct ucx_rank *u = r->fs;
    for (int i = 0; i < KEYS; i++) {
        void *rkey;
        size_t n;
        ucs_status_t s = ucx.ucp_rkey_pack(u->context, u->memh[reached[i]], &rkey, &n);
        if (s != UCS_OK) {
            return ucx_failed(r, "ucp_rkey_pack", -1, s);
        }
        if (n > cap) {
            return rank_fail(r, -ENOBUFS, "address", -1, "%zu bytes are too few for a key of %zu",
                             cap, n);
        }
        memcpy(to, rkey, n);
        ucx.ucp_rkey_buffer_release(rkey);
        b->bases[i] = (uint64_t)(uintptr_t)r->regions[reached[i]].base;
        b->rkeys[i] = (uint32_t)n;
        to += n;
        cap -= n;
    }
    return 0;
}

static size_t blob_bytes(const struct blob *b)
{
    return sizeof *b + b->address + b->rkeys[0] + b->rkeys[1];
}

int64_t ucx_address(struct weir_rank *r, void *buf, size_t cap)
{
    struct ucx_rank *u = r->fs;
    ucp_address_t *address;
    size_t n;
    struct blob b = {.address = 0};
    ucs_status_t s = ucx.ucp_worker_get_address(u->worker, &address, &n);
    int rc;
    if (s != UCS_OK) {
        return ucx_failed(r, "ucp_worker_get_address", -1, s);
    }
    if (sizeof b + n > cap) {
        return rank_fail(r, -ENOBUFS, "address", -1, "%zu bytes are too few for an address of %zu",
                         cap, sizeof b + n);
    }
    memcpy((char *)buf + sizeof b, address, n);
    ucx.ucp_worker_release_address(u->worker, address);
    b.address = (uint32_t)n;
    snprintf(b.version, sizeof b.version, "%s", ucx.ucp_get_version_string());
    snprintf(b.api, sizeof b.api, "%s", u->api->name);
    if (uses_rma(u)) {
        if ((rc = pack_keys(r, &b, (char *)buf + sizeof b + n, cap - sizeof b - n)) < 0) {
            return rc;
        }
    }
    memcpy(buf, &b, sizeof b);
    return (int64_t)blob_bytes(&b);
}

void ucx_broke(struct weir_rank *r, int peer, const char *op, int code, const char *text)
{
    struct weir_err *b = &ucx_of(r)->broken;
    if (b->code) {
        return;
    }
    b->code = code;
    b->peer = peer;
    snprintf(b->op, sizeof b->op, "%s", op);
    snprintf(b->text, sizeof b->text, "%s", text);
}

static inline int after_progress(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    if (u->broken.code) {
        return rank_fail(r, u->broken.code, u->broken.op, u->broken.peer, "%s", u->broken.text);
    }
    /* no peer waits for a reply, and its endpoint may be closed */
    if (r->closing == CLOSES_ALONE) {
        return 0;
    }
    if (u->open && ++u->polls % ucx_probe_after_polls(r) == 0) {
        int rc = ucx_probe_peers(r);
        if (rc < 0) {
            return rc;
        }
    }
    return u->replying ? ucx_send_replies(r) : 0;
}

int ucx_progress(struct weir_rank *r)
{
    ucx.ucp_worker_progress(ucx_of(r)->worker);
    return after_progress(r);
}

/* Called after a poll: events since then are seen by progress, or when the worker is armed, so that
 * none is slept through. */
int ucx_poll(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    unsigned seen = ucx.ucp_worker_progress(u->worker);
    int rc = after_progress(r);
    if (rc < 0 || seen || !r->cfg.sleeps) {
        return rc;
    }
    ucs_status_t s = ucx.ucp_worker_arm(u->worker);
    if (s != UCS_OK) {
        return s == UCS_ERR_BUSY ? 0 : ucx_failed(r, "ucp_worker_arm", -1, s);
    }
    return rank_sleep(r, u->efd);
}

/* Waits for one operation, making progress. */
int ucx_await(struct weir_rank *r, ucs_status_ptr_t p, const char *op, int peer)
{
    int rc;
    if (!UCS_PTR_IS_PTR(p)) {
        return UCS_PTR_STATUS(p) == UCS_OK ? 0 : ucx_failed(r, op, peer, UCS_PTR_STATUS(p));
    }
    ucs_status_t s = ucx.ucp_request_check_status(p);
    while (s == UCS_INPROGRESS) {
        if ((rc = rank_poll_for(r, peer, op)) < 0) {
            return rc; /* a put cannot be cancelled: the process exit frees the request */
        }
        s = ucx.ucp_request_check_status(p);
    }
    ucx.ucp_request_free(p);
    return s == UCS_OK ? 0 : ucx_failed(r, op, peer, s);
}

void ucx_part_ended(struct weir_req *q, ucs_status_t s)
{
    if (s != UCS_OK && q->loop) { /* UCX's error text; a loop has only the code */
        (void)rank_fail(q->loop->r, (int)s, "transfer", q->peer, "%s", ucx.ucs_status_string(s));
    }
    weir_part_done(q, s == UCS_OK ? 0 : (int)s);
}

void ucx_part_done(void *request, ucs_status_t s, void *q)
{
    ucx_part_ended(q, s);
    ucx.ucp_request_free(request);
}

/* Fails unless a peer's address is compatible with this rank. */
static int same_choice(struct weir_rank *r, int peer, struct blob *b)
{
    b->version[sizeof b->version - 1] = 0;
    b->api[sizeof b->api - 1] = 0;
    if (strcmp(b->version, ucx.ucp_get_version_string())) {
        return rank_fail(r, -EPROTO, "connect", peer,
                         "it has UCX %s and this rank %s; different versions are not compatible on "
                         "every transport",
                         b->version, ucx.ucp_get_version_string());
    }
    if (strcmp(b->api, ucx_of(r)->api->name)) {
        return rank_fail(r, -EPROTO, "connect", peer, "it uses api %s and this rank %s", b->api,
                         ucx_of(r)->api->name);
    }
    return 0;
}

/* Requests to a failed peer complete with an error; ranks waiting for its data are notified by the
 * launch. */
static void peer_gone(void *arg, ucp_ep_h ep, ucs_status_t s) { (void)arg, (void)ep, (void)s; }

static int take_address(struct weir_rank *r, int peer, const char *blob, size_t len)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[peer];
    struct blob b;
    ucs_status_t s;
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
    ucp_ep_params_t ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                          .address = (const ucp_address_t *)(blob + sizeof b)};
    if (r->cfg.peers_may_fail) {
        ep.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        ep.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        ep.err_handler.cb = peer_gone;
    }
    s = ucx.ucp_ep_create(u->worker, &ep, &p->ep);
    if (s != UCS_OK) {
        return ucx_failed(r, "ucp_ep_create", peer, s);
    }
    const char *key = blob + sizeof b + b.address;
    for (int i = 0; i < KEYS && uses_rma(u); key += b.rkeys[i], i++) {
        struct ucx_remote_region *there = reached[i] == REGION_SINK ? &p->sink : &p->control;
        s = ucx.ucp_ep_rkey_unpack(p->ep, key, &there->rkey);
        if (s != UCS_OK) {
            return ucx_failed(r, "ucp_ep_rkey_unpack", peer, s);
        }
        there->base = b.bases[i];
    }
    return 0;
}

int ucx_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    struct ucx_rank *u = r->fs;
    ucp_request_param_t none = {0};
    int rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = take_address(r, p, blobs[p], lens[p])) < 0) {
                return rc;
            }
        }
    }
    if ((rc = u->api->connect(r)) < 0) {
        return rc;
    }
    /* wire-up is lazy: complete it before anything is timed */
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (rank_is_peer(r, p)) {
            if ((rc = ucx_await(r, ucx.ucp_ep_flush_nbx(u->peers[p].ep, &none), "wire-up", p)) <
                0) {
                return rc;
            }
        }
    }
    return 0;
}

char *ucx_lanes(ucp_ep_h ep)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return NULL;
    }
    ucx.ucp_ep_print_info(ep, f);
    fclose(f);
    return text;
}

/* Copies the lanes from the library's output: "lane[0]: 5:posix/memory.0 …". */
void ucx_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    struct ucx_rank *u = r->fs;
    char *text = ucx_lanes(u->peers[peer].ep), *save = NULL;
    size_t at = (size_t)snprintf(buf, cap, "ucx/%s %s (", u->api->name,
                                 ucx.ucp_get_version_string()),
           begin = at;
    if (!text) {
        return;
    }
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *lane = strstr(line, "lane["), *colon = lane ? strchr(lane, ']') : NULL, name[64];
        int md;
        if (!colon || sscanf(colon, "]: %d:%63s", &md, name) != 2 || at + strlen(name) + 4 > cap) {
            continue;
        }
        if (!strstr(buf + begin, name)) {
            at += (size_t)snprintf(buf + at, cap - at, "%s%s", at > begin ? ", " : "", name);
        }
    }
    free(text);
    snprintf(buf + at, cap - at, ")");
}

/* Protocols v2: 1.16 and later, unless UCX_PROTO_ENABLE chooses. */
int ucx_second_protocols(void)
{
    const char *set = getenv("UCX_PROTO_ENABLE");
    unsigned major = 0, minor = 0;
    if (set && *set) {
        return strchr("yY1tT", *set) || !strcasecmp(set, "on");
    }
    return sscanf(ucx.ucp_get_version_string(), "%u.%u", &major, &minor) == 2 &&
           (major > 1 || minor >= 16);
}

void ucx_carriers(struct weir_rank *r, int peer, char *list)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[peer];
    char *text = ucx_lanes(p->ep);
    void *mapped = NULL;
    if (!text) {
        return;
    }
    if (uses_rma(u)) {
        carriers_ucx(list, text,
                     ucx.ucp_rkey_ptr(p->sink.rkey, p->sink.base, &mapped) == UCS_OK
                         ? carriers_mapping(mapped)
                         : "",
                     ucx_second_protocols());
    } else {
        carriers_ucx_messages(list, text);
    }
    free(text);
}

/* force: operations in flight fail, and the peer need not be alive. */
static int close_endpoints(struct weir_rank *r, int force)
{
    struct ucx_rank *u = r->fs;
    ucp_request_param_t how = {.op_attr_mask = force ? UCP_OP_ATTR_FIELD_FLAGS : 0,
                               .flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0};
    int rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (!u->peers[p].ep) {
            continue;
        }
        if (uses_rma(u) && !force) {
            ucx.ucp_rkey_destroy(u->peers[p].control.rkey);
            ucx.ucp_rkey_destroy(u->peers[p].sink.rkey);
        }
        /* a peer that left first is not an error */
        (void)ucx_await(r, ucx.ucp_ep_close_nbx(u->peers[p].ep, &how), "ucp_ep_close_nbx", p);
        if ((rc = rank_expired(r)) < 0) {
            return rc; /* the endpoint is still being closed */
        }
        if (uses_rma(u) && force) { /* requests have used them until now */
            ucx.ucp_rkey_destroy(u->peers[p].control.rkey);
            ucx.ucp_rkey_destroy(u->peers[p].sink.rkey);
        }
    }
    return 0;
}

int ucx_disconnect(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    int rc;
    int force = r->cfg.peers_may_fail && r->closing == CLOSES_ALONE;
    if (force) { /* drops errors and pending notes; those end with the worker */
        u->broken = (struct weir_err){0};
        if ((rc = close_endpoints(r, 1)) < 0) {
            return rc;
        }
        if ((rc = ucx_renew_worker(r)) < 0) {
            return rc;
        }
        u->sending = 0;
    }
    if ((rc = u->api->close(r)) < 0) {
        return rc;
    }
    if (!force) {
        if ((rc = close_endpoints(r, 0)) < 0) {
            return rc;
        }
    }
    memset(u->peers, 0, (size_t)r->cfg.ranks * sizeof *u->peers);
    u->replying = NULL;
    u->free = NULL;
    u->ops = NULL;
    u->open = 0;
    return u->api->open(r);
}

int ucx_close(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    int rc;
    if ((rc = u->api->close(r)) < 0) {
        return rc;
    }
    if ((rc = close_endpoints(r, 0)) < 0) {
        return rc;
    }
    /* before the context: UCX 1.13 aborts the process if memory is still mapped then */
    for (int i = 0; i < REGIONS; i++) {
        ucx.ucp_mem_unmap(u->context, u->memh[i]);
        if (u->allocated[i]) {
            r->regions[i].base = NULL;
        }
    }
    ucx.ucp_worker_destroy(u->worker);
    ucx.ucp_cleanup(u->context);
    r->fab = &weir_fab_ucx;
    r->fs = NULL;
    free(u->peers);
    free(u);
    fflush(NULL); /* UCX logs through stdio, which Go's exit does not flush */
    return 0;
}
#endif
