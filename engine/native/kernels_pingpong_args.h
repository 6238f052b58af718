/* kernels_pingpong_args.h: arguments of the ping-pong kernels, see kernels_ep_args.h. */
#ifndef WEIR_KERNELS_PINGPONG_ARGS_H
#define WEIR_KERNELS_PINGPONG_ARGS_H

#define PINGPONG_BYTES 65536 /* maximum size of a message: one thread block moves it */
#define PINGPONG_THREADS 512 /* maximum of a TEAM_KERNEL's block */
/* in the word of a message: it is the last one, and not recorded */
#define PINGPONG_OVER ((u64)1 << 63)

/* Host words: the first ends every wait, the kernel writes the others. */
enum pingpong_word {
    PINGPONG_ABORT,
    PINGPONG_LATE,
    PINGPONG_DONE,
    PINGPONG_STEP, /* resolution of the GPU's clock, ns */
    PINGPONG_WORDS
};

struct pingpong_args {
    u64 from, to, bytes; /* this rank's message, and its offset in the peer's sink */
    /* sequence words: in this rank's sink, and in the peer's */
    u64 own, theirs;
    u64 tag;          /* added to the number of a message there */
    u64 n;            /* messages */
    u64 begins, over; /* this rank sends first; the first message is the last one */
    u64 words;        /* of the host */
    u64 round_trips;  /* u64 [n] of the host, ns: of the first sender */
    u64 timeout;      /* ns */
};

#endif
