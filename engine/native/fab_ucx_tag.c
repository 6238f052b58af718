/* Writes as UCX's tagged messages. The tag contains sender and offset. The target knows from the
 * case what arrives in which order and preposts receives: data goes directly to its place, never
 * into UCX's unexpected queue. Notes have receives of their own, always posted. */
#include "loop_ceiling.h"
#include "fab_ucx.h"
#include "loop_role.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A tag has the kind in the top bits, then the sender, then the offset. */
#define SENDER_SHIFT 48
#define NOTES ((ucp_tag_t)1 << 63)
#define WHOLE_TAG UINT64_MAX

static inline ucp_tag_t block_tag(int from, uint64_t place)
{
    return (ucp_tag_t)from << SENDER_SHIFT | place;
}
static inline ucp_tag_t note_tag(int from) { return NOTES | (ucp_tag_t)from << SENDER_SHIFT; }

#define NOTE_RING 4        /* preposted receives for notes, per peer */
#define MAX_PREPOSTED 4096 /* preposted receives for blocks, over all sources */

struct ahead;

struct receive {
    struct ahead *of;
    void *request; /* NULL: not posted, or done */
    int done;
};

/* The receives from one source, in the order of its sends. They complete in any order; blocks count
 * as arrived once all before them have completed. */
struct ahead {
    struct weir_rank *r;
    struct ucx_rank *u;
    struct ucx_peer *peer;
    int from, notes; /* notes: into their ring, not into the sink */
    int busy;        /* go_on is running */
    int stopping;    /* completions are of cancelled receives */
    size_t bytes;
    ucp_tag_t tag;  /* of notes */
    uint64_t first; /* offset of the buffer */
    uint64_t batch, slots, stride;
    uint64_t block, slot; /* of the next receive */
    uint64_t posted, received;
    uint64_t window; /* a power of two */
    struct receive *ring;
    /* of its receives; built once, as that takes as long as a short message */
    ucp_request_param_t param;
    ucp_tag_recv_info_t info; /* of a receive that completed when posted */
    struct ucx_note note[NOTE_RING];
};

struct aheads {          /* of a rank */
    struct ahead *notes; /* by rank */
    struct ahead *blocks;
    int nblocks;
};

static struct aheads *aheads_of(struct weir_rank *r) { return ucx_of(r)->preposted; }

static void received(void *request, ucs_status_t s, const ucp_tag_recv_info_t *info, void *arg);

static ucp_tag_t next_place(struct ahead *a, void **to)
{
    if (a->notes) {
        *to = &a->note[a->posted & (a->window - 1)];
        return a->tag;
    }
    uint64_t place = a->first + a->slot * a->stride + a->block * a->bytes;
    *to = rank_sink(a->r) + place;
    if (++a->block == a->batch) {
        a->block = 0;
        a->slot = a->slot + 1 == a->slots ? 0 : a->slot + 1;
    }
    return block_tag(a->from, place);
}

static void check(struct ahead *a, ucs_status_t s, size_t length)
{
    if (s != UCS_OK) {
        ucx_broke(a->r, a->from, "ucp_tag_recv_nbx", (int)s, ucx.ucs_status_string(s));
    } else if (length != a->bytes) {
        ucx_broke(a->r, a->from, "receive", -EPROTO,
                  "it sent a message with a length other than the case's");
    }
}

/* Posts the next receive, which may complete immediately. */
static void post_one(struct ahead *a)
{
    struct receive *v = &a->ring[a->posted & (a->window - 1)];
    void *to;
    ucp_tag_t tag = next_place(a, &to);
    v->done = 0;
    v->request = NULL;
    a->param.user_data = v;
    a->posted++;
    ucs_status_ptr_t s =
        ucx.ucp_tag_recv_nbx(a->u->worker, to, a->bytes, tag, WHOLE_TAG, &a->param);
    if (UCS_PTR_IS_PTR(s)) {
        v->request = v->done ? NULL : s; /* UCX may have copied it at once */
        return;
    }
    v->done = 1;
    check(a, UCS_PTR_STATUS(s), s ? 0 : a->info.length);
}

/* Consumes receives that are complete in sequence, and refills the window. */
static void go_on(struct ahead *a)
{
    uint64_t last = a->window - 1;
    a->busy = 1;
    for (;;) {
        struct receive *v = &a->ring[a->received & last];
        if (v->done) {
            if (a->notes) {
                ucx_take_note(a->r, &a->note[a->received & last]);
            }
            v->done = 0;
            a->received++;
        } else if (a->posted - a->received < a->window && !a->u->broken.code) {
            post_one(a);
        } else {
            break;
        }
    }
    a->busy = 0;
    if (!a->notes) {
        a->peer->received = a->received;
        if (a->peer->incoming[(a->peer->satisfied + 1) & a->u->mask].known) {
            ucx_satisfy(a->r, a->from);
        }
    }
}

static void received(void *request, ucs_status_t s, const ucp_tag_recv_info_t *info, void *arg)
{
    struct receive *v = arg;
    struct ahead *a = v->of;
    v->request = NULL;
    ucx.ucp_request_free(request);
    if (a->stopping) {
        return;
    }
    if (__builtin_expect(s != UCS_OK || info->length != a->bytes, 0)) {
        check(a, s, info->length);
    }
    v->done = 1;
    if (!a->busy) { /* otherwise it notices by itself */
        go_on(a);
    }
}

static int begin(struct weir_rank *r, struct ahead *a, uint64_t window)
{
    for (a->window = 1; a->window < window;) {
        a->window *= 2;
    }
    a->ring = calloc(a->window, sizeof *a->ring);
    if (!a->ring) {
        return rank_fail(r, -ENOMEM, "receive", a->from, "no memory for %llu receives",
                         (unsigned long long)a->window);
    }
    for (uint64_t i = 0; i < a->window; i++) {
        a->ring[i].of = a;
    }
    a->r = r;
    a->u = ucx_of(r);
    a->peer = &a->u->peers[a->from];
    a->param = (ucp_request_param_t){
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_RECV_INFO,
        .cb.recv = received,
        .recv_info.tag_info = &a->info,
    };
    if (!a->notes) { /* notes go to their own ring */
        ucx_own_memory(a->u, REGION_SINK, &a->param);
    }
    go_on(a);
    return 0;
}

/* Frees the ring that requests point into. This relies on two things: for a receive without a
 * message UCX calls received within ucp_request_cancel, and no message has partly arrived, because
 * ranks have passed a barrier since the last one. */
static void end(struct ahead *a)
{
    a->stopping = 1;
    for (uint64_t i = 0; i < a->window; i++) {
        if (a->ring[i].request) {
            ucx.ucp_request_cancel(a->u->worker, a->ring[i].request);
        }
    }
    free(a->ring);
    a->ring = NULL;
}

static void end_blocks(struct weir_rank *r)
{
    struct aheads *all = aheads_of(r);
    for (int i = 0; i < all->nblocks; i++) {
        end(&all->blocks[i]);
    }
    free(all->blocks);
    all->blocks = NULL;
    all->nblocks = 0;
    for (int p = 0; p < r->cfg.ranks; p++) {
        ucx_of(r)->peers[p].sent = ucx_of(r)->peers[p].received = 0;
    }
}

/* Checks that no message is left: it would stay in the library, and its data be missing. */
static int nothing_left(struct weir_rank *r)
{
    ucp_tag_recv_info_t info;
    if (!ucx.ucp_tag_probe_nb(ucx_of(r)->worker, 0, NOTES, 0, &info)) {
        return 0;
    }
    return rank_fail(r, -EPROTO, "receive", (int)(info.sender_tag >> SENDER_SHIFT),
                     "it sent an unexpected block of %zu bytes", info.length);
}

static int prepost(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    struct aheads *all = aheads_of(r);
    end_blocks(r);
    int rc = nothing_left(r);
    if (rc < 0 || !c || !o->nsources) {
        return rc;
    }
    if (c->mode == MODE_MATRIX) {
        return rank_fail(r, -EOPNOTSUPP, "receive", -1,
                         "preposted receives have one size, but the cells of a matrix differ");
    }
    all->blocks = calloc((size_t)o->nsources, sizeof *all->blocks);
    if (!all->blocks) {
        return rank_fail(r, -ENOMEM, "receive", -1, "no memory for %d sources", o->nsources);
    }
    /* a request is one message */
    int pingpong = c->mode == MODE_PINGPONG, one_message = ucx_of(r)->iov && !pingpong;
    uint64_t each = MAX_PREPOSTED / (uint64_t)o->nsources,
             window = pingpong ? 1 : c->in_flight * (one_message ? 1 : c->batch);
    for (int i = 0; i < o->nsources; i++) {
        struct ahead *a = &all->blocks[i];
        a->from = o->sources[i].peer;
        a->bytes = c->block * (one_message ? c->batch : 1);
        a->batch = one_message ? 1 : c->batch;
        a->slots = pingpong ? 1 : o->slots;
        a->stride = o->stride;
        a->first = (size_t)i * o->buffer;
        all->nblocks = i + 1;
        if ((rc = begin(r, a, window < each ? window : each)) < 0) {
            return rc;
        }
    }
    return 0;
}

/* or ucp_tag_send_sync_nbx, which completes when its receive is matched */
typedef __typeof__(&ucp_tag_send_nbx) sender;

static inline int put_by(sender send, const char *call, struct weir_rank *r, int peer,
                         const void *local, uint64_t roff, size_t n, struct weir_req *q)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    int rc;
    if ((rc = ucx_progress_sometimes(r)) < 0) {
        return rc;
    }
    p->sent++;
    p->since++;
    return ucx_posted(r, send(p->ep, local, n, block_tag(r->cfg.rank, roff), ucx_stream_of(r, q)),
                      call, peer);
}

static ucs_status_ptr_t send_list(struct weir_rank *r, int peer, uint64_t place,
                                  const ucp_dt_iov_t *blocks, size_t n,
                                  const ucp_request_param_t *param)
{
    return ucx.ucp_tag_send_nbx(ucx_of(r)->peers[peer].ep, blocks, n, block_tag(r->cfg.rank, place),
                                param);
}

static ucs_status_ptr_t send_list_sync(struct weir_rank *r, int peer, uint64_t place,
                                       const ucp_dt_iov_t *blocks, size_t n,
                                       const ucp_request_param_t *param)
{
    return ucx.ucp_tag_send_sync_nbx(ucx_of(r)->peers[peer].ep, blocks, n,
                                     block_tag(r->cfg.rank, place), param);
}

static int put(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q)
{
    return put_by(ucx.ucp_tag_send_nbx, "ucp_tag_send_nbx", r, peer, local, roff, n, q);
}

static int put_sync(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    return put_by(ucx.ucp_tag_send_sync_nbx, "ucp_tag_send_sync_nbx", r, peer, local, roff, n, q);
}

static int send_note(struct weir_rank *r, struct ucx_op *op)
{
    ucp_request_param_t param = {.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = ucx_op_sent,
                                 .user_data = op};
    return ucx_op_posted(op,
                         ucx.ucp_tag_send_nbx(ucx_of(r)->peers[op->peer].ep, &op->note,
                                              sizeof op->note, note_tag(r->cfg.rank), &param),
                         "ucp_tag_send_nbx");
}

/* The reply confirms it: its completion is awaited only by close. */
static inline int ping_by(sender send, struct weir_rank *r, int peer, void *local, size_t n,
                          uint64_t seq)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    struct ucx_op *op = ucx_op_take(r, peer, &(struct ucx_note){.kind = NOTE_PING, .value = seq});
    if (!op) {
        return -ENOMEM;
    }
    ucp_request_param_t param = {.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = ucx_op_sent,
                                 .user_data = op};
    ucx_own_memory(ucx_of(r), REGION_SOURCE, &param);
    p->sent++;
    p->since++;
    int rc = ucx_op_posted(op, send(p->ep, local, n, block_tag(r->cfg.rank, 0), &param), "ping");
    return rc < 0 ? rc : 0;
}

static int ping(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    return ping_by(ucx.ucp_tag_send_nbx, r, peer, local, n, seq);
}
static int ping_sync(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    return ping_by(ucx.ucp_tag_send_sync_nbx, r, peer, local, n, seq);
}

static int arrived(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    return ucx_of(r)->peers[peer].received >= seq ? 1 : ucx_progress_for(r, peer);
}

static int open_tag(struct weir_rank *r)
{
    struct aheads *all = calloc(1, sizeof *all);
    if (!all) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    all->notes = calloc((size_t)r->cfg.ranks, sizeof *all->notes);
    if (!all->notes) {
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    }
    ucx_of(r)->preposted = all;
    return ucx_notes_open(r);
}

static int receive_notes(struct weir_rank *r)
{
    struct aheads *all = aheads_of(r);
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct ahead *a = &all->notes[p];
        if (p == r->cfg.rank) {
            continue;
        }
        a->from = p;
        a->notes = 1;
        a->bytes = sizeof(struct ucx_note);
        a->tag = note_tag(p);
        int rc = begin(r, a, NOTE_RING);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int close_tag(struct weir_rank *r)
{
    struct aheads *all = aheads_of(r);
    int rc = ucx_notes_sent(r);
    if (rc < 0) {
        return rc;
    }
    end_blocks(r);
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (all->notes[p].ring) {
            end(&all->notes[p]);
        }
    }
    free(all->notes);
    free(all);
    ucx_notes_close(r);
    ucx_lists_close(r);
    return 0;
}

#define TAGGED                                                                                     \
    .features = UCP_FEATURE_TAG, .ordered = 1, .open = open_tag, .connect = receive_notes,         \
    .note = send_note, .get = ucx_notes_get, .flush = ucx_notes_flush, .signal = ucx_notes_signal, \
    .notify = ucx_notes_notify, .prepost = prepost, .arrived = arrived,                            \
    .ceiling = ceiling_is_memcpy, .close = close_tag

const struct ucx_api ucx_tag = {
    .name = "tag", .put = put, .ping = ping, .send_list = send_list, TAGGED};
const struct ucx_api ucx_tag_sync = {
    .name = "tag_sync", .put = put_sync, .ping = ping_sync, .send_list = send_list_sync, TAGGED};
#endif
