/* options.h: the options of a fabric. weir_config has them as lines "name=value", each by its
 * name in package fabric. A fabric asks for all of them in open; what is not given leaves the
 * value as it was. Errors name the option. */
#ifndef WEIR_OPTIONS_H
#define WEIR_OPTIONS_H

#include <stddef.h>

struct weir_rank;

/* The value as it lies in the configuration, without a zero behind it; NULL: it is not given. */
const char *option_text(struct weir_rank *r, const char *name, size_t *n);

int option_copy(struct weir_rank *r, const char *name, char *value, size_t cap);
int option_bool(struct weir_rank *r, const char *name, int *value);
/* The place of the value in a list of names. */
int option_choice(struct weir_rank *r, const char *name, const char *const *names, size_t n,
                  int *value);
/* Fails where an option is given that the fabric did not ask for. */
int options_all_known(struct weir_rank *r);

#endif
