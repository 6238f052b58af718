/* fab_ucx.h: shared by the files of fabric ucx: the library's functions, the API for writes, and a
 * rank's state. */
#ifndef WEIR_FAB_UCX_H
#define WEIR_FAB_UCX_H

#if __has_include(<ucp/api/ucp.h>)
#define WEIR_HAS_UCX 1
#include <ucp/api/ucp.h>

#include "rank.h"

/* The complete foreign interface: one list generates the members, the loader and the name of a
 * missing symbol. */
/* clang-format off */
#define UCX_SYMBOLS(F) \
    F(ucp_get_version_string) F(ucp_config_read) F(ucp_config_modify) F(ucp_config_release) \
    F(ucp_init_version) F(ucp_cleanup) F(ucp_worker_create) F(ucp_worker_destroy) \
    F(ucp_worker_get_address) F(ucp_worker_release_address) F(ucp_worker_progress) \
    F(ucp_worker_get_efd) F(ucp_worker_arm) F(ucp_ep_create) F(ucp_ep_close_nbx) \
    F(ucp_ep_flush_nbx) F(ucp_ep_print_info) F(ucp_context_print_info) F(ucp_context_query) \
    F(ucp_mem_map) F(ucp_mem_unmap) F(ucp_mem_query) F(ucp_rkey_pack) F(ucp_rkey_buffer_release) \
    F(ucp_ep_rkey_unpack) F(ucp_rkey_destroy) F(ucp_rkey_ptr) F(ucp_put_nbx) F(ucp_get_nbx) \
    F(ucp_request_free) F(ucp_request_check_status) F(ucp_request_cancel) F(ucs_status_string) \
    F(ucp_am_send_nbx) F(ucp_am_recv_data_nbx) F(ucp_worker_set_am_recv_handler) \
    F(ucp_tag_send_nbx) F(ucp_tag_send_sync_nbx) F(ucp_tag_recv_nbx) F(ucp_tag_probe_nb)
/* clang-format on */

#define UCX_MEMBER(f) __typeof__(f) *f;
struct ucx_library {
    UCX_SYMBOLS(UCX_MEMBER)
};
extern struct ucx_library ucx;

int ucx_load(char *why, size_t cap); /* 0, or a negative errno, and why is set */
const char *ucx_version(void);       /* of the loaded library */
/* UCX_OTHER_HOSTS: without transports that stay on this host; UCX_THIS_HOST: without ports
 * reachable from other hosts, except those of RDMA devices */
enum ucx_reach { UCX_ALL_HOSTS, UCX_OTHER_HOSTS, UCX_THIS_HOST };
/* Returns whether a context supports GPU memory. */
int ucx_has_vram(ucp_context_h context);
/* Creates a context with these features and reach. */
ucs_status_t ucx_init(uint64_t features, enum ucx_reach reach, ucp_context_h *context);
void ucx_probe(struct weir_info *out); /* fab_ucx_probe.c */

/* Operations of one UCX API for writes; endpoints and memory are common to all. */
struct ucx_op;
struct ucx_api {
    const char *name;
    uint64_t features; /* of UCX, only those needed */
    uint32_t caps;     /* capabilities of the fabric with this API */
    /* 1: messages arrive in order, so that receives are only counted; 0: each message says which
     * query it belongs to */
    int ordered;
    int (*open)(struct weir_rank *r);                    /* the worker exists, peers do not yet */
    int (*connect)(struct weir_rank *r);                 /* the endpoints exist, nothing was sent */
    int (*note)(struct weir_rank *r, struct ucx_op *op); /* sends op->note and releases op */
    int (*put)(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q);
    int (*get)(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
               struct weir_req *q);
    int (*flush)(struct weir_rank *r, int peer, struct weir_req *q);
    int (*signal)(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
    int (*notify)(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
    int (*prepost)(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);
    int (*ping)(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq);
    int (*arrived)(struct weir_rank *r, int peer, size_t n, uint64_t seq);
    int (*ceiling)(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                   struct ceiling *c);
    int (*close)(struct weir_rank *r);
    /* Sends a list of blocks in one message, to the offset of the first; NULL: not supported. */
    ucs_status_ptr_t (*send_list)(struct weir_rank *r, int peer, uint64_t place,
                                  const ucp_dt_iov_t *blocks, size_t n,
                                  const ucp_request_param_t *param);
};
extern const struct ucx_api ucx_rma, ucx_am, ucx_tag, ucx_tag_sync;

enum ucx_kind { NOTE_BLOCK, NOTE_WORD, NOTE_PING, NOTE_QUERY, NOTE_REPLY, NOTE_HELLO };

/* The header of an active message; with tags a separate message, which blocks do not have. */
struct ucx_note {
    /* block: offset in the receiver's sink; word: offset in its control region */
    uint64_t place;
    uint64_t value;  /* the word; the number of a ping; query: blocks that must have arrived */
    uint32_t number; /* of the query or reply; otherwise of the query that it precedes */
    uint16_t from, kind;
};

/* A note in flight: UCX reads it until the message is sent. With a request it is the header of its
 * block; without one, its completion is not awaited. */
struct ucx_op {
    struct ucx_note note;
    struct weir_rank *r;
    struct weir_req *q;
    int peer;
    struct ucx_op *next;
};

#define UCX_OPS 64
struct ucx_ops { /* allocated together */
    struct ucx_ops *next;
    struct ucx_op ops[UCX_OPS];
};

struct ucx_query { /* a peer's query: has everything sent before it arrived? */
    uint64_t received, expected;
    int known; /* expected is set */
};

struct ucx_remote_region { /* a peer's region, for api rma */
    ucp_rkey_h rkey;
    uint64_t base;
};

struct ucx_peer {
    ucp_ep_h ep;
    struct ucx_remote_region control, sink;
    /* sent by this rank to the peer */
    uint64_t sent;             /* blocks since the last prepost */
    uint64_t since;            /* messages since the last query */
    uint32_t queries, replies; /* queries, and replies to them */
    struct weir_req **waiting; /* for a reply, by number */
    uint64_t ping;
    /* received from the peer */
    uint64_t received;           /* blocks since the last prepost, without a gap */
    uint32_t satisfied, replied; /* queries that are satisfied, and those replied to */
    struct ucx_query *incoming;  /* by number */
    int reply_pending;           /* in the list of peers with pending replies */
    struct ucx_peer *next;
    uint32_t polls; /* polls for its reply without success */
};

struct ucx_rank {
    struct weir_fabric table; /* weir_fab_ucx with the functions of the API */
    const struct ucx_api *api;
    /* datatype iov: a request is one message with a list of its blocks */
    int iov;
    ucp_context_h context;
    ucp_worker_h worker;
    int efd; /* event file descriptor of the worker, for blocking waits */
    ucp_mem_h memh[REGIONS];
    ucs_memory_type_t type[REGIONS];
    int allocated[REGIONS]; /* by UCX */
    /* see ucx_stream_of; built once, as that costs as much as UCX's own work for 8 bytes */
    ucp_request_param_t stream;
    ucp_request_param_t put_param; /* of a request from this rank's source, without a callback */
    struct ucx_peer *peers, *replying;
    uint32_t mask;         /* query number & mask: its index in a ring */
    uint32_t open;         /* unanswered queries to all peers */
    uint32_t sending;      /* messages whose completion is not awaited */
    uint32_t posts, polls; /* made while queries were open */
    struct ucx_op *free;
    struct ucx_ops *ops;
    void *preposted; /* api tag: preposted receives */
    /* datatype iov: the list being assembled, and the free ones */
    struct ucx_list *list, *lists;
    struct weir_err broken; /* the first error in a callback; it stays */
};

static inline struct ucx_rank *ucx_of(struct weir_rank *r) { return r->fs; }

/* fab_ucx_wire.c: addresses, connecting, waiting, closing. */
char *ucx_lanes(ucp_ep_h ep); /* as the library prints them; the caller frees it; NULL: no memory */
int ucx_second_protocols(void);
int64_t ucx_address(struct weir_rank *r, void *buf, size_t cap);
int ucx_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens);
void ucx_transport(struct weir_rank *r, int peer, char *buf, size_t cap);
void ucx_carriers(struct weir_rank *r, int peer, char *list);
int ucx_disconnect(struct weir_rank *r);
int ucx_renew_worker(struct weir_rank *r); /* fab_ucx.c */
int ucx_close(struct weir_rank *r);
/* Fails with UCX's error text for a status. */
int ucx_failed(struct weir_rank *r, const char *op, int peer, ucs_status_t s);
int ucx_progress(struct weir_rank *r);
int ucx_poll(struct weir_rank *r);
/* Completes a part of a loop's request, or of an awaited one. */
void ucx_part_ended(struct weir_req *q, ucs_status_t s);
/* Waits for a request, making progress, and frees it. */
int ucx_await(struct weir_rank *r, ucs_status_ptr_t p, const char *op, int peer);
void ucx_part_done(void *request, ucs_status_t s, void *q); /* callback: q is a weir_req */
/* Stores the error of a callback, which has no return value, for the next progress. */
void ucx_broke(struct weir_rank *r, int peer, const char *op, int code, const char *text);

/* Converts the return value of a nonblocking call: WEIR_DONE, WEIR_PENDING or an error. */
static inline int ucx_posted(struct weir_rank *r, ucs_status_ptr_t p, const char *op, int peer)
{
    if (p == NULL) {
        return WEIR_DONE;
    }
    return UCS_PTR_IS_ERR(p) ? ucx_failed(r, op, peer, UCS_PTR_STATUS(p)) : WEIR_PENDING;
}

/* Names the registered region that has a request's buffer. Otherwise UCX detects the memory type
 * and registers the buffer for each request, because it receives no memory events (fabric.RankEnv):
 * microseconds per request where CUDA is loaded. */
static inline void ucx_own_memory(const struct ucx_rank *u, enum weir_region_name name,
                                  ucp_request_param_t *p)
{
    p->op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FIELD_MEMH;
    p->memory_type = u->type[name];
    p->memh = u->memh[name];
}

/* Returns the parameters of a stream's request; UCX reads them before it returns. */
static inline const ucp_request_param_t *ucx_stream_of(struct weir_rank *r, struct weir_req *q)
{
    ucp_request_param_t *p = &ucx_of(r)->stream;
    p->user_data = q;
    return p;
}

/* fab_ucx_list.c: a request as one message with a list of its blocks. */
void ucx_lists(struct weir_fabric *t);
void ucx_lists_close(struct weir_rank *r);

/* fab_ucx_notes.c: words and delivery confirmation, for APIs with local completions only. */
int ucx_notes_open(struct weir_rank *r);
int ucx_notes_sent(struct weir_rank *r); /* waits for those in flight */
void ucx_notes_close(struct weir_rank *r);
static inline int ucx_nothing(struct weir_rank *r) /* for functions that an API does not need */
{
    return 0;
}
/* Allocates an op; NULL: no memory, error filled. */
struct ucx_op *ucx_op_take(struct weir_rank *r, int peer, const struct ucx_note *note);
/* Returns an op to the free list. */
void ucx_op_drop(struct ucx_op *op);
/* Handles the return value of the call that sends the op. */
int ucx_op_posted(struct ucx_op *op, ucs_status_ptr_t s, const char *call);
void ucx_op_sent(void *request, ucs_status_t s, void *op); /* callback */
int ucx_send_note(struct weir_rank *r, int peer, struct ucx_note note);
int ucx_notes_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
int ucx_notes_notify(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
int ucx_notes_flush(struct weir_rank *r, int peer, struct weir_req *q);
int ucx_notes_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                  struct weir_req *q);
/* Makes progress in a wait for the peer. */
int ucx_progress_for(struct weir_rank *r, int peer);
void ucx_take_note(struct weir_rank *r, const struct ucx_note *note); /* handles a received note */
/* Returns 0 for an impossible query number, with the error kept. */
int ucx_check_number(struct weir_rank *r, const struct ucx_note *note);
/* Called when more has arrived from the peer: satisfies its queries. */
void ucx_satisfy(struct weir_rank *r, int peer);
int ucx_send_replies(struct weir_rank *r); /* sends pending replies */
int ucx_probe_peers(struct weir_rank *r);  /* probes whether queried peers are still alive */
/* Polls without success before that: tens of milliseconds. */
static inline uint32_t ucx_probe_after_polls(const struct weir_rank *r)
{
    return r->cfg.sleeps ? 8 : 1u << 18;
}

/* Makes progress every few posts while replies are awaited: they are seen when they arrive, which
 * is what is timed, and not when the window is full. */
#define UCX_POSTS_PER_PROGRESS 8
static inline int ucx_progress_sometimes(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    return u->open && ++u->posts % UCX_POSTS_PER_PROGRESS == 0 ? ucx_progress(r) : 0;
}

#endif
#endif
