#define _GNU_SOURCE
#include "sys_dl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void dl_handlers_keep(struct dl_handlers *h)
{
    for (int s = 1; s < DL_SIGNALS; s++) {
        sigaction(s, NULL, &h->of[s]);
    }
}

void dl_handlers_restore(const struct dl_handlers *h)
{
    struct sigaction now;
    for (int s = 1; s < DL_SIGNALS; s++) {
        if (s != SIGKILL && s != SIGSTOP && sigaction(s, NULL, &now) == 0 &&
            now.sa_sigaction != h->of[s].sa_sigaction) {
            sigaction(s, &h->of[s], NULL);
        }
    }
}

void *dl_open(const char *const *names, char *why, size_t cap)
{
    struct dl_handlers before;
    void *lib = NULL;
    dl_handlers_keep(&before);
    for (; *names && !lib; names++) {
        lib = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (!lib) {
            snprintf(why, cap, "%s", dlerror());
        }
    }
    dl_handlers_restore(&before);
    return lib;
}

void *dl_versioned(void *lib, const char *symbol, const char *version)
{
    return dlvsym(lib, symbol, version);
}

const char *dl_fill(void *lib, const struct dl_symbol *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        *list[i].at = dlsym(lib, list[i].name);
        if (!*list[i].at) {
            return list[i].name;
        }
    }
    return NULL;
}
