#include "selftest.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "libfabric.h"
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

void selftest_libfabric(unsigned ways, size_t piece)
{
#ifdef WEIR_HAS_LIBFABRIC
    libfabric_ways  = ways ? ways : (1u << DELIVERY_WAYS) - 1;
    libfabric_piece = piece;
#else
    (void)ways, (void)piece;
#endif
}
