/* fab_nixl_xfer.h: a rank's NIXL state and its transfer requests. */
#ifndef WEIR_FAB_NIXL_XFER_H
#define WEIR_FAB_NIXL_XFER_H

#include "fab_nixl_api.h"
#include "rank.h"

/* One block of a request: a local and a remote address. */
struct nixl_part {
    uint64_t local, remote, size;
};

struct nixl_shape;

/* A request prepared by NIXL, or, with shape NULL, a fence: complete when the writes before it
 * are. */
struct nixl_handle {
    nixl_xfer_req req;
    struct nixl_shape *shape;
    struct weir_req *q;
    int peer;
    struct nixl_handle *next; /* in the list of idle handles of a shape, or of those in flight */
};

/* Requests with the same blocks; any idle one can be used. Requests of a case are not shared with
 * probes, whose creation would not be timed. */
struct nixl_shape {
    struct nixl_shape *next; /* in its hash bucket */
    struct nixl_handle *idle;
    struct nixl_part *parts;
    size_t nparts, handles;
    uint64_t hash;
    int peer, op, of_loop;
    int listed;   /* NIXL has prepared its blocks at both ends */
    int *indices; /* of all blocks */
    nixl_dlist_handle local_list, remote_list;
};

struct nixl_peer {
    char name[32];
    uint64_t control, sink; /* base addresses */
    uint64_t gpu;           /* index of its GPU with the sink, in its own numbering */
    uint64_t busy;          /* the scan that last found a write to it in flight */
    int loaded;
};

#define NIXL_BUCKETS 4096

/* Returns NIXL's name for a kind of memory. */
static inline int nixl_memory(const struct weir_memory *kind)
{
    return memory_is_gpus(kind) ? NIXL_VRAM : NIXL_DRAM;
}
/* Returns the device number of this kind of memory. */
uint64_t nixl_device(const struct weir_memory *kind);

struct nixl_rank {
    nixl_agent agent;
    nixl_backend backend;
    nixl_opt_args args;
    /* for the lifetime of the rank; NULL: the source with nixl_reregister */
    nixl_reg_dlist registered[REGIONS];
    nixl_reg_dlist local; /* nixl_reregister: the part of the source registered now */
    int all_registered;   /* all of it is registered */
    /* nixl_reregister: the shape it was last registered for; NULL: released */
    struct nixl_shape *latest;
    nixl_notif_map notifs; /* NULL if a NIXL thread makes progress */
    char name[64];         /* of the backend */
    int merge, progress_thread;
    int recreate; /* each request is created anew */
    int prepared; /* of descriptor lists prepared once */
    /* registers the initiator's memory per request; for one request in flight */
    int reregister;
    char unlisted[96]; /* parameters that the plugin does not list */
    int is_ucx;
    struct nixl_peer *peers;

    struct nixl_shape *buckets[NIXL_BUCKETS];
    size_t handles;
    struct nixl_handle *first, **last; /* in flight, oldest first */
    struct nixl_handle *fences;        /* idle */
    uint64_t scan;

    /* the request being assembled: all parts of one weir_req become one transfer */
    struct weir_req *q;
    int peer, op;
    struct nixl_part *parts;
    size_t nparts, cap;

    struct weir_req pinged; /* last message of a ping-pong */
};

/* Fails with NIXL's status and error text for a call. */
int nixl_failed(struct weir_rank *r, const char *call, int peer, nixl_status s);

/* Return from the calling function on error. */
#define NIXL_TRY(r, peer, f, ...)                                                                  \
    do {                                                                                           \
        nixl_status s_ = nixl.f(__VA_ARGS__);                                                      \
        if (s_ != NIXL_DONE)                                                                       \
            return nixl_failed(r, #f, peer, s_);                                                   \
    } while (0)

/* fab_nixl_agent.c: creates the agent and its backend. This loads plugins, some of which install
 * signal handlers. */
int nixl_make_agent(struct weir_rank *r);
/* Adds a block to the open request, or opens one; remote is an address. Returns WEIR_PENDING or an
 * error. */
int nixl_add(struct weir_rank *r, int peer, int op, const void *local, uint64_t remote, size_t n,
             struct weir_req *q);
/* Posts the open request, if any. */
int nixl_submit(struct weir_rank *r);
/* Polls for completions. */
int nixl_poll(struct weir_rank *r);
/* Abandons everything in flight: the loop that requested it is over. */
void nixl_abandon(struct weir_rank *r);
/* Returns WEIR_DONE if no write to the peer is in flight; else WEIR_PENDING with a part of q. */
int nixl_fence(struct weir_rank *r, int peer, struct weir_req *q);
/* Writes one block and waits for it. */
int nixl_write_now(struct weir_rank *r, int peer, const void *local, uint64_t remote, size_t n,
                   const char *op);

/* Finds or creates the shape with these blocks; of_loop: of a loop, not of a probe or a signal.
 * NULL: failed. */
struct nixl_shape *nixl_shape_of(struct weir_rank *r, int peer, int op, int of_loop,
                                 const struct nixl_part *parts, size_t n);
/* Returns an idle handle of the shape, created if needed. */
int nixl_idle_handle(struct weir_rank *r, struct nixl_shape *s, struct nixl_handle **out);
/* Releases all requests that are not in flight. */
int nixl_release(struct weir_rank *r);
/* Registers this part of the source in place of the current one; n 0: none. */
int nixl_register_local(struct weir_rank *r, const void *from, size_t n);
/* Fails because memory for a request ran out. */
int nixl_no_memory(struct weir_rank *r);

#endif
