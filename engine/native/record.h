/* record.h: what a loop notes of a request that is complete. Streams do it in their
 * innermost loop, so it is inlined there. */
#ifndef WEIR_RECORD_H
#define WEIR_RECORD_H

#include "loop.h"

static inline void note_progress(struct weir_loop *l, int64_t now)
{
    struct weir_rank *r = l->r;
    if (__builtin_expect((l->until ? (uint64_t)now : l->done) >= l->next_point, 0) &&
        r->npoints < WEIR_POINTS) {
        r->points[r->npoints++] = (struct weir_point){now, l->done * l->request_bytes};
        l->next_point += l->point_step;
    }
}

/* Of a stamped request so many clock reads lie between posting and completion: they
 * are not the fabric's time. One that was complete when its post returned, so many ticks
 * after it began, is not stamped again, and is recorded once: posting it was all. */
static inline void record_at_once(struct weir_loop *l, int64_t ticks, int64_t now)
{
    int64_t post = weir_short_span(&l->r->clk, ticks) - l->read_at_once;
    hist_record_at_once(l->r->hist, post);
    l->at_once += post > 0 ? (uint64_t)post : 0;
    note_progress(l, now);
}

static inline void record(struct weir_loop *l, struct weir_req *q, int64_t now)
{
    if (now == q->returned) {
        record_at_once(l, now - q->posted, now);
        return;
    }
    int64_t post     = weir_short_span(&l->r->clk, q->returned - q->posted) - l->read;
    int64_t transfer = weir_short_span(&l->r->clk, now - q->returned) - l->read;
    hist_record(l->r->hist, post + transfer);
    stage_record(&l->post, post);
    stage_record(&l->transfer, transfer);
    note_progress(l, now);
}

static inline void complete(struct weir_loop *l, struct weir_req *q, int64_t now)
{
    l->done++;
    if (q->stamped)
        record(l, q, now);
    q->next = l->free;
    l->free = q;
}

#endif
