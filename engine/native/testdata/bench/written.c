/* Preloaded into ucx_perftest: writes the memory that ucp_mem_map allocates. The tool itself never
 * writes what it sends, and the kernel backs unwritten private memory with one page of zeros, which
 * stays in the nearest cache however long the message is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <ucp/api/ucp.h>

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *memh)
{
    __typeof__(&ucp_mem_map)   map   = dlsym(RTLD_NEXT, "ucp_mem_map");
    /* the test machine may have no UCX */
    __typeof__(&ucp_mem_query) query = dlsym(RTLD_NEXT, "ucp_mem_query");
    ucs_status_t               s     = map(context, params, memh);
    if (s != UCS_OK || !(params->field_mask & UCP_MEM_MAP_PARAM_FIELD_FLAGS) ||
        !(params->flags & UCP_MEM_MAP_ALLOCATE))
        return s;
    ucp_mem_attr_t a = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    if ((s = query(*memh, &a)) == UCS_OK)
        memset(a.address, 0, a.length);
    return s;
}
