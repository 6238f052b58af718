/* fab_libfabric_words.h: the data that a write carries in the target's completion queue, and the
 * words that a rank keeps for each peer. */
#ifndef WEIR_FAB_LIBFABRIC_WORDS_H
#define WEIR_FAB_LIBFABRIC_WORDS_H

#include "rank.h"

/* CQ data of a write: its kind, the writer, and the message that it belongs to. */
#define KIND_PING 1u
#define KIND_WORD 2u
#define SEQ_BITS 20
#define SEQ_MASK ((1u << SEQ_BITS) - 1)
_Static_assert(WEIR_MAX_RANKS <= 1024, "a rank has 10 bits of the data of a write");

static inline uint32_t note(uint32_t kind, int rank, uint64_t seq)
{
    return kind << 30 | (uint32_t)rank << SEQ_BITS | (uint32_t)(seq & SEQ_MASK);
}

/* Layout of the ping line that a rank keeps for each peer, and of its own, which no peer writes.
 * The first word belongs to the loops, which alone reset it. */
#define FLUSHED 8 /* read by a flush */
#define HELLO 16  /* written to connect, and to test whether a peer is alive */
#define WORD 24   /* of a signal for the slot, then those for the ping slot and the flag */
_Static_assert(WORD >= sizeof(uint64_t),
               "the loops reset the first word, and a signal may come early");
static inline char *own_line(const struct weir_rank *r, size_t what)
{
    return r->regions[REGION_CONTROL].base + rank_ping_of(r, r->cfg.rank) + what;
}

/* Destination of a signal within a rank's line. */
enum { FOR_SLOT, FOR_PING, FOR_FLAG, PLACES };
static inline size_t place_of(const struct weir_rank *r, uint32_t which, int rank)
{
    return which == FOR_SLOT   ? rank_slot_of(rank)
           : which == FOR_PING ? rank_ping_of(r, rank)
                               : rank_flag_of(rank);
}

#endif
