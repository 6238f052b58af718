/* gpu.h: what NVIDIA's management library says of the GPUs of this host, and the part of
 * it that weir uses, in weir's own words: it comes with the driver, its header with the
 * toolkit. Written against the published interface (NVML API Reference); all of these
 * functions are in drivers from 2018 (R384) on. */
#ifndef WEIR_GPU_H
#define WEIR_GPU_H

#include "weir.h"

struct weir_gpu { /* 0 or empty: not told */
    char     name[96], driver[80], bus[32];
    uint64_t memory;                                 /* bytes */
    unsigned sm, sm_max, memory_clock, memory_clock_max; /* MHz */
    int      ecc;                                    /* 1: on, -1: off */
    unsigned power_limit, power_default;             /* mW */
    int      links, links_up;                        /* of NVLink */
    /* what could not be asked, in the library's words */
    char     fault[192];
};

/* Fills at most cap of them and gives how many there are; -1: there is no such library;
 * -2: it is there and fails; then why says more. It stays loaded: ask in a process that
 * ends afterwards. */
int weir_gpus(struct weir_gpu *out, int cap, char *why, size_t n);

typedef struct nvml_device *nvml_handle;

struct nvml_pci {
    char     legacy[16];
    unsigned domain, bus, device, ids, subsystem;
    char     text[32];
};
_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t");

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

enum nvml_clock { NVML_SM = 1, NVML_MEMORY = 2 };
enum nvml_code { NVML_DONE = 0, NVML_BAD_ARGUMENT = 2, NVML_NOT_SUPPORTED = 3 };

int         nvmlInit_v2(void);
int         nvmlShutdown(void);
const char *nvmlErrorString(int code);
int         nvmlSystemGetDriverVersion(char *text, unsigned cap);
int         nvmlDeviceGetCount_v2(unsigned *n);
int         nvmlDeviceGetHandleByIndex_v2(unsigned i, nvml_handle *out);
int         nvmlDeviceGetName(nvml_handle d, char *text, unsigned cap);
int         nvmlDeviceGetPciInfo_v3(nvml_handle d, struct nvml_pci *out);
int         nvmlDeviceGetMemoryInfo(nvml_handle d, struct nvml_memory *out);
int         nvmlDeviceGetClockInfo(nvml_handle d, int clock, unsigned *mhz);
int         nvmlDeviceGetMaxClockInfo(nvml_handle d, int clock, unsigned *mhz);
int         nvmlDeviceGetEccMode(nvml_handle d, int *now, int *next);
int         nvmlDeviceGetEnforcedPowerLimit(nvml_handle d, unsigned *mw);
int         nvmlDeviceGetPowerManagementDefaultLimit(nvml_handle d, unsigned *mw);
int         nvmlDeviceGetNvLinkState(nvml_handle d, unsigned link, int *up);

#define NVML_SYMBOLS(F)                                                                       \
    F(nvmlInit_v2)                                                                            \
    F(nvmlShutdown) F(nvmlErrorString) F(nvmlSystemGetDriverVersion) F(nvmlDeviceGetCount_v2) \
        F(nvmlDeviceGetHandleByIndex_v2) F(nvmlDeviceGetName) F(nvmlDeviceGetPciInfo_v3)      \
            F(nvmlDeviceGetMemoryInfo) F(nvmlDeviceGetClockInfo) F(nvmlDeviceGetMaxClockInfo) \
                F(nvmlDeviceGetEccMode) F(nvmlDeviceGetEnforcedPowerLimit)                    \
                    F(nvmlDeviceGetPowerManagementDefaultLimit) F(nvmlDeviceGetNvLinkState)

#endif
