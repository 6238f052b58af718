/* fab_libfabric_settings.h: reads names and help texts of libfabric's variables. */
#ifndef WEIR_FAB_LIBFABRIC_SETTINGS_H
#define WEIR_FAB_LIBFABRIC_SETTINGS_H

#include <stddef.h>

/* Returns whether a variable is of a provider, given as "LAYER;LAYER", or of what all providers
 * share: the cache of registered memory, memory of GPUs, the expected number of processes. The
 * variable's name begins with FI_. */
int libfabric_concerns(const char *variable, const char *provider);

/* Copies the default that a help text states in one word, as "(default: 128)"; returns 0 if it
 * states none. */
int libfabric_stated_default(const char *help, char *out, size_t cap);

#endif
