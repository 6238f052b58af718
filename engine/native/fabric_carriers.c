#define _GNU_SOURCE
#include "fabric_carriers.h"

#include <stdio.h>
#include <string.h>

void carrier_add(char *list, enum weir_carrier_use use, const char *name, const char *device)
{
    static const char lost[] = "d \n";
    char line[160];
    size_t at = strlen(list);
    int n = snprintf(line, sizeof line, "%c %s%s%s\n", use, name, *device ? "/" : "", device);
    if (n < 0 || (size_t)n >= sizeof line || at + (size_t)n + sizeof lost > WEIR_CARRIERS) {
        n = snprintf(line, sizeof line, "%s", lost); /* space for it was reserved */
    }
    const char *seen = strstr(list, line);
    while (seen && seen > list && seen[-1] != '\n') {
        seen = strstr(seen + 1, line);
    }
    if (!seen) {
        memcpy(list + at, line, (size_t)n + 1);
    }
}

void carrier_state(char *list, enum weir_carrier_use use, const char *name, const char *value)
{
    enum { MOST = 140, FOR_CARRIERS = 1024 };
    size_t n = strlen(name) + strlen(value);
    if (n <= MOST && !strpbrk(value, "\n\r") && strlen(list) + n + FOR_CARRIERS <= WEIR_CARRIERS) {
        carrier_add(list, use, name, value);
    }
}

/* One lane of an endpoint, as in "lane[0]: 5:posix/memory.0 md[4] -> md[4]/posix/sysdev[255]
 * rma_bw#0 am …". Lines such as "put[0]: 0..<short>.." give the lane that UCX's first protocols use
 * for blocks. */
struct lane {
    char name[64], device[64];
    int put, rma_bw, am;
};

#define MAX_LANES 64 /* UCX's own limit */

static int has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += n) {
        if (at > text && at[-1] == ' ' && (at[n] == 0 || at[n] == ' ' || at[n] == '#')) {
            return 1;
        }
    }
    return 0;
}

static int read_lane(const char *line, struct lane *l)
{
    char resource[128], *slash, *dot;
    const char *lane = strstr(line, "lane["), *at = lane ? strchr(lane, ']') : NULL, *uses;
    if (!at || sscanf(at, "]: %*d:%127s", resource) != 1) {
        return 0;
    }
    slash = strchr(resource, '/');
    if (!slash) {
        return 0;
    }
    *slash = 0;
    dot = strrchr(slash + 1, '.');
    if (dot) { /* the path index */
        *dot = 0;
    }
    snprintf(l->name, sizeof l->name, "%.63s", resource);
    snprintf(l->device, sizeof l->device, "%.63s", slash + 1);
    uses = strstr(at, "->") ? strstr(at, "->") : at;
    l->put = 0;
    l->rma_bw = has_word(uses, "rma_bw");
    l->am = has_word(uses, "am") || has_word(uses, "am_bw");
    return 1;
}

static int read_lanes(char *text, struct lane *lanes)
{
    char *save = NULL;
    int n = 0;
    unsigned put;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *at = strstr(line, " put[");
        if (at && sscanf(at, " put[%u]:", &put) == 1 && put < (unsigned)n) {
            lanes[put].put = 1;
        } else if (n < MAX_LANES) {
            n += read_lane(line, &lanes[n]);
        }
    }
    return n;
}

static int shared_memory(const char *name)
{
    return !strcmp(name, "posix") || !strcmp(name, "sysv") || !strcmp(name, "xpmem");
}

void carriers_ucx(char *list, char *text, const char *mapped, int second)
{
    struct lane lanes[MAX_LANES];
    int n = read_lanes(text, lanes), candidates = 0, mapping = 0, carries[MAX_LANES];
    for (int i = 0; i < n; i++) {
        mapping |= !strcmp(lanes[i].name, mapped);
    }
    for (int i = 0; i < n; i++) {
        if (shared_memory(lanes[i].name)) {
            carries[i] = !strcmp(lanes[i].name, mapped);
        } else {
            carries[i] = second ? lanes[i].rma_bw : lanes[i].put && !mapping;
        }
        candidates += carries[i];
    }
    for (int i = 0; i < n; i++) {
        enum weir_carrier_use use = CARRIES_CONTROL;
        if (carries[i]) {
            use = candidates == 1 ? CARRIES_DATA : CARRIES_POSSIBLY;
        } else if (!candidates && lanes[i].am) {
            use = CARRIES_EMULATED;
        }
        carrier_add(list, use, lanes[i].name, lanes[i].device);
    }
}

void carriers_ucx_messages(char *list, char *text)
{
    struct lane lanes[MAX_LANES];
    int n = read_lanes(text, lanes), first = -1, several = 0;
    for (int i = 0; i < n; i++) {
        if (!lanes[i].am && !lanes[i].rma_bw) {
            continue;
        }
        several |= first >= 0 && (strcmp(lanes[i].name, lanes[first].name) ||
                                  strcmp(lanes[i].device, lanes[first].device));
        first = first < 0 ? i : first;
    }
    for (int i = 0; i < n; i++) {
        carrier_add(list,
                    !lanes[i].am && !lanes[i].rma_bw ? CARRIES_CONTROL
                    : several                        ? CARRIES_POSSIBLY
                                                     : CARRIES_DATA,
                    lanes[i].name, lanes[i].device);
    }
}

/* Returns the use of a transport in a list, over all its devices; 0: not listed. */
static int use_in(const char *list, const char *transport)
{
    size_t n = strlen(transport);
    for (const char *line = list; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        if (!strncmp(line + 2, transport, n) && line[2 + n] == '/') {
            return line[0];
        }
    }
    return 0;
}

void carriers_between_hosts(char *list, char *resources, char *lanes, int second,
                            int (*by_itself)(const char *device))
{
    char chosen[WEIR_CARRIERS] = "", name[128], *save = NULL;
    carriers_ucx(chosen, lanes, "", second);
    for (char *line = strtok_r(resources, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *device; /* "#      resource 1  :  md 1  dev 1  flags -- tcp/eth0" */
        if (sscanf(line, " # resource %*d : md %*d dev %*d flags %*s %127s", name) != 1) {
            continue;
        }
        device = strchr(name, '/');
        if (!device) {
            continue;
        }
        *device++ = 0;
        enum weir_carrier_use use = CARRIES_POSSIBLY;
        switch (use_in(chosen, name)) {
        case CARRIES_DATA:
        case CARRIES_POSSIBLY:
            use = by_itself(device) ? CARRIES_DATA : CARRIES_EMULATED;
            break;
        case CARRIES_EMULATED:
            use = CARRIES_EMULATED;
            break;
        }
        carrier_add(list, use, name, device);
    }
}

const char *carriers_mapping(const void *at)
{
    static const struct {
        const char *file, *transport;
    } known[] = {{"/SYSV", "sysv"}, {"ucx_shm_posix", "posix"}, {"/dev/xpmem", "xpmem"}};
    const char *found = "";
    char line[512];
    FILE *f = fopen("/proc/self/maps", "re");
    if (!f) {
        return found;
    }
    while (!*found && fgets(line, sizeof line, f)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx", &from, &to) != 2 || (unsigned long)(size_t)at < from ||
            (unsigned long)(size_t)at >= to) {
            continue;
        }
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (strstr(line, known[i].file)) {
                found = known[i].transport;
            }
        }
        break;
    }
    fclose(f);
    return found;
}
