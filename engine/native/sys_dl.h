/* sys_dl.h: loads vendor libraries at run time. */
#ifndef WEIR_SYS_DL_H
#define WEIR_SYS_DL_H

#include <signal.h>
#include <stddef.h>

/* Opens the first of the names that exists; returns NULL and fills why if none does. Restores the
 * signal handlers that the library's constructors replaced: Go needs its own. */
void *dl_open(const char *const *names, char *why, size_t cap);

/* Saves and restores signal handlers around a library's first calls. */
#define DL_SIGNALS 32
struct dl_handlers {
    struct sigaction of[DL_SIGNALS];
};
void dl_handlers_keep(struct dl_handlers *h);
void dl_handlers_restore(const struct dl_handlers *h);

/* Returns a symbol of exactly this interface version. */
void *dl_versioned(void *lib, const char *symbol, const char *version);

struct dl_symbol {
    const char *name;
    void **at;
};
/* Resolves all symbols; returns the name of the first missing one, or NULL. */
const char *dl_fill(void *lib, const struct dl_symbol *list, size_t n);

#endif
