#define _GNU_SOURCE
#include "dl.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define NSIGNALS 32

void *dl_open(const char *const *names, char *why, size_t cap)
{
    struct sigaction before[NSIGNALS], after;
    void            *lib = NULL;
    for (int s = 1; s < NSIGNALS; s++)
        sigaction(s, NULL, &before[s]);
    for (; *names && !lib; names++) {
        lib = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (!lib)
            snprintf(why, cap, "%s", dlerror());
    }
    for (int s = 1; s < NSIGNALS; s++)
        if (s != SIGKILL && s != SIGSTOP && sigaction(s, NULL, &after) == 0 && after.sa_sigaction != before[s].sa_sigaction)
            sigaction(s, &before[s], NULL);
    return lib;
}

void *dl_versioned(void *lib, const char *symbol, const char *version) { return dlvsym(lib, symbol, version); }

const char *dl_fill(void *lib, const struct dl_symbol *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(*list[i].at = dlsym(lib, list[i].name)))
            return list[i].name;
    return NULL;
}
