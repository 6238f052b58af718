#include "rank_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rank.h"

#define MAX_OPTIONS 64 /* bits of options_known */

struct line {
    const char *name, *value;
    size_t name_len, value_len;
};

/* Returns the line at from and advances past it; NULL: no more lines. */
static const char *next_line(const char *from, struct line *l)
{
    if (!from || !*from) {
        return NULL;
    }
    size_t n = strcspn(from, "\n");
    const char *equal = memchr(from, '=', n);
    l->name = from;
    l->name_len = equal ? (size_t)(equal - from) : n;
    l->value = equal ? equal + 1 : from + n;
    l->value_len = n - (size_t)(l->value - from);
    return from + n + (from[n] == '\n');
}

const char *option_text(struct weir_rank *r, const char *name, size_t *n)
{
    struct line l;
    const char *at = r->cfg.options;
    for (unsigned i = 0; (at = next_line(at, &l)) && i < MAX_OPTIONS; i++) {
        if (l.name_len == strlen(name) && !memcmp(l.name, name, l.name_len)) {
            r->options_known |= (uint64_t)1 << i;
            *n = l.value_len;
            return l.value;
        }
    }
    return NULL;
}

static int wrong(struct weir_rank *r, const char *name, const char *value, size_t n,
                 const char *what)
{
    int shown = (int)(n < 80 ? n : 80);
    return rank_fail(r, -EINVAL, "open", -1, "option %s is \"%.*s\", %s", name, shown, value, what);
}

int option_copy(struct weir_rank *r, const char *name, char *value, size_t cap)
{
    size_t n;
    const char *text = option_text(r, name, &n);
    if (!text) {
        return 0;
    }
    if (n >= cap) {
        return wrong(r, name, text, n, "too long");
    }
    memcpy(value, text, n);
    value[n] = 0;
    return 0;
}

int option_choice(struct weir_rank *r, const char *name, const char *const *names, size_t n,
                  int *value)
{
    size_t len;
    const char *text = option_text(r, name, &len);
    if (!text) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) == len && !memcmp(names[i], text, len)) {
            *value = (int)i;
            return 0;
        }
    }
    return wrong(r, name, text, len, "not one of its values");
}

int option_bool(struct weir_rank *r, const char *name, int *value)
{
    static const char *const names[] = {"false", "true"};
    return option_choice(r, name, names, 2, value);
}

int options_all_known(struct weir_rank *r)
{
    struct line l;
    const char *at = r->cfg.options;
    for (unsigned i = 0; (at = next_line(at, &l)); i++) {
        if (i >= MAX_OPTIONS || !(r->options_known >> i & 1)) {
            return rank_fail(r, -EINVAL, "open", -1, "fabric %s has no option %.*s", r->fab->name,
                             (int)l.name_len, l.name);
        }
    }
    return 0;
}
