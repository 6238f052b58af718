#include "selftest.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "pattern.h"
#include "rank.h"
#include "tcp_wire.h" /* fab_tcp_socket */

int64_t selftest_pattern(size_t n, int64_t flip)
{
    unsigned char *p = malloc(n);
    if (!p)
        return -2;
    pattern_fill(p, n, 0x5eed);
    if (flip >= 0)
        p[flip] ^= 0x10;
    int64_t at = pattern_check(p, n, 0x5eed);
    free(p);
    return at;
}

void selftest_break_tcp(struct weir_rank *r)
{
    for (int peer = 0; peer < r->cfg.ranks; peer++) {
        int fd = fab_tcp_socket(r, peer);
        if (fd >= 0)
            shutdown(fd, SHUT_RDWR);
    }
}
