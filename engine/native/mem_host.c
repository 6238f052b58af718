/* Host memory, whoever allocated it: this processor fills, checks and copies it. */
#include <string.h>

#include "memory.h"
#include "pattern.h"

void host_clear(struct weir_region *m) { memset(m->base, 0, m->size); }

int host_fill(void *p, size_t n, uint64_t key, struct weir_err *err)
{
    (void)err;
    pattern_fill(p, n, key);
    return 0;
}

int host_check(const void *p, size_t n, uint64_t key, int64_t *wrong, struct weir_err *err)
{
    (void)err;
    *wrong = pattern_check(p, n, key);
    return 0;
}

int host_copy(void *to, const void *from, size_t n, struct weir_err *err)
{
    (void)err;
    memcpy(to, from, n);
    return 0;
}
