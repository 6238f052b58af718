/* nixl: NIXL itself, by its C API, with whichever of its backends the scenario
 * names. Its status "done" of a request is all that it tells: with backend UCX each
 * request ends with a flush of the endpoint (nixlUcxEngine::sendXferRange), so a
 * write that is done is at the target; other backends promise what they promise.
 * Therefore no CAP_REMOTE_COMPLETION, and a flush waits until every write to the
 * peer is done. A ping-pong looks at the last byte of a message, which says nothing
 * where a backend splits messages over rails: it is for UCX only, as in fabric ucx. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ceiling.h"
#include "dl.h"
#include "nixl_xfer.h"
#include "role.h"
#include "options.h"
#include "unsupported.h"

struct blob {
    char     backend[64];
    uint64_t control, sink; /* where they begin */
    uint64_t gpu;           /* that the sink is on */
    uint32_t rank, metadata; /* length of what follows */
};

/* NIXL's threads would inherit the one processor of this rank's thread, which spins
 * on it; they get those of the whole process. */
static void spread_threads(struct weir_rank *r, int on)
{
    cpu_set_t set;
    if (r->cfg.cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)r->cfg.cpu, &set);
    if (on && sched_getaffinity(getpid(), sizeof set, &set) < 0)
        return;
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static int make_agent(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    char              name[32];
    snprintf(name, sizeof name, "weir-rank-%d", r->cfg.rank);
    if (u->progress_thread || !nixl.create_configured_agent) {
        NIXL_TRY(r, -1, create_agent, name, &u->agent);
        return 0;
    }
    struct nixl_agent_config cfg = {.progress_thread = false};
    NIXL_TRY(r, -1, create_configured_agent, name, &cfg, &u->agent);
    NIXL_TRY(r, -1, create_notif_map, &u->notifs);
    return 0;
}

static int listed(nixl_params params, const char *key, int *yes)
{
    nixl_param_iter it;
    bool            more = true;
    *yes                 = 0;
    nixl_status s        = nixl.params_create_iterator(params, &it);
    if (s != NIXL_DONE)
        return s;
    while (s == NIXL_DONE && more) {
        const char *k = NULL, *v = NULL;
        s             = nixl.params_iterator_next(it, &k, &v, &more);
        *yes |= s == NIXL_DONE && k && !strcmp(k, key);
    }
    nixl_status d = nixl.params_destroy_iterator(it);
    return s != NIXL_DONE ? s : d;
}

static char *trim(char *text)
{
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        text[--n] = 0;
    return text + strspn(text, " \t");
}

/* Option nixl_params is key=value, several with a semicolon between. */
static int set_params(struct weir_rank *r, nixl_params params)
{
    struct nixl_rank *u = r->fs;
    size_t            n = 0;
    const char       *given = option_text(r, "nixl_params", &n);
    char             *text = strndup(given ? given : "", n), *save = NULL;
    int rc = text ? 0 : rank_fail(r, -ENOMEM, "open", -1, "no memory for nixl_params");
    for (char *line = text ? strtok_r(text, ";", &save) : NULL; line && rc == 0;
         line = strtok_r(NULL, ";", &save)) {
        char *value = strchr(line, '=');
        int   known = 0;
        if (!*trim(line))
            continue;
        if (!value || !nixl.params_add) {
            rc = rank_fail(
                r, -ENOSYS, "params_add", -1,
                "nixl_params cannot be set: %s has no nixl_capi_params_add (NIXL 0.9 or newer has it)",
                nixl.path);
            break;
        }
        *value++      = 0;
        line          = trim(line);
        value         = trim(value);
        nixl_status s = listed(params, line, &known);
        if (s == NIXL_DONE)
            s = nixl.params_add(params, line, value);
        if (s != NIXL_DONE)
            rc = nixl_failed(r, "params_add", -1, s);
        size_t at = strlen(u->unlisted);
        if (!known && at + strlen(line) + 2 < sizeof u->unlisted)
            snprintf(u->unlisted + at, sizeof u->unlisted - at, "%s%s", at ? " " : "", line);
    }
    free(text);
    return rc;
}

static int make_backend(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    char plugins[WEIR_TEXT / 2], listing[sizeof plugins + 2], wanted[sizeof u->name + 2];
    char lacks[WEIR_TEXT];
    nixl_mem_list     mems;
    nixl_params       params;
    int               rc;
    nixl_status       s = nixl_plugins(u->agent, plugins, sizeof plugins);
    if (s != NIXL_DONE)
        return nixl_failed(r, "get_available_plugins", -1, s);
    snprintf(listing, sizeof listing, ",%s,", plugins);
    snprintf(wanted, sizeof wanted, ",%s,", u->name);
    if (!strstr(listing, wanted))
        return rank_fail(r, -ENOENT, "create_backend", -1,
                         "NIXL has no backend %s here; it has %s (%s)", u->name,
                         plugins[0] ? plugins : "none", nixl.path);
    nixl_plugin_lacks(u->name, lacks, sizeof lacks);
    if (lacks[0])
        return rank_fail(r, -ENOENT, "create_backend", -1,
                         "NIXL's backend %s cannot be loaded here: %s", u->name, lacks);
    NIXL_TRY(r, -1, get_plugin_params, u->agent, u->name, &mems, &params);
    if ((rc = set_params(r, params)) < 0)
        return rc;
    NIXL_TRY(r, -1, create_backend, u->agent, u->name, params, &u->backend);
    NIXL_TRY(r, -1, destroy_params, params);
    NIXL_TRY(r, -1, destroy_mem_list, mems);
    NIXL_TRY(r, -1, create_opt_args, &u->args);
    NIXL_TRY(r, -1, opt_args_add_backend, u->args, u->backend);
    NIXL_TRY(r, -1, opt_args_set_skip_desc_merge, u->args, !u->merge);
    return 0;
}

static int read_options(struct weir_rank *r, struct nixl_rank *u)
{
    struct {
        const char *name;
        int        *value;
    } all[] = {{"nixl_merge", &u->merge},
               {"nixl_recreate", &u->recreate},
               {"nixl_prepared", &u->prepared},
               {"nixl_reregister", &u->reregister},
               {"nixl_progress_thread", &u->progress_thread}};
    int rc = option_copy(r, "nixl_backend", u->name, sizeof u->name);
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++)
        rc = option_bool(r, all[i].name, all[i].value);
    u->recreate |= u->reregister; /* a request keeps what it knows of its memory */
    return rc;
}

/* The agent and its backend: plugins are loaded now, and some install handlers. */
static int make(struct weir_rank *r)
{
    struct dl_handlers handlers;
    ((struct nixl_rank *)r->fs)->unlisted[0] = 0;
    dl_handlers_keep(&handlers);
    spread_threads(r, 1);
    int rc = make_agent(r);
    if (rc == 0)
        rc = make_backend(r);
    spread_threads(r, 0);
    dl_handlers_restore(&handlers);
    return rc;
}

static int nixl_open(struct weir_rank *r)
{
    struct nixl_rank *u = calloc(1, sizeof *u);
    char              why[WEIR_TEXT];
    if (!u || !(u->peers = calloc((size_t)r->cfg.ranks, sizeof *u->peers)))
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    r->fs   = u;
    u->last = &u->first;
    snprintf(u->name, sizeof u->name, "UCX");
    int rc = read_options(r, u);
    if (rc < 0)
        return rc;
    u->is_ucx = !strcmp(u->name, "UCX");
    if ((rc = nixl_load(why, sizeof why)) < 0)
        return rank_fail(r, rc, "load", -1, "%s", why);
    if (u->prepared &&
        !(nixl.prep_xfer_dlist && nixl.release_xfer_dlist_handle && nixl.make_xfer_req))
        return rank_fail(
            r, -ENOSYS, "prep_xfer_dlist", -1,
            "nixl_prepared needs nixl_capi_prep_xfer_dlist and nixl_capi_make_xfer_req: %s does not have them, newer ones do",
            nixl.path);
    return make(r);
}

static int nixl_attach(struct weir_rank *r, enum weir_region_name name)
{
    struct nixl_rank         *u = r->fs;
    const struct weir_region *g = &r->regions[name];
    if (name == REGION_SOURCE && u->reregister) {
        u->whole = 1;
        return nixl_register_local(r, g->base, g->size);
    }
    NIXL_TRY(r, -1, create_reg_dlist, nixl_memory(g->kind), &u->registered[name], false);
    NIXL_TRY(r, -1, reg_dlist_add_desc, u->registered[name], (uintptr_t)g->base, g->size,
             nixl_device(g->kind), NULL, 0);
    NIXL_TRY(r, -1, register_mem, u->agent, u->registered[name], u->args);
    return 0;
}

static int64_t nixl_address(struct weir_rank *r, void *buf, size_t cap)
{
    struct nixl_rank *u = r->fs;
    void             *md = NULL;
    size_t            n  = 0;
    NIXL_TRY(r, -1, get_local_md, u->agent, &md, &n);
    struct blob b = {.control = (uint64_t)(uintptr_t)r->regions[REGION_CONTROL].base,
                     .sink = (uint64_t)(uintptr_t)rank_sink(r), .rank = (uint32_t)r->cfg.rank,
                     .gpu = nixl_device(r->cfg.sink), .metadata = (uint32_t)n};
    snprintf(b.backend, sizeof b.backend, "%s", u->name);
    if (n > UINT32_MAX || sizeof b + n > cap)
        return rank_fail(r, -ENOBUFS, "address", -1,
                         "%zu bytes are too few for NIXL's metadata of %zu", cap, n);
    memcpy(buf, &b, sizeof b);
    memcpy((char *)buf + sizeof b, md, n);
    nixl_give_back(md);
    return (int64_t)(sizeof b + n);
}

static int meet(struct weir_rank *r, int p, const char *blob, size_t len)
{
    struct nixl_rank *u = r->fs;
    struct blob       b;
    char             *name = NULL;
    if (len < sizeof b)
        return rank_fail(r, -EPROTO, "connect", p, "its address has only %zu bytes", len);
    memcpy(&b, blob, sizeof b);
    b.backend[sizeof b.backend - 1] = 0;
    if (len != sizeof b + b.metadata || b.rank != (uint32_t)p)
        return rank_fail(r, -EPROTO, "connect", p, "its address is malformed");
    if (strcmp(b.backend, u->name))
        return rank_fail(r, -EPROTO, "connect", p, "it uses backend %s and this rank %s", b.backend,
                         u->name);
    NIXL_TRY(r, p, load_remote_md, u->agent, blob + sizeof b, b.metadata, &name);
    u->peers[p].control = b.control;
    u->peers[p].sink    = b.sink;
    u->peers[p].gpu     = b.gpu;
    u->peers[p].loaded  = 1;
    snprintf(u->peers[p].name, sizeof u->peers[p].name, "weir-rank-%d", p);
    int same = name && !strcmp(name, u->peers[p].name);
    int rc   = same ? 0
                    : rank_fail(r, -EPROTO, "load_remote_md", p,
                                "its metadata are those of agent %s, not of %s",
                                name ? name : "(none)", u->peers[p].name);
    nixl_give_back(name);
    return rc;
}

static int nixl_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens)
{
    struct nixl_rank *u = r->fs;
    int               rc;
    for (int p = 0; p < r->cfg.ranks; p++)
        if (rank_is_peer(r, p) && (rc = meet(r, p, blobs[p], lens[p])) < 0)
            return rc;
    for (int p = 0; p < r->cfg.ranks; p++)
        if (rank_is_peer(r, p))
            NIXL_TRY(r, p, agent_make_connection, u->agent, u->peers[p].name, u->args);
    return 0;
}

static uint64_t in_sink(struct weir_rank *r, int peer, uint64_t roff)
{
    return ((struct nixl_rank *)r->fs)->peers[peer].sink + roff;
}

static int nixl_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    return nixl_add(r, peer, NIXL_WRITE, local, in_sink(r, peer, roff), n, q);
}

static int nixl_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    return nixl_add(r, peer, NIXL_READ, local, in_sink(r, peer, roff), n, q);
}

/* Where NIXL has no thread for it, asking for notifications is what makes a target
 * take part; an initiator does when it asks for the status of its requests. */
static int nixl_progress(struct weir_rank *r)
{
    struct nixl_rank *u  = r->fs;
    int               rc = nixl_poll(r);
    if (rc < 0 || u->first || !u->notifs)
        return rc;
    NIXL_TRY(r, -1, get_notifs, u->agent, u->notifs, u->args);
    return 0;
}

static int nixl_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    return nixl_fence(r, peer, q);
}

/* What is done is at the target, as far as this backend's writes are. */
static int nixl_tell(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    char *word = rank_told(r, peer);
    memcpy(word, &value, sizeof value);
    return nixl_write_now(r, peer, word, ((struct nixl_rank *)r->fs)->peers[peer].control + place,
                          sizeof value, "signal");
}

#define PINGING 2 /* never falls to 0, so no loop hears of it */

static int nixl_ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct nixl_rank *u             = r->fs;
    ((unsigned char *)local)[n - 1] = rank_mark(seq);
    u->pinged                       = (struct weir_req){.pending = PINGING, .peer = peer};
    int rc = nixl_add(r, peer, NIXL_WRITE, local, in_sink(r, peer, 0), n, &u->pinged);
    return rc < 0 ? rc : nixl_submit(r);
}

static int nixl_arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    (void)peer;
    struct nixl_rank *u    = r->fs;
    const char       *last = rank_sink(r) + n - 1;
    /* the next message is posted with this one's request */
    if (rank_marked(last, seq) && u->pinged.pending != PINGING)
        return 1;
    return nixl_progress(r) < 0 ? -EIO : 0;
}

static void nixl_transport(struct weir_rank *r, int peer, char *buf, size_t cap)
{
    struct nixl_rank *u = r->fs;
    (void)peer;
    snprintf(buf, cap, "nixl/%s (%s, %s, progress by %s%s%s)", u->name, nixl.path, nixl.version,
             u->notifs ? "the rank" : "a thread of NIXL's",
             u->unlisted[0] ? ", parameters that the plugin does not list: " : "", u->unlisted);
}

/* NIXL names its plugin; what that has used beneath it does not tell. */
static void nixl_carriers(struct weir_rank *r, int peer, char *list)
{
    (void)peer;
    carrier_add(list, CARRIES_OPAQUE, ((struct nixl_rank *)r->fs)->name, "");
}

/* What was made for a case is released with it: the next makes its own, and is timed. */
static int nixl_expect(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    const struct nixl_rank *u = r->fs;
    if (c && c->mode == MODE_PINGPONG && !u->is_ucx)
        return rank_fail(
            r, -EOPNOTSUPP, "ping", o->from,
            "a ping-pong needs the bytes of a message to arrive in order, and NIXL's backend %s does not promise that; use mode stream with in_flight 1",
            u->name);
    return c ? 0 : nixl_release(r);
}

static int leave(struct weir_rank *r)
{
    struct nixl_rank *u  = r->fs;
    int               rc = nixl_release(r);
    if (rc < 0)
        return rc;
    for (struct nixl_handle *h; (h = u->fences);) {
        u->fences = h->next;
        free(h);
    }
    for (int p = 0; p < r->cfg.ranks; p++)
        if (u->peers[p].loaded) {
            NIXL_TRY(r, p, invalidate_remote_md, u->agent, u->peers[p].name);
            u->peers[p].loaded = 0;
        }
    return 0;
}

/* In the order in which things hold each other. */
static int take_down(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int               rc;
    if ((rc = leave(r)) < 0 || (rc = nixl_register_local(r, NULL, 0)) < 0)
        return rc;
    for (int i = 0; i < REGIONS; i++)
        if (u->registered[i]) {
            NIXL_TRY(r, -1, deregister_mem, u->agent, u->registered[i], u->args);
            NIXL_TRY(r, -1, destroy_reg_dlist, u->registered[i]);
            u->registered[i] = NULL;
        }
    NIXL_TRY(r, -1, destroy_opt_args, u->args);
    NIXL_TRY(r, -1, destroy_backend, u->backend);
    if (u->notifs)
        NIXL_TRY(r, -1, destroy_notif_map, u->notifs);
    NIXL_TRY(r, -1, destroy_agent, u->agent);
    u->notifs = NULL;
    return 0;
}

/* Another agent of the same name and the same memory: nothing comes any more of what was under way,
 * and what was known of a peer that is gone is forgotten. */
static int renew(struct weir_rank *r)
{
    int rc;
    nixl_give_up(r);
    if ((rc = take_down(r)) < 0 || (rc = make(r)) < 0)
        return rc;
    for (int i = 0; i < REGIONS; i++)
        if ((rc = nixl_attach(r, (enum weir_region_name)i)) < 0)
            return rc;
    return 0;
}

static int nixl_disconnect(struct weir_rank *r)
{
    return r->cfg.outlives && r->closing == CLOSES_ALONE ? renew(r) : leave(r);
}

static int nixl_close(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    int               rc = take_down(r);
    if (rc < 0)
        return rc;
    free(u->parts);
    free(u->peers);
    free(u);
    fflush(NULL); /* plugins log through stdio, and Go's exit does not flush it */
    return 0;
}

const struct weir_fabric weir_fab_nixl = {
    .name = "nixl", .caps = CAP_NETWORK | CAP_MARKS_DATA, .probe = nixl_probe, .open = nixl_open,
    .attach = nixl_attach, .address = nixl_address,
    .connect = nixl_connect, .put = nixl_put, .get = nixl_get, .post = nixl_submit,
    .progress = nixl_progress, .wait = nixl_progress, .flush = nixl_flush, .signal = nixl_tell,
    .tell = nixl_tell,
    .expect = nixl_expect, .ping = nixl_ping, .arrived = nixl_arrived, .ceiling = ceiling_raw,
    .transport = nixl_transport, .carriers = nixl_carriers,
    .disconnect = nixl_disconnect, .close = nixl_close,
};
