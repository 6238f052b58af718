/* The first writes over a new connection: a distinct block to each peer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rank.h"
#include "rank_thread.h"

#define WORDS (WEIR_TOUCH / sizeof(uint64_t))

struct touching {
    uint64_t number;
    int64_t corrupt, timeout;
};

/* splitmix64, by Steele, Lea and Flood. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void contents(const struct weir_rank *r, uint64_t number, int from, int to,
                     uint64_t words[WORDS])
{
    uint64_t key = mix(mix(r->cfg.seed ^ number) ^ (uint64_t)from << 32 ^ (uint64_t)to);
    for (size_t i = 0; i < WORDS; i++) {
        words[i] = mix(key + i);
    }
}

static int write_all(struct weir_rank *r, uint64_t number, struct weir_req *requests)
{
    uint64_t words[WORDS];
    struct weir_err e = {0};
    int rc, self = r->cfg.rank;
    for (int p = 0; p < r->cfg.ranks; p++) {
        char *from = rank_source(r) + (size_t)p * WEIR_TOUCH;
        if (p == self) {
            continue;
        }
        contents(r, number, self, p, words);
        if ((rc = r->cfg.source->copy_in(from, words, sizeof words, &e)) < 0) {
            return rank_fail(r, rc, "put", p, "%s", e.text);
        }
        requests[p] = (struct weir_req){.pending = 2, .peer = p};
        rc = r->fab->put(r, p, from, (uint64_t)self * WEIR_TOUCH, WEIR_TOUCH, &requests[p]);
        if (rc < 0) {
            return rc;
        }
        if (rc == WEIR_DONE) {
            requests[p].pending--;
        }
    }
    return r->fab->post(r);
}

static int flush_all(struct weir_rank *r)
{
    int rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (p != r->cfg.rank) {
            if ((rc = rank_flush(r, p)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int await_all(struct weir_rank *r, struct weir_req *requests)
{
    int rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (p != r->cfg.rank) {
            if ((rc = rank_await(r, "put", p, &requests[p])) < 0) {
                return rc;
            }
        }
    }
    return flush_all(r);
}

static int check_all(struct weir_rank *r, uint64_t number, int64_t corrupt)
{
    uint64_t words[WORDS];
    char came[WEIR_TOUCH];
    struct weir_err e = {0};
    int64_t before = 0;
    int rc;
    for (int p = 0; p < r->cfg.ranks; p++) {
        if (p == r->cfg.rank) {
            continue;
        }
        rc = r->cfg.sink->copy_out(came, rank_sink(r) + (size_t)p * WEIR_TOUCH, sizeof came, &e);
        if (rc < 0) {
            return rank_fail(r, rc, "verify", p, "%s", e.text);
        }
        if (corrupt >= before && corrupt < before + WEIR_TOUCH) {
            came[corrupt - before] ^= 1;
        }
        before += WEIR_TOUCH;
        contents(r, number, p, r->cfg.rank, words);
        for (size_t i = 0; i < sizeof words; i++) {
            if (came[i] != ((char *)words)[i]) {
                return rank_fail(
                    r, -EBADMSG, "verify", p,
                    "the first block from rank %d over the connection is wrong from byte %zu on", p,
                    i);
            }
        }
    }
    return 0;
}

static int do_touch(struct weir_rank *r, void *arg)
{
    struct touching *t = arg;
    int64_t from = weir_monotonic();
    struct weir_req *requests = calloc((size_t)r->cfg.ranks, sizeof *requests);
    int rc;
    r->wait.limit = t->timeout;
    r->wait.deadline = from + t->timeout;
    if (!requests) {
        return rank_fail(r, -ENOMEM, "start", -1, "no memory for %d requests", r->cfg.ranks);
    }
    if ((rc = write_all(r, t->number, requests)) < 0) {
        return rc; /* the library may still use the requests: the process ends */
    }
    if ((rc = await_all(r, requests)) < 0) {
        return rc; /* the library may still use the requests: the process ends */
    }
    if ((rc = rank_barrier_peers(r, 0, NULL)) < 0) {
        return rc; /* the library may still use the requests: the process ends */
    }
    free(requests);
    r->life.touch += (double)(weir_monotonic() - from) / 1e9;
    rc = check_all(r, t->number, t->corrupt);
    return rc < 0 ? rc : flush_all(r);
}

int weir_touch(struct weir_rank *r, uint64_t number, int64_t corrupt, int64_t timeout,
               struct weir_err *err)
{
    struct touching t = {number, corrupt, timeout};
    return rank_call_and_progress(r, do_touch, &t, err);
}
