/* How two GPUs of this host reach each other, the nominal rate of that path, and conditions that
 * invalidate measurements. */
#include <stdio.h>
#include <string.h>

#include "gpu_nvml.h"

#define MAX_LINKS 64
#define MEGA 1e6

/* Rate of one direction of a link, without its encoding overhead. */
static double pcie_rate(nvml_handle d)
{
    static const double lane[] = {0, 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9};
    unsigned generation = 0, lanes = 0;
    if (nvml.nvmlDeviceGetCurrPcieLinkGeneration(d, &generation) != NVML_DONE ||
        nvml.nvmlDeviceGetCurrPcieLinkWidth(d, &lanes) != NVML_DONE ||
        generation >= sizeof lane / sizeof *lane) {
        return 0;
    }
    return lane[generation] * lanes;
}

/* Counts the links that are up: those to the peer, or all if they end at a switch. */
static int links_to(nvml_handle d, const char *peer)
{
    int direct = 0, all = 0;
    for (unsigned i = 0; i < MAX_LINKS; i++) {
        struct nvml_pci pci;
        char bus[32];
        int up = 0;
        if (nvml.nvmlDeviceGetNvLinkState(d, i, &up) != NVML_DONE || up != 1) {
            continue;
        }
        all++;
        if (nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2(d, i, &pci) != NVML_DONE) {
            continue;
        }
        snprintf(bus, sizeof bus, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
        direct += !strcmp(bus, peer);
    }
    return direct ? direct : all;
}

static double link_rate(nvml_handle d)
{
    struct nvml_field f = {.field = NVML_LINK_SPEED};
    if (nvml.nvmlDeviceGetFieldValues(d, 1, &f) != NVML_DONE || f.code != NVML_DONE) {
        return 0;
    }
    return f.value.number * MEGA;
}

static int reaches(nvml_handle a, nvml_handle b, int how)
{
    int status = -1;
    return nvml.nvmlDeviceGetP2PStatus(a, b, how, &status) == NVML_DONE ? status == 0 : -1;
}

static enum weir_gpu_way way_between(nvml_handle from, nvml_handle to)
{
    if (reaches(from, to, NVML_P2P_NVLINK) == 1) {
        return WAY_NVLINK;
    }
    int writes = reaches(from, to, NVML_P2P_WRITE);
    return writes == 1 ? WAY_PCIE : writes == 0 ? WAY_NONE : WAY_UNKNOWN;
}

/* Finds the two GPUs; -1: unknown to NVML. Call nvmlShutdown afterwards. */
static int find(const char *a, const char *b, nvml_handle *from, nvml_handle *to)
{
    char why[WEIR_TEXT];
    if (weir_nvml(why, sizeof why) < 0) {
        return -1;
    }
    if (nvml.nvmlDeviceGetHandleByPciBusId_v2(a, from) == NVML_DONE &&
        nvml.nvmlDeviceGetHandleByPciBusId_v2(b, to) == NVML_DONE) {
        return 0;
    }
    (void)nvml.nvmlShutdown();
    return -1;
}

enum weir_gpu_way weir_gpu_way(const char *a, const char *b)
{
    nvml_handle from, to;
    if (find(a, b, &from, &to) < 0) {
        return WAY_UNKNOWN;
    }
    enum weir_gpu_way way = way_between(from, to);
    (void)nvml.nvmlShutdown();
    return way;
}

struct weir_gpu_path weir_gpu_path(const char *a, const char *b)
{
    struct weir_gpu_path p = {.way = WAY_UNKNOWN};
    nvml_handle from, to;
    if (find(a, b, &from, &to) < 0) {
        return p;
    }
    p.way = way_between(from, to);
    if (p.way == WAY_NVLINK) {
        p.links = links_to(from, b);
        p.rate = p.links * link_rate(from);
    } else if (p.way == WAY_PCIE) {
        double rate = pcie_rate(from), other = pcie_rate(to);
        p.rate = rate < other ? rate : other;
    }
    (void)nvml.nvmlShutdown();
    return p;
}

struct weir_gpu_health weir_gpu_health(const char *bus)
{
    struct weir_gpu_health h = {.known = 0};
    nvml_handle d;
    char why[WEIR_TEXT];
    unsigned long long bits = 0, n = 0;
    if (weir_nvml(why, sizeof why) < 0) {
        return h;
    }
    if (nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, &d) == NVML_DONE) {
        h.known = 1;
        if (nvml.nvmlDeviceGetCurrentClocksThrottleReasons(d, &bits) == NVML_DONE) {
            h.slowed = bits & NVML_SLOWED;
        }
        if (nvml.nvmlDeviceGetTotalEccErrors(d, NVML_UNCORRECTED, NVML_SINCE_LOADED, &n) ==
            NVML_DONE) {
            h.errors = n;
        }
    }
    (void)nvml.nvmlShutdown();
    return h;
}
