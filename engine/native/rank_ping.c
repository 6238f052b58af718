/* How a ping-pong rank detects messages: by the fabric's own function, or by a word of its control
 * region written after the message if the fabric would poll payload that the CPU cannot load. */
#include "rank.h"

static int ping_by_word(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq)
{
    struct weir_req q = {.pending = 2};
    int rc = r->fab->put(r, peer, local, 0, n, &q);
    if (rc == WEIR_PENDING) {
        rc = rank_await(r, "ping", peer, &q);
    }
    if (rc < 0) {
        return rc;
    }
    if ((rc = rank_flush(r, peer)) < 0) {
        return rc;
    }
    return r->fab->signal(r, peer, rank_ping_of(r, r->cfg.rank), seq);
}

static int arrived_by_word(struct weir_rank *r, int peer, size_t n, uint64_t seq)
{
    if (atomic_load_explicit(rank_ping_slot(r, peer), memory_order_acquire) == seq) {
        return 1;
    }
    int rc = r->fab->poll(r);
    return rc < 0 ? rc : 0;
}

void rank_choose_pings(struct weir_rank *r)
{
    int by_word = r->fab->caps & CAP_MARKS_DATA && !(r->cfg.source->host && r->cfg.sink->host);
    r->ping.send = by_word ? ping_by_word : r->fab->ping;
    r->ping.arrived = by_word ? arrived_by_word : r->fab->arrived;
}
