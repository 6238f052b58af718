#include "gpu_nvml.h"

#include <stdio.h>

#include "sys_dl.h"

#define LIBRARY "libnvidia-ml.so.1"
#define MAX_LINKS 64 /* of NVLink: 18 on Hopper */

struct nvml_library nvml;

/* An unsupported feature is not a fault: consumer GPUs have no ECC. */
static int supported(struct weir_gpu *g, int code, const char *call)
{
    if (code != NVML_DONE && code != NVML_NOT_SUPPORTED && !g->fault[0]) {
        snprintf(g->fault, sizeof g->fault, "%s: %s", call, nvml.nvmlErrorString(code));
    }
    return code == NVML_DONE;
}

#define QUERY(g, f, ...) supported(g, nvml.f(__VA_ARGS__), #f)

/* A number, or 0 if it was not reported, whatever the library wrote. */
#define NUMBER(g, f, ...) (QUERY(g, f, __VA_ARGS__, &number) ? number : 0)

static void count_links(nvml_handle d, struct weir_gpu *g)
{
    for (unsigned i = 0; i < MAX_LINKS; i++) {
        int up = 0, code = nvml.nvmlDeviceGetNvLinkState(d, i, &up);
        if (code == NVML_BAD_ARGUMENT) { /* no more links */
            return;
        }
        if (!supported(g, code, "nvmlDeviceGetNvLinkState")) {
            continue; /* not on this board */
        }
        g->links++;
        g->links_up += up == 1;
    }
}

/* Without space for them, the library says only how many processes there are. */
static int count_processes(nvml_handle d, struct weir_gpu *g)
{
    unsigned n = 0;
    int code = nvml.nvmlDeviceGetComputeRunningProcesses(d, &n, NULL);
    if (code == NVML_INSUFFICIENT_SIZE) {
        return (int)n;
    }
    return supported(g, code, "nvmlDeviceGetComputeRunningProcesses") ? 0 : -1;
}

/* Writes a PCI address as the kernel does. */
static void write_bus(const struct nvml_pci *pci, char *out, size_t cap)
{
    snprintf(out, cap, "%04x:%02x:%02x.0", pci->domain, pci->bus, pci->device);
}

static void describe(unsigned i, const char *driver, struct weir_gpu *g)
{
    nvml_handle d = NULL;
    struct nvml_pci pci;
    struct nvml_memory memory;
    int now, next;
    unsigned number;
    *g = (struct weir_gpu){.name = "", .processes = -1};
    snprintf(g->driver, sizeof g->driver, "%s", driver);
    if (!QUERY(g, nvmlDeviceGetHandleByIndex_v2, i, &d)) {
        return;
    }
    if (!QUERY(g, nvmlDeviceGetName, d, g->name, sizeof g->name)) {
        g->name[0] = 0;
    }
    if (QUERY(g, nvmlDeviceGetPciInfo_v3, d, &pci)) {
        write_bus(&pci, g->bus, sizeof g->bus);
    }
    if (QUERY(g, nvmlDeviceGetMemoryInfo, d, &memory)) {
        g->memory = memory.total;
        g->used = memory.used;
    }
    g->processes = count_processes(d, g);
    g->sm = NUMBER(g, nvmlDeviceGetClockInfo, d, NVML_SM);
    g->sm_max = NUMBER(g, nvmlDeviceGetMaxClockInfo, d, NVML_SM);
    g->memory_clock = NUMBER(g, nvmlDeviceGetClockInfo, d, NVML_MEMORY);
    g->memory_clock_max = NUMBER(g, nvmlDeviceGetMaxClockInfo, d, NVML_MEMORY);
    if (QUERY(g, nvmlDeviceGetEccMode, d, &now, &next)) {
        g->ecc = now ? 1 : -1;
    }
    g->power_limit = NUMBER(g, nvmlDeviceGetEnforcedPowerLimit, d);
    g->power_default = NUMBER(g, nvmlDeviceGetPowerManagementDefaultLimit, d);
    count_links(d, g);
}

static int failed(char *why, size_t n, const char *call, int code)
{
    snprintf(why, n, LIBRARY ": %s: %s", call, nvml.nvmlErrorString(code));
    return -2;
}

int weir_nvml(char *why, size_t n)
{
#define ENTRY(f) {#f, (void **)&nvml.f},
    static const struct dl_symbol symbols[] = {NVML_SYMBOLS(ENTRY)};
    int rc;
    void *lib = dl_open((const char *const[]){LIBRARY, NULL}, why, n);
    if (!lib) {
        return -1;
    }
    const char *missing = dl_fill(lib, symbols, sizeof symbols / sizeof *symbols);
    if (missing) {
        snprintf(why, n,
                 LIBRARY " has no %s: weir needs that of a driver from 2018 (R384) or later",
                 missing);
        return -2;
    }
    rc = nvml.nvmlInit_v2();
    if (rc != NVML_DONE) {
        return failed(why, n, "nvmlInit_v2", rc);
    }
    return 0;
}

int weir_gpus(struct weir_gpu *out, int cap, char *why, size_t n)
{
    char driver[80] = "";
    unsigned total = 0;
    int rc = weir_nvml(why, n);
    if (rc < 0) {
        return rc;
    }
    rc = nvml.nvmlDeviceGetCount_v2(&total);
    if (rc != NVML_DONE) {
        return failed(why, n, "nvmlDeviceGetCount_v2", rc);
    }
    if (nvml.nvmlSystemGetDriverVersion(driver, sizeof driver) != NVML_DONE) {
        driver[0] = 0;
    }
    for (unsigned i = 0; i < total && i < (unsigned)cap; i++) {
        describe(i, driver, &out[i]);
    }
    (void)nvml.nvmlShutdown();
    return total < (unsigned)cap ? (int)total : cap;
}

int weir_gpus_used(struct weir_gpu_used *out, int cap, char *why, size_t n)
{
    static int started;
    unsigned total = 0;
    int rc = started ? 0 : weir_nvml(why, n), found = 0;
    if (rc < 0) {
        return rc;
    }
    started = 1;
    rc = nvml.nvmlDeviceGetCount_v2(&total);
    if (rc != NVML_DONE) {
        return failed(why, n, "nvmlDeviceGetCount_v2", rc);
    }
    for (unsigned i = 0; i < total && found < cap; i++) {
        nvml_handle d;
        struct nvml_pci pci;
        struct nvml_memory memory;
        if (nvml.nvmlDeviceGetHandleByIndex_v2(i, &d) == NVML_DONE &&
            nvml.nvmlDeviceGetPciInfo_v3(d, &pci) == NVML_DONE &&
            nvml.nvmlDeviceGetMemoryInfo(d, &memory) == NVML_DONE) {
            write_bus(&pci, out[found].bus, sizeof out[found].bus);
            out[found++].used = memory.used;
        }
    }
    return found;
}
