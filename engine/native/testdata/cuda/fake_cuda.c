/* GPUs, contexts and images of the fake: see fake_cuda.h. */
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int                            started;
static struct cu_context              contexts[MOST_DEVICES];
static _Thread_local struct cu_context *current;
static pthread_mutex_t                lock = PTHREAD_MUTEX_INITIALIZER;
static int                            seen[MOST_DEVICES], nseen;

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atoi(text) : otherwise;
}

int fake_ready(void) { return started ? CU_DONE : NOT_INITIALIZED; }

int fake_current(struct cu_context **out)
{
    if (!started)
        return NOT_INITIALIZED;
    if (!current || !current->retained)
        return INVALID_CONTEXT;
    *out = current;
    return atomic_load(&current->fault);
}

int fake_devices(void) { return nseen; }
int fake_physical(int device) { return seen[device]; }

int fake_peers_reach(void)
{
    const char *p2p = getenv("FAKE_CUDA_P2P");
    return !p2p || strcmp(p2p, "no");
}

int fake_fault(void)
{
    static _Atomic int launches;
    return atomic_fetch_add(&launches, 1) + 1 == number("FAKE_CUDA_FAIL", 0);
}

/* Parses CUDA_VISIBLE_DEVICES, up to the first missing device. */
static void choose(int there)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list) {
        for (nseen = 0; nseen < there; nseen++)
            seen[nseen] = nseen;
        return;
    }
    for (char *end; *list && nseen < there; list = *end ? end + 1 : end) {
        long i = strtol(list, &end, 10);
        if (end == list || i < 0 || i >= there)
            return;
        seen[nseen++] = (int)i;
    }
}

int cuInit(unsigned flags)
{
    pthread_mutex_lock(&lock);
    int there = number("FAKE_CUDA_DEVICES", 2);
    if (!started && there <= MOST_DEVICES)
        choose(there);
    started = nseen > 0;
    pthread_mutex_unlock(&lock);
    return flags ? CU_INVALID_VALUE : nseen ? CU_DONE : NO_DEVICE;
}

int cuDriverGetVersion(int *version)
{
    *version = 12080;
    return CU_DONE;
}

static const struct {
    int         code;
    const char *name, *text;
} errors[] = {
    {CU_DONE, "CUDA_SUCCESS", "no error"},
    {CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NOT_MAPPED, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution"},
    {NO_PEER_ACCESS, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported"},
    {UNSUPPORTED_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an "
                                                            "unsupported toolchain."},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CU_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
};

static int words(int code, const char **text, int name)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) {
            *text = name ? errors[i].name : errors[i].text;
            return CU_DONE;
        }
    *text = NULL;
    return CU_INVALID_VALUE;
}
int cuGetErrorName(int code, const char **text) { return words(code, text, 1); }
int cuGetErrorString(int code, const char **text) { return words(code, text, 0); }

int cuDeviceGetCount(int *n)
{
    *n = nseen;
    return fake_ready();
}

static int known(int device)
{
    return !started ? NOT_INITIALIZED : device >= 0 && device < nseen ? CU_DONE : INVALID_DEVICE;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return known(ordinal);
}

int cuDeviceGetName(char *text, int cap, int device)
{
    snprintf(text, (size_t)cap, "Stand-in");
    return known(device);
}

int cuDeviceGetUuid_v2(struct cu_uuid *uuid, int device)
{
    int rc = known(device);
    *uuid  = (struct cu_uuid){"GPU-"};
    if (rc == CU_DONE)
        uuid->bytes[15] = (unsigned char)(seen[device] + 1);
    return rc;
}

/* Same addresses as the fake of NVIDIA's management library. */
int cuDeviceGetPCIBusId(char *text, int cap, int device)
{
    int rc = known(device);
    if (rc == CU_DONE)
        snprintf(text, (size_t)cap, "0000:%02X:00.0", 0x41 + 0x40 * seen[device]);
    return rc;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    int capability = number("FAKE_CUDA_CAPABILITY", 90);
    *value         = attribute == CU_MULTIPROCESSORS    ? 5
                     : attribute == CU_CAPABILITY_MAJOR ? capability / 10
                     : attribute == CU_CAPABILITY_MINOR ? capability % 10
                     : attribute == CU_SHARED_OF_MULTIPROCESSOR ? 228 * 1024
                                                        : 0;
    return known(device);
}

int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer && fake_peers_reach();
    return known(device) ? known(device) : known(peer);
}

int cuDevicePrimaryCtxRetain(cu_context *out, int device)
{
    int rc = known(device);
    if (rc != CU_DONE)
        return rc;
    pthread_mutex_lock(&lock);
    if (contexts[device].retained++ == 0)
        contexts[device].device = device; /* threads of its streams read it from then on */
    *out = &contexts[device];
    pthread_mutex_unlock(&lock);
    return CU_DONE;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    int rc = known(device);
    if (rc != CU_DONE)
        return rc;
    pthread_mutex_lock(&lock);
    rc = contexts[device].retained ? CU_DONE : INVALID_CONTEXT;
    if (rc == CU_DONE && --contexts[device].retained == 0) {
        int left = fake_release_all(device);
        if (left && !atomic_load(&contexts[device].fault)) {
            fprintf(stderr, "stand-in of CUDA: %d allocations were left on GPU %d\n", left, device);
            abort();
        }
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int cuCtxSetCurrent(cu_context context)
{
    current = context;
    return fake_ready();
}

/* ---- images ---- */

struct cu_module {
    int capability;
};

struct cu_kernel {
    const char *name;
};
/* in the order of enum cuda_kernel */
struct cu_kernel fake_kernels[KERNELS] = {
    {"weir_fill"},        {"weir_check"},      {"weir_copy"},    {"weir_bulk"},
    {"weir_ep_dispatch"}, {"weir_ep_combine"}, {"weir_ep_pull"}, {"weir_ep_verify"},
    {"weir_ep_meet"},     {"weir_ep_clock"},   {"weir_ep_compare"}, {"weir_ep_pack"},
    {"weir_pingpong"},
};

/* Checks machine code for its generation, or PTX for its minimum capability. */
static int image_suits(const char *image)
{
    int         capability = number("FAKE_CUDA_CAPABILITY", 90);
    const char *target;
    if (!memcmp(image, "\177ELF", 4))
        return capability / 10 == 9 ? CU_DONE : NO_BINARY;
    if (!(target = strstr(image, ".target sm_")))
        return INVALID_IMAGE;
    return atoi(target + strlen(".target sm_")) <= capability ? CU_DONE : NO_BINARY;
}

int cuModuleLoadDataEx(cu_module *out, const void *image, unsigned n, int *options, void **values)
{
    struct cu_context *c;
    int                rc = fake_current(&c);
    (void)n, (void)options, (void)values;
    if (rc != CU_DONE || (rc = image_suits(image)) != CU_DONE)
        return rc;
    if (!(*out = calloc(1, sizeof **out)))
        return CU_OUT_OF_MEMORY;
    (*out)->capability = number("FAKE_CUDA_CAPABILITY", 90);
    return CU_DONE;
}

int cuModuleUnload(cu_module module)
{
    free(module);
    return CU_DONE;
}

int cuModuleGetFunction(cu_kernel *out, cu_module module, const char *name)
{
    for (int i = 0; module && i < KERNELS; i++)
        if (!strcmp(fake_kernels[i].name, name) && (i != KERNEL_BULK || module->capability >= 90)) {
            *out = &fake_kernels[i];
            return CU_DONE;
        }
    return NOT_FOUND;
}

int cuFuncSetAttribute(cu_kernel kernel, int attribute, int value)
{
    (void)value;
    return kernel && attribute == CU_DYNAMIC_SHARED ? CU_DONE : CU_INVALID_VALUE;
}
