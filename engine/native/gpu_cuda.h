/* gpu_cuda.h: declarations of the part of the CUDA driver API that weir uses, and a thread's GPU
 * state. The library comes with the driver, its header with the toolkit; these are written against
 * the published interface (CUDA Driver API). Drivers from 2022 (R515, CUDA 11.7) have all of these
 * functions, except the newer ones that are marked. */
#ifndef WEIR_GPU_CUDA_H
#define WEIR_GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "weir.h"

typedef struct cu_context *cu_context;
typedef struct cu_stream *cu_stream;
typedef struct cu_event *cu_event;
typedef struct cu_module *cu_module;
typedef struct cu_kernel *cu_kernel;
typedef struct cu_pool *cu_pool;
typedef struct cu_graph *cu_graph;
typedef struct cu_made *cu_made;       /* CUgraphExec */
typedef unsigned long long cu_address; /* in a GPU's address space */
typedef unsigned long long cu_handle;  /* of physical memory */

enum cu_code {
    CU_DONE = 0,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NOT_READY = 600,
};
enum cu_flag {
    CU_NON_BLOCKING = 1, /* of a stream */
    CU_NO_TIMING = 2,    /* of an event */
    CU_PORTABLE = 1,     /* of host memory: known to all contexts */
    CU_MAPPED = 2,
    CU_LAZY_PEERS = 1, /* of an imported handle */
    CU_READ_AND_WRITE = 3,
    CU_PINNED = 1,
    CU_BY_DESCRIPTOR = 1, /* a handle that other processes import */
    CU_ON_DEVICE = 1,
    CU_RECOMMENDED = 1,     /* granularity */
    CU_DYNAMIC_SHARED = 8,  /* attribute of a kernel */
    CU_DMABUF = 1,          /* a handle of an address range */
    CU_IN_STREAM_ORDER = 1, /* a source of a batch of copies is read */
};
enum cu_attribute {
    CU_MULTIPROCESSORS = 16,
    CU_SHARED_OF_MULTIPROCESSOR = 81,
    CU_CAPABILITY_MAJOR = 75,
    CU_CAPABILITY_MINOR = 76,
    CU_DMABUF_SUPPORTED = 124,
};

struct cu_location {
    int type, id;
};
struct cu_allocation { /* CUmemAllocationProp */
    int type, handles;
    struct cu_location location;
    void *windows;
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
};
struct cu_access { /* CUmemAccessDesc */
    struct cu_location location;
    int flags;
};
struct cu_pool_of { /* CUmemPoolProps */
    int type, handles;
    struct cu_location location;
    void *windows;
    size_t most;
    unsigned char reserved[56];
};
struct cu_shared { /* CUipcMemHandle, CUmemPoolPtrExportData */
    unsigned char bytes[64];
};
struct cu_uuid {
    unsigned char bytes[16];
};
struct cu_copying { /* CUmemcpyAttributes */
    int order;
    struct cu_location hint_from, hint_to;
    unsigned flags;
};
_Static_assert(sizeof(struct cu_copying) == 24, "CUmemcpyAttributes");
struct cu_launch_attribute { /* CUlaunchAttribute */
    int what, none;
    int value;
    char more[60];
};
struct cu_launch { /* CUlaunchConfig */
    unsigned blocks[3], threads[3], shared;
    cu_stream stream;
    const struct cu_launch_attribute *attributes;
    unsigned n;
};
#define CU_BEFORE_ITS_LAST_ENDED 6 /* PROGRAMMATIC_STREAM_SERIALIZATION */
#define CU_OF_THIS_THREAD 1        /* mode of a capture */
_Static_assert(sizeof(struct cu_launch_attribute) == 72, "CUlaunchAttribute");
_Static_assert(sizeof(struct cu_launch) == 56, "CUlaunchConfig");
_Static_assert(sizeof(struct cu_allocation) == 32, "CUmemAllocationProp");
_Static_assert(sizeof(struct cu_access) == 12, "CUmemAccessDesc");
_Static_assert(sizeof(struct cu_pool_of) == 88, "CUmemPoolProps");

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int code, const char **text);
int cuGetErrorString(int code, const char **text);
int cuDeviceGetCount(int *n);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *text, int cap, int device);
int cuDeviceGetUuid_v2(struct cu_uuid *uuid, int device);
int cuDeviceGetPCIBusId(char *text, int cap, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuDevicePrimaryCtxRetain(cu_context *out, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(cu_context context);
int cuMemAlloc_v2(cu_address *out, size_t bytes);
int cuMemFree_v2(cu_address p);
int cuMemGetAllocationGranularity(size_t *out, const struct cu_allocation *of, int option);
int cuMemCreate(cu_handle *out, size_t bytes, const struct cu_allocation *of,
                unsigned long long flags);
int cuMemRelease(cu_handle handle);
int cuMemAddressReserve(cu_address *out, size_t bytes, size_t alignment, cu_address at,
                        unsigned long long flags);
int cuMemAddressFree(cu_address p, size_t bytes);
int cuMemMap(cu_address p, size_t bytes, size_t offset, cu_handle handle, unsigned long long flags);
int cuMemUnmap(cu_address p, size_t bytes);
int cuMemSetAccess(cu_address p, size_t bytes, const struct cu_access *list, size_t n);
int cuMemExportToShareableHandle(void *out, cu_handle handle, int type, unsigned long long flags);
int cuMemImportFromShareableHandle(cu_handle *out, void *from, int type);
int cuMemGetHandleForAddressRange(void *out, cu_address p, size_t bytes, int type,
                                  unsigned long long flags);
int cuIpcGetMemHandle(struct cu_shared *out, cu_address p);
int cuIpcOpenMemHandle_v2(cu_address *out, struct cu_shared handle, unsigned flags);
int cuIpcCloseMemHandle(cu_address p);
int cuMemPoolCreate(cu_pool *out, const struct cu_pool_of *of);
int cuMemPoolDestroy(cu_pool pool);
int cuMemPoolSetAccess(cu_pool pool, const struct cu_access *list, size_t n);
int cuMemPoolExportToShareableHandle(void *out, cu_pool pool, int type, unsigned long long flags);
int cuMemPoolImportFromShareableHandle(cu_pool *out, void *from, int type,
                                       unsigned long long flags);
int cuMemPoolExportPointer(struct cu_shared *out, cu_address p);
int cuMemPoolImportPointer(cu_address *out, cu_pool pool, struct cu_shared *from);
int cuMemAllocFromPoolAsync(cu_address *out, size_t bytes, cu_pool pool, cu_stream stream);
int cuMemFreeAsync(cu_address p, cu_stream stream);
int cuMemHostAlloc(void **out, size_t bytes, unsigned flags);
int cuMemFreeHost(void *p);
int cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *p);
int cuMemHostGetDevicePointer_v2(cu_address *out, void *p, unsigned flags);
int cuMemcpyAsync(cu_address to, cu_address from, size_t n, cu_stream stream);
int cuMemcpyPeerAsync(cu_address to, cu_context of_to, cu_address from, cu_context of_from,
                      size_t n, cu_stream stream);
int cuMemsetD8Async(cu_address p, unsigned char byte, size_t n, cu_stream stream);
int cuStreamCreate(cu_stream *out, unsigned flags);
int cuStreamDestroy_v2(cu_stream stream);
int cuStreamSynchronize(cu_stream stream);
int cuStreamQuery(cu_stream stream);
int cuStreamWriteValue64_v2(cu_stream stream, cu_address p, uint64_t value, unsigned flags);
int cuEventCreate(cu_event *out, unsigned flags);
int cuEventDestroy_v2(cu_event event);
int cuEventRecord(cu_event event, cu_stream stream);
int cuEventQuery(cu_event event);
int cuEventElapsedTime(float *ms, cu_event from, cu_event to);
int cuModuleLoadDataEx(cu_module *out, const void *image, unsigned n, int *options, void **values);
int cuModuleUnload(cu_module module);
int cuModuleGetFunction(cu_kernel *out, cu_module module, const char *name);
int cuFuncSetAttribute(cu_kernel kernel, int attribute, int value);
int cuLaunchKernel(cu_kernel kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, cu_stream stream, void **values,
                   void **extra);

/* Drivers from 2025 (R570, CUDA 12.8) on; NULL if absent. Copies of a batch are unordered. */
int cuMemcpyBatchAsync(cu_address *to, cu_address *from, size_t *sizes, size_t n,
                       struct cu_copying *how, size_t *first, size_t nhow, size_t *failed,
                       cu_stream stream);
int cuLaunchKernelEx(const struct cu_launch *how, cu_kernel kernel, void **values, void **extra);
int cuStreamBeginCapture_v2(cu_stream stream, int mode);
int cuStreamEndCapture(cu_stream stream, cu_graph *out);
int cuGraphInstantiateWithFlags(cu_made *out, cu_graph graph, unsigned long long flags);
int cuGraphUpload(cu_made made, cu_stream stream);
int cuGraphLaunch(cu_made made, cu_stream stream);
int cuGraphExecDestroy(cu_made made);
int cuGraphDestroy(cu_graph graph);

/* One list generates the members, the loader and the name of a missing symbol. */
/* clang-format off */
#define CUDA_SYMBOLS(F) \
    F(cuInit) F(cuDriverGetVersion) F(cuGetErrorName) F(cuGetErrorString) F(cuDeviceGetCount) \
    F(cuDeviceGet) F(cuDeviceGetName) F( \
        cuDeviceGetUuid_v2) F(cuDeviceGetPCIBusId) \
    F(cuDeviceGetAttribute) F(cuDeviceCanAccessPeer) F(cuDevicePrimaryCtxRetain) \
    F(cuDevicePrimaryCtxRelease_v2) F(    \
            cuCtxSetCurrent) F(cuMemAlloc_v2) \
    F(cuMemFree_v2) F(cuMemGetAllocationGranularity) F(cuMemCreate) F(cuMemRelease) \
    F(cuMemAddressReserve) F(cuMemAddressFree) F(           \
                cuMemMap) \
    F(cuMemUnmap) F(cuMemSetAccess) F(cuMemExportToShareableHandle) \
    F(cuMemImportFromShareableHandle) F(cuMemGetHandleForAddressRange) \
    F(              \
                    cuIpcGetMemHandle) F(cuIpcOpenMemHandle_v2) \
    F(cuIpcCloseMemHandle) F(cuMemPoolCreate) F(cuMemPoolDestroy) F(cuMemPoolSetAccess) \
    F(                \
                        cuMemPoolExportToShareableHandle) \
    F(cuMemPoolImportFromShareableHandle) F(cuMemPoolExportPointer) F(cuMemPoolImportPointer) \
    F(cuMemAllocFromPoolAsync) F(cuMemFreeAsync) F(cuMemHostAlloc) \
    F(      \
                                cuMemFreeHost) F(cuMemHostRegister_v2) \
    F(cuMemHostUnregister) F(cuMemHostGetDevicePointer_v2) F(cuMemcpyAsync) \
    F(                \
                                    cuMemcpyPeerAsync) \
    F(cuMemsetD8Async) F(cuStreamCreate) F(cuStreamDestroy_v2) F(cuStreamSynchronize) \
    F(cuStreamQuery) F(cuStreamWriteValue64_v2) F(cuEventCreate) F(cuEventDestroy_v2) \
    F(cuEventRecord) F(cuEventQuery) F(cuEventElapsedTime) F(cuModuleLoadDataEx) \
    F(cuModuleUnload) F(cuModuleGetFunction) F(cuFuncSetAttribute) F(cuLaunchKernel) \
    F(cuStreamBeginCapture_v2) F(cuStreamEndCapture) F(cuGraphInstantiateWithFlags) \
    F(cuGraphUpload) \
    F(        \
                                                                            cuGraphLaunch) \
    F(cuGraphExecDestroy) F(cuGraphDestroy)
/* clang-format on */
/* NULL with drivers older than R520 (CUDA 11.8). */
/* clang-format off */
#define CUDA_NEWER_SYMBOLS(F) \
    F(cuLaunchKernelEx)
/* clang-format on */

#define CUDA_MEMBER(f) __typeof__(f) *f;
struct cuda_library {
    CUDA_SYMBOLS(CUDA_MEMBER)
    CUDA_MEMBER(cuMemcpyBatchAsync)
    CUDA_NEWER_SYMBOLS(CUDA_MEMBER)
};
extern struct cuda_library cuda;

enum cuda_kernel {
    KERNEL_FILL,
    KERNEL_CHECK,
    KERNEL_COPY,
    KERNEL_BULK,
    /* kernels with cooperating threads */
    KERNEL_EP_DISPATCH,
    KERNEL_EP_COMBINE,
    KERNEL_EP_PULL,
    KERNEL_EP_VERIFY,
    KERNEL_EP_MEET,
    KERNEL_EP_CLOCK,
    KERNEL_EP_COMPARE,
    KERNEL_EP_PACK,
    KERNEL_PINGPONG,
    KERNELS
};

/* A thread's GPU state, from the first cuda_enter to the last cuda_leave. */
struct cuda_thread {
    int uses;
    int ordinal, device;
    cu_context context;
    cu_stream stream; /* for synchronous fills, checks and copies */
    cu_module module;
    cu_kernel kernels[KERNELS]; /* NULL: not supported by this GPU */
    int multiprocessors;
    cu_address found; /* a word written by checks */
    int nvml;         /* NVML is started: the first start is slow */
    struct cu_uuid uuid;
    char bus[16], name[96];
};

int cuda_load(char *why, size_t cap); /* 0, or a negative errno, and why is set */

/* Makes a GPU current for the calling thread: number index modulo the number of visible GPUs.
 * Nested calls on the same thread only count. */
int cuda_enter(unsigned index, struct weir_err *err);
/* Undoes one cuda_enter; the last call frees the thread's state. */
void cuda_leave(void);
/* Returns the calling thread's state; NULL: none. */
struct cuda_thread *cuda_current(void);

/* Returns the index of the visible GPU with this UUID; -1: not visible. */
int cuda_find(const struct cu_uuid *uuid);
/* *can: 1 if the thread's GPU can access memory of a device (an index of cuda_find; -1: not
 * visible, in which case mapping the memory reports it). */
int cuda_reaches(int device, int *can, struct weir_err *err);

/* Fills an error with the library's text for a code; returns the error's code. */
int cuda_failed(struct weir_err *err, const char *call, int code);
/* Returns 0 for CU_DONE; otherwise fills an error and returns its code. */
#define CUDA_CALL(err, f, ...) cuda_failed(err, #f, cuda.f(__VA_ARGS__))

/* gpu_kernels.c: loads the kernels for the thread's GPU. */
int cuda_kernels_load(struct cuda_thread *t, struct weir_err *err);

struct cuda_image {   /* of the kernels, see gpu_images.c */
    int major, minor; /* compute capability: minimum, or of a cubin the only one */
    int binary;       /* a cubin; otherwise zero-terminated PTX */
    const unsigned char *bytes;
};
extern const struct cuda_image cuda_images[];
extern const size_t cuda_nimages;

#endif
