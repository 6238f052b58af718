/* fake_cuda.h: a fake of libcuda.so.1 on host memory. GPU memory has addresses that the process
 * cannot access, and is in an unnamed file that other processes map by its handles. Streams are
 * threads. Environment variables:
 *
 *   FAKE_CUDA_DEVICES=2         number of GPUs; CUDA_VISIBLE_DEVICES selects
 *   FAKE_CUDA_CAPABILITY=90     compute capability of all of them
 *   FAKE_CUDA_MEMORY=4294967296 bytes per GPU and process
 *   FAKE_CUDA_P2P=no            no peer access between GPUs
 *   FAKE_CUDA_FAIL=N            the N-th kernel of the process faults, and later calls fail
 *   FAKE_CUDA_APART=S           offset between the clocks of GPUs, in seconds; they also drift
 *   FAKE_CUDA_VISIBLE=1         the CPU can access GPU memory, and libraries move it as its own
 *   FAKE_CUDA_SLOW=US           minimum duration of each piece of work, in µs
 */
#ifndef WEIR_FAKE_CUDA_H
#define WEIR_FAKE_CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "../../gpu_cuda.h"

#define MOST_DEVICES 8
enum fake_code {
    NOT_INITIALIZED = 3,
    NO_DEVICE       = 100,
    INVALID_DEVICE  = 101,
    INVALID_IMAGE   = 200,
    INVALID_CONTEXT = 201,
    NOT_MAPPED      = 205,
    NO_BINARY       = 209,
    NO_PEER_ACCESS  = 217,
    UNSUPPORTED_PTX = 222,
    INVALID_HANDLE  = 400,
    NOT_FOUND       = 500,
    ILLEGAL_ADDRESS = 700,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED     = 713,
};

struct cu_context {
    int         device;
    atomic_int  retained;
    _Atomic int fault; /* of work that was under way: every later call has it */
};

/* fake_cuda.c: 0, or why a call cannot be made. */
int fake_ready(void);
/* the same, with a current context in *out */
int fake_current(struct cu_context **out);
int fake_devices(void);
int fake_physical(int device); /* of a device that the process sees */
int fake_peers_reach(void);
int fake_fault(void);          /* whether the next kernel is to fault */

/* fake_memory.c: what lies at an address, for a GPU; NULL: nothing that it may touch. Host memory
 * that is registered, and any other that is no GPU's, is its own. */
void *fake_find(uint64_t address, size_t n, int device);
int   fake_is_host(uint64_t address); /* and not registered: copies of it are made at once */
int   fake_release_all(int device);    /* how many allocations were left */


#endif
