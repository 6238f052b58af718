/* loop_record.h: records a completed request. Streams do this in their innermost loop, so it is
 * inlined. */
#ifndef WEIR_LOOP_RECORD_H
#define WEIR_LOOP_RECORD_H

#include "loop.h"
#include "rank.h"

/* Adds a point of progress if one is due. */
static inline void note_progress(struct weir_loop *l, int64_t now)
{
    struct weir_rank *r = l->r;
    if (__builtin_expect((l->until ? (uint64_t)now : l->done) >= l->next_point, 0) &&
        r->rec.npoints < WEIR_MAX_POINTS) {
        r->rec.points[r->rec.npoints++] = (struct weir_point){now, l->done * l->request_bytes};
        l->next_point += l->point_step;
    }
}

/* Records a stamped request that was complete when its post returned, ticks after it began: only
 * its posting took time. The clock reads in between are subtracted. */
static inline void record_immediate(struct weir_loop *l, int64_t ticks, int64_t now)
{
    int64_t post = weir_ticks_to_ns_fast(&l->r->clk, ticks) - l->immediate_clock_ns;
    hist_record_immediate(l->r->rec.hist, post);
    l->immediate_ns += post > 0 ? (uint64_t)post : 0;
    note_progress(l, now);
}

/* Records a stamped request that completed at tick now. */
static inline void record(struct weir_loop *l, struct weir_req *q, int64_t now)
{
    if (now == q->returned) {
        record_immediate(l, now - q->posted, now);
        return;
    }
    int64_t post = weir_ticks_to_ns_fast(&l->r->clk, q->returned - q->posted) - l->clock_ns;
    int64_t transfer = weir_ticks_to_ns_fast(&l->r->clk, now - q->returned) - l->clock_ns;
    hist_record(l->r->rec.hist, post + transfer);
    stage_record(&l->post, post);
    stage_record(&l->transfer, transfer);
    note_progress(l, now);
}

/* Completes a request and returns it to the free list. */
static inline void complete(struct weir_loop *l, struct weir_req *q, int64_t now)
{
    l->done++;
    if (q->stamped) {
        record(l, q, now);
    }
    q->next = l->free;
    l->free = q;
}

#endif
