/* Copies between kinds of memory. */
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)16 << 10) /* of a copy through a stack buffer */

static int copy_by_host(const struct weir_memory *to_kind, char *to,
                        const struct weir_memory *from_kind, const char *from, size_t n,
                        struct weir_err *err)
{
    char piece[PIECE];
    for (size_t at = 0; at < n; at += PIECE) {
        size_t left = n - at < PIECE ? n - at : PIECE;
        int rc;
        if ((rc = from_kind->copy_out(piece, from + at, left, err)) < 0) {
            return rc;
        }
        if ((rc = to_kind->copy_in(to + at, piece, left, err)) < 0) {
            return rc;
        }
    }
    return 0;
}

int memory_is_gpus(const struct weir_memory *kind)
{
#ifdef WEIR_TEST
    const char *visible = getenv("FAKE_CUDA_VISIBLE");
    if (visible && *visible) {
        return 0;
    }
#endif
    return kind->gpu;
}

int memory_copy(const struct weir_memory *to_kind, void *to, const struct weir_memory *from_kind,
                const void *from, size_t n, struct weir_err *err)
{
    if (from_kind->host) {
        return to_kind->copy_in(to, from, n, err);
    }
    return to_kind->host ? from_kind->copy_out(to, from, n, err)
                         : copy_by_host(to_kind, to, from_kind, from, n, err);
}

int unsupported_export(const struct weir_region *m, struct weir_handle *out, struct weir_err *err)
{
    *out = (struct weir_handle){.fd = -1};
    err->code = -EOPNOTSUPP;
    snprintf(err->text, sizeof err->text, "memory of kind %s cannot be shared with another process",
             m->kind->name);
    return err->code;
}

int unsupported_import(const struct weir_handle *h, size_t bytes, struct weir_region *out,
                       struct weir_err *err)
{
    err->code = -EOPNOTSUPP;
    snprintf(err->text, sizeof err->text, "memory of this kind cannot be imported");
    return err->code;
}
