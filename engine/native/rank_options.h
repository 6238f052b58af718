/* rank_options.h: the options of a fabric. weir_config has them as lines "name=value", with the
 * names of package fabric. A fabric reads all of its options in open; a missing one leaves the
 * value unchanged. Errors name the option. */
#ifndef WEIR_RANK_OPTIONS_H
#define WEIR_RANK_OPTIONS_H

#include <stddef.h>

struct weir_rank;

/* Returns the value inside the configuration, not zero-terminated; NULL: not given. */
const char *option_text(struct weir_rank *r, const char *name, size_t *n);

/* Copies the value; fails if it is too long. A missing option leaves value unchanged. */
int option_copy(struct weir_rank *r, const char *name, char *value, size_t cap);
/* Sets *value to 1 for "true" and 0 for "false". */
int option_bool(struct weir_rank *r, const char *name, int *value);
/* Sets the index of the value in a list of names. */
int option_choice(struct weir_rank *r, const char *name, const char *const *names, size_t n,
                  int *value);
/* Fails if an option was given that the fabric did not read. */
int options_all_known(struct weir_rank *r);

#endif
