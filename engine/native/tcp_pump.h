/* tcp_pump.h: the messages between two ranks over a socket, and what moves them. */
#ifndef WEIR_TCP_PUMP_H
#define WEIR_TCP_PUMP_H

#include "rank.h"
#include "tcp_ring.h"

enum tcp_message { MSG_PUT = 1, MSG_PING, MSG_GET, MSG_DATA, MSG_ACK, MSG_WORD, MSG_TELL };

struct tcp_header {
    uint32_t type, magic;
    /* place in the target's sink, of a word in its control region; bytes that follow */
    uint64_t off, len;
    /* ping: its number; ack: puts and tells carried out; word, tell: the value */
    uint64_t arg;
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

struct tcp_peer {
    int             fd, probe;
    struct ring out;        /* of struct tcp_out */
    struct ring puts, gets; /* of struct tcp_pending */
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
    int              epoll; /* of all peers; -1: they are few enough to look at each */
    uint64_t         moves; /* calls that sent or received something */
    uint64_t         seen;  /* of them, when the rank looked whether it has waited for long */
    int64_t          idle;  /* since when nothing has moved */
};

/* Queues a message, whose payload stays where it is until the peer has it. */
int tcp_queue(struct weir_rank *r, int peer, struct tcp_header h, const void *payload);
int tcp_pump_out(struct weir_rank *r, int peer);
int tcp_watch(struct weir_rank *r); /* all peers are connected */
int tcp_progress(struct weir_rank *r);
int tcp_rest(struct weir_rank *r);

#endif
