/* A ping-pong run by a fabric itself, in parts. */
#include "loop.h"
#include "loop_pingpong_part.h"
#include "rank.h"
#include "loop_role.h"

/* Records half of each round trip, by the fabric's clock; this processor posts nothing. The timed
 * part is their sum, which leaves out the time between parts. */
static void record(struct weir_loop *l, const uint64_t *round_trips, uint64_t n)
{
    struct weir_rank *r = l->r;
    for (uint64_t i = 0; i < n; i++) {
        l->took += round_trips[i];
        hist_record(r->rec.hist, (int64_t)(round_trips[i] / 2));
        stage_record(&l->post, 0);
        stage_record(&l->transfer, (int64_t)(round_trips[i] / 2));
    }
    l->end = l->start + (int64_t)((double)l->took / r->clk.ns_per_tick);
    uint64_t at = l->until ? (uint64_t)l->end : l->done;
    if (r->rec.npoints < WEIR_MAX_POINTS && at >= l->next_point) {
        r->rec.points[r->rec.npoints++] = (struct weir_point){l->end, l->done * l->request_bytes};
        l->next_point = at + l->point_step;
    }
}

/* Sizes of parts, the same on both ranks. The first are small, so that on a slow path a case with a
 * duration ends soon after it. */
#define MIN_PART 16
static uint64_t part_of(const struct weir_loop *l, int number, uint64_t left)
{
    uint64_t most = number < 16 ? (uint64_t)MIN_PART << number : MAX_PART;
    most = most < MAX_PART ? most : MAX_PART;
    return l->until || left > most ? most : left;
}

static int begin(struct weir_loop *l, int peer, struct weir_pingpong *g, uint64_t n)
{
    struct weir_rank *r = l->r;
    uint64_t times[MAX_PART];
    int64_t made;
    g->round_trips = times;
    l->start = weir_ticks();
    for (int k = 0; l->until ? weir_ticks() < l->until || !l->done : l->done < n; k++) {
        g->n = part_of(l, k, n - l->done);
        if ((made = r->fab->run_pingpong(r, peer, g)) < 0) {
            return (int)made;
        }
        l->done += (uint64_t)made;
        l->resolution = g->step;
        record(l, times, (uint64_t)made);
        atomic_store_explicit(&r->cfg.control->done, l->done, memory_order_relaxed);
    }
    if (!l->until) {
        return 0;
    }
    g->over = 1;
    g->n = 1;
    made = r->fab->run_pingpong(r, peer, g);
    return made < 0 ? (int)made : 0;
}

static int answer(struct weir_loop *l, int peer, struct weir_pingpong *g, uint64_t n)
{
    uint64_t done = 0;
    int64_t made;
    for (int k = 0; l->until || done < n; k++, done += (uint64_t)made) {
        g->n = part_of(l, k, n - done);
        if ((made = l->r->fab->run_pingpong(l->r, peer, g)) < 0) {
            return (int)made;
        }
        if ((uint64_t)made < g->n) {
            return 0; /* the last message has arrived */
        }
    }
    return 0;
}

int loop_pingpong_parts(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                        uint64_t n)
{
    struct weir_pingpong g = {.begins = o->initiator, .bytes = c->block};
    return o->initiator ? begin(l, o->from, &g, n) : answer(l, o->from, &g, n);
}
