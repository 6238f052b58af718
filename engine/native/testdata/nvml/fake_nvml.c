/* A fake of libnvidia-ml.so.1 with two GPUs: a server's, and one with little information.
 * FAKE_NVML=no driver: it does not start; lost: the second one does not answer. WITHOUT_ECC leaves
 * a function out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../gpu_nvml.h"

enum { DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15, UNINITIALIZED = 1 };

struct nvml_device {
    int lost, server;
};
static struct nvml_device gpus[2];
static int started;

static int told(const char *what)
{
    const char *fake = getenv("FAKE_NVML");
    return fake && !strcmp(fake, what);
}

int nvmlInit_v2(void)
{
    if (told("no driver"))
        return DRIVER_NOT_LOADED;
    started        = 1;
    gpus[0].server = 1;
    gpus[1].lost   = told("lost");
    return 0;
}

int nvmlShutdown(void)
{
    started = 0;
    return 0;
}

const char *nvmlErrorString(int code)
{
    return code == DRIVER_NOT_LOADED ? "Driver Not Loaded"
           : code == GPU_IS_LOST     ? "GPU is lost"
                                     : "Uninitialized";
}

int nvmlSystemGetDriverVersion(char *text, unsigned cap)
{
    snprintf(text, cap, "570.86.15");
    return started ? 0 : UNINITIALIZED;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = 2;
    return started ? 0 : UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, nvml_handle *out)
{
    *out = &gpus[i];
    return i < 2 ? 0 : NVML_BAD_ARGUMENT;
}

static int answer(nvml_handle d) { return d->lost ? GPU_IS_LOST : 0; }
static int of_servers(nvml_handle d)
{
    return d->lost ? GPU_IS_LOST : d->server ? 0 : NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetName(nvml_handle d, char *text, unsigned cap)
{
    snprintf(text, cap, "%s", d->server ? "NVIDIA H200" : "NVIDIA T400");
    return 0;
}

int nvmlDeviceGetPciInfo_v3(nvml_handle d, struct nvml_pci *out)
{
    *out = (struct nvml_pci){.bus = d->server ? 0x41 : 0x81};
    snprintf(out->text, sizeof out->text, "%08x:%02x:00.0", 0, out->bus);
    return 0;
}

int nvmlDeviceGetMemoryInfo(nvml_handle d, struct nvml_memory *out)
{
    out->total = d->server ? 150754820096ull : 2147483648ull;
    out->used  = d->server && told("busy") ? 85899345920ull : 0;
    return answer(d);
}

int nvmlDeviceGetClockInfo(nvml_handle d, int clock, unsigned *mhz)
{
    *mhz = clock == NVML_SM ? 345 : 3201;
    return of_servers(d);
}

int nvmlDeviceGetMaxClockInfo(nvml_handle d, int clock, unsigned *mhz)
{
    *mhz = clock == NVML_SM ? 1980 : 3201;
    return of_servers(d);
}

#ifndef WITHOUT_ECC
int nvmlDeviceGetEccMode(nvml_handle d, int *now, int *next)
{
    *now = *next = 1;
    return of_servers(d);
}
#endif

int nvmlDeviceGetEnforcedPowerLimit(nvml_handle d, unsigned *mw)
{
    *mw = 600000;
    return of_servers(d);
}

int nvmlDeviceGetPowerManagementDefaultLimit(nvml_handle d, unsigned *mw)
{
    *mw = 700000;
    return of_servers(d);
}

int nvmlDeviceGetNvLinkState(nvml_handle d, unsigned link, int *up)
{
    *up = link != 3;
    return link >= 18 ? NVML_BAD_ARGUMENT : of_servers(d);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvml_handle *out)
{
    for (int i = 0; i < 2; i++)
        if (!strcmp(bus, i ? "0000:81:00.0" : "0000:41:00.0")) {
            *out = &gpus[i];
            return started ? 0 : UNINITIALIZED;
        }
    return NVML_BAD_ARGUMENT;
}

/* FAKE_NVML=pcie: no NVLink between them; apart: they do not reach each other. */
int nvmlDeviceGetP2PStatus(nvml_handle a, nvml_handle b, int index, int *status)
{
    int linked = !told("pcie") && !told("apart");
    if (a == b)
        return NVML_BAD_ARGUMENT;
    *status = index == NVML_P2P_NVLINK ? !linked : told("apart");
    return started ? 0 : UNINITIALIZED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml_handle d, unsigned link, struct nvml_pci *out)
{
    *out = (struct nvml_pci){.bus = link < 4 ? 0x81 : 0x05}; /* the rest end at a switch */
    return of_servers(d);
}

int nvmlDeviceGetFieldValues(nvml_handle d, int n, struct nvml_field *fields)
{
    for (int i = 0; i < n; i++) {
        fields[i].code         = fields[i].field == NVML_LINK_SPEED ? 0 : NVML_NOT_SUPPORTED;
        fields[i].value.number = 26562;
    }
    return of_servers(d);
}

int nvmlDeviceGetCurrPcieLinkGeneration(nvml_handle d, unsigned *generation)
{
    *generation = d->server ? 5 : 4;
    return answer(d);
}

int nvmlDeviceGetCurrPcieLinkWidth(nvml_handle d, unsigned *lanes)
{
    *lanes = 16;
    return answer(d);
}

/* FAKE_NVML=hot: a GPU's clocks are throttled by heat; failing: its memory has one more error at
 * each query. */
int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_handle d, unsigned long long *bits)
{
    *bits = told("hot") ? 0x41 : 1;
    return of_servers(d);
}

int nvmlDeviceGetTotalEccErrors(nvml_handle d, int type, int counter, unsigned long long *n)
{
    static unsigned long long errors;
    *n = told("failing") && type == NVML_UNCORRECTED && counter == NVML_SINCE_LOADED ? ++errors : 0;
    return of_servers(d);
}

/* FAKE_NVML=busy: two processes use the server's GPU. */
int nvmlDeviceGetComputeRunningProcesses(nvml_handle d, unsigned *n, void *processes)
{
    unsigned cap = *n;
    (void)processes;
    *n = d->server && told("busy") ? 2 : 0;
    return of_servers(d) ? of_servers(d) : *n > cap ? NVML_INSUFFICIENT_SIZE : 0;
}
