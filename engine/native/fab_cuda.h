/* fab_cuda.h: declarations shared by the files of fabric cuda. */
#ifndef WEIR_FAB_CUDA_H
#define WEIR_FAB_CUDA_H

#include "gpu_cuda.h"
#include "gpu_nvml.h"
#include "rank_handover.h"
#include "rank.h"

struct ceiling;
struct weir_pingpong;

/* ENGINE_AUTO: the copy engine, except stores of multiprocessors for requests of many short
 * blocks. */
enum cuda_engine { ENGINE_COPY, ENGINE_SM, ENGINE_BULK, ENGINE_AUTO };

enum cuda_path { PATH_UNKNOWN, PATH_SAME_GPU, PATH_NVLINK, PATH_PCIE, PATH_STAGED, PATH_HOST };

struct cuda_peer {
    char *control;
    cu_address control_dev, sink_dev; /* in this rank's GPU address space */
    struct cu_uuid uuid;
    char bus[16];
    enum cuda_path path; /* unless staged, looked up on demand, like the fields below */
    struct weir_gpu_path wire;
    int looked_up;
    cu_context context; /* of its GPU in this process if staged; else NULL */
    int device;         /* its GPU */
    uint64_t parts;     /* parts of ping-pongs with it, so far */
};

struct cuda_block { /* mirrors struct block of kernels.cu */
    uint64_t to, from, n;
};

/* One event marks the completion of all parts and blocks up to these counts. */
struct cuda_batch {
    cu_event event;
    uint64_t parts, blocks;
};
#define CUDA_BATCHES 256

struct cuda {
    struct handover handover;
    int engine, sms;
    /* properties of the GPU: other threads query the transport */
    int multiprocessors;
    char bus[16];
    int moved_by; /* engine of the last request */
    cu_stream stream;
    cu_address source_dev;
    /* capacity of the rings; counts only grow: put, posted and done */
    uint64_t capacity;
    struct cuda_block *blocks; /* in host memory that the GPU reads */
    cu_address blocks_dev;
    int *peer_of; /* of a block; this rank itself: the block is read from the peer */
    int *reads;
    cu_address *to, *from; /* arguments of a batch of copies */
    size_t *sizes;
    struct weir_req **parts;
    uint64_t blocks_put, blocks_posted, blocks_done;
    uint64_t parts_put, parts_posted, parts_done;
    struct cuda_batch batches[CUDA_BATCHES];
    uint64_t batches_posted, batches_done;
    uint32_t polls;
    struct cuda_pingpong *pingpong;
    struct cuda_peer peers[];
};

static inline struct cuda *cuda_of(struct weir_rank *r) { return r->fs; }

/* fab_cuda_queue.c: requests in flight. */
int cuda_queue_open(struct weir_rank *r);
/* Frees the rings, events and the stream. */
void cuda_queue_close(struct weir_rank *r);
int cuda_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
             struct weir_req *q);
int cuda_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
             struct weir_req *q);
int cuda_post(struct weir_rank *r);
int cuda_progress(struct weir_rank *r);
int cuda_flush(struct weir_rank *r, int peer, struct weir_req *q);
/* Enqueues one block after everything posted, on an engine; its completion notifies no request. */
int cuda_move(struct weir_rank *r, int engine, int peer, struct cuda_block b, int read);
/* Fails with the library's error text unless code is success. */
int cuda_check(struct weir_rank *r, int peer, const char *call, int code);
#define CUDA_RANK(r, peer, f, ...) cuda_check(r, peer, #f, cuda.f(__VA_ARGS__))

/* fab_cuda_peers.c: how this rank's GPU reaches the memory of peers. */
struct cuda_info { /* part of a rank's address */
    struct cu_uuid uuid;
    char bus[16];
};
/* Fills the part of this rank's address that describes its GPU. */
void cuda_fill_info(struct cuda_info *out);
/* Selects the path to a peer's GPU: direct, or staged through the host. */
int cuda_reach(struct weir_rank *r, int peer, const struct cuda_info *info);
/* Called once their memory is mapped. */
int cuda_map_peer(struct weir_rank *r, int peer);
/* Unmaps the memory of all peers. */
void cuda_forget_peers(struct weir_rank *r);
/* Maps host memory into the GPU's address space. */
int cuda_map_host(struct weir_rank *r, const struct weir_region *g, int peer, cu_address *out);
/* Undoes cuda_map_host. */
void cuda_unmap_host(const struct weir_region *g);
void cuda_transport(struct weir_rank *r, int peer, char *buf, size_t cap);
void cuda_carriers(struct weir_rank *r, int peer, char *list);

/* fab_cuda_pingpong.c */
int cuda_pingpong_open(struct weir_rank *r);
void cuda_pingpong_close(struct weir_rank *r);
int cuda_runs_pingpong(struct weir_rank *r, int peer, size_t bytes);
int64_t cuda_run_pingpong(struct weir_rank *r, int peer, struct weir_pingpong *g);

/* fab_cuda_ceiling.c */
int cuda_ceiling(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                 struct ceiling *c);

#endif
