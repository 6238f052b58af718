/* Watches the requests of fabric ucx: one with a buffer in a rank's memory must name the
 * registration of its region, or UCX registers the buffer for each request. */
#include "ucx_watch.h"

#include <stdio.h>

#include "../fab_ucx.h"

#ifdef WEIR_HAS_UCX
#include <stdatomic.h>

#define LARGE 4096 /* bytes: longer than any word or note */

static struct ucx_library library; /* as loaded */
static atomic_long requests, unnotified;

static int within(const char *b, size_t n, ucp_mem_h memh)
{
    ucp_mem_attr_t a = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    return library.ucp_mem_query(memh, &a) == UCS_OK && b >= (char *)a.address &&
           b + n <= (char *)a.address + a.length;
}

static void look(const void *b, size_t n, const ucp_request_param_t *p)
{
    const uint32_t told = UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    if (n < LARGE || p->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) {
        return;
    }
    atomic_fetch_add(&requests, 1);
    if ((p->op_attr_mask & told) != told || !within(b, n, p->memh)) {
        atomic_fetch_add(&unnotified, 1);
    }
}

static ucs_status_ptr_t put(ucp_ep_h ep, const void *b, size_t n, uint64_t at, ucp_rkey_h k,
                            const ucp_request_param_t *p)
{
    look(b, n, p);
    return library.ucp_put_nbx(ep, b, n, at, k, p);
}

static ucs_status_ptr_t get(ucp_ep_h ep, void *b, size_t n, uint64_t at, ucp_rkey_h k,
                            const ucp_request_param_t *p)
{
    look(b, n, p);
    return library.ucp_get_nbx(ep, b, n, at, k, p);
}

static ucs_status_ptr_t am_send(ucp_ep_h ep, unsigned id, const void *h, size_t hn, const void *b,
                                size_t n, const ucp_request_param_t *p)
{
    look(b, n, p);
    return library.ucp_am_send_nbx(ep, id, h, hn, b, n, p);
}

static ucs_status_ptr_t am_receive(ucp_worker_h w, void *from, void *b, size_t n,
                                   const ucp_request_param_t *p)
{
    look(b, n, p);
    return library.ucp_am_recv_data_nbx(w, from, b, n, p);
}

static ucs_status_ptr_t tag_send(ucp_ep_h ep, const void *b, size_t n, ucp_tag_t t,
                                 const ucp_request_param_t *p)
{
    look(b, n, p);
    return library.ucp_tag_send_nbx(ep, b, n, t, p);
}

static ucs_status_ptr_t tag_send_sync(ucp_ep_h ep, const void *b, size_t n, ucp_tag_t t,
                                      const ucp_request_param_t *p)
{
    look(b, n, p);
    return library.ucp_tag_send_sync_nbx(ep, b, n, t, p);
}

static ucs_status_ptr_t tag_receive(ucp_worker_h w, void *b, size_t n, ucp_tag_t t, ucp_tag_t mask,
                                    const ucp_request_param_t *p)
{
    look(b, n, p);
    return library.ucp_tag_recv_nbx(w, b, n, t, mask, p);
}

void ucx_watch(void)
{
    char why[WEIR_TEXT];
    if (ucx_load(why, sizeof why) < 0) {
        return; /* the launches will report why */
    }
    library = ucx;
    ucx.ucp_put_nbx = put;
    ucx.ucp_get_nbx = get;
    ucx.ucp_am_send_nbx = am_send;
    ucx.ucp_am_recv_data_nbx = am_receive;
    ucx.ucp_tag_send_nbx = tag_send;
    ucx.ucp_tag_send_sync_nbx = tag_send_sync;
    ucx.ucp_tag_recv_nbx = tag_receive;
}

int ucx_watched(void)
{
    int bad = !requests || unnotified;
    printf("%s %ld of %ld requests of ucx do not name the registration of their buffer\n",
           bad ? "FAIL" : "ok  ", unnotified, requests);
    return bad;
}

#else
void ucx_watch(void) {}
int ucx_watched(void) { return 0; }
#endif
