/* tcp_wire.h: sockets between all ranks: who listens where, who connects to whom,
 * and what a bare one of them can carry. */
#ifndef WEIR_TCP_WIRE_H
#define WEIR_TCP_WIRE_H

#include "rank.h"

#define TCP_WIRE_PIECE_MAX WEIR_LEAST /* of the ceiling's probe */

struct ceiling;

struct tcp_wire *tcp_wire_listen(struct weir_rank *r); /* NULL: error filled */
int64_t          tcp_wire_address(struct weir_rank *r, struct tcp_wire *w, void *buf, size_t cap);
/* Two connections to each peer: for operations, and for the ceiling's probe. */
int tcp_wire_connect(struct weir_rank *r, struct tcp_wire *w, const char *const *blobs,
                     const size_t *lens, int (*fds)[2]);
/* Streams through a bare socket, in pieces of the size that it carries best. */
int  tcp_wire_ceiling(struct weir_rank *r, int fd, int peer, int initiator, struct ceiling *c);
void tcp_wire_describe(int fd, char *buf, size_t cap);
void tcp_wire_close(struct tcp_wire *w);

/* The socket of a tcp rank to a peer, -1 to itself. */
int fab_tcp_socket(struct weir_rank *r, int peer);

#endif
