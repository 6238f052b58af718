/* fab_tcp_wire.h: connects sockets between all ranks, and probes what a bare one can carry. */
#ifndef WEIR_FAB_TCP_WIRE_H
#define WEIR_FAB_TCP_WIRE_H

#include "weir.h"

#define TCP_WIRE_PIECE_MAX WEIR_MIN_AREA /* for the ceiling's probe */

struct ceiling;

struct tcp_wire *tcp_wire_listen(struct weir_rank *r); /* NULL: error filled */
int64_t tcp_wire_address(struct weir_rank *r, struct tcp_wire *w, void *buf, size_t cap);
/* Opens two connections to each peer: for operations, and for the ceiling's probe. */
int tcp_wire_connect(struct weir_rank *r, struct tcp_wire *w, const char *const *blobs,
                     const size_t *lens, int (*fds)[2]);
/* Streams through a bare socket, with the piece size that it carries best. */
int tcp_wire_ceiling(struct weir_rank *r, int fd, int peer, int initiator, struct ceiling *c);
/* Writes the addresses at both ends of a socket. */
void tcp_wire_describe(int fd, char *buf, size_t cap);
/* Closes the listener and frees it. */
void tcp_wire_close(struct tcp_wire *w);

/* Returns the socket of a tcp rank to a peer, -1 to itself. */
int fab_tcp_socket(struct weir_rank *r, int peer);

#endif
