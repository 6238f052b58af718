/* Sends one message at a time, back and forth. */
#include "loop_contents.h"
#include "loop.h"
#include "rank.h"
#include "loop_role.h"
#include "sys_clock.h"

#define MESSAGES_PER_TICK 256
/* on a core of its own: polling slows the sibling hyperthread */
#define POLLS_PER_TICK 8

/* Records half a round trip; the time until ping returned is posting. */
static void record(struct weir_loop *l, int64_t posted, int64_t returned, int64_t now,
                   uint64_t done)
{
    struct weir_rank *r = l->r;
    const struct weir_clock *k = &r->clk;
    int64_t read = (int64_t)k->cost_ns, half = (weir_ticks_to_ns(k, now - posted) - 2 * read) / 2,
            post = weir_ticks_to_ns(k, returned - posted) - read;
    hist_record(r->rec.hist, half);
    stage_record(&l->post, post);
    stage_record(&l->transfer, half - post);
    if ((l->until ? (uint64_t)now : done) >= l->next_point && r->rec.npoints < WEIR_MAX_POINTS) {
        r->rec.points[r->rec.npoints++] = (struct weir_point){now, done * l->request_bytes};
        l->next_point += l->point_step;
    }
}

static int await_message(struct weir_loop *l, const struct weir_case *c, int peer, uint64_t seq)
{
    struct weir_rank *r = l->r;
    int rc;
    for (uint32_t looks = 1; !(rc = r->ping.arrived(r, peer, c->block, seq)); looks++) {
        if ((looks % POLLS_PER_TICK == 0 || r->cfg.cpu < 0)) {
            if ((rc = rank_tick(r)) < 0) {
                return rc;
            }
        }
    }
    return rc < 0 ? rc : 0;
}

/* With a duration only the initiator knows the end. It announces it before it sends the last
 * message, which is not recorded, so that the peer checks only when a message arrived. */
static int last_message(struct weir_loop *l, const struct weir_case *c, int peer, uint64_t seq)
{
    int rc = rank_notify(l->r, peer, contents_word(c, seq));
    if (rc < 0) {
        return rc;
    }
    if ((rc = l->r->ping.send(l->r, peer, rank_source(l->r), c->block, seq)) < 0) {
        return rc;
    }
    return await_message(l, c, peer, seq);
}

static int initiate(struct weir_loop *l, const struct weir_case *c, int peer, uint64_t n)
{
    struct weir_rank *r = l->r;
    uint32_t until_stamp = 0;
    uint64_t i;
    int rc;
    l->start = weir_ticks();
    for (i = 0; i < n || l->until; i++) {
        int64_t posted = 0, returned = 0, prep = r->rec.prep.prep_time;
        int stamped = until_stamp-- == 0;
        if (stamped) {
            until_stamp = loop_until_stamp(l);
            posted = weir_ticks();
            if (l->until && posted >= l->until && i > 0) {
                break;
            }
        }
        if ((rc = r->ping.send(r, peer, rank_source(r), c->block, i + 1)) < 0) {
            return rc;
        }
        if (stamped) {
            returned = weir_ticks();
            posted += r->rec.prep.prep_time - prep;
        }
        if ((rc = await_message(l, c, peer, i + 1)) < 0) {
            return rc;
        }
        if (stamped) {
            record(l, posted, returned, weir_ticks(), i + 1);
        }
        if (i % MESSAGES_PER_TICK == MESSAGES_PER_TICK - 1) {
            atomic_store_explicit(&r->cfg.control->done, i, memory_order_relaxed);
            if ((rc = rank_tick(r)) < 0) {
                return rc;
            }
        }
    }
    l->end = weir_ticks();
    l->done = i;
    if (r->rec.npoints < WEIR_MAX_POINTS) {
        r->rec.points[r->rec.npoints++] = (struct weir_point){l->end, l->done * l->request_bytes};
    }
    return l->until ? last_message(l, c, peer, i + 1) : 0;
}

static int answer(struct weir_loop *l, const struct weir_case *c, int peer, uint64_t n)
{
    struct weir_rank *r = l->r;
    int rc, last = 0;
    for (uint64_t i = 0; l->until ? !last : i < n; i++) {
        if ((rc = await_message(l, c, peer, i + 1)) < 0) {
            return rc;
        }
        last = l->until && contents_number(c, rank_counter(r, peer)) == (int64_t)(i + 1);
        if ((rc = r->ping.send(r, peer, rank_source(r), c->block, i + 1)) < 0) {
            return rc;
        }
        if (i % MESSAGES_PER_TICK == MESSAGES_PER_TICK - 1) {
            if ((rc = rank_tick(r)) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

int loop_pingpong(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                  uint64_t n)
{
    int peer = o->from, rc;
    loop_begin(l, c, 2 * c->block, n);
    if (l->r->fab->runs_pingpong(l->r, peer, c->block)) {
        return loop_pingpong_parts(l, c, o, n);
    }
    rc = o->initiator ? initiate(l, c, peer, n) : answer(l, c, peer, n);
    return rc < 0 ? rc : rank_flush(l->r, peer);
}
