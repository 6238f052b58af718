/* The driver's own copies between two GPUs, or within one, timed by the clock of
 * the host around a stream of them. The peer of fabric cuda in `make gpu`. It needs libcuda.so.1
 * and no toolkit: cc -O2 -o peer peer.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../engine/native/gpu_cuda.h"

static struct cuda_library driver;

static void must(int code, const char *what)
{
    if (code == CU_DONE)
        return;
    fprintf(stderr, "%s: %d\n", what, code);
    exit(1);
}
#define DO(f, ...) must(driver.f(__VA_ARGS__), #f)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *load(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib)
        fprintf(stderr, "%s\n", dlerror()), exit(1);
#define TAKE(f) must((driver.f = (__typeof__(f) *)dlsym(lib, #f)) ? 0 : -1, #f);
    CUDA_SYMBOLS(TAKE)
    DO(cuInit, 0);
    return lib;
}

static cu_context contexts[2];

/* Without it the driver copies between GPUs by way of the host. */
static void reach(void *lib, int device)
{
    int (*enable)(cu_context, unsigned) =
        (int (*)(cu_context, unsigned))dlsym(lib, "cuCtxEnablePeerAccess");
    must(enable ? CU_DONE : -1, "cuCtxEnablePeerAccess");
    DO(cuCtxSetCurrent, contexts[0]);
    must(enable(contexts[device], 0), "cuCtxEnablePeerAccess");
}

static cu_address memory(int device, size_t n)
{
    cu_address p;
    DO(cuCtxSetCurrent, contexts[device]);
    DO(cuMemAlloc_v2, &p, n);
    return p;
}

static double copies(cu_address to, cu_context there, cu_address from, size_t n, int many,
                     cu_stream s)
{
    double t = now();
    for (int i = 0; i < many; i++)
        DO(cuMemcpyPeerAsync, to, there, from, contexts[0], n, s);
    DO(cuStreamSynchronize, s);
    return (now() - t) / many;
}

int main(void)
{
    int       n = 0, other;
    cu_stream s;
    void     *lib = load();
    DO(cuDeviceGetCount, &n);
    other = n > 1;
    for (int i = 0; i <= other; i++)
        DO(cuDevicePrimaryCtxRetain, &contexts[i], i);
    if (other)
        reach(lib, other);
    const size_t most = (size_t)256 << 20;
    cu_address   from = memory(0, most), to = memory(other, most);
    DO(cuCtxSetCurrent, contexts[0]);
    DO(cuStreamCreate, &s, CU_NON_BLOCKING);
    printf("driver: cuMemcpyPeerAsync, %s\n", other ? "GPU 0 to GPU 1" : "within GPU 0");
    for (size_t bytes = 64 << 10; bytes <= most; bytes *= 4) {
        int    many = (int)((size_t)4 << 30 >> 2) / (int)bytes + 8;
        double best = 1;
        (void)copies(to, contexts[other], from, bytes, 8, s);
        for (int k = 0; k < 5; k++) {
            double t = copies(to, contexts[other], from, bytes, many > 2000 ? 2000 : many, s);
            best     = t < best ? t : best;
        }
        printf("driver %10zu bytes %8.1f GB/s %8.2f us\n", bytes, (double)bytes / best / 1e9,
               best * 1e6);
    }
    return 0;
}
