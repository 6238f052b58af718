/* Writes as UCX's tagged messages. The tag names sender and place, and the target,
 * which knows from the case what comes in which order, posts receives ahead: data goes
 * straight to its place and never into UCX's queue of what nobody waits for. Notes
 * have receives of their own, which are always posted. */
#include "ceiling.h"
#include "ucx.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A tag is the kind in the top bits, then the sender, then the place. */
#define SENDER_SHIFT 48
#define NOTES ((ucp_tag_t)1 << 63)
#define WHOLE_TAG UINT64_MAX

static inline ucp_tag_t block_tag(int from, uint64_t place)
{
    return (ucp_tag_t)from << SENDER_SHIFT | place;
}
static inline ucp_tag_t note_tag(int from) { return NOTES | (ucp_tag_t)from << SENDER_SHIFT; }

#define NOTE_RING 4 /* receives of notes from a peer */
#define MOST_AHEAD 4096 /* receives of blocks, from all sources together */

struct ahead;

struct receive {
    struct ahead *of;
    void         *request; /* NULL: not posted, or done */
    int           done;
};

/* The receives from one source, in the order of what it sends. They complete in any
 * order; those that are complete in a row from the first are what has come. */
struct ahead {
    struct weir_rank *r;
    struct ucx_rank  *u;
    struct ucx_peer  *peer;
    int               from, notes; /* notes: into their ring, not into places */
    int               busy;        /* go_on is at work */
    int               stopping;    /* what completes was cancelled */
    size_t            bytes;
    ucp_tag_t         tag;    /* of notes */
    uint64_t          first;  /* place of the buffer */
    uint64_t          batch, slots, stride;
    uint64_t          block, slot; /* of the next receive */
    uint64_t          posted, come;
    uint64_t          window; /* a power of two */
    struct receive   *ring;
    /* of its receives; made once, since it is as long as a short message */
    ucp_request_param_t param;
    ucp_tag_recv_info_t info;  /* of one that found its message there */
    struct ucx_note   note[NOTE_RING];
};

struct aheads { /* of a rank */
    struct ahead *notes; /* by rank */
    struct ahead *blocks;
    int           nblocks;
};

static struct aheads *aheads_of(struct weir_rank *r) { return ucx_of(r)->ahead; }

static void received(void *request, ucs_status_t s, const ucp_tag_recv_info_t *info, void *arg);

static ucp_tag_t next_place(struct ahead *a, void **to)
{
    if (a->notes) {
        *to = &a->note[a->posted & (a->window - 1)];
        return a->tag;
    }
    uint64_t place = a->first + a->slot * a->stride + a->block * a->bytes;
    *to            = rank_sink(a->r) + place;
    if (++a->block == a->batch) {
        a->block = 0;
        a->slot  = a->slot + 1 == a->slots ? 0 : a->slot + 1;
    }
    return block_tag(a->from, place);
}

static void check(struct ahead *a, ucs_status_t s, size_t length)
{
    if (s != UCS_OK)
        ucx_broke(a->r, a->from, "ucp_tag_recv_nbx", (int)s, ucx.ucs_status_string(s));
    else if (length != a->bytes)
        ucx_broke(a->r, a->from, "receive", -EPROTO,
                  "it sent a message of another length than the case's");
}

/* Posts the next receive, which may find its message there already. */
static void post_one(struct ahead *a)
{
    struct receive *v = &a->ring[a->posted & (a->window - 1)];
    void           *to;
    ucp_tag_t       tag = next_place(a, &to);
    v->done             = 0;
    v->request          = NULL;
    a->param.user_data  = v;
    a->posted++;
    ucs_status_ptr_t s =
        ucx.ucp_tag_recv_nbx(a->u->worker, to, a->bytes, tag, WHOLE_TAG, &a->param);
    if (UCS_PTR_IS_PTR(s)) {
        v->request = v->done ? NULL : s; /* a copy may be made at once */
        return;
    }
    v->done = 1;
    check(a, UCS_PTR_STATUS(s), s ? 0 : a->info.length);
}

/* Takes what is complete in a row, and keeps the window posted. */
static void go_on(struct ahead *a)
{
    uint64_t last = a->window - 1;
    a->busy       = 1;
    for (;;) {
        struct receive *v = &a->ring[a->come & last];
        if (v->done) {
            if (a->notes)
                ucx_take_note(a->r, &a->note[a->come & last]);
            v->done = 0;
            a->come++;
        } else if (a->posted - a->come < a->window && !a->u->broken.code) {
            post_one(a);
        } else {
            break;
        }
    }
    a->busy = 0;
    if (!a->notes) {
        a->peer->come = a->come;
        if (a->peer->asks[(a->peer->floor + 1) & a->u->mask].known)
            ucx_settle(a->r, a->from);
    }
}

static void received(void *request, ucs_status_t s, const ucp_tag_recv_info_t *info, void *arg)
{
    struct receive *v = arg;
    struct ahead   *a = v->of;
    v->request        = NULL;
    ucx.ucp_request_free(request);
    if (a->stopping)
        return;
    if (__builtin_expect(s != UCS_OK || info->length != a->bytes, 0))
        check(a, s, info->length);
    v->done = 1;
    if (!a->busy) /* else it sees that by itself */
        go_on(a);
}

static int begin(struct weir_rank *r, struct ahead *a, uint64_t window)
{
    for (a->window = 1; a->window < window;)
        a->window *= 2;
    if (!(a->ring = calloc(a->window, sizeof *a->ring)))
        return rank_fail(r, -ENOMEM, "receive", a->from, "no memory for %llu receives",
                         (unsigned long long)a->window);
    for (uint64_t i = 0; i < a->window; i++)
        a->ring[i].of = a;
    a->r     = r;
    a->u     = ucx_of(r);
    a->peer  = &a->u->peers[a->from];
    a->param = (ucp_request_param_t){
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_RECV_INFO,
        .cb.recv            = received,
        .recv_info.tag_info = &a->info,
    };
    if (!a->notes) /* they come to a ring of their own */
        ucx_own_memory(a->u, REGION_SINK, &a->param);
    go_on(a);
    return 0;
}

/* Frees the ring that requests point into. That relies on two things: UCX calls received
 * within ucp_request_cancel for a receive that has no message yet, and no message is half
 * here, because ranks have met since the last one. */
static void end(struct ahead *a)
{
    a->stopping = 1;
    for (uint64_t i = 0; i < a->window; i++)
        if (a->ring[i].request)
            ucx.ucp_request_cancel(a->u->worker, a->ring[i].request);
    free(a->ring);
    a->ring = NULL;
}

static void end_blocks(struct weir_rank *r)
{
    struct aheads *all = aheads_of(r);
    for (int i = 0; i < all->nblocks; i++)
        end(&all->blocks[i]);
    free(all->blocks);
    all->blocks  = NULL;
    all->nblocks = 0;
    for (int p = 0; p < r->cfg.ranks; p++)
        ucx_of(r)->peers[p].sent = ucx_of(r)->peers[p].come = 0;
}

/* A block that no receive took would stay in the library for ever, and its place stale. */
static int nothing_left(struct weir_rank *r)
{
    ucp_tag_recv_info_t info;
    if (!ucx.ucp_tag_probe_nb(ucx_of(r)->worker, 0, NOTES, 0, &info))
        return 0;
    return rank_fail(r, -EPROTO, "receive", (int)(info.sender_tag >> SENDER_SHIFT),
                     "it sent a block of %zu bytes that nobody waits for", info.length);
}

static int expect(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o)
{
    struct aheads *all = aheads_of(r);
    end_blocks(r);
    int rc = nothing_left(r);
    if (rc < 0 || !c || !o->nsources)
        return rc;
    if (c->mode == MODE_MATRIX)
        return rank_fail(
            r, -EOPNOTSUPP, "receive", -1,
            "receives are posted ahead, all of one size: the cells of a matrix have many");
    if (!(all->blocks = calloc((size_t)o->nsources, sizeof *all->blocks)))
        return rank_fail(r, -ENOMEM, "receive", -1, "no memory for %d sources", o->nsources);
    /* a request comes as one message */
    int      pingpong = c->mode == MODE_PINGPONG, whole = ucx_of(r)->iov && !pingpong;
    uint64_t each   = MOST_AHEAD / (uint64_t)o->nsources,
             window = pingpong ? 1 : c->in_flight * (whole ? 1 : c->batch);
    for (int i = 0; i < o->nsources; i++) {
        struct ahead *a = &all->blocks[i];
        a->from         = o->sources[i].peer;
        a->bytes        = c->block * (whole ? c->batch : 1);
        a->batch        = whole ? 1 : c->batch;
        a->slots        = pingpong ? 1 : o->slots;
        a->stride       = o->stride;
        a->first        = (size_t)i * o->buffer;
        all->nblocks    = i + 1;
        if ((rc = begin(r, a, window < each ? window : each)) < 0)
            return rc;
    }
    return 0;
}

/* or ucp_tag_send_sync_nbx, which is complete when its receive was found */
typedef __typeof__(&ucp_tag_send_nbx) sender;

static inline int put_by(sender send, const char *call, struct weir_rank *r, int peer,
                         const void *local, uint64_t roff, size_t n, struct weir_req *q)
{
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    int              rc;
    if ((rc = ucx_heed(r)) < 0)
        return rc;
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

/* Its answer says that it came: nobody waits for it to be sent, but for the close. */
static inline int ping_by(sender send, struct weir_rank *r, int peer, void *local, size_t n,
                          uint64_t seq)
{
    struct ucx_peer *p  = &ucx_of(r)->peers[peer];
    struct ucx_op   *op = ucx_op_take(r, peer, &(struct ucx_note){.kind = NOTE_PING, .value = seq});
    if (!op)
        return -ENOMEM;
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
    (void)n;
    return ucx_of(r)->peers[peer].come >= seq ? 1 : ucx_look(r, peer);
}

static int open_tag(struct weir_rank *r)
{
    struct aheads *all = calloc(1, sizeof *all);
    if (!all || !(all->notes = calloc((size_t)r->cfg.ranks, sizeof *all->notes)))
        return rank_fail(r, -ENOMEM, "open", -1, "no memory for %d peers", r->cfg.ranks);
    ucx_of(r)->ahead = all;
    return ucx_notes_open(r);
}

static int receive_notes(struct weir_rank *r)
{
    struct aheads *all = aheads_of(r);
    for (int p = 0; p < r->cfg.ranks; p++) {
        struct ahead *a = &all->notes[p];
        if (p == r->cfg.rank)
            continue;
        a->from  = p;
        a->notes = 1;
        a->bytes = sizeof(struct ucx_note);
        a->tag   = note_tag(p);
        int rc   = begin(r, a, NOTE_RING);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int close_tag(struct weir_rank *r)
{
    struct aheads *all = aheads_of(r);
    int            rc  = ucx_notes_sent(r);
    if (rc < 0)
        return rc;
    end_blocks(r);
    for (int p = 0; p < r->cfg.ranks; p++)
        if (all->notes[p].ring)
            end(&all->notes[p]);
    free(all->notes);
    free(all);
    ucx_notes_close(r);
    ucx_lists_close(r);
    return 0;
}

#define TAGGED                                                                                     \
    .features = UCP_FEATURE_TAG, .in_row = 1, .open = open_tag, .connect = receive_notes,          \
    .note = send_note, .get = ucx_notes_get, .flush = ucx_notes_flush, .signal = ucx_notes_signal, \
    .tell = ucx_notes_tell, .expect = expect, .arrived = arrived, .ceiling = ceiling_is_memcpy,    \
    .close = close_tag

const struct ucx_api ucx_tag      = {.name = "tag", .put = put, .ping = ping,
                                     .send_list = send_list, TAGGED};
const struct ucx_api ucx_tag_sync = {.name = "tag_sync", .put = put_sync, .ping = ping_sync,
                                     .send_list = send_list_sync, TAGGED};
#endif
