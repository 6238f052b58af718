/* UCX's one-sided writes and reads. Completion of a put is local; a flush confirms delivery. */
#include "loop_ceiling.h"
#include "fab_ucx.h"
#include "fabric_unsupported.h"

#ifdef WEIR_HAS_UCX
#include <string.h>

static int no_note(struct weir_rank *r, struct ucx_op *op)
{
    return rank_fail(r, UCS_ERR_UNSUPPORTED, "note", op->peer, "api rma has no notes");
}

static int put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    return ucx_posted(
        r, ucx.ucp_put_nbx(p->ep, local, n, p->sink.base + roff, p->sink.rkey, ucx_stream_of(r, q)),
        "ucp_put_nbx", peer);
}

static int get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
               struct weir_req *q)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    return ucx_posted(
        r, ucx.ucp_get_nbx(p->ep, local, n, p->sink.base + roff, p->sink.rkey, ucx_stream_of(r, q)),
        "ucp_get_nbx", peer);
}

static int flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    ucp_request_param_t param = {.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = ucx_part_done,
                                 .user_data = q};
    return ucx_posted(r, ucx.ucp_ep_flush_nbx(ucx_of(r)->peers[peer].ep, &param),
                      "ucp_ep_flush_nbx", peer);
}

static int put_word(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    struct ucx_rank *u = ucx_of(r);
    struct ucx_peer *p = &u->peers[peer];
    char *from = rank_outbox(r, peer);
    ucp_request_param_t param = {.op_attr_mask = 0};
    memcpy(from, &value, sizeof value);
    ucx_own_memory(u, REGION_CONTROL, &param);
    return ucx_await(r,
                     ucx.ucp_put_nbx(p->ep, from, sizeof value, p->control.base + place,
                                     p->control.rkey, &param),
                     "signal", peer);
}

static int notify(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    int rc = put_word(r, peer, place, value);
    return rc < 0 ? rc : rank_flush(r, peer);
}

static int ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    ((unsigned char *)local)[n - 1] = rank_mark(seq);
    return ucx_await(
        r, ucx.ucp_put_nbx(p->ep, local, n, p->sink.base, p->sink.rkey, &ucx_of(r)->put_param),
        "ping", peer);
}

/* Polls several times per call: a call takes as long as a short message. */
#define POLLS 8

static int arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    const char *last = rank_sink(r) + n - 1;
    ucp_worker_h w = ucx_of(r)->worker;
    for (int i = 0; i < POLLS; i++) {
        if (rank_marked(last, seq)) {
            return 1;
        }
        ucx.ucp_worker_progress(w);
    }
    return rank_marked(last, seq);
}

const struct ucx_api ucx_rma = {
    .name = "rma",
    .features = UCP_FEATURE_RMA,
    .caps = CAP_MARKS_DATA,
    .open = ucx_nothing,
    .connect = ucx_nothing,
    .note = no_note,
    .put = put,
    .get = get,
    .flush = flush,
    .signal = put_word,
    .notify = notify,
    .prepost = preposts_nothing,
    .ping = ping,
    .arrived = arrived,
    .ceiling = ceiling_by_requests,
    .close = ucx_nothing,
};
#endif
