/* pingpong_args.h: what the kernels of a ping-pong are told, see ep_args.h. */
#ifndef WEIR_PINGPONG_ARGS_H
#define WEIR_PINGPONG_ARGS_H

#define PINGPONG_BYTES 65536 /* of a message at most: one block of threads moves it */
#define PINGPONG_THREADS 512 /* as many as a block of a TEAM_KERNEL has at most */
/* in the word of a message: it is the last one, and does not count */
#define PINGPONG_OVER ((u64)1 << 63)

/* Words of the host: what ends every wait, then what the kernel says. */
enum pingpong_word {
    PINGPONG_ABORT,
    PINGPONG_LATE,
    PINGPONG_DONE,
    PINGPONG_STEP, /* of the GPU's clock, ns */
    PINGPONG_WORDS
};

struct pingpong_args {
    u64 from, to, bytes; /* this rank's message, and its place in the peer's sink */
    /* words that tell which message has come: in this rank's sink, and in the peer's */
    u64 own, theirs;
    u64 tag;             /* what is added to the number of a message there */
    u64 n;               /* messages */
    u64 begins, over;    /* this rank sends first; and the first message is the last one */
    u64 words;           /* of the host */
    u64 round_trips;     /* u64 [n] of the host, ns: of who begins */
    u64 timeout;         /* ns */
};

#endif
