/* fab_nixl_api.h: declarations of the part of NIXL's C API that weir uses. Written against the
 * published interface: github.com/ai-dynamo/nixl, src/api/c/nixl_capi.h (its C API 0.1.0) and,
 * before that file, src/bindings/rust/wrapper.h (NIXL 0.2 to 1.5). There is no packaged header to
 * build against, and the interface is experimental, so only the parts common to all versions are
 * used. In old libraries the two create_*_dlist functions take a third argument, whether the list
 * is sorted; newer ones take two. It is always passed: with the calling conventions of x86-64 and
 * aarch64 the callee ignores it. */
#ifndef WEIR_FAB_NIXL_API_H
#define WEIR_FAB_NIXL_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir.h"

typedef int nixl_status; /* 0: done, 1: in progress, negative: failed */
enum { NIXL_DONE = 0, NIXL_IN_PROGRESS = 1 };
enum { NIXL_DRAM = 0, NIXL_VRAM = 1 };
enum { NIXL_READ = 0, NIXL_WRITE = 1 };

typedef struct nixl_capi_agent_s *nixl_agent;
typedef struct nixl_capi_params_s *nixl_params;
typedef struct nixl_capi_param_iter_s *nixl_param_iter;
typedef struct nixl_capi_mem_list_s *nixl_mem_list;
typedef struct nixl_capi_string_list_s *nixl_string_list;
typedef struct nixl_capi_backend_s *nixl_backend;
typedef struct nixl_capi_opt_args_s *nixl_opt_args;
typedef struct nixl_capi_xfer_dlist_s *nixl_xfer_dlist;
typedef struct nixl_capi_reg_dlist_s *nixl_reg_dlist;
typedef struct nixl_capi_xfer_dlist_handle_s *nixl_dlist_handle;
typedef struct nixl_capi_xfer_req_s *nixl_xfer_req;
typedef struct nixl_capi_notif_map_s *nixl_notif_map;

struct nixl_agent_config {
    bool progress_thread, listen_thread;
    uint16_t listen_port;
    int thread_sync; /* 0: none, the agent is used by one thread */
    unsigned workers;
    uint64_t progress_delay_us, listen_delay_us;
    bool telemetry;
};

nixl_status nixl_capi_create_agent(const char *name, nixl_agent *out);
nixl_status nixl_capi_create_configured_agent(const char *name, const struct nixl_agent_config *cfg,
                                              nixl_agent *out);
nixl_status nixl_capi_destroy_agent(nixl_agent a);
nixl_status nixl_capi_get_local_md(nixl_agent a, void **data, size_t *len);
nixl_status nixl_capi_load_remote_md(nixl_agent a, const void *data, size_t len, char **name);
nixl_status nixl_capi_invalidate_remote_md(nixl_agent a, const char *name);
nixl_status nixl_capi_agent_make_connection(nixl_agent a, const char *name, nixl_opt_args args);
nixl_status nixl_capi_get_available_plugins(nixl_agent a, nixl_string_list *out);
nixl_status nixl_capi_string_list_size(nixl_string_list l, size_t *n);
nixl_status nixl_capi_string_list_get(nixl_string_list l, size_t i, const char **out);
nixl_status nixl_capi_destroy_string_list(nixl_string_list l);
nixl_status nixl_capi_get_plugin_params(nixl_agent a, const char *plugin, nixl_mem_list *mems,
                                        nixl_params *out);
nixl_status nixl_capi_params_add(nixl_params p, const char *key, const char *value);
nixl_status nixl_capi_params_create_iterator(nixl_params p, nixl_param_iter *out);
nixl_status nixl_capi_params_iterator_next(nixl_param_iter i, const char **key, const char **value,
                                           bool *more);
nixl_status nixl_capi_params_destroy_iterator(nixl_param_iter i);
nixl_status nixl_capi_destroy_params(nixl_params p);
nixl_status nixl_capi_destroy_mem_list(nixl_mem_list l);
nixl_status nixl_capi_create_backend(nixl_agent a, const char *plugin, nixl_params p,
                                     nixl_backend *out);
nixl_status nixl_capi_destroy_backend(nixl_backend b);
nixl_status nixl_capi_create_opt_args(nixl_opt_args *out);
nixl_status nixl_capi_opt_args_add_backend(nixl_opt_args args, nixl_backend b);
nixl_status nixl_capi_opt_args_set_skip_desc_merge(nixl_opt_args args, bool skip);
nixl_status nixl_capi_destroy_opt_args(nixl_opt_args args);
nixl_status nixl_capi_create_reg_dlist(int mem, nixl_reg_dlist *out, bool sorted);
nixl_status nixl_capi_reg_dlist_add_desc(nixl_reg_dlist l, uintptr_t addr, size_t len, uint64_t dev,
                                         const void *md, size_t mdlen);
nixl_status nixl_capi_destroy_reg_dlist(nixl_reg_dlist l);
nixl_status nixl_capi_register_mem(nixl_agent a, nixl_reg_dlist l, nixl_opt_args args);
nixl_status nixl_capi_deregister_mem(nixl_agent a, nixl_reg_dlist l, nixl_opt_args args);
nixl_status nixl_capi_create_xfer_dlist(int mem, nixl_xfer_dlist *out, bool sorted);
nixl_status nixl_capi_xfer_dlist_add_desc(nixl_xfer_dlist l, uintptr_t addr, size_t len,
                                          uint64_t dev);
nixl_status nixl_capi_destroy_xfer_dlist(nixl_xfer_dlist l);
nixl_status nixl_capi_create_xfer_req(nixl_agent a, int op, nixl_xfer_dlist local,
                                      nixl_xfer_dlist remote, const char *name, nixl_xfer_req *out,
                                      nixl_opt_args args);
/* name: of the agent that has the memory; "": the agent itself */
nixl_status nixl_capi_prep_xfer_dlist(nixl_agent a, const char *name, nixl_xfer_dlist l,
                                      nixl_dlist_handle *out, nixl_opt_args args);
nixl_status nixl_capi_release_xfer_dlist_handle(nixl_agent a, nixl_dlist_handle h);
nixl_status nixl_capi_make_xfer_req(nixl_agent a, int op, nixl_dlist_handle local,
                                    const int *local_indices, size_t nlocal,
                                    nixl_dlist_handle remote, const int *remote_indices,
                                    size_t nremote, nixl_xfer_req *out, nixl_opt_args args);
nixl_status nixl_capi_post_xfer_req(nixl_agent a, nixl_xfer_req q, nixl_opt_args args);
nixl_status nixl_capi_get_xfer_status(nixl_agent a, nixl_xfer_req q);
nixl_status nixl_capi_release_xfer_req(nixl_agent a, nixl_xfer_req q);
nixl_status nixl_capi_destroy_xfer_req(nixl_xfer_req q);
nixl_status nixl_capi_create_notif_map(nixl_notif_map *out);
nixl_status nixl_capi_get_notifs(nixl_agent a, nixl_notif_map m, nixl_opt_args args);
nixl_status nixl_capi_destroy_notif_map(nixl_notif_map m);
bool nixl_capi_is_stub(void);
void nixl_capi_get_version(int *major, int *minor, int *patch);
void nixl_capi_mem_free(void *p);
const char *nixl_capi_last_error_message(void);

/* One list generates the members, the loader and the name of a missing symbol. */
/* clang-format off */
#define NIXL_SYMBOLS(F) \
    F(create_agent) F(destroy_agent) F(get_local_md) F(load_remote_md) F(invalidate_remote_md) \
    F(agent_make_connection) F(get_available_plugins) F(string_list_size) F(string_list_get) \
    F(destroy_string_list) F(get_plugin_params) F(params_create_iterator) \
    F(params_iterator_next) F(params_destroy_iterator) F(destroy_params) F(destroy_mem_list) \
    F(create_backend) F(destroy_backend) F(create_opt_args) F(opt_args_add_backend) \
    F(opt_args_set_skip_desc_merge) F(destroy_opt_args) F(create_reg_dlist) \
    F(reg_dlist_add_desc) F(destroy_reg_dlist) F(register_mem) F(deregister_mem) \
    F(create_xfer_dlist) F(xfer_dlist_add_desc) F(destroy_xfer_dlist) F(create_xfer_req) \
    F(post_xfer_req) F(get_xfer_status) F(release_xfer_req) F(destroy_xfer_req) \
    F(create_notif_map) F(get_notifs) F(destroy_notif_map)
/* clang-format on */
/* Optional symbols: NULL if the library lacks them. */
/* clang-format off */
#define NIXL_NEWER_SYMBOLS(F) \
    F(create_configured_agent) F(params_add) F(is_stub) F(get_version) F(mem_free) \
    F(last_error_message) F(prep_xfer_dlist) F(release_xfer_dlist_handle) F(make_xfer_req)
/* clang-format on */

#define NIXL_MEMBER(f) __typeof__(nixl_capi_##f) *f;
struct nixl_api {
    NIXL_SYMBOLS(NIXL_MEMBER)
    NIXL_NEWER_SYMBOLS(NIXL_MEMBER)
    char path[WEIR_TEXT]; /* of the loaded file */
    char version[64];     /* of the C API, if the library reports it */
};
extern struct nixl_api nixl;

/* Loads the library once; returns a negative value and fills why if it cannot. */
int nixl_load(char *why, size_t cap);
const char *nixl_version(void); /* of the loaded library */
const char *nixl_status_name(nixl_status s);
/* Frees memory that the library allocated with malloc, as the library expects. */
void nixl_free(void *p);
/* Writes the names of the plugins that the agent finds, separated by commas. */
nixl_status nixl_plugins(nixl_agent a, char *buf, size_t cap);
/* Writes why a plugin's file cannot be loaded; "" if it can, or was not found. */
void nixl_plugin_error(const char *name, char *why, size_t cap);
void nixl_probe(struct weir_info *out);

#endif
