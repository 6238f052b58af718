/* Memory of a GPU. With unified addressing, fabrics handle its addresses like host addresses; only
 * the GPU accesses the contents. Kernels fill and check it with the patterns of pattern.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "gpu_cuda.h"
#include "mem_vram.h"

#define THREADS_OF_BLOCK 256
#define BLOCKS_OF_MULTIPROCESSOR 8

/* How a region was obtained. */
enum origin { ALLOCATED, IMPORTED, SHARED_WITHIN }; /* the last: from this process */

struct vram { /* private state of a region */
    int alloc;
    enum origin held;
    cu_handle handle; /* VRAM_VMM only */
    cu_pool pool;
    int fd; /* -1: not exported yet */
    /* of memory that this thread's GPU cannot access: it is mapped for the GPU that has it */
    cu_context context;
    int device;
};

/* The handle that another process imports, beside a descriptor. */
struct vram_handle {
    uint64_t process, base, size;
    int64_t alloc;
    struct cu_shared handle;
    struct cu_uuid uuid; /* of the GPU */
};
_Static_assert(sizeof(struct vram_handle) <= WEIR_HANDLE, "fits into a handle");

static cu_address address_of(const void *p) { return (cu_address)(uintptr_t)p; }

/* Returns a number unique to this process: memory of this process is not imported. */
static uint64_t this_process(void)
{
    static _Atomic uint64_t number;
    uint64_t n = atomic_load(&number), none = 0;
    if (n) {
        return n;
    }
    if (getrandom(&n, sizeof n, 0) != sizeof n) {
        n = (uint64_t)getpid();
    }
    n |= 1;
    return atomic_compare_exchange_strong(&number, &none, n) ? n : none;
}

static int vram_bind(const struct weir_config *cfg, struct weir_err *err)
{
    return cuda_enter(cfg->gpu, err);
}

static void vram_unbind(void) { cuda_leave(); }

static int finished(struct weir_err *err)
{
    return CUDA_CALL(err, cuStreamSynchronize, cuda_current()->stream);
}

/* ---- allocation ---- */

static struct cu_allocation of_device(void)
{
    return (struct cu_allocation){.type = CU_PINNED,
                                  .handles = CU_BY_DESCRIPTOR,
                                  .location = {CU_ON_DEVICE, cuda_current()->device}};
}

static struct cu_access access_of(int device)
{
    return (struct cu_access){{CU_ON_DEVICE, device}, CU_READ_AND_WRITE};
}

/* Maps physical memory for a GPU; the caller keeps the handle. */
static int map(cu_handle handle, int device, size_t bytes, cu_address *out, struct weir_err *err)
{
    struct cu_access access = access_of(device);
    cu_address p = 0;
    int rc = CUDA_CALL(err, cuMemAddressReserve, &p, bytes, 0, 0, 0);
    if (rc < 0) {
        return rc;
    }
    if ((rc = CUDA_CALL(err, cuMemMap, p, bytes, 0, handle, 0)) < 0) {
        (void)cuda.cuMemAddressFree(p, bytes);
        return rc;
    }
    if ((rc = CUDA_CALL(err, cuMemSetAccess, p, bytes, &access, 1)) < 0) {
        (void)cuda.cuMemUnmap(p, bytes);
        (void)cuda.cuMemAddressFree(p, bytes);
        return rc;
    }
    *out = p;
    return 0;
}

static int alloc_vmm(struct vram *v, size_t *bytes, cu_address *out, struct weir_err *err)
{
    struct cu_allocation of = of_device();
    size_t unit = 0;
    int rc = CUDA_CALL(err, cuMemGetAllocationGranularity, &unit, &of, CU_RECOMMENDED);
    if (rc < 0) {
        return rc;
    }
    of.rdma = 1;
    *bytes = (*bytes + unit - 1) / unit * unit;
    if ((rc = CUDA_CALL(err, cuMemCreate, &v->handle, *bytes, &of, 0)) < 0) {
        return rc;
    }
    if ((rc = map(v->handle, v->device, *bytes, out, err)) < 0) {
        (void)cuda.cuMemRelease(v->handle);
    }
    return rc;
}

static int alloc_pool(struct vram *v, size_t *bytes, cu_address *out, struct weir_err *err)
{
    struct cu_pool_of of = {.type = CU_PINNED,
                            .handles = CU_BY_DESCRIPTOR,
                            .location = {CU_ON_DEVICE, cuda_current()->device}};
    int rc = CUDA_CALL(err, cuMemPoolCreate, &v->pool, &of);
    if (rc < 0) {
        return rc;
    }
    rc = CUDA_CALL(err, cuMemAllocFromPoolAsync, out, *bytes, v->pool, cuda_current()->stream);
    if (rc == 0) {
        rc = finished(err);
    }
    if (rc < 0) {
        (void)cuda.cuMemPoolDestroy(v->pool);
    }
    return rc;
}

static int allocate(struct vram *v, size_t *bytes, cu_address *out, struct weir_err *err)
{
    switch (v->alloc) {
    case VRAM_VMM:
        return alloc_vmm(v, bytes, out, err);
    case VRAM_POOL:
        return alloc_pool(v, bytes, out, err);
    }
    return CUDA_CALL(err, cuMemAlloc_v2, out, *bytes);
}

static struct vram *new_vram(int alloc, enum origin held, struct weir_err *err)
{
    struct vram *v = calloc(1, sizeof *v);
    if (!v) {
        err->code = -ENOMEM;
        snprintf(err->text, sizeof err->text, "no memory for the state of a region");
        return NULL;
    }
    *v = (struct vram){.alloc = alloc, .held = held, .fd = -1, .device = cuda_current()->device};
    return v;
}

static int alloc_as(int how, size_t bytes, int pages, struct weir_region *out, struct weir_err *err)
{
    cu_address p = 0;
    if (pages != PAGES_DEFAULT) {
        err->code = -EOPNOTSUPP;
        snprintf(err->text, sizeof err->text, "memory of a GPU has no option pages");
        return err->code;
    }
    struct vram *v = new_vram(how, ALLOCATED, err);
    if (!v) {
        return err->code;
    }
    if (allocate(v, &bytes, &p, err) < 0) {
        size_t at = strlen(err->text);
        snprintf(err->text + at, sizeof err->text - at, "; allocating %zu bytes of GPU %s (%s)",
                 bytes, cuda_current()->bus, cuda_current()->name);
        free(v);
        return err->code;
    }
    *out = (struct weir_region){.base = (char *)(uintptr_t)p,
                                .size = bytes,
                                .fd = -1,
                                .kind = weir_mem_vram(how),
                                .priv = v};
    return 0;
}

static int device_alloc(size_t bytes, int pages, struct weir_region *out, struct weir_err *err)
{
    return alloc_as(VRAM_DEVICE, bytes, pages, out, err);
}
static int vmm_alloc(size_t bytes, int pages, struct weir_region *out, struct weir_err *err)
{
    return alloc_as(VRAM_VMM, bytes, pages, out, err);
}
static int pool_alloc(size_t bytes, int pages, struct weir_region *out, struct weir_err *err)
{
    return alloc_as(VRAM_POOL, bytes, pages, out, err);
}

/* ---- contents ---- */

static int clear(struct weir_region *m, struct weir_err *err)
{
    int rc =
        CUDA_CALL(err, cuMemsetD8Async, address_of(m->base), 0, m->size, cuda_current()->stream);
    return rc < 0 ? rc : finished(err);
}

static int launch(enum cuda_kernel k, size_t words, void **values, struct weir_err *err)
{
    const struct cuda_thread *t = cuda_current();
    size_t most = (size_t)t->multiprocessors * BLOCKS_OF_MULTIPROCESSOR,
           n = words / THREADS_OF_BLOCK + 1;
    return CUDA_CALL(err, cuLaunchKernel, t->kernels[k], (unsigned)(n < most ? n : most), 1, 1,
                     THREADS_OF_BLOCK, 1, 1, 0, t->stream, values, NULL);
}

static int vram_fill(void *p, size_t n, uint64_t key, struct weir_err *err)
{
    uint64_t to = address_of(p), bytes = n;
    int rc = launch(KERNEL_FILL, n / 8, (void *[]){&to, &bytes, &key}, err);
    return rc < 0 ? rc : finished(err);
}

static int vram_copy(void *to, const void *from, size_t n, struct weir_err *err)
{
    if (!n) {
        return 0;
    }
    int rc =
        CUDA_CALL(err, cuMemcpyAsync, address_of(to), address_of(from), n, cuda_current()->stream);
    return rc < 0 ? rc : finished(err);
}

static int vram_check(const void *p, size_t n, uint64_t key, int64_t *wrong, struct weir_err *err)
{
    const struct cuda_thread *t = cuda_current();
    uint64_t from = address_of(p), bytes = n, found = t->found, first = UINT64_MAX;
    int rc;
    if ((rc = CUDA_CALL(err, cuMemsetD8Async, t->found, 0xff, sizeof first, t->stream)) < 0) {
        return rc;
    }
    if ((rc = launch(KERNEL_CHECK, n / 8, (void *[]){&from, &bytes, &key, &found}, err)) < 0) {
        return rc;
    }
    if ((rc = vram_copy(&first, (void *)(uintptr_t)t->found, sizeof first, err)) < 0) {
        return rc;
    }
    *wrong = first == UINT64_MAX ? -1 : (int64_t)first;
    return 0;
}

/* ---- between processes ---- */

static int vram_export(const struct weir_region *m, struct weir_handle *out, struct weir_err *err)
{
    struct vram *v = m->priv;
    struct vram_handle t = {this_process(), address_of(m->base), m->size, v->alloc,
                            {{0}},          cuda_current()->uuid};
    int rc = 0;
    switch (v->alloc) {
    case VRAM_DEVICE:
        rc = CUDA_CALL(err, cuIpcGetMemHandle, &t.handle, t.base);
        break;
    case VRAM_VMM:
        if (v->fd < 0) {
            rc = CUDA_CALL(err, cuMemExportToShareableHandle, &v->fd, v->handle, CU_BY_DESCRIPTOR,
                           0);
        }
        break;
    case VRAM_POOL:
        if (v->fd < 0) {
            rc = CUDA_CALL(err, cuMemPoolExportToShareableHandle, &v->fd, v->pool, CU_BY_DESCRIPTOR,
                           0);
        }
        if (rc == 0) {
            rc = CUDA_CALL(err, cuMemPoolExportPointer, &t.handle, t.base);
        }
        break;
    }
    *out = (struct weir_handle){.fd = v->fd, .n = sizeof t};
    memcpy(out->bytes, &t, sizeof t);
    return rc;
}

static int import_vmm(struct vram *v, int fd, size_t bytes, cu_address *out, struct weir_err *err)
{
    int rc = CUDA_CALL(err, cuMemImportFromShareableHandle, &v->handle, (void *)(uintptr_t)fd,
                       CU_BY_DESCRIPTOR);
    if (rc < 0) {
        return rc;
    }
    if ((rc = map(v->handle, v->device, bytes, out, err)) < 0) {
        (void)cuda.cuMemRelease(v->handle);
    }
    return rc;
}

static int import_pool(struct vram *v, int fd, struct vram_handle *t, cu_address *out,
                       struct weir_err *err)
{
    struct cu_access access = access_of(v->device);
    int rc = CUDA_CALL(err, cuMemPoolImportFromShareableHandle, &v->pool, (void *)(uintptr_t)fd,
                       CU_BY_DESCRIPTOR, 0);
    if (rc < 0) {
        return rc;
    }
    rc = CUDA_CALL(err, cuMemPoolSetAccess, v->pool, &access, 1);
    if (rc == 0) {
        rc = CUDA_CALL(err, cuMemPoolImportPointer, out, v->pool, &t->handle);
    }
    if (rc < 0) {
        (void)cuda.cuMemPoolDestroy(v->pool);
    }
    return rc;
}

static int import_as(struct vram *v, int fd, struct vram_handle *t, cu_address *out,
                     struct weir_err *err)
{
    switch (v->alloc) {
    case VRAM_VMM:
        return import_vmm(v, fd, t->size, out, err);
    case VRAM_POOL:
        return import_pool(v, fd, t, out, err);
    }
    return CUDA_CALL(err, cuIpcOpenMemHandle_v2, out, t->handle, CU_LAZY_PEERS);
}

/* Imports for this thread's GPU, or, if that cannot access the memory, for the GPU that has it. */
static int import_where(struct vram *v, int fd, struct vram_handle *t, cu_address *out,
                        struct weir_err *err)
{
    int device = cuda_find(&t->uuid), can, rc;
    if ((rc = cuda_reaches(device, &can, err)) < 0) {
        return rc;
    }
    if (can) {
        return import_as(v, fd, t, out, err);
    }
    v->device = device;
    if ((rc = CUDA_CALL(err, cuDevicePrimaryCtxRetain, &v->context, device)) < 0) {
        return rc;
    }
    rc = CUDA_CALL(err, cuCtxSetCurrent, v->context);
    if (rc == 0) {
        rc = import_as(v, fd, t, out, err);
    }
    (void)cuda.cuCtxSetCurrent(cuda_current()->context);
    if (rc < 0) {
        (void)cuda.cuDevicePrimaryCtxRelease_v2(device);
    }
    return rc;
}

static int vram_import(const struct weir_handle *h, size_t bytes, struct weir_region *out,
                       struct weir_err *err)
{
    struct vram_handle t;
    cu_address p = 0;
    int rc = 0;
    if (h->n != sizeof t) {
        goto malformed;
    }
    memcpy(&t, h->bytes, sizeof t);
    if (t.alloc < 0 || t.alloc >= VRAM_ALLOCS || t.size != bytes ||
        (t.alloc != VRAM_DEVICE && h->fd < 0)) {
        goto malformed;
    }
    struct vram *v = new_vram((int)t.alloc, IMPORTED, err);
    if (!v) {
        return err->code;
    }
    /* within one process the driver imports only descriptors */
    if (t.process == this_process() && t.alloc != VRAM_VMM) {
        v->held = SHARED_WITHIN;
        p = t.base;
    } else {
        rc = import_where(v, h->fd, &t, &p, err);
    }
    if (rc < 0) {
        free(v);
        return rc;
    }
    *out = (struct weir_region){.base = (char *)(uintptr_t)p,
                                .size = bytes,
                                .fd = -1,
                                .kind = weir_mem_vram((int)t.alloc),
                                .priv = v};
    return 0;
malformed:
    err->code = -EPROTO;
    snprintf(err->text, sizeof err->text, "the handle of its memory is malformed");
    return err->code;
}

static void unmap(const struct weir_region *m, cu_handle handle)
{
    (void)cuda.cuMemUnmap(address_of(m->base), m->size);
    (void)cuda.cuMemAddressFree(address_of(m->base), m->size);
    (void)cuda.cuMemRelease(handle);
}

static void vram_free(struct weir_region *m)
{
    struct vram *v = m->priv;
    cu_address p = address_of(m->base);
    if (!v) {
        return;
    }
    if (v->context) {
        (void)cuda.cuCtxSetCurrent(v->context);
    }
    if (v->held != SHARED_WITHIN) {
        if (v->alloc == VRAM_VMM) {
            unmap(m, v->handle);
        } else if (v->alloc == VRAM_POOL) {
            (void)cuda.cuMemFreeAsync(p, cuda_current()->stream);
            (void)cuda.cuStreamSynchronize(cuda_current()->stream);
            (void)cuda.cuMemPoolDestroy(v->pool);
        } else {
            (void)(v->held == IMPORTED ? cuda.cuIpcCloseMemHandle(p) : cuda.cuMemFree_v2(p));
        }
    }
    if (v->context) {
        (void)cuda.cuCtxSetCurrent(cuda_current()->context);
        (void)cuda.cuDevicePrimaryCtxRelease_v2(v->device);
    }
    if (v->fd >= 0) {
        close(v->fd);
    }
    free(v);
    *m = (struct weir_region){.fd = -1};
}

#define VRAM(how)                                                                                  \
    {                                                                                              \
        .name = "vram", .gpu = 1, .bind = vram_bind, .unbind = vram_unbind, .alloc = how,          \
        .clear = clear, .fill = vram_fill, .check = vram_check, .copy_in = vram_copy,              \
        .copy_out = vram_copy, .export = vram_export, .import = vram_import, .free = vram_free,    \
    }

const struct weir_memory *weir_mem_vram(int alloc)
{
    static const struct weir_memory kinds[VRAM_ALLOCS] = {
        [VRAM_DEVICE] = VRAM(device_alloc),
        [VRAM_VMM] = VRAM(vmm_alloc),
        [VRAM_POOL] = VRAM(pool_alloc),
    };
    return alloc >= 0 && alloc < VRAM_ALLOCS ? &kinds[alloc] : NULL;
}
