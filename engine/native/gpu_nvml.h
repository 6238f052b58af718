/* gpu_nvml.h: queries NVIDIA's management library about the GPUs of this host, and declares the
 * part of it that weir uses: the library comes with the driver, its header with the toolkit.
 * Written against the published interface (NVML API Reference); drivers from 2018 (R384) on have
 * all of these functions. */
#ifndef WEIR_GPU_NVML_H
#define WEIR_GPU_NVML_H

#include "weir.h"

struct weir_gpu { /* 0 or empty: not reported */
    char name[96], driver[80], bus[32];
    uint64_t memory, used;                               /* bytes */
    int processes;                                       /* that use it; -1: not reported */
    unsigned sm, sm_max, memory_clock, memory_clock_max; /* MHz */
    int ecc;                                             /* 1: on, -1: off */
    unsigned power_limit, power_default;                 /* mW */
    int links, links_up;                                 /* of NVLink */
    /* error text of queries that failed */
    char fault[192];
};

/* Fills at most cap entries and returns the number of GPUs; -1: no such library; -2: it fails, with
 * why set. The library stays loaded: call it in a process that ends afterwards. */
int weir_gpus(struct weir_gpu *out, int cap, char *why, size_t n);

struct weir_gpu_used {
    char bus[32];
    uint64_t used; /* bytes */
};
/* Like weir_gpus, of the memory in use alone; GPUs that do not answer are left out. The library
 * stays started, so that further calls take microseconds. */
int weir_gpus_used(struct weir_gpu_used *out, int cap, char *why, size_t n);

/* How two GPUs, given by PCI address, reach each other. */
enum weir_gpu_way { WAY_UNKNOWN, WAY_NVLINK, WAY_PCIE, WAY_NONE };
struct weir_gpu_path {
    enum weir_gpu_way way;
    int links;   /* of NVLink */
    double rate; /* nominal, bytes/s in one direction; 0: not reported */
};
enum weir_gpu_way weir_gpu_way(const char *a, const char *b);
struct weir_gpu_path weir_gpu_path(const char *a, const char *b);

/* Conditions of a GPU, given by PCI address, that invalidate a measurement. */
struct weir_gpu_health {
    int known;
    uint64_t slowed; /* bits of NVML_SLOWED: why its clocks are throttled */
    uint64_t errors; /* uncorrected memory errors since the driver was loaded */
};
/* Returns the health of the GPU at a PCI address. */
struct weir_gpu_health weir_gpu_health(const char *bus);

/* Returns the errors between two readings; 0: none, or one of the readings failed. */
static inline uint64_t weir_gpu_new_errors(const struct weir_gpu_health *before,
                                           const struct weir_gpu_health *after)
{
    return before->known && after->known && after->errors > before->errors
               ? after->errors - before->errors
               : 0;
}

/* Loads and starts the library; returns the codes of weir_gpus. */
int weir_nvml(char *why, size_t n);

typedef struct nvml_device *nvml_handle;

struct nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, ids, subsystem;
    char text[32];
};
_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t");

struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
};

struct nvml_field { /* nvmlFieldValue_t */
    unsigned field, scope;
    long long time, latency;
    int type, code;
    union {
        unsigned number;
        unsigned long long wide;
    } value;
};
_Static_assert(sizeof(struct nvml_field) == 40, "nvmlFieldValue_t");

enum nvml_p2p { NVML_P2P_WRITE = 1, NVML_P2P_NVLINK = 2 };
enum nvml_field_id { NVML_LINK_SPEED = 90 /* MB/s of a link */ };

/* nvmlClocksThrottleReason…: thermal, power and hardware slowdown */
enum nvml_slowed { NVML_SLOWED = 0x08 | 0x20 | 0x40 | 0x80 };
enum nvml_errors { NVML_UNCORRECTED = 1, NVML_SINCE_LOADED = 0 };

enum nvml_clock { NVML_SM = 1, NVML_MEMORY = 2 };
enum nvml_code {
    NVML_DONE = 0,
    NVML_BAD_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_INSUFFICIENT_SIZE = 7
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int code);
int nvmlSystemGetDriverVersion(char *text, unsigned cap);
int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, nvml_handle *out);
int nvmlDeviceGetName(nvml_handle d, char *text, unsigned cap);
int nvmlDeviceGetPciInfo_v3(nvml_handle d, struct nvml_pci *out);
int nvmlDeviceGetMemoryInfo(nvml_handle d, struct nvml_memory *out);
int nvmlDeviceGetClockInfo(nvml_handle d, int clock, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(nvml_handle d, int clock, unsigned *mhz);
int nvmlDeviceGetEccMode(nvml_handle d, int *now, int *next);
int nvmlDeviceGetEnforcedPowerLimit(nvml_handle d, unsigned *mw);
int nvmlDeviceGetPowerManagementDefaultLimit(nvml_handle d, unsigned *mw);
int nvmlDeviceGetNvLinkState(nvml_handle d, unsigned link, int *up);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvml_handle *out);
int nvmlDeviceGetP2PStatus(nvml_handle a, nvml_handle b, int index, int *status);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml_handle d, unsigned link, struct nvml_pci *out);
int nvmlDeviceGetFieldValues(nvml_handle d, int n, struct nvml_field *fields);
int nvmlDeviceGetCurrPcieLinkGeneration(nvml_handle d, unsigned *generation);
int nvmlDeviceGetCurrPcieLinkWidth(nvml_handle d, unsigned *lanes);
int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_handle d, unsigned long long *bits);
int nvmlDeviceGetTotalEccErrors(nvml_handle d, int type, int counter, unsigned long long *n);
int nvmlDeviceGetComputeRunningProcesses(nvml_handle d, unsigned *n, void *processes);

/* clang-format off */
#define NVML_SYMBOLS(F) \
    F(nvmlInit_v2) F(nvmlShutdown) F(nvmlErrorString) F(nvmlSystemGetDriverVersion) \
    F(nvmlDeviceGetCount_v2) F(nvmlDeviceGetHandleByIndex_v2) F(nvmlDeviceGetName) \
    F(nvmlDeviceGetPciInfo_v3) F(nvmlDeviceGetMemoryInfo) F(nvmlDeviceGetClockInfo) \
    F(nvmlDeviceGetMaxClockInfo) F(nvmlDeviceGetEccMode) F(nvmlDeviceGetEnforcedPowerLimit) \
    F(nvmlDeviceGetPowerManagementDefaultLimit) F(nvmlDeviceGetNvLinkState) \
    F(nvmlDeviceGetHandleByPciBusId_v2) F(nvmlDeviceGetP2PStatus) \
    F(nvmlDeviceGetNvLinkRemotePciInfo_v2) F(nvmlDeviceGetFieldValues) \
    F(nvmlDeviceGetCurrPcieLinkGeneration) F(nvmlDeviceGetCurrPcieLinkWidth) \
    F(nvmlDeviceGetCurrentClocksThrottleReasons) F(nvmlDeviceGetTotalEccErrors) \
    F(nvmlDeviceGetComputeRunningProcesses)
/* clang-format on */

#define NVML_MEMBER(f) __typeof__(f) *f;
struct nvml_library {
    NVML_SYMBOLS(NVML_MEMBER)
};
extern struct nvml_library nvml;

#endif
