/* Writes as UCX's active messages. The header gives the offset; the handler copies the payload
 * there, or receives it in place if it is only announced (rendezvous). Messages are unordered, so
 * each names the query that it precedes. */
#include "loop_ceiling.h"
#include "fab_ucx.h"
#include "fabric_unsupported.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <string.h>

enum { MESSAGES }; /* one active message id: the note tells the kind */

static int post(struct weir_rank *r, struct ucx_op *op, const void *data, size_t n, uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags = flags,
        .cb.send = ucx_op_sent,
        .user_data = op,
    };
    if (n) {
        ucx_own_memory(ucx_of(r), REGION_SOURCE, &param);
    }
    return ucx_op_posted(op,
                         ucx.ucp_am_send_nbx(ucx_of(r)->peers[op->peer].ep, MESSAGES, &op->note,
                                             sizeof op->note, data, n, &param),
                         "ucp_am_send_nbx");
}

static int send_note(struct weir_rank *r, struct ucx_op *op)
{
    return post(r, op, NULL, 0, UCP_AM_SEND_FLAG_EAGER);
}

static int put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    int rc = ucx_progress_sometimes(r);
    if (rc < 0) {
        return rc;
    }
    struct ucx_op *op = ucx_op_take(
        r, peer, &(struct ucx_note){.kind = NOTE_BLOCK, .place = roff, .number = p->queries + 1});
    if (!op) {
        return -ENOMEM;
    }
    op->q = q;
    p->since++;
    return post(r, op, local, n, UCP_OP_ATTR_FLAG_MULTI_SEND);
}

/* The reply confirms it: its completion is not awaited. */
static int ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    struct ucx_op *op = ucx_op_take(
        r, peer, &(struct ucx_note){.kind = NOTE_PING, .value = seq, .number = p->queries + 1});
    if (!op) {
        return -ENOMEM;
    }
    p->since++;
    int rc = post(r, op, local, n, 0);
    return rc < 0 ? rc : 0;
}

static int arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    if (p->ping != seq) {
        return ucx_progress_for(r, peer);
    }
    p->ping = 0; /* the next message may have the same number: each case restarts the count */
    return 1;
}

/* A message has arrived completely. */
static void message_arrived(struct weir_rank *r, const struct ucx_note *n)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[n->from];
    if (n->kind == NOTE_PING) {
        p->ping = n->value;
    }
    struct ucx_query *a = &p->incoming[n->number & u->mask];
    a->received++;
    if (a->known) {
        ucx_satisfy(r, n->from);
    }
}

static void fetched(void *request, ucs_status_t s, size_t length, void *arg)
{
    struct ucx_op *op = arg;
    if (s == UCS_OK) {
        message_arrived(op->r, &op->note);
    } else if (!op->r->closing) {
        ucx_broke(op->r, op->peer, "ucp_am_recv_data_nbx", (int)s, ucx.ucs_status_string(s));
    }
    ucx_op_drop(op);
    ucx.ucp_request_free(request);
}

/* Receives the data of a rendezvous, which is still at the sender. */
static ucs_status_t fetch(struct weir_rank *r, const struct ucx_note *n, void *data, size_t length)
{
    struct ucx_op *op = ucx_op_take(r, n->from, n);
    if (!op) {
        ucx_broke(r, n->from, "receive", -ENOMEM, "no memory for a message");
        return UCS_ERR_NO_MEMORY;
    }
    op->note.from = n->from;
    ucp_request_param_t param = {.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.recv_am = fetched,
                                 .user_data = op};
    ucx_own_memory(ucx_of(r), REGION_SINK, &param);
    ucs_status_ptr_t s =
        ucx.ucp_am_recv_data_nbx(ucx_of(r)->worker, data, rank_sink(r) + n->place, length, &param);
    if (UCS_PTR_IS_PTR(s)) {
        return UCS_INPROGRESS;
    }
    if (s == NULL) {
        message_arrived(r, n);
    } else {
        ucx_broke(r, n->from, "ucp_am_recv_data_nbx", (int)UCS_PTR_STATUS(s),
                  ucx.ucs_status_string(UCS_PTR_STATUS(s)));
    }
    ucx_op_drop(op);
    return UCS_INPROGRESS;
}

static int copy_in(struct weir_rank *r, const struct ucx_note *n, const void *data, size_t length)
{
    struct weir_err e = {0};
    if (r->cfg.sink->copy_in(rank_sink(r) + n->place, data, length, &e) < 0) {
        ucx_broke(r, n->from, "receive", e.code, e.text);
    }
    return e.code;
}

static ucs_status_t take_block(struct weir_rank *r, const struct ucx_note *n, void *data,
                               size_t length, int announced)
{
    if (!ucx_check_number(r, n)) {
        return UCS_OK;
    }
    const struct weir_region *sink = &r->regions[REGION_SINK];
    if (n->place > sink->size || length > sink->size - n->place) {
        ucx_broke(r, n->from, "receive", -EPROTO, "it sent a block to an offset outside the sink");
        return UCS_OK;
    }
    if (announced) {
        return fetch(r, n, data, length);
    }
    if (__builtin_expect(sink->kind->host, 1)) {
        memcpy(sink->base + n->place, data, length);
    } else if (copy_in(r, n, data, length) < 0) {
        return UCS_OK;
    }
    message_arrived(r, n);
    return UCS_OK;
}

static ucs_status_t message(void *arg, const void *header, size_t header_length, void *data,
                            size_t length, const ucp_am_recv_param_t *param)
{
    struct weir_rank *r = arg;
    struct ucx_note n;
    if (header_length == sizeof n) {
        memcpy(&n, header, sizeof n);
    }
    if (header_length != sizeof n || n.from >= r->cfg.ranks) {
        ucx_broke(r, -1, "receive", -EPROTO, "received a message of another launch");
        return UCS_OK;
    }
    if (n.kind == NOTE_BLOCK || n.kind == NOTE_PING) {
        return take_block(r, &n, data, length,
                          (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
    }
    ucx_take_note(r, &n);
    if (n.kind == NOTE_WORD) {
        message_arrived(r, &n);
    }
    return UCS_OK;
}

static int open_am(struct weir_rank *r)
{
    ucp_am_handler_param_t p = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = MESSAGES,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = message,
        .arg = r,
    };
    ucs_status_t s = ucx.ucp_worker_set_am_recv_handler(ucx_of(r)->worker, &p);
    return s == UCS_OK ? ucx_notes_open(r) : ucx_failed(r, "ucp_worker_set_am_recv_handler", -1, s);
}

static int close_am(struct weir_rank *r)
{
    int rc = ucx_notes_sent(r);
    if (rc == 0) {
        ucx_notes_close(r);
    }
    return rc;
}

const struct ucx_api ucx_am = {
    .name = "am",
    .features = UCP_FEATURE_AM,
    .open = open_am,
    .connect = ucx_nothing,
    .note = send_note,
    .put = put,
    .get = ucx_notes_get,
    .flush = ucx_notes_flush,
    .signal = ucx_notes_signal,
    .notify = ucx_notes_notify,
    .prepost = preposts_nothing,
    .ping = ping,
    .arrived = arrived,
    .ceiling = ceiling_by_requests,
    .close = close_am,
};
#endif
