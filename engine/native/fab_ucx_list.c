/* Tagged messages with a list of blocks (ucp_dt_iov_t): all blocks of a request in one message,
 * UCX's datatype iov. Blocks under one weir_req are collected until they are posted; UCX reads the
 * list until the message is sent. */
#include "fab_ucx.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ucx_list {
    struct ucx_rank *u;
    struct weir_req *q;
    struct ucx_list *next; /* in the free list */
    int peer;
    uint64_t place; /* offset of the first block, at the peer */
    size_t n;
    ucp_dt_iov_t blocks[]; /* as many as the largest batch of the launch */
};

static struct ucx_list *list_take(struct weir_rank *r)
{
    struct ucx_rank *u = ucx_of(r);
    struct ucx_list *l = u->lists;
    if (l) {
        u->lists = l->next;
        return l;
    }
    l = malloc(sizeof *l + r->cfg.batch * sizeof *l->blocks);
    if (!l) {
        rank_fail(r, -ENOMEM, "send", -1, "no memory for a list of %llu blocks",
                  (unsigned long long)r->cfg.batch);
    }
    return l;
}

static void list_done(struct ucx_list *l, ucs_status_t s)
{
    for (size_t i = 0; i < l->n; i++) {
        ucx_part_ended(l->q, s);
    }
    l->next = l->u->lists;
    l->u->lists = l;
}

static void list_sent(void *request, ucs_status_t s, void *list)
{
    list_done(list, s);
    ucx.ucp_request_free(request);
}

static int post_list(struct weir_rank *r)
{
    struct ucx_rank *u = ucx_of(r);
    struct ucx_list *l = u->list;
    int rc;
    if (!l) {
        return 0;
    }
    u->list = NULL;
    if ((rc = ucx_progress_sometimes(r)) < 0) {
        return rc;
    }
    ucp_request_param_t param = u->stream; /* including its flags */
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.op_attr_mask &= ~(uint32_t)UCP_OP_ATTR_FIELD_MEMH; /* UCX takes none for a list */
    param.datatype = ucp_dt_make_iov();
    param.cb.send = list_sent;
    param.user_data = l;
    u->peers[l->peer].sent++;
    u->peers[l->peer].since++;
    ucs_status_ptr_t s = u->api->send_list(r, l->peer, l->place, l->blocks, l->n, &param);
    if (s == NULL) {
        list_done(l, UCS_OK);
    }
    return UCS_PTR_IS_ERR(s) ? ucx_failed(r, "sending a list of blocks", l->peer, UCS_PTR_STATUS(s))
                             : 0;
}

static int put_list(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
                    struct weir_req *q)
{
    struct ucx_rank *u = ucx_of(r);
    struct ucx_list *l = u->list;
    int rc;
    if ((!l || l->q != q || l->peer != peer)) {
        if ((rc = post_list(r)) < 0) {
            return rc;
        }
    }
    if (!u->list) {
        l = list_take(r);
        if (!l) {
            return -ENOMEM;
        }
        l->u = u;
        l->q = q;
        l->peer = peer;
        l->place = roff;
        l->n = 0;
        u->list = l;
    }
    l->blocks[l->n++] = (ucp_dt_iov_t){.buffer = (void *)(uintptr_t)local, .length = n};
    return WEIR_PENDING;
}

static int flush_list(struct weir_rank *r, int peer, struct weir_req *q)
{
    int rc = post_list(r);
    return rc < 0 ? rc : ucx_of(r)->api->flush(r, peer, q);
}

void ucx_lists(struct weir_fabric *t)
{
    t->put = put_list;
    t->post = post_list;
    t->flush = flush_list;
}

void ucx_lists_close(struct weir_rank *r)
{
    for (struct ucx_list *next, *l = ucx_of(r)->lists; l; l = next) {
        next = l->next;
        free(l);
    }
}
#endif
