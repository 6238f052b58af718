/* fab_tcp_pump.h: the messages between two ranks over a socket. */
#ifndef WEIR_FAB_TCP_PUMP_H
#define WEIR_FAB_TCP_PUMP_H

#include "fab_tcp_ring.h"

struct weir_rank;
struct weir_req;

enum tcp_message { MSG_PUT = 1, MSG_PING, MSG_GET, MSG_DATA, MSG_ACK, MSG_WORD, MSG_NOTIFY };

struct tcp_header {
    uint32_t type, magic;
    /* offset in the target's sink, or of a word in its control region; payload bytes */
    uint64_t off, len;
    /* ping: its number; ack: puts and notifications executed; word, notify: the value */
    uint64_t arg;
};

struct tcp_out { /* a message to send */
    struct tcp_header h;
    const char *payload;
};

struct tcp_pending { /* an operation that a message from the peer will complete */
    struct weir_req *q;
    char *to; /* destination of a get */
    size_t n;
};

struct tcp_peer {
    int fd, probe;
    struct ring out;          /* of struct tcp_out */
    struct ring puts, gets;   /* of struct tcp_pending */
    size_t sent;              /* bytes of the message at out.head already sent */
    uint64_t executed, acked; /* the peer's puts: executed, acknowledged */
    /* incoming: the rest of the current payload, then what was read beyond it */
    char *to;
    size_t left;
    struct tcp_header cur;
    char stage[65536];
    size_t from, to_end;
};

struct tcp {
    struct tcp_wire *wire;
    struct tcp_peer *peers;
    int epoll;      /* of all peers; -1: few enough to poll each */
    uint64_t moves; /* calls that sent or received something */
    uint64_t seen;  /* value of moves at the last idle check */
    int64_t idle;   /* time since when nothing has moved */
};

/* Queues a message; the payload must stay in place until the peer has it. */
int tcp_queue(struct weir_rank *r, int peer, struct tcp_header h, const void *payload);
/* Sends queued messages to a peer, as far as its socket takes them. */
int tcp_pump_out(struct weir_rank *r, int peer);
int tcp_watch(struct weir_rank *r); /* called once all peers are connected */
int tcp_progress(struct weir_rank *r);
int tcp_idle_wait(struct weir_rank *r);

#endif
