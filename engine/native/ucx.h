/* ucx.h: what the files that drive UCX share: the library's functions, the API that
 * carries writes, and the state of a rank on it. */
#ifndef WEIR_UCX_H
#define WEIR_UCX_H

#if __has_include(<ucp/api/ucp.h>)
#define WEIR_HAS_UCX 1
#include <ucp/api/ucp.h>

#include "role.h"

/* The whole foreign interface: one list gives the members, the loader and the name
 * that is missing. */
#define UCX_SYMBOLS(F)                                                                             \
    F(ucp_get_version_string)                                                                      \
    F(ucp_config_read) F(ucp_config_modify) F(ucp_config_release) F(ucp_init_version)              \
        F(ucp_cleanup) F(ucp_worker_create) F(ucp_worker_destroy) F(ucp_worker_get_address)        \
            F(ucp_worker_release_address) F(ucp_worker_progress) F(ucp_worker_get_efd)             \
                F(ucp_worker_arm) F(ucp_ep_create) F(ucp_ep_close_nbx) F(ucp_ep_flush_nbx)         \
                    F(ucp_ep_print_info) F(ucp_context_print_info) F(ucp_context_query)            \
                    F(ucp_mem_map)                                                                 \
                    F(ucp_mem_unmap)                                                               \
                        F(ucp_mem_query) F(ucp_rkey_pack) F(ucp_rkey_buffer_release)               \
                            F(ucp_ep_rkey_unpack) F(ucp_rkey_destroy) F(ucp_rkey_ptr)              \
                                F(ucp_put_nbx) F(ucp_get_nbx) F(ucp_request_free)                  \
                                    F(ucp_request_check_status) F(ucp_request_cancel)              \
                                        F(ucs_status_string) F(ucp_am_send_nbx)                    \
                                            F(ucp_am_recv_data_nbx)                                \
                                                F(ucp_worker_set_am_recv_handler)                  \
                                                    F(ucp_tag_send_nbx) F(ucp_tag_send_sync_nbx)   \
                                                        F(ucp_tag_recv_nbx) F(ucp_tag_probe_nb)

#define UCX_MEMBER(f) __typeof__(f) *f;
struct ucx_library {
    UCX_SYMBOLS(UCX_MEMBER)
};
extern struct ucx_library ucx;

int          ucx_load(char *why, size_t cap); /* 0, or a negative errno and why */
/* UCX_OTHER_HOSTS: without transports that end at this one; UCX_THIS_HOST: without ports that
 * others can reach, but for those of RDMA devices */
enum ucx_reach { UCX_ALL_HOSTS, UCX_OTHER_HOSTS, UCX_THIS_HOST };
/* Whether a context moves memory of GPUs. */
int          ucx_has_vram(ucp_context_h context);
ucs_status_t ucx_init(uint64_t features, enum ucx_reach reach, ucp_context_h *context);
void         ucx_probe(struct weir_info *out); /* ucx_probe.c */

/* What carries writes. All of it is here but what an endpoint and its memory are. */
struct ucx_op;
struct ucx_api {
    const char *name;
    uint64_t    features; /* of UCX, no more than it needs */
    uint32_t    caps;     /* of the fabric, beside those that all have */
    /* blocks are counted in the row of their receives; else, without an order, each by the ask that
     * it is before */
    int         in_row;
    int (*open)(struct weir_rank *r);    /* the worker is there, peers are not */
    int (*connect)(struct weir_rank *r); /* the endpoints are there, nothing was sent */
    int (*note)(struct weir_rank *r, struct ucx_op *op); /* sends op->note and releases op */
    int (*put)(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q);
    int (*get)(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
               struct weir_req *q);
    int (*flush)(struct weir_rank *r, int peer, struct weir_req *q);
    int (*signal)(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
    int (*tell)(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
    int (*expect)(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);
    int (*ping)(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq);
    int (*arrived)(struct weir_rank *r, int peer, size_t n, uint64_t seq);
    int (*ceiling)(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                   struct ceiling *c);
    int (*close)(struct weir_rank *r);
    /* One message of a list of blocks, for the place of the first; NULL: it has none. */
    ucs_status_ptr_t (*send_list)(struct weir_rank *r, int peer, uint64_t place,
                                  const ucp_dt_iov_t *blocks, size_t n,
                                  const ucp_request_param_t *param);
};
extern const struct ucx_api ucx_rma, ucx_am, ucx_tag, ucx_tag_sync;

enum ucx_kind { NOTE_BLOCK, NOTE_WORD, NOTE_PING, NOTE_ASK, NOTE_ANSWER, NOTE_HELLO };

/* The header of an active message; with tags a message of its own, but not for blocks. */
struct ucx_note {
    /* of a block: offset in the receiver's sink; of a word: in its control region */
    uint64_t place;
    uint64_t value; /* the word; the number of a ping; of an ask: what must have come */
    uint32_t number; /* of the ask or answer; of all else: of the ask that it is before */
    uint16_t from, kind;
};

/* A note on its way: UCX reads it until the message is sent. With a request it is
 * the header of its block; with none of what nobody waits for. */
struct ucx_op {
    struct ucx_note   note;
    struct weir_rank *r;
    struct weir_req  *q;
    int               peer;
    struct ucx_op    *next;
};

#define UCX_OPS 64
struct ucx_ops { /* allocated together */
    struct ucx_ops *next;
    struct ucx_op   ops[UCX_OPS];
};

struct ucx_ask { /* of a peer: whether all that it sent before has come */
    uint64_t come, expected;
    int      known; /* what is expected */
};

struct ucx_there { /* a peer's region, of api rma */
    ucp_rkey_h rkey;
    uint64_t   base;
};

struct ucx_peer {
    ucp_ep_h         ep;
    struct ucx_there control, sink;
    /* of what this rank sends to it */
    uint64_t          sent;       /* blocks since the last expect */
    uint64_t          since;      /* messages since the last ask */
    uint32_t          asked, told; /* asks, and answers to them */
    struct weir_req **waiting;    /* for an answer, by number */
    uint64_t          ping;
    /* of what comes from it */
    uint64_t         come; /* blocks since the last expect, in a row from the first */
    uint32_t         floor, answered; /* asks that are fulfilled, and that it was told of */
    struct ucx_ask  *asks; /* by number */
    int              owed; /* it is in the list of those to answer */
    struct ucx_peer *next;
    uint32_t         looks; /* for something from it, in vain */
};

struct ucx_rank {
    struct weir_fabric    table; /* weir_fab_ucx with the functions of the API */
    const struct ucx_api *api;
    /* of datatype iov: a request is one message of a list of its blocks */
    int                   iov;
    ucp_context_h         context;
    ucp_worker_h          worker;
    int                   efd; /* of the worker's events, for who sleeps */
    ucp_mem_h             memh[REGIONS];
    ucs_memory_type_t     type[REGIONS];
    int                   allocated[REGIONS]; /* by UCX */
    /* see ucx_stream_of; made once: making it costs as much as UCX's own work for 8 bytes */
    ucp_request_param_t   stream;
    ucp_request_param_t   own;    /* of a request from this rank's source, without a callback */
    struct ucx_peer      *peers, *owing;
    uint32_t              mask;  /* of the number of an ask: its place in a ring */
    uint32_t              open;  /* asks without an answer, to all peers */
    uint32_t              sending; /* messages that nobody waits for */
    uint32_t              posts, turns; /* made while some were open */
    struct ucx_op        *free;
    struct ucx_ops       *ops;
    void                 *ahead; /* of api tag: receives posted ahead */
    /* of datatype iov: what is being put together, and those that are free */
    struct ucx_list      *list, *lists;
    struct weir_err       broken; /* the first error in a callback; it stays */
};

static inline struct ucx_rank *ucx_of(struct weir_rank *r) { return r->fs; }

/* ucx_wire.c: addresses, connecting, waiting, closing. */
char   *ucx_lanes(ucp_ep_h ep); /* as the library prints them, to be freed; NULL: no memory */
int     ucx_second_protocols(void);
int64_t ucx_address(struct weir_rank *r, void *buf, size_t cap);
int     ucx_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens);
void    ucx_transport(struct weir_rank *r, int peer, char *buf, size_t cap);
void    ucx_carriers(struct weir_rank *r, int peer, char *list);
int     ucx_disconnect(struct weir_rank *r);
int     ucx_renew_worker(struct weir_rank *r); /* fab_ucx.c */
int     ucx_close(struct weir_rank *r);
int     ucx_failed(struct weir_rank *r, const char *op, int peer, ucs_status_t s);
int     ucx_progress(struct weir_rank *r);
int     ucx_wait(struct weir_rank *r);
/* of a loop's request, or of one that is awaited */
void    ucx_part_ended(struct weir_req *q, ucs_status_t s);
int     ucx_await(struct weir_rank *r, ucs_status_ptr_t p, const char *op, int peer);
void    ucx_part_done(void *request, ucs_status_t s, void *q); /* callback: q is a weir_req */
/* Keeps the error of a callback, which cannot give it to anyone, for the next progress. */
void ucx_broke(struct weir_rank *r, int peer, const char *op, int code, const char *text);

static inline int ucx_posted(struct weir_rank *r, ucs_status_ptr_t p, const char *op, int peer)
{
    if (p == NULL)
        return WEIR_DONE;
    return UCS_PTR_IS_ERR(p) ? ucx_failed(r, op, peer, UCS_PTR_STATUS(p)) : WEIR_PENDING;
}

/* Says that a request's buffer lies in one of this rank's regions. Without being told, UCX finds
 * out the kind of memory and registers it anew for each request, because it hears of no
 * memory events (fabric.RankEnv): microseconds a request where CUDA is loaded. */
static inline void ucx_own_memory(const struct ucx_rank *u, enum weir_region_name name,
                                  ucp_request_param_t *p)
{
    p->op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FIELD_MEMH;
    p->memory_type = u->type[name];
    p->memh        = u->memh[name];
}

/* The parameters of a request of a stream, which UCX reads before it returns. */
static inline const ucp_request_param_t *ucx_stream_of(struct weir_rank *r, struct weir_req *q)
{
    ucp_request_param_t *p = &ucx_of(r)->stream;
    p->user_data           = q;
    return p;
}

/* ucx_list.c: a request as one message of a list of its blocks. */
void ucx_lists(struct weir_fabric *t);
void ucx_lists_close(struct weir_rank *r);

/* ucx_notes.c: words and confirmations, of APIs whose own completions say nothing
 * about the target. */
int            ucx_notes_open(struct weir_rank *r);
int            ucx_notes_sent(struct weir_rank *r); /* waits for those that are on their way */
void           ucx_notes_close(struct weir_rank *r);
static inline int ucx_nothing(struct weir_rank *r) /* for a step that an API does not have */
{
    (void)r;
    return 0;
}
/* NULL: no memory, error filled */
struct ucx_op *ucx_op_take(struct weir_rank *r, int peer, const struct ucx_note *note);
void           ucx_op_drop(struct ucx_op *op);
/* what the call that was to send it gave */
int            ucx_op_posted(struct ucx_op *op, ucs_status_ptr_t s, const char *call);
void           ucx_op_sent(void *request, ucs_status_t s, void *op); /* callback */
int            ucx_send_note(struct weir_rank *r, int peer, struct ucx_note note);
int            ucx_notes_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
int            ucx_notes_tell(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
int            ucx_notes_flush(struct weir_rank *r, int peer, struct weir_req *q);
int ucx_notes_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                  struct weir_req *q);
/* progress, in a wait for something from the peer */
int            ucx_look(struct weir_rank *r, int peer);
void           ucx_take_note(struct weir_rank *r, const struct ucx_note *note); /* that came */
/* 0: its number cannot be, error kept */
int            ucx_awaits(struct weir_rank *r, const struct ucx_note *note);
/* more has come from it: what was asked may be fulfilled */
void           ucx_settle(struct weir_rank *r, int peer);
int            ucx_answer(struct weir_rank *r); /* what is owed */
int            ucx_find_out(struct weir_rank *r); /* whether who was asked is still there */
/* Looks in vain before that, some tens of milliseconds. */
static inline uint32_t ucx_looks(const struct weir_rank *r) { return r->cfg.sleeps ? 8 : 1u << 18; }

/* Progress now and then while answers are awaited: they are seen when they come,
 * which is what is timed, and not when the window is full. */
#define UCX_POSTS_PER_PROGRESS 8
static inline int ucx_heed(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    return u->open && ++u->posts % UCX_POSTS_PER_PROGRESS == 0 ? ucx_progress(r) : 0;
}

#endif
#endif
