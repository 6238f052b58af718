/* fab_cuda.h: what the files of fabric cuda share. */
#ifndef WEIR_FAB_CUDA_H
#define WEIR_FAB_CUDA_H

#include "cuda.h"
#include "gpu.h"
#include "handover.h"

/* ENGINE_AUTO: the copy engine, but stores of multiprocessors for requests of many short blocks. */
enum cuda_engine { ENGINE_COPY, ENGINE_SM, ENGINE_BULK, ENGINE_AUTO };

enum cuda_path { PATH_UNKNOWN, PATH_SAME_GPU, PATH_NVLINK, PATH_PCIE, PATH_STAGED, PATH_HOST };

struct cuda_peer {
    char          *control;
    cu_address     control_there, sink_there; /* as this rank's GPU sees them */
    struct cu_uuid uuid;
    char           bus[16];
    enum cuda_path path; /* with what follows known once it is looked up, if data is not staged */
    struct weir_gpu_path wire;
    int            looked_up;
    cu_context     context; /* of its GPU in this process, if data is staged; else NULL */
    int            device;  /* and that GPU */
    uint64_t       parts;  /* parts of ping-pongs with it, so far */
};

struct cuda_block { /* as struct block of kernels.cu */
    uint64_t to, from, n;
};

/* One event marks the end of all parts and blocks up to these. */
struct cuda_batch {
    cu_event event;
    uint64_t parts, blocks;
};
#define CUDA_BATCHES 256

struct cuda {
    struct handover    handover;
    int                engine, sms;
    /* of the GPU: other threads ask for the transport */
    int                multiprocessors;
    char               bus[16];
    int                moved_by; /* the engine of the last request */
    cu_stream          stream;
    cu_address         source_there;
    /* rings of so many; counts only grow: all that were put, posted, and done */
    uint64_t           room;
    struct cuda_block *blocks; /* in host memory that the GPU reads */
    cu_address         blocks_there;
    int               *peer_of; /* of a block; its own rank: it is read from the peer */
    int               *reads;
    cu_address        *to, *from; /* of a batch of copies */
    size_t            *sizes;
    struct weir_req  **parts;
    uint64_t           blocks_put, blocks_posted, blocks_done;
    uint64_t           parts_put, parts_posted, parts_done;
    struct cuda_batch  batches[CUDA_BATCHES];
    uint64_t           batches_posted, batches_done;
    uint32_t           looks;
    struct cuda_pingpong *pingpong;
    struct cuda_peer   peers[];
};

static inline struct cuda *cuda_of(struct weir_rank *r) { return r->fs; }

/* cuda_queue.c: requests on their way. */
int  cuda_queue_open(struct weir_rank *r);
void cuda_queue_close(struct weir_rank *r);
int  cuda_put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
              struct weir_req *q);
int  cuda_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
              struct weir_req *q);
int  cuda_post(struct weir_rank *r);
int  cuda_progress(struct weir_rank *r);
int  cuda_flush(struct weir_rank *r, int peer, struct weir_req *q);
/* One block behind all that was posted, by an engine; nobody is told when it is done. */
int  cuda_move(struct weir_rank *r, int engine, int peer, struct cuda_block b, int read);
/* Fails with the library's words where code is none of success. */
int  cuda_check(struct weir_rank *r, int peer, const char *call, int code);
#define CUDA_RANK(r, peer, f, ...) cuda_check(r, peer, #f, cuda.f(__VA_ARGS__))

/* cuda_peers.c: how this rank's GPU reaches the memory of peers. */
struct cuda_said { /* of a rank, in its address */
    struct cu_uuid uuid;
    char           bus[16];
};
void cuda_say(struct cuda_said *out);
int  cuda_reach(struct weir_rank *r, int peer, const struct cuda_said *said);
/* Once their memory is mapped. */
int  cuda_see_peer(struct weir_rank *r, int peer);
void cuda_forget_peers(struct weir_rank *r);
/* Host memory gets an address that the GPU knows it by. */
int  cuda_show(struct weir_rank *r, const struct weir_region *g, int peer, cu_address *out);
void cuda_hide(const struct weir_region *g);
void cuda_transport(struct weir_rank *r, int peer, char *buf, size_t cap);
void cuda_carriers(struct weir_rank *r, int peer, char *list);

/* cuda_pingpong.c */
struct weir_pingpong;
int     cuda_pingpong_open(struct weir_rank *r);
void    cuda_pingpong_close(struct weir_rank *r);
int     cuda_runs_pingpong(struct weir_rank *r, int peer, size_t bytes);
int64_t cuda_run_pingpong(struct weir_rank *r, int peer, struct weir_pingpong *g);

/* cuda_ceiling.c */
int cuda_ceiling(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                 struct ceiling *c);

#endif
