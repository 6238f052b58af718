/* Functions shared by all kinds of host memory: the CPU fills, checks and copies it. */
#include <errno.h>
#include <string.h>

#include "memory.h"
#include "pattern.h"

int host_bind(const struct weir_config *cfg, struct weir_err *err) { return 0; }

void host_unbind(void) {}

int host_clear(struct weir_region *m, struct weir_err *err)
{
    (void)weir_populate(m->base, m->size); /* populating at once is faster than a fault per page */
    for (size_t off = 0; off < m->size; off += WEIR_PIECE) {
        memset(m->base + off, 0, m->size - off < WEIR_PIECE ? m->size - off : WEIR_PIECE);
        weir_memory_heartbeat();
    }
    return 0;
}

int host_clear_new(struct weir_region *m, struct weir_err *err)
{
    if (weir_populate(m->base, m->size) == 0) {
        return 0;
    }
    return errno == EINVAL ? host_clear(m, err) : weir_memory_failed(err, "touching", m->size);
}

int host_fill(void *p, size_t n, uint64_t key, struct weir_err *err)
{
    pattern_fill(p, n, key);
    return 0;
}

int host_check(const void *p, size_t n, uint64_t key, int64_t *wrong, struct weir_err *err)
{
    *wrong = pattern_check(p, n, key);
    return 0;
}

int host_copy(void *to, const void *from, size_t n, struct weir_err *err)
{
    memcpy(to, from, n);
    return 0;
}
