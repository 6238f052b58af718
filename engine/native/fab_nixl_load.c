/* Finds NIXL and reports what was found. The library is not in the loader's path if it was
 * installed with Python: NIXL_LIBRARY_ENV names its file then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys_dl.h"
#include "fab_nixl_api.h"

#define NIXL_LIBRARY_ENV "WEIR_NIXL_LIBRARY"

struct nixl_api nixl;

#define ENTRY(f) {"nixl_capi_" #f, (void **)&nixl.f},
static const struct dl_symbol symbols[] = {NIXL_SYMBOLS(ENTRY)};
static const struct dl_symbol newer[] = {NIXL_NEWER_SYMBOLS(ENTRY)};

static void *find(char *why, size_t cap)
{
    const char *named = getenv(NIXL_LIBRARY_ENV);
    char said[WEIR_TEXT - 256] = "";
    if (named && *named) {
        void *lib = dl_open((const char *const[]){named, NULL}, said, sizeof said);
        if (!lib) {
            snprintf(why, cap, "%s (the file that " NIXL_LIBRARY_ENV " names)", said);
        }
        return lib;
    }
    void *lib = dl_open((const char *const[]){"libnixl_capi.so.0", "libnixl_capi.so", NULL}, said,
                        sizeof said);
    if (!lib) {
        snprintf(why, cap,
                 "%s (looked for libnixl_capi.so.0 and libnixl_capi.so in LD_LIBRARY_PATH "
                 "and the system's folders; " NIXL_LIBRARY_ENV " can name the file; packages "
                 "of NIXL 0.10 and older lack it: use fabric libfabric or ucx with them)",
                 said);
    }
    return lib;
}

static void describe(void)
{
    Dl_info at;
    void *any = (void *)(uintptr_t)nixl.create_agent;
    char *real = dladdr(any, &at) && at.dli_fname ? realpath(at.dli_fname, NULL) : NULL;
    snprintf(nixl.path, sizeof nixl.path, "%s", real ? real : "unknown file");
    free(real);
    int major = 0, minor = 0, patch = 0;
    if (nixl.get_version) {
        nixl.get_version(&major, &minor, &patch);
        snprintf(nixl.version, sizeof nixl.version, "C API %d.%d.%d", major, minor, patch);
    } else {
        snprintf(nixl.version, sizeof nixl.version, "C API without version");
    }
}

static int load_locked(char *why, size_t cap)
{
    static int loaded;
    if (loaded) {
        return 0;
    }
    void *lib = find(why, cap);
    if (!lib) {
        return -ENOENT;
    }
    const char *missing = dl_fill(lib, symbols, sizeof symbols / sizeof *symbols);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        *newer[i].at = dlsym(lib, newer[i].name);
    }
    if (missing) {
        snprintf(why, cap,
                 "libnixl_capi.so has no %s: it is not the C API that weir knows (NIXL 0.2 to 1.5)",
                 missing);
        return -ENOSYS;
    }
    describe();
    if (nixl.is_stub && nixl.is_stub()) {
        snprintf(why, cap, "%s is NIXL's stub, which moves nothing; install NIXL itself",
                 nixl.path);
        return -ENOSYS;
    }
    loaded = 1;
    return 0;
}

int nixl_load(char *why, size_t cap)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int rc = load_locked(why, cap);
    pthread_mutex_unlock(&lock);
    return rc;
}

const char *nixl_version(void) { return nixl.version; }

const char *nixl_status_name(nixl_status s)
{
    static const char *const names[] = {
        "done",
        "invalid parameter",
        "backend error",
        "invalid state",
        "exception",
        "no telemetry",
        "not found",
        "not posted",
        "mismatch",
        "not allowed",
        "posted again while active",
        "unknown error",
        "not supported",
        "remote disconnected",
        "cancelled",
    };
    if (s == NIXL_IN_PROGRESS) {
        return "in progress";
    }
    return s <= 0 && (size_t)-s < sizeof names / sizeof *names ? names[-s] : "unknown status";
}

void nixl_free(void *p)
{
    if (nixl.mem_free) {
        nixl.mem_free(p);
    } else {
        free(p);
    }
}

/* Uses the loader's error text. Looks for the file where NIXL does: in NIXL_PLUGIN_DIR, or beside
 * the library. */
void nixl_plugin_error(const char *name, char *why, size_t cap)
{
    const char *named = getenv("NIXL_PLUGIN_DIR"), *slash = strrchr(nixl.path, '/');
    const char *const below[] = {"", "plugins/", "nixl/"};
    char file[WEIR_TEXT * 2];
    why[0] = 0;
    for (size_t i = 0; i < (named && *named ? 1 : sizeof below / sizeof *below); i++) {
        if (named && *named) {
            snprintf(file, sizeof file, "%.500s/libplugin_%.60s.so", named, name);
        } else {
            snprintf(file, sizeof file, "%.*s%slibplugin_%.60s.so",
                     slash ? (int)(slash + 1 - nixl.path) : 0, nixl.path, below[i], name);
        }
        if (access(file, R_OK) < 0) {
            continue;
        }
        if (!dl_open((const char *const[]){file, NULL}, why, cap) && !why[0]) {
            snprintf(why, cap, "%.300s cannot be loaded", file);
        }
        return;
    }
}

/* Splits a list of plugins into those that can be loaded, and what the others lack. */
static void sort_plugins(char *plugins, char *usable, size_t ucap, char *lacking, size_t lcap)
{
    char why[WEIR_TEXT], *save = NULL;
    size_t u = 0, l = 0;
    usable[0] = lacking[0] = 0;
    for (char *name = strtok_r(plugins, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        nixl_plugin_error(name, why, sizeof why);
        if (!why[0] && u + strlen(name) + 2 < ucap) {
            u += (size_t)snprintf(usable + u, ucap - u, "%s%s", u ? "," : "", name);
        }
        if (why[0] && l + strlen(name) + strlen(why) + 5 < lcap) {
            l += (size_t)snprintf(lacking + l, lcap - l, "%s%s (%s)", l ? "; " : "", name, why);
        }
    }
}

nixl_status nixl_plugins(nixl_agent a, char *buf, size_t cap)
{
    nixl_string_list list;
    size_t n = 0, used = 0;
    nixl_status s = nixl.get_available_plugins(a, &list);
    buf[0] = 0;
    if (s != NIXL_DONE) {
        return s;
    }
    s = nixl.string_list_size(list, &n);
    for (size_t i = 0; i < n && s == NIXL_DONE; i++) {
        const char *name = NULL;
        s = nixl.string_list_get(list, i, &name);
        if (s == NIXL_DONE && name && used + strlen(name) + 2 < cap) {
            used += (size_t)snprintf(buf + used, cap - used, "%s%s", used ? "," : "", name);
        }
    }
    nixl_status d = nixl.destroy_string_list(list);
    return s != NIXL_DONE ? s : d;
}

void nixl_probe(struct weir_info *out)
{
    nixl_agent agent;
    char plugins[WEIR_TEXT / 2], usable[sizeof plugins] = "", lacking[3 * WEIR_TEXT] = "";
    if (nixl_load(out->reason, sizeof out->reason) < 0) {
        return;
    }
    snprintf(out->version, sizeof out->version, "%s", nixl.version);
    nixl_status s = nixl.create_agent("weir-probe", &agent);
    if (s != NIXL_DONE) {
        snprintf(out->reason, sizeof out->reason, "%.300s: nixl_capi_create_agent returned %d (%s)",
                 nixl.path, s, nixl_status_name(s));
        return;
    }
    s = nixl_plugins(agent, plugins, sizeof plugins);
    if (s != NIXL_DONE) {
        snprintf(out->reason, sizeof out->reason,
                 "%.300s: nixl_capi_get_available_plugins returned %d (%s)", nixl.path, s,
                 nixl_status_name(s));
    } else if (!plugins[0]) {
        snprintf(out->reason, sizeof out->reason,
                 "%.300s finds no backend plugin (NIXL_PLUGIN_DIR names their folder)", nixl.path);
    } else {
        sort_plugins(plugins, usable, sizeof usable, lacking, sizeof lacking);
    }
    if (usable[0]) {
        out->available = 1;
    } else if (lacking[0]) {
        snprintf(out->reason, sizeof out->reason, "no backend plugin can be loaded: %.400s",
                 lacking);
    }
    snprintf(out->details, sizeof out->details, "library=%.200s\nbackends=%s%s%s", nixl.path,
             usable, lacking[0] ? "\nbackends that cannot be loaded=" : "", lacking);
    (void)nixl.destroy_agent(agent); /* the process of a probe ends here */
}
