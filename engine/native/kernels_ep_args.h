/* kernels_ep_args.h: arguments of the kernels of dispatch and combine. Compiled for the host and
 * for GPUs; the GPU compiler has no C headers and defines u32 and u64 itself. Addresses are of this
 * rank's GPU. Layouts are those of workload/ep. */
#ifndef WEIR_KERNELS_EP_ARGS_H
#define WEIR_KERNELS_EP_ARGS_H

#define EP_GPU_RANKS 16
#define EP_GPU_EXPERTS 1024 /* of all ranks */
#define EP_GPU_SELECTED 32  /* experts of a token */
#define EP_GPU_THREADS 480  /* of a block, at most */
#ifndef EP_GPU_SIGNALERS
#define EP_GPU_SIGNALERS 32 /* threads of a combine's block, beside those: they set flags */
#endif
#define EP_GPU_BLOCKS 256 /* at most */
/* most bytes of shared memory of a dispatch's block, in addition to a message */
#define EP_GPU_SHARED 16384
#define EP_GPU_UNIT 16 /* bytes: messages, rows and offsets are multiples of it */

#define EP_GPU_FLUSH (256u << 20) /* bytes: more than any GPU's caches */

/* Layouts and scale formats: as in ep.h and ep_rows.h. */
enum ep_gpu_layout { EP_GPU_MESSAGE, EP_GPU_RANK, EP_GPU_PACKED };
enum ep_gpu_scales { EP_GPU_F32, EP_GPU_POW2, EP_GPU_UE8M0 };

struct ep_args {
    int rank, ranks, tokens, top_k, per_rank, layout, fp8, scales, channels;
    u32 row;        /* bytes of a dispatched row, without its scales */
    u32 inverse;    /* of per_rank: 2^32 divided by it, plus 1 */
    u32 room;       /* bytes of a message, rounded up */
    u32 count_room; /* bytes of one source's counts in a sink */
    u64 sinks[EP_GPU_RANKS];
    u64 source;
    u64 x, out;           /* rows of this rank's tokens, and their sums */
    u64 experts, weights; /* int [tokens][top_k], negative: masked; float */
    u64 prepared; /* u64 [tokens]: offset of a token's message in the source; 0: it is made */
    /* in every sink: halves of the operations, then the signals of ranks, by parity of the
     * operation and by source */
    u64 dispatch_at, dispatch_half, combine_at, combine_half;
    /* u32 [2][ranks][words]: tag and count of each expert, then of messages to each rank, then the
     * source's number of blocks */
    u64 counts_at;
    u64 sent_at;  /* u32 [2][ranks][EP_GPU_BLOCKS]: the block has sent its messages */
    u64 rows_at;  /* u32 [2][ranks][most_tokens]: the source has sent the rows of a token */
    u64 begun_at; /* u32 [2][ranks]: the source has begun its combine; beyond: its barrier */
    /* u64 [ranks]: in the first rank's sink, the number of the source's query; in others a reply,
     * then the offset of the first rank's clock */
    u64 clocks_at;
    u32 most_tokens, groups, padding;
    u64 group, item, term, sum; /* arrays of the structs below; sum: one for each token */
    u64 abort;                  /* a word of the host: nonzero ends every wait */
    u64 error;                  /* a word of this GPU: the first wait that failed */
    u64 stamps;                 /* struct ep_stamps by place */
};

/* Rows of a token made by this rank's experts, for the token's owner. */
struct ep_group {
    u32 peer, token, first, n; /* items */
};
struct ep_item {
    u64 to;       /* in a half of the peer's sink */
    u32 first, n; /* terms: one that is copied, or with EP_GPU_RANK a sum of them */
};
struct ep_term {
    /* in the source; for a token's sum in a half of its own sink, or where it is pulled from */
    u64 at;
    float weight;
    u32 rank; /* of the row */
};
struct ep_sum {
    u32 first, n;         /* terms, in their order */
    u32 from;             /* bit i: rank i has a row of it */
    u32 own_first, own_n; /* terms of this rank's own sum of rows, with EP_GPU_RANK */
    u32 padding;
};

/* Data of an operation that is checked in the stream: a message, counts, a row or a sum. */
struct ep_piece {
    u64 at;       /* in the first half */
    u64 expected; /* offset of the expected data: a multiple of 16 */
    u32 bytes, padding;
};
/* A difference: the number of the check in the high bits, then the piece and its word. */
#define EP_VERIFY_NUMBER 48
#define EP_VERIFY_PIECE 24

/* Times of an operation, by the GPU's clock. The first block's start, and the last block's:
 * EP_WORKED: its first message is made, EP_PLACED: and its offsets are known. */
enum ep_stamp { EP_WORKED, EP_PLACED, EP_SENT, EP_COME, EP_ENDED, EP_STAMPS };
struct ep_stamps {
    u64 start; /* all bits inverted, so that the first is the largest */
    u64 at[EP_STAMPS];
    u64 came[EP_GPU_RANKS]; /* all data of a source */
};

/* The error word: a bit for the reason of the failed wait, its purpose, and its peer. */
#define EP_LATE 0x40000000u
#define EP_ABORTED 0x80000000u
enum ep_awaited {
    EP_FOR_COUNTS = 1,
    EP_FOR_MESSAGES,
    EP_FOR_ROWS,
    EP_FOR_BEGIN,
    EP_FOR_MEETING,
    EP_FOR_CLOCK
};

#define EP_QUERIES 64 /* of one clock comparison */

/* Host words: used by the clock kernels, and to end every wait. */
enum ep_word {
    EP_WORD_QUERY,
    EP_WORD_ANSWERED,
    EP_WORD_TIME,
    EP_WORD_STEP,
    EP_WORD_ABORT,
    EP_WORD_LAST_REPLY, /* last reply of the first rank */
    EP_WORD_FIRST,      /* offset of its clock to the host's */
    EP_WORD_LEAST,      /* bounds of the offset of this rank's clock to that one */
    EP_WORD_MOST,
    EP_WORDS
};

#endif
