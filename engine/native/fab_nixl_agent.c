/* NIXL's agent and its backend, with the parameters of option nixl_params. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fab_nixl_xfer.h"
#include "rank_options.h"
#include "sys_dl.h"

/* NIXL's threads would inherit the single CPU of this rank's thread, which spins on it; they get
 * the CPUs of the process. */
static void spread_threads(struct weir_rank *r, int on)
{
    cpu_set_t set;
    if (r->cfg.cpu < 0) {
        return;
    }
    CPU_ZERO(&set);
    CPU_SET((unsigned)r->cfg.cpu, &set);
    if (on && sched_getaffinity(getpid(), sizeof set, &set) < 0) {
        return;
    }
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static int make_agent(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    char name[32];
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
    bool more = true;
    *yes = 0;
    nixl_status s = nixl.params_create_iterator(params, &it);
    if (s != NIXL_DONE) {
        return s;
    }
    while (s == NIXL_DONE && more) {
        const char *k = NULL, *v = NULL;
        s = nixl.params_iterator_next(it, &k, &v, &more);
        *yes |= s == NIXL_DONE && k && !strcmp(k, key);
    }
    nixl_status d = nixl.params_destroy_iterator(it);
    return s != NIXL_DONE ? s : d;
}

static char *trim(char *text)
{
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1])) {
        text[--n] = 0;
    }
    return text + strspn(text, " \t");
}

/* Option nixl_params is a list of key=value, separated by semicolons. */
static int set_params(struct weir_rank *r, nixl_params params)
{
    struct nixl_rank *u = r->fs;
    size_t n = 0;
    const char *given = option_text(r, "nixl_params", &n);
    char *text = strndup(given ? given : "", n), *save = NULL;
    int rc = text ? 0 : rank_fail(r, -ENOMEM, "open", -1, "no memory for nixl_params");
    for (char *line = text ? strtok_r(text, ";", &save) : NULL; line && rc == 0;
         line = strtok_r(NULL, ";", &save)) {
        char *value = strchr(line, '=');
        int known = 0;
        if (!*trim(line)) {
            continue;
        }
        if (!value || !nixl.params_add) {
            rc = rank_fail(r, -ENOSYS, "params_add", -1,
                           "nixl_params cannot be set: %s has no nixl_capi_params_add (NIXL 0.9 or "
                           "newer has it)",
                           nixl.path);
            break;
        }
        *value++ = 0;
        line = trim(line);
        value = trim(value);
        nixl_status s = listed(params, line, &known);
        if (s == NIXL_DONE) {
            s = nixl.params_add(params, line, value);
        }
        if (s != NIXL_DONE) {
            rc = nixl_failed(r, "params_add", -1, s);
        }
        size_t at = strlen(u->unlisted);
        if (!known && at + strlen(line) + 2 < sizeof u->unlisted) {
            snprintf(u->unlisted + at, sizeof u->unlisted - at, "%s%s", at ? " " : "", line);
        }
    }
    free(text);
    return rc;
}

static int make_backend(struct weir_rank *r)
{
    struct nixl_rank *u = r->fs;
    char plugins[WEIR_TEXT / 2], listing[sizeof plugins + 2], wanted[sizeof u->name + 2];
    char lacks[WEIR_TEXT];
    nixl_mem_list mems;
    nixl_params params;
    int rc;
    nixl_status s = nixl_plugins(u->agent, plugins, sizeof plugins);
    if (s != NIXL_DONE) {
        return nixl_failed(r, "get_available_plugins", -1, s);
    }
    snprintf(listing, sizeof listing, ",%s,", plugins);
    snprintf(wanted, sizeof wanted, ",%s,", u->name);
    if (!strstr(listing, wanted)) {
        return rank_fail(r, -ENOENT, "create_backend", -1,
                         "NIXL has no backend %s here; it has %s (%s)", u->name,
                         plugins[0] ? plugins : "none", nixl.path);
    }
    nixl_plugin_error(u->name, lacks, sizeof lacks);
    if (lacks[0]) {
        return rank_fail(r, -ENOENT, "create_backend", -1,
                         "NIXL's backend %s cannot be loaded here: %s", u->name, lacks);
    }
    NIXL_TRY(r, -1, get_plugin_params, u->agent, u->name, &mems, &params);
    if ((rc = set_params(r, params)) < 0) {
        return rc;
    }
    NIXL_TRY(r, -1, create_backend, u->agent, u->name, params, &u->backend);
    NIXL_TRY(r, -1, destroy_params, params);
    NIXL_TRY(r, -1, destroy_mem_list, mems);
    NIXL_TRY(r, -1, create_opt_args, &u->args);
    NIXL_TRY(r, -1, opt_args_add_backend, u->args, u->backend);
    NIXL_TRY(r, -1, opt_args_set_skip_desc_merge, u->args, !u->merge);
    return 0;
}

int nixl_make_agent(struct weir_rank *r)
{
    struct dl_handlers handlers;
    ((struct nixl_rank *)r->fs)->unlisted[0] = 0;
    dl_handlers_keep(&handlers);
    spread_threads(r, 1);
    int rc = make_agent(r);
    if (rc == 0) {
        rc = make_backend(r);
    }
    spread_threads(r, 0);
    dl_handlers_restore(&handlers);
    return rc;
}
