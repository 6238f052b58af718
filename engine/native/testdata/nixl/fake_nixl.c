/* A fake of libnixl_capi.so for tests. It moves bytes by memcpy within a process, and by
 * process_vm_readv and _writev between processes. It enforces NIXL's rules, and fails, delays and
 * corrupts on demand:
 *
 *   FAKE_NIXL_FAIL=CALL[:N[:STATUS]]  the Nth call (from 1) of nixl_capi_CALL fails
 *   FAKE_NIXL_POLLS=N                 a transfer is done after N queries of its status
 *   FAKE_NIXL_RECEIPT=1               bytes move when a transfer is posted, but it fails if an
 *                                     agent of the process is destroyed before these N queries
 *   FAKE_NIXL_TARGET=N                bytes move when a transfer is posted, but it is done after N
 *                                     calls that drive its target's agent, which is of this process
 *   FAKE_NIXL_CREATE_MS=N             nixl_capi_create_xfer_req sleeps for N ms; POST, STATUS,
 *                                     PREP, MAKE and REGISTER in place of CREATE: post_xfer_req,
 *                                     get_xfer_status, prep_xfer_dlist, make_xfer_req and
 *                                     register_mem of one block; transfers of a word never sleep
 *   FAKE_NIXL_CORRUPT=1               transfers of at least 64 bytes arrive with a wrong byte
 *   FAKE_NIXL_DIE=AGENT:N             kills the process of AGENT at its Nth query of notifications
 *   FAKE_NIXL_TRACE=FILE              writes a line for each parameter, registration, descriptor
 *                                     list, transfer request (with its descriptors) and release
 *
 * -DFAKE_NIXL_STUB makes it report that it is NIXL's stub; -DFAKE_NIXL_WITHOUT_POST leaves out
 * nixl_capi_post_xfer_req, and -DFAKE_NIXL_OLD what older libraries lack. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

typedef int status;
enum { DONE = 0, IN_PROGRESS = 1, INVALID = -1, BACKEND = -2, STATE = -3 };

#define MOST 64

/* Writes calls of interest to tests to a file. */
static void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void trace(const char *format, ...)
{
    const char *path = getenv("FAKE_NIXL_TRACE");
    FILE       *f    = path ? fopen(path, "a") : NULL;
    va_list     args;
    if (!f)
        return;
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    fclose(f);
}

struct region {
    uint64_t at, size;
    uint64_t generation; /* of the registration that covers it */
};
struct remote {
    char          name[64];
    int           pid, nregions;
    struct region regions[MOST];
};
struct agent {
    char          name[64];
    int           nregions, nremotes, backends, requests, lists;
    struct region regions[MOST];
    struct remote remotes[MOST];
    struct request *made; /* and not released */
};
struct params {
    int n, at;
};
struct list {
    int           n, cap;
    struct region *d;
};
struct prepared { /* a list of blocks, of the agent itself if `of` is NULL */
    struct remote *of;
    struct list    blocks;
};
struct request {
    struct agent  *agent;
    struct remote *to;
    int            op, active, released;
    long           left, driven; /* driven: calls of its target until it is done */
    struct list    local, remote;
    struct request *next; /* of the agent */
};
struct args {
    int backends, skip_merge;
};

/* Counts calls that drive an agent of this process, by its name. */
static _Atomic long *driven(const char *agent)
{
    static struct {
        char         name[64];
        _Atomic long calls;
    } all[MOST];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int                    i    = 0;
    pthread_mutex_lock(&lock);
    while (i < MOST - 1 && all[i].name[0] && strcmp(all[i].name, agent))
        i++;
    snprintf(all[i].name, sizeof all[i].name, "%s", agent);
    pthread_mutex_unlock(&lock);
    return &all[i].calls;
}

/* ---- behaviour requested by tests ---- */

static status fails(const char *call)
{
    static _Atomic int seen;
    const char        *want = getenv("FAKE_NIXL_FAIL");
    size_t             n    = strlen(call);
    if (!want || strncmp(want, call, n) || (want[n] && want[n] != ':'))
        return DONE;
    int at = 1, st = BACKEND;
    if (want[n])
        sscanf(want + n, ":%d:%d", &at, &st);
    return ++seen == at ? st : DONE;
}

#define CHECK(call) \
    do { \
        status s_ = fails(call); \
        if (s_ != DONE) \
            return s_; \
    } while (0)

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

/* Words are the control words of ranks. */
static void delay(const char *name, const struct list *l)
{
    long            ms = l->n == 1 && l->d->size == 8 ? 0 : number(name);
    struct timespec t  = {ms / 1000, ms % 1000 * 1000000};
    while (ms && nanosleep(&t, &t) < 0)
        ;
}

/* ---- agents ---- */

static _Atomic int destroyed;

struct config {
    bool progress_thread, listen_thread;
    /* the rest is not used */
};

static status make_agent(const char *name, struct agent **out)
{
    struct agent *a = calloc(1, sizeof *a);
    if (!a || !name || strlen(name) >= sizeof a->name)
        return INVALID;
    strcpy(a->name, name);
    /* in case Yama would deny peers access to this memory */
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    *out = a;
    return DONE;
}

status nixl_capi_create_agent(const char *name, struct agent **out)
{
    CHECK("create_agent");
    return make_agent(name, out);
}

#ifndef FAKE_NIXL_OLD
status nixl_capi_create_configured_agent(const char *name, const struct config *cfg,
                                         struct agent **out)
{
    CHECK("create_configured_agent");
    return cfg->listen_thread ? INVALID : make_agent(name, out);
}

void nixl_capi_get_version(int *major, int *minor, int *patch)
{
    *major = 0, *minor = 99, *patch = 7;
}

void nixl_capi_mem_free(void *p) { free(p); }

const char *nixl_capi_last_error_message(void)
{
    return getenv("FAKE_NIXL_FAIL") ? "the fake was told to fail" : "";
}

status nixl_capi_params_add(struct params *p, const char *key, const char *value)
{
    CHECK("params_add");
    if (!p || !strcmp(key, "refused") || !value)
        return INVALID;
    trace("param %s=%s\n", key, value);
    return DONE;
}
#endif

bool nixl_capi_is_stub(void)
{
#ifdef FAKE_NIXL_STUB
    return true;
#else
    return false;
#endif
}

/* Prints what UCX prints when asked for its protocols; FAKE_NIXL_USED gives the transports. */
static void say_used(const char *name)
{
    const char *info = getenv("UCX_PROTO_INFO"), *used = getenv("FAKE_NIXL_USED");
    static const char *const ops[] = {"write by ucp_put*(multi) from host memory to host",
                                      "read by ucp_get*(multi) into host memory from host"};
    if (!info || strcmp(info, "used") || !used || !*used)
        return;
    for (int op = 0; op < 2; op++)
        printf("[1795524506.471630] [vm:8975 :0]   | %s intra-node cfg#1 |\n"
               "[1795524506.471630] [vm:8975 :0]   | remote memory %s |\n"
               "[1795524506.471630] [vm:8975 :0]   +-------+--------+-------------+-----+\n"
               "[1795524506.471630] [vm:8975 :0]   | Count | Range  | Description | Config |\n"
               "[1795524506.471630] [vm:8975 :0]   |    20 | 0..inf | zero-copy   | %s |\n",
               name, ops[op], used);
}

status nixl_capi_destroy_agent(struct agent *a)
{
    CHECK("destroy_agent");
    if (a->requests || a->lists || a->nregions || a->backends)
        return STATE;
    say_used(a->name);
    *driven(a->name) += 1 << 30; /* what it has not done is done when it closes its connections */
    free(a);
    destroyed++;
    return DONE;
}

status nixl_capi_get_local_md(struct agent *a, void **data, size_t *len)
{
    CHECK("get_local_md");
    struct remote *m = calloc(1, sizeof *m);
    strcpy(m->name, a->name);
    m->pid      = getpid();
    m->nregions = a->nregions;
    memcpy(m->regions, a->regions, sizeof m->regions);
    *data = m;
    *len  = sizeof *m;
    return DONE;
}

status nixl_capi_load_remote_md(struct agent *a, const void *data, size_t len, char **name)
{
    CHECK("load_remote_md");
    if (len != sizeof(struct remote) || a->nremotes == MOST)
        return INVALID;
    memcpy(&a->remotes[a->nremotes], data, len);
    *name = strdup(a->remotes[a->nremotes++].name);
    return DONE;
}

static struct remote *known(struct agent *a, const char *name)
{
    for (int i = 0; i < a->nremotes; i++)
        if (!strcmp(a->remotes[i].name, name))
            return &a->remotes[i];
    return NULL;
}

status nixl_capi_invalidate_remote_md(struct agent *a, const char *name)
{
    CHECK("invalidate_remote_md");
    return known(a, name) ? DONE : -6;
}

status nixl_capi_agent_make_connection(struct agent *a, const char *name, struct args *args)
{
    CHECK("agent_make_connection");
    return args && known(a, name) ? DONE : -6;
}

/* ---- plugins and backends ---- */

static const char *const plugins[] = {"POSIX", "UCX"};

status nixl_capi_get_available_plugins(struct agent *a, const char *const **out)
{
    (void)a;
    CHECK("get_available_plugins");
    *out = plugins;
    return DONE;
}

status nixl_capi_string_list_size(const char *const *l, size_t *n)
{
    (void)l;
    CHECK("string_list_size");
    *n = 2;
    return DONE;
}

status nixl_capi_string_list_get(const char *const *l, size_t i, const char **out)
{
    CHECK("string_list_get");
    *out = l[i];
    return DONE;
}

status nixl_capi_destroy_string_list(const char *const *l)
{
    (void)l;
    CHECK("destroy_string_list");
    return DONE;
}

status nixl_capi_get_plugin_params(struct agent *a, const char *plugin, void **mems,
                                   struct params **out)
{
    (void)a, (void)plugin;
    CHECK("get_plugin_params");
    *mems = malloc(1);
    *out  = calloc(1, sizeof **out);
    return DONE;
}

status nixl_capi_params_create_iterator(struct params *p, struct params **out)
{
    CHECK("params_create_iterator");
    p->at = 0;
    *out  = p;
    return DONE;
}

status nixl_capi_params_iterator_next(struct params *p, const char **key, const char **value,
                                      bool *more)
{
    static const char *const keys[] = {"num_workers", "ucx_devices"};
    CHECK("params_iterator_next");
    *key   = keys[p->at++];
    *value = "";
    *more  = p->at < 2;
    return DONE;
}

status nixl_capi_params_destroy_iterator(struct params *p)
{
    (void)p;
    CHECK("params_destroy_iterator");
    return DONE;
}

status nixl_capi_destroy_params(struct params *p)
{
    CHECK("destroy_params");
    free(p);
    return DONE;
}

status nixl_capi_destroy_mem_list(void *l)
{
    CHECK("destroy_mem_list");
    free(l);
    return DONE;
}

status nixl_capi_create_backend(struct agent *a, const char *plugin, struct params *p,
                                struct agent **out)
{
    (void)plugin, (void)p;
    CHECK("create_backend");
    a->backends++;
    *out = a;
    return DONE;
}

status nixl_capi_destroy_backend(struct agent *a)
{
    CHECK("destroy_backend");
    a->backends--;
    return DONE;
}

status nixl_capi_create_opt_args(struct args **out)
{
    CHECK("create_opt_args");
    *out = calloc(1, sizeof **out);
    return DONE;
}

status nixl_capi_opt_args_add_backend(struct args *args, struct agent *backend)
{
    (void)backend;
    CHECK("opt_args_add_backend");
    args->backends++;
    return DONE;
}

status nixl_capi_opt_args_set_skip_desc_merge(struct args *args, bool skip)
{
    CHECK("opt_args_set_skip_desc_merge");
    args->skip_merge = skip;
    return DONE;
}

status nixl_capi_destroy_opt_args(struct args *args)
{
    CHECK("destroy_opt_args");
    free(args);
    return DONE;
}

/* ---- lists and memory ---- */

static status new_list(int mem, struct list **out)
{
    *out = calloc(1, sizeof **out);
    return mem == 0 && *out ? DONE : INVALID;
}

static status add(struct list *l, uint64_t at, uint64_t size)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->d   = realloc(l->d, (size_t)l->cap * sizeof *l->d);
    }
    l->d[l->n++] = (struct region){at, size, 0};
    return DONE;
}

static void drop(struct list *l)
{
    free(l->d);
    free(l);
}

status nixl_capi_create_reg_dlist(int mem, struct list **out)
{
    CHECK("create_reg_dlist");
    return new_list(mem, out);
}

status nixl_capi_reg_dlist_add_desc(struct list *l, uintptr_t at, size_t size, uint64_t dev,
                                    const void *md, size_t mdlen)
{
    (void)dev, (void)md, (void)mdlen;
    CHECK("reg_dlist_add_desc");
    return add(l, at, size);
}

status nixl_capi_destroy_reg_dlist(struct list *l)
{
    CHECK("destroy_reg_dlist");
    drop(l);
    return DONE;
}

status nixl_capi_register_mem(struct agent *a, struct list *l, struct args *args)
{
    static _Atomic uint64_t generations;
    CHECK("register_mem");
    if (!args || a->nregions + l->n > MOST)
        return INVALID;
    if (l->n == 1)
        delay("FAKE_NIXL_REGISTER_MS", l);
    for (int i = 0; i < l->n; i++) {
        a->regions[a->nregions]              = l->d[i];
        a->regions[a->nregions++].generation = ++generations;
        trace("registered %llu\n", (unsigned long long)l->d[i].size);
    }
    return DONE;
}

static int in_use(const struct agent *a, uint64_t generation)
{
    for (const struct request *q = a->made; q; q = q->next)
        for (int i = 0; i < q->local.n; i++)
            if (q->local.d[i].generation == generation)
                return 1;
    return 0;
}

/* Memory of a live request must not be deregistered. */
status nixl_capi_deregister_mem(struct agent *a, struct list *l, struct args *args)
{
    (void)args;
    CHECK("deregister_mem");
    for (int i = 0; i < l->n; i++) {
        int k = 0;
        while (k < a->nregions &&
               (a->regions[k].at != l->d[i].at || a->regions[k].size != l->d[i].size))
            k++;
        if (k == a->nregions || in_use(a, a->regions[k].generation))
            return STATE;
        a->regions[k] = a->regions[--a->nregions];
        trace("deregistered %llu\n", (unsigned long long)l->d[i].size);
    }
    return DONE;
}

status nixl_capi_create_xfer_dlist(int mem, struct list **out)
{
    CHECK("create_xfer_dlist");
    return new_list(mem, out);
}

status nixl_capi_xfer_dlist_add_desc(struct list *l, uintptr_t at, size_t size, uint64_t dev)
{
    (void)dev;
    CHECK("xfer_dlist_add_desc");
    return add(l, at, size);
}

status nixl_capi_destroy_xfer_dlist(struct list *l)
{
    CHECK("destroy_xfer_dlist");
    drop(l);
    return DONE;
}

/* ---- transfers ---- */

/* Assigns each block the one registration that covers it. */
static int cover(const struct region *all, int n, struct list *l)
{
    for (int k = 0; k < l->n; k++) {
        struct region *d = &l->d[k];
        int            found = 0;
        for (int i = 0; i < n; i++)
            if (d->size && d->at >= all[i].at && d->size <= all[i].size &&
                d->at - all[i].at <= all[i].size - d->size)
                found++, d->generation = all[i].generation;
        if (found != 1)
            return 0;
    }
    return 1;
}

static struct list copied(const struct list *l)
{
    struct list out = {.n = l->n, .cap = l->n, .d = malloc((size_t)l->n * sizeof *l->d)};
    memcpy(out.d, l->d, (size_t)l->n * sizeof *l->d);
    return out;
}

/* Takes ownership of lists that are covered. */
static status make(struct agent *a, int op, struct list local, struct list remote,
                   struct remote *to, const char *how, struct args *args, struct request **out)
{
    if (!to || !args || !local.n || local.n != remote.n)
        return INVALID;
    for (int i = 0; i < local.n; i++)
        if (local.d[i].size != remote.d[i].size)
            return INVALID;
    struct request *q = calloc(1, sizeof *q);
    *q = (struct request){.agent = a, .to = to, .op = op, .local = local, .remote = remote,
                          .next = a->made};
    a->made = q;
    trace("%s %d x %llu%s%s\n", op ? "write" : "read", local.n, (unsigned long long)local.d[0].size,
          args->skip_merge ? "" : " merged", how);
    a->requests++;
    *out = q;
    return DONE;
}

status nixl_capi_create_xfer_req(struct agent *a, int op, struct list *local, struct list *remote,
                                 const char *name, struct request **out, struct args *args)
{
    CHECK("create_xfer_req");
    struct remote *to = known(a, name);
    if (!to || !cover(a->regions, a->nregions, local) || !cover(to->regions, to->nregions, remote))
        return -6;
    delay("FAKE_NIXL_CREATE_MS", local);
    return make(a, op, copied(local), copied(remote), to, "", args, out);
}

#ifndef FAKE_NIXL_OLD
status nixl_capi_prep_xfer_dlist(struct agent *a, const char *name, struct list *l,
                                 struct prepared **out, struct args *args)
{
    CHECK("prep_xfer_dlist");
    struct remote *of = *name ? known(a, name) : NULL;
    if ((*name && !of) || !args || !l->n ||
        !cover(of ? of->regions : a->regions, of ? of->nregions : a->nregions, l))
        return -6;
    delay("FAKE_NIXL_PREP_MS", l);
    *out  = calloc(1, sizeof **out);
    **out = (struct prepared){.of = of, .blocks = copied(l)};
    trace("list %s %d x %llu\n", of ? of->name : "here", l->n, (unsigned long long)l->d[0].size);
    a->lists++;
    return DONE;
}

status nixl_capi_release_xfer_dlist_handle(struct agent *a, struct prepared *p)
{
    CHECK("release_xfer_dlist_handle");
    a->lists--;
    free(p->blocks.d);
    free(p);
    return DONE;
}

static struct list chosen(const struct prepared *p, const int *indices, size_t n)
{
    struct list out = {.n = 0, .cap = (int)n, .d = malloc(n * sizeof *out.d)};
    for (size_t i = 0; i < n && indices[i] >= 0 && indices[i] < p->blocks.n; i++)
        out.d[out.n++] = p->blocks.d[indices[i]];
    return out;
}

status nixl_capi_make_xfer_req(struct agent *a, int op, struct prepared *local, const int *here,
                               size_t nhere, struct prepared *remote, const int *there,
                               size_t nthere, struct request **out, struct args *args)
{
    CHECK("make_xfer_req");
    if (local->of || !remote->of)
        return INVALID;
    delay("FAKE_NIXL_MAKE_MS", &local->blocks);
    return make(a, op, chosen(local, here, nhere), chosen(remote, there, nthere), remote->of,
                " prepared", args, out);
}
#endif

static int move(const struct request *q, struct region l, struct region r)
{
    void *here = (void *)(uintptr_t)l.at, *there = (void *)(uintptr_t)r.at;
    if (q->to->pid == getpid()) {
        void *to = q->op ? there : here, *from = q->op ? here : there;
        if (l.size == 8 && !((l.at | r.at) & 7)) /* an awaited word is written atomically */
            atomic_store((_Atomic uint64_t *)to, atomic_load((_Atomic uint64_t *)from));
        else
            memcpy(to, from, l.size);
        return 1;
    }
    struct iovec lv = {here, l.size}, rv = {there, l.size};
    ssize_t      n = q->op ? process_vm_writev(q->to->pid, &lv, 1, &rv, 1, 0)
                           : process_vm_readv(q->to->pid, &lv, 1, &rv, 1, 0);
    return n == (ssize_t)l.size;
}

static status complete(struct request *q)
{
    q->active = 0;
    for (int i = 0; i < q->local.n; i++) {
        struct region l = q->local.d[i], r = q->remote.d[i];
        unsigned char wrong;
        if (!move(q, l, r))
            return -13; /* the process is gone */
        if (number("FAKE_NIXL_CORRUPT") && l.size >= 64) {
            struct region at = {(uintptr_t)&wrong, 1, 0}, there = {r.at + 63, 1, 0};
            if (q->op) {
                wrong = (unsigned char)~((unsigned char *)(uintptr_t)l.at)[63];
                move(q, at, there);
            } else {
                ((unsigned char *)(uintptr_t)l.at)[63] ^= 0xff;
            }
        }
    }
    return DONE;
}

#ifndef FAKE_NIXL_WITHOUT_POST
status nixl_capi_post_xfer_req(struct agent *a, struct request *q, struct args *args)
{
    CHECK("post_xfer_req");
    if (q->agent != a || !args || q->released)
        return INVALID;
    if (q->active)
        return -10;
    delay("FAKE_NIXL_POST_MS", &q->local);
    q->active = 1;
    int early = number("FAKE_NIXL_RECEIPT") || number("FAKE_NIXL_TARGET");
    q->left   = number("FAKE_NIXL_POLLS");
    q->driven = *driven(q->to->name) + number("FAKE_NIXL_TARGET");
    status s  = q->left && !early ? IN_PROGRESS : complete(q);
    if (s != DONE || !q->left)
        return s;
    q->active = 1;
    return IN_PROGRESS;
}
#endif

status nixl_capi_get_xfer_status(struct agent *a, struct request *q)
{
    CHECK("get_xfer_status");
    if (q->agent != a || !q->active)
        return -7;
    delay("FAKE_NIXL_STATUS_MS", &q->local);
    ++*driven(a->name);
    if (--q->left > 0 || (number("FAKE_NIXL_TARGET") && *driven(q->to->name) < q->driven))
        return IN_PROGRESS;
    if (!number("FAKE_NIXL_RECEIPT") && !number("FAKE_NIXL_TARGET"))
        return complete(q);
    q->active = 0;
    return destroyed && number("FAKE_NIXL_RECEIPT") ? BACKEND : DONE;
}

status nixl_capi_release_xfer_req(struct agent *a, struct request *q)
{
    CHECK("release_xfer_req");
    if (q->active || q->released)
        return STATE;
    q->released = 1;
    struct request **at = &a->made;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    trace("released %d x %llu\n", q->local.n, (unsigned long long)q->local.d[0].size);
    a->requests--;
    return DONE;
}

status nixl_capi_destroy_xfer_req(struct request *q)
{
    CHECK("destroy_xfer_req");
    if (!q->released)
        return STATE;
    free(q->local.d);
    free(q->remote.d);
    free(q);
    return DONE;
}

/* ---- notifications: none is ever sent ---- */

status nixl_capi_create_notif_map(void **out)
{
    CHECK("create_notif_map");
    *out = malloc(1);
    return DONE;
}

status nixl_capi_get_notifs(struct agent *a, void *m, struct args *args)
{
    static _Atomic long asked;
    (void)m, (void)args;
    CHECK("get_notifs");
    ++*driven(a->name);
    const char *die = getenv("FAKE_NIXL_DIE");
    size_t      n   = strlen(a->name);
    if (die && !strncmp(die, a->name, n) && die[n] == ':' && ++asked == atol(die + n + 1))
        raise(SIGKILL);
    return DONE;
}

status nixl_capi_destroy_notif_map(void *m)
{
    CHECK("destroy_notif_map");
    free(m);
    return DONE;
}
