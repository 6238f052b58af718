/* libfabric: lists its own and its providers' variables, and finds FI_… variables that are set but
 * unknown to it. A few that it reads without listing appear in its binary. */
#define _GNU_SOURCE
#include "fab_libfabric.h"

#ifdef WEIR_HAS_LIBFABRIC
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum { MAX_NAME = 96 }; /* of a compared name */

/* Returns the edit distance between two names. */
static size_t distance(const char *a, size_t n, const char *b)
{
    size_t m = strlen(b), row[MAX_NAME + 1];
    if (n > MAX_NAME || m > MAX_NAME) {
        return MAX_NAME;
    }
    for (size_t j = 0; j <= m; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
        }
    }
    return row[m];
}

/* Returns whether the library's binary contains the name as a string. */
static int in_file(const char *name, size_t n)
{
    Dl_info at;
    struct stat st;
    void *any = (void *)(uintptr_t)libfabric.fi_version;
    int fd = dladdr(any, &at) && at.dli_fname ? open(at.dli_fname, O_RDONLY | O_CLOEXEC) : -1;
    int found = 1; /* without the binary, no variable is reported */
    if (fd < 0) {
        return found;
    }
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        void *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        char text[MAX_NAME + 1];
        if (file != MAP_FAILED && n < sizeof text) {
            memcpy(text, name, n);
            text[n] = 0;
            found = memmem(file, (size_t)st.st_size, text, n + 1) != NULL;
        }
        if (file != MAP_FAILED) {
            munmap(file, (size_t)st.st_size);
        }
    }
    close(fd);
    return found;
}

static void check_variable(const char *name, size_t n, const struct fi_param *list, int count)
{
    const char *nearest = NULL;
    size_t least = n / 3 < 4 ? n / 3 : 4; /* a greater distance gives no hint */
    for (int i = 0; i < count; i++) {
        size_t d = distance(name, n, list[i].name);
        if (d == 0) {
            return;
        }
        if (d < least) {
            nearest = list[i].name;
            least = d;
        }
    }
    if (in_file(name, n)) {
        return;
    }
    fprintf(stderr, "weir: libfabric has no variable %.*s", (int)n, name);
    if (nearest) {
        fprintf(stderr, " (maybe: %s?)", nearest);
    }
    fputc('\n', stderr);
}

struct fi_param *libfabric_params(int *count)
{
    int (*get)(struct fi_param **, int *) =
        (int (*)(struct fi_param **, int *))libfabric_symbol("fi_getparams");
    struct fi_param *list = NULL;
    *count = 0;
    if (!get || get(&list, count) < 0) {
        *count = 0;
        return NULL;
    }
    return list;
}

void libfabric_params_free(struct fi_param *list)
{
    void (*give_back)(struct fi_param *) =
        (void (*)(struct fi_param *))libfabric_symbol("fi_freeparams");
    if (list && give_back) {
        give_back(list);
    }
}

void libfabric_unknown_variables(void)
{
    int count;
    struct fi_param *list = libfabric_params(&count);
    for (char **e = environ; e && *e && count > 0; e++) {
        size_t n = strcspn(*e, "=");
        if (!strncmp(*e, "FI_", 3) && n <= MAX_NAME) {
            check_variable(*e, n, list, count);
        }
    }
    libfabric_params_free(list);
}
#endif
