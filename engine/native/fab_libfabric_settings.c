#define _GNU_SOURCE
#include "fab_libfabric_settings.h"

#include <ctype.h>
#include <string.h>

int libfabric_concerns(const char *variable, const char *provider)
{
    static const char *const shared[] = {"FI_MR_", "FI_HMEM_", "FI_UNIVERSE_SIZE"};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        if (!strncmp(variable, shared[i], strlen(shared[i]))) {
            return 1;
        }
    }
    for (const char *layer = provider; *layer; layer += layer[0] == ';') {
        size_t n = strcspn(layer, ";"), same = 0;
        while (same < n && variable[3 + same] == toupper((unsigned char)layer[same])) {
            same++;
        }
        if (n && same == n && variable[3 + n] == '_') {
            return 1;
        }
        layer += n;
    }
    return 0;
}

int libfabric_stated_default(const char *help, char *out, size_t cap)
{
    static const char before[] = "default: ";
    const char *value = NULL;
    for (const char *at = help; (at = strcasestr(at, before)); at++) {
        value = at + strlen(before);
    }
    size_t n = value ? strcspn(value, " ),;\t\n") : 0;
    int whole = n && (value[n] == ')' || !value[n]);
    n -= whole && !value[n] && value[n - 1] == '.';
    if (!whole || !n || n >= cap) {
        return 0;
    }
    memcpy(out, value, n);
    out[n] = 0;
    return 1;
}
