/* tcp_pump.h: the messages between two ranks over a socket, and what moves them. */
#ifndef WEIR_TCP_PUMP_H
#define WEIR_TCP_PUMP_H

#include "rank.h"

enum tcp_message { MSG_PUT = 1, MSG_PING, MSG_GET, MSG_DATA, MSG_ACK, MSG_WORD };

struct tcp_header {
    uint32_t type, magic;
    uint64_t off, len; /* place in the target's memory, bytes that follow */
    uint64_t arg;      /* ping: its number; ack: puts carried out; word: the value */
};

struct tcp_out { /* a message to send */
    struct tcp_header h;
    const char       *payload;
};

struct tcp_pending { /* an operation that a message from the peer will complete */
    struct weir_req *q;
    char            *to; /* of a get */
    size_t           n;
};

struct tcp_ring { /* of elements, counted from the beginning of time; grows, never shrinks */
    char    *at;
    size_t   size, mask;
    uint64_t head, tail;
};

struct tcp_peer {
    int             fd, probe;
    struct tcp_ring out;        /* of struct tcp_out */
    struct tcp_ring puts, gets; /* of struct tcp_pending */
    size_t          sent;       /* bytes of the message at out.head already sent */
    uint64_t        carried, acked; /* puts of the peer's: carried out, told so */
    /* incoming: what is left of the current payload, then what was read beyond it */
    char             *to;
    size_t            left;
    struct tcp_header cur;
    char              stage[65536];
    size_t            from, to_end;
};

struct tcp {
    struct tcp_wire *wire;
    struct tcp_peer *peers;
};

void *tcp_ring_at(struct tcp_ring *g, uint64_t i);
void *tcp_ring_push(struct tcp_ring *g); /* NULL: no memory */

/* Queues a message, whose payload stays where it is until the peer has it. */
int tcp_queue(struct weir_rank *r, int peer, struct tcp_header h, const void *payload);
int tcp_pump_out(struct weir_rank *r, int peer);
int tcp_progress(struct weir_rank *r);

#endif
