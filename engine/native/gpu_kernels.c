/* Selects the image of the kernels for a GPU: matching machine code, or the newest PTX that its
 * driver compiles. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu_cuda.h"

#define LOG 4096
enum { ERROR_LOG = 5, ERROR_LOG_BYTES = 6 }; /* options of cuModuleLoadDataEx */

static int suits(const struct cuda_image *i, int major, int minor)
{
    if (i->binary) { /* also runs on later GPUs of the same generation */
        return i->major == major && i->minor <= minor;
    }
    return i->major < major || (i->major == major && i->minor <= minor);
}

static int load(struct cuda_thread *t, const struct cuda_image *i, struct weir_err *err)
{
    char log[LOG] = "";
    int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    int code = cuda.cuModuleLoadDataEx(&t->module, i->bytes, 2, options, values);
    if (code == CU_DONE) {
        return 0;
    }
    t->module = NULL;
    (void)cuda_failed(err, "cuModuleLoadDataEx", code);
    size_t at = strlen(err->text);
    if (*log) {
        snprintf(err->text + at, sizeof err->text - at, ": %.200s", log);
    }
    return err->code;
}

static int find_kernels(struct cuda_thread *t, const struct cuda_image *i, struct weir_err *err)
{
    static const char *const names[KERNELS] = {
        "weir_fill",       "weir_check",   "weir_copy",      "weir_bulk",    "weir_ep_dispatch",
        "weir_ep_combine", "weir_ep_pull", "weir_ep_verify", "weir_ep_meet", "weir_ep_clock",
        "weir_ep_compare", "weir_ep_pack", "weir_pingpong",
    };
    int rc;
    for (int k = 0; k < KERNELS; k++) {
        t->kernels[k] = NULL;
        if (k == KERNEL_BULK && i->major < 9) {
            continue; /* GPUs without that engine */
        }
        if ((rc = CUDA_CALL(err, cuModuleGetFunction, &t->kernels[k], t->module, names[k])) < 0) {
            return rc;
        }
    }
    return 0;
}

int cuda_kernels_load(struct cuda_thread *t, struct weir_err *err)
{
    int major = 0, minor = 0, rc;
    if ((rc = CUDA_CALL(err, cuDeviceGetAttribute, &major, CU_CAPABILITY_MAJOR, t->device)) < 0) {
        return rc;
    }
    if ((rc = CUDA_CALL(err, cuDeviceGetAttribute, &minor, CU_CAPABILITY_MINOR, t->device)) < 0) {
        return rc;
    }
    struct weir_err last = {0};
    for (size_t i = 0; i < cuda_nimages; i++) {
        struct weir_err e = {0};
        if (!suits(&cuda_images[i], major, minor)) {
            continue;
        }
        if (load(t, &cuda_images[i], &e) == 0) {
            return find_kernels(t, &cuda_images[i], err);
        }
        last = e;
    }
    err->code = last.code ? last.code : -ENOSYS;
    if (last.code) {
        snprintf(err->text, sizeof err->text, "%s", last.text);
    } else {
        snprintf(err->text, sizeof err->text,
                 "%s has compute capability %d.%d, and weir's kernels need 7.5", t->name, major,
                 minor);
    }
    return err->code;
}
