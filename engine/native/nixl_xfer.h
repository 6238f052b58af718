/* nixl_xfer.h: a rank's NIXL state, and its transfer requests. */
#ifndef WEIR_NIXL_XFER_H
#define WEIR_NIXL_XFER_H

#include "nixl.h"
#include "rank.h"

/* One block of a request: an address here, and one at the peer. */
struct nixl_part {
    uint64_t local, remote, size;
};

struct nixl_shape;

/* A request that NIXL has prepared, or, with shape NULL, a fence: done when the
 * writes before it are. */
struct nixl_handle {
    nixl_xfer_req       req;
    struct nixl_shape  *shape;
    struct weir_req    *q;
    int                 peer;
    struct nixl_handle *next; /* of the idle ones of a shape, or of those in flight */
};

/* Requests with the same blocks: any that is idle will do. Those of a case are its own:
 * what a probe made would be missing from what the case says of making them. */
struct nixl_shape {
    struct nixl_shape  *next; /* in its bucket */
    struct nixl_handle *idle;
    struct nixl_part   *parts;
    size_t              nparts, handles;
    uint64_t            hash;
    int                 peer, op, own;
    int                 listed; /* NIXL has prepared its blocks at both ends */
    int                *indices; /* of all of them */
    nixl_dlist_handle   here, there;
};

struct nixl_peer {
    char     name[32];
    uint64_t control, sink; /* where they begin */
    uint64_t gpu;         /* which of its GPUs its sink is on, as it counts them */
    uint64_t busy;        /* the scan that saw a write to it still in flight */
    int      loaded;
};

#define NIXL_BUCKETS 4096

/* NIXL's name for memory of a kind, and the device of the memory. */
static inline int nixl_memory(const struct weir_memory *kind)
{
    return kind->gpu ? NIXL_VRAM : NIXL_DRAM;
}
uint64_t nixl_device(const struct weir_memory *kind);

struct nixl_rank {
    nixl_agent        agent;
    nixl_backend      backend;
    nixl_opt_args     args;
    /* for as long as the rank lives; NULL: of the source with nixl_reregister */
    nixl_reg_dlist    registered[REGIONS];
    nixl_reg_dlist    local;      /* with nixl_reregister: what of the source is registered now */
    int               whole;      /* all of it is registered */
    /* for which it was last registered, with nixl_reregister; NULL: it is released */
    struct nixl_shape *latest;
    nixl_notif_map    notifs; /* NULL where a thread of NIXL's makes progress */
    char              name[64]; /* of the backend */
    int               merge, progress_thread;
    int               recreate;   /* each request is made anew */
    int               prepared;   /* of lists of blocks that are prepared once */
    /* what a request moves at its initiator is registered anew; with one in flight only */
    int               reregister;
    char              unlisted[96]; /* parameters that the plugin does not list */
    int               is_ucx;
    struct nixl_peer *peers;

    struct nixl_shape  *buckets[NIXL_BUCKETS];
    size_t              handles;
    struct nixl_handle *first, **last; /* in flight, oldest first */
    struct nixl_handle *fences;        /* idle */
    uint64_t            scan;

    /* the request that is being put together: all that was asked for under one
     * weir_req, which becomes one transfer */
    struct weir_req  *q;
    int               peer, op;
    struct nixl_part *parts;
    size_t            nparts, cap;

    struct weir_req pinged; /* the last message of a ping-pong */
};

int nixl_failed(struct weir_rank *r, const char *call, int peer, nixl_status s);

/* Calls that fail end the function they are in. */
#define NIXL_TRY(r, peer, f, ...) \
    do { \
        nixl_status s_ = nixl.f(__VA_ARGS__); \
        if (s_ != NIXL_DONE) \
            return nixl_failed(r, #f, peer, s_); \
    } while (0)

/* Adds a block to the open request, or opens one; remote is an address. WEIR_PENDING or an
 * error. */
int nixl_add(struct weir_rank *r, int peer, int op, const void *local, uint64_t remote, size_t n,
             struct weir_req *q);
/* Posts the open request, if there is one. */
int nixl_submit(struct weir_rank *r);
/* Hears of what is done. */
int nixl_poll(struct weir_rank *r);
/* Forgets all that is under way: the loop that asked for it is over. */
void nixl_give_up(struct weir_rank *r);
/* WEIR_DONE if nothing written to the peer is in flight; else a part of q. */
int nixl_fence(struct weir_rank *r, int peer, struct weir_req *q);
/* Writes one block and waits for it. */
int nixl_write_now(struct weir_rank *r, int peer, const void *local, uint64_t remote, size_t n,
                   const char *op);

/* The requests with these blocks, of which some may be there already; own: of a loop,
 * not of a probe or a signal. NULL: it failed. */
struct nixl_shape *nixl_shape_of(struct weir_rank *r, int peer, int op, int own,
                                 const struct nixl_part *parts, size_t n);
/* One of them that can be posted, which is made if none is there. */
int nixl_idle_handle(struct weir_rank *r, struct nixl_shape *s, struct nixl_handle **out);
/* Releases all requests that are not in flight. */
int nixl_release(struct weir_rank *r);
/* Registers this part of the source instead of what was registered of it; n 0: nothing. */
int nixl_register_local(struct weir_rank *r, const void *from, size_t n);
int nixl_no_memory(struct weir_rank *r);

#endif
