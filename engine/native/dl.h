/* dl.h: vendor libraries, loaded at run time. */
#ifndef WEIR_DL_H
#define WEIR_DL_H

#include <signal.h>
#include <stddef.h>

/* Opens the first of the names that there is; NULL and why, if none. Signal
 * handlers that the library's constructors installed are taken back: Go needs its own. */
void *dl_open(const char *const *names, char *why, size_t cap);

/* The same for what a library does later, in its first calls: keep before, restore after. */
#define DL_SIGNALS 32
struct dl_handlers {
    struct sigaction of[DL_SIGNALS];
};
void dl_handlers_keep(struct dl_handlers *h);
void dl_handlers_restore(const struct dl_handlers *h);

/* A symbol in exactly this version of the library's interface. */
void *dl_versioned(void *lib, const char *symbol, const char *version);

struct dl_symbol {
    const char *name;
    void      **at;
};
/* Fills all symbols; the name of the first that is missing, or NULL. */
const char *dl_fill(void *lib, const struct dl_symbol *list, size_t n);

#endif
