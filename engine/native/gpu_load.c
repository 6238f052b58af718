/* Loads the CUDA driver's library at run time, and manages a thread's GPU state. */
#include "gpu_cuda.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys_dl.h"
#include "gpu_nvml.h"

struct cuda_library cuda;

static _Thread_local struct cuda_thread *current;

struct cuda_thread *cuda_current(void) { return current; }

int cuda_failed(struct weir_err *err, const char *call, int code)
{
    const char *name = NULL, *text = NULL;
    if (code == CU_DONE) {
        return 0;
    }
    if (!cuda.cuGetErrorName || cuda.cuGetErrorName(code, &name) != CU_DONE ||
        cuda.cuGetErrorString(code, &text) != CU_DONE) {
        name = "unknown";
        text = "unknown error";
    }
    if (!err->code) {
        err->code = -EIO;
        snprintf(err->text, sizeof err->text, "%s: %s (%s, %d)", call, text, name, code);
    }
    return err->code;
}

int cuda_find(const struct cu_uuid *uuid)
{
    int n = 0;
    if (cuda.cuDeviceGetCount(&n) != CU_DONE) {
        return -1;
    }
    for (int i = 0; i < n; i++) {
        struct cu_uuid of;
        int device;
        if (cuda.cuDeviceGet(&device, i) == CU_DONE &&
            cuda.cuDeviceGetUuid_v2(&of, device) == CU_DONE && !memcmp(&of, uuid, sizeof of)) {
            return device;
        }
    }
    return -1;
}

int cuda_reaches(int device, int *can, struct weir_err *err)
{
    *can = 1;
    if (device < 0 || device == current->device) {
        return 0;
    }
    return CUDA_CALL(err, cuDeviceCanAccessPeer, can, current->device, device);
}

static int load_locked(char *why, size_t cap)
{
#define ENTRY(f) {#f, (void **)&cuda.f},
    static const struct dl_symbol symbols[] = {CUDA_SYMBOLS(ENTRY)};
    static const struct dl_symbol newer[] = {CUDA_NEWER_SYMBOLS(ENTRY)};
    static int loaded;
    struct dl_handlers before;
    struct weir_err e = {0};
    const char *named = getenv("WEIR_CUDA_LIBRARY");
    if (loaded) {
        return 0;
    }
    void *lib =
        dl_open((const char *const[]){named && *named ? named : "libcuda.so.1", NULL}, why, cap);
    if (!lib) {
        return -ENOENT;
    }
    const char *missing = dl_fill(lib, symbols, sizeof symbols / sizeof *symbols);
    (void)dl_fill(lib, newer, sizeof newer / sizeof *newer);
    if (missing) {
        snprintf(why, cap, "%s has no %s: weir needs that of a driver from 2022 (R515) or later",
                 named && *named ? named : "libcuda.so.1", missing);
        return -ENOSYS;
    }
    *(void **)&cuda.cuMemcpyBatchAsync = dlsym(lib, "cuMemcpyBatchAsync");
    dl_handlers_keep(&before);
    int code = cuda.cuInit(0);
    dl_handlers_restore(&before);
    if (cuda_failed(&e, "cuInit", code) < 0) {
        snprintf(why, cap, "%s", e.text);
        return -ENODEV;
    }
    loaded = 1;
    return 0;
}

int cuda_load(char *why, size_t cap)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int rc = load_locked(why, cap);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int describe(struct cuda_thread *t, struct weir_err *err)
{
    int rc;
    if ((rc = CUDA_CALL(err, cuDeviceGetUuid_v2, &t->uuid, t->device)) < 0) {
        return rc;
    }
    if ((rc = CUDA_CALL(err, cuDeviceGetPCIBusId, t->bus, sizeof t->bus, t->device)) < 0) {
        return rc;
    }
    if ((rc = CUDA_CALL(err, cuDeviceGetName, t->name, sizeof t->name, t->device)) < 0) {
        return rc;
    }
    for (char *c = t->bus; *c; c++) { /* as the kernel writes it */
        *c = (char)tolower(*c);
    }
    return CUDA_CALL(err, cuDeviceGetAttribute, &t->multiprocessors, CU_MULTIPROCESSORS, t->device);
}

static int take_device(struct cuda_thread *t, struct weir_err *err)
{
    int rc, n = 0;
    if ((rc = CUDA_CALL(err, cuDeviceGetCount, &n)) < 0) {
        return rc;
    }
    if (n < 1) {
        err->code = -ENODEV;
        snprintf(err->text, sizeof err->text, "this process sees no GPU");
        return err->code;
    }
    t->ordinal %= n;
    if ((rc = CUDA_CALL(err, cuDeviceGet, &t->device, t->ordinal)) < 0) {
        return rc;
    }
    if ((rc = describe(t, err)) < 0) {
        return rc;
    }
    return CUDA_CALL(err, cuDevicePrimaryCtxRetain, &t->context, t->device);
}

static int set_up(struct cuda_thread *t, struct weir_err *err)
{
    char why[WEIR_TEXT];
    int rc;
    t->nvml = weir_nvml(why, sizeof why) == 0; /* optional: without it less is reported */
    if ((rc = CUDA_CALL(err, cuCtxSetCurrent, t->context)) < 0) {
        return rc;
    }
    if ((rc = CUDA_CALL(err, cuStreamCreate, &t->stream, CU_NON_BLOCKING)) < 0) {
        return rc;
    }
    if ((rc = CUDA_CALL(err, cuMemAlloc_v2, &t->found, sizeof(uint64_t))) < 0) {
        return rc;
    }
    return cuda_kernels_load(t, err);
}

static void tear_down(struct cuda_thread *t)
{
    if (t->module) {
        (void)cuda.cuModuleUnload(t->module);
    }
    if (t->found) {
        (void)cuda.cuMemFree_v2(t->found);
    }
    if (t->stream) {
        (void)cuda.cuStreamDestroy_v2(t->stream);
    }
    if (t->nvml) {
        (void)nvml.nvmlShutdown();
    }
    if (t->context) {
        (void)cuda.cuCtxSetCurrent(NULL);
        (void)cuda.cuDevicePrimaryCtxRelease_v2(t->device);
    }
    free(t);
}

int cuda_enter(unsigned index, struct weir_err *err)
{
    int rc = 0;
    if (current) {
        current->uses++;
        return 0;
    }
    struct cuda_thread *t = calloc(1, sizeof *t);
    if (!t) {
        err->code = -ENOMEM;
        snprintf(err->text, sizeof err->text, "no memory for the state of a GPU");
        return err->code;
    }
    t->ordinal = (int)index;
    t->uses = 1;
    if ((rc = cuda_load(err->text, sizeof err->text)) < 0) {
        err->code = rc;
    }
    if (rc < 0) {
        tear_down(t);
        return rc;
    }
    if ((rc = take_device(t, err)) < 0) {
        tear_down(t);
        return rc;
    }
    if ((rc = set_up(t, err)) < 0) {
        tear_down(t);
        return rc;
    }
    current = t;
    return 0;
}

void cuda_leave(void)
{
    if (!current || --current->uses) {
        return;
    }
    tear_down(current);
    current = NULL;
}
