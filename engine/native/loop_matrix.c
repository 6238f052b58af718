/* Repeats one traffic matrix: before each iteration all ranks synchronise, and those with cells
 * start at a common instant. Nothing here may allocate, print, lock or call Go while the clock
 * runs. Iterations are stamped by CLOCK_MONOTONIC itself, because they are compared between ranks:
 * ticks would be converted at a rate that each rank measured separately. */
#include "loop_matrix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rank.h"

/* pending never falls below it, so that cells do not complete as requests of a window */
#define IDLE 1
#define LINE 64
#define OWN_PIECE ((size_t)256 << 10) /* copied between two polls: some 25 µs */

/* Equal requests; of cells above one cache line, whole lines, as pieces of a real buffer are. */
uint64_t matrix_edge(uint64_t bytes, uint64_t shards, uint64_t k)
{
    uint64_t each = bytes / shards, at = each * k + bytes % shards * k / shards;
    return each < LINE || k == shards ? at : at / LINE * LINE;
}

int traffic_make(struct weir_traffic *t, struct weir_loop *l, const struct weir_case *c,
                 const struct weir_role *o)
{
    struct weir_rank *r = l->r;
    *t = (struct weir_traffic){
        .l = l, .c = c, .delivered = r->fab->caps & CAP_REMOTE_COMPLETION || c->op == OP_READ};
    uint64_t shards = t->c->shards ? t->c->shards : 1;
    int64_t t0 = weir_ticks();
    t->n = o->ntargets;
    t->cells = calloc((size_t)t->n + 1, sizeof *t->cells);
    if (!t->cells) {
        return rank_fail(r, -ENOMEM, "start", -1, "no memory for the cells of %d receivers", t->n);
    }
    for (int k = 0; k < t->n; k++) {
        uint64_t bytes = o->targets[k].bytes;
        t->cells[k] = (struct weir_cell){.peer = o->targets[k].peer,
                                         .local = rank_source(r) + role_local(o, k),
                                         .remote = role_remote(o, k),
                                         .bytes = bytes,
                                         .shards = bytes < shards ? bytes : shards};
        t->bytes += bytes;
    }
    t->own = o->own.bytes;
    t->own_from = role_own(r, o, 0);
    t->own_to = role_own(r, o, 1);
    t->l->prep_s = t->n ? (double)weir_ticks_to_ns(&r->clk, weir_ticks() - t0) / t->n / 1e9 : 0;
    return 0;
}

static int post(struct weir_traffic *t, struct weir_cell *m)
{
    struct weir_rank *r = t->l->r;
    uint64_t from = 0;
    int rc;
    m->q = (struct weir_req){.pending = IDLE + (uint32_t)m->shards, .peer = m->peer, .loop = t->l};
    for (uint64_t k = 1; k <= m->shards; k++) {
        uint64_t to = matrix_edge(m->bytes, m->shards, k);
        rc = t->c->op == OP_WRITE
                 ? r->fab->put(r, m->peer, m->local + from, m->remote + from, to - from, &m->q)
                 : r->fab->get(r, m->peer, m->local + from, m->remote + from, to - from, &m->q);
        if (rc < 0) {
            return rc;
        }
        if (rc == WEIR_DONE) {
            m->q.pending--;
        }
        if ((rc = loop_poll_after(r, &t->since_poll, rc == WEIR_DONE ? to - from : 0)) < 0) {
            return rc;
        }
        from = to;
    }
    return r->fab->post(r);
}

static int post_flush(struct weir_traffic *t, struct weir_cell *m)
{
    m->q.pending++;
    int rc = t->l->r->fab->flush(t->l->r, m->peer, &m->q);
    if (rc == WEIR_DONE) {
        m->q.pending--;
    }
    return rc < 0 ? rc : 0;
}

static int await_cell(struct weir_traffic *t, struct weir_cell *m)
{
    struct weir_loop *l = t->l;
    int rc;
    while (m->q.pending != IDLE && !l->status) {
        if ((rc = rank_poll_for(l->r, m->peer, "transfer")) < 0) {
            return rc;
        }
    }
    return l->status ? rank_fail(l->r, l->status, "transfer", l->failed,
                                 "a request failed with status %d", l->status)
                     : 0;
}

static void stamp_delivered(struct weir_traffic *t)
{
    for (int k = t->first; k < t->n; k++) {
        if (!t->cells[k].done && t->cells[k].q.pending == IDLE) {
            t->cells[k].done = weir_monotonic();
        }
    }
    while (t->first < t->n && t->cells[t->first].done) {
        t->first++;
    }
}

/* Waits for all cells and stamps the delivery of each. */
static int await_cells_stamped(struct weir_traffic *t)
{
    struct weir_loop *l = t->l;
    int rc = 0;
    while (rc >= 0 && !l->status) {
        stamp_delivered(t);
        if (t->first == t->n) {
            return 0;
        }
        rc = rank_poll_for(l->r, t->cells[t->first].peer, "transfer");
    }
    return rc < 0 ? rc
                  : rank_fail(l->r, l->status, "transfer", l->failed,
                              "a request failed with status %d", l->status);
}

static int copy_own(struct weir_traffic *t, int stamped)
{
    struct weir_rank *r = t->l->r;
    struct weir_err e;
    for (uint64_t at = 0; at < t->own; at += OWN_PIECE) {
        uint64_t left = t->own - at;
        int rc;
        if (memory_copy(t->own_to.kind, t->own_to.at + at, t->own_from.kind, t->own_from.at + at,
                        left < OWN_PIECE ? left : OWN_PIECE, &e) < 0) {
            return rank_fail(r, e.code, "transfer", r->cfg.rank, "%s", e.text);
        }
        if ((rc = r->fab->progress(r)) < 0) {
            return rc;
        }
        if ((rc = rank_tick(r)) < 0) {
            return rc;
        }
        if (stamped) {
            stamp_delivered(t);
        }
    }
    return 0;
}

/* Posts all cells and their flushes before waiting for the first. */
int traffic_move(struct weir_traffic *t, int stamped, int64_t *posted)
{
    int rc;
    t->first = 0;
    for (int k = 0; k < t->n; k++) {
        struct weir_cell *m = &t->cells[k];
        if ((rc = post(t, m)) < 0) {
            return rc;
        }
        m->done = stamped && t->delivered && m->q.pending == IDLE ? weir_monotonic() : 0;
    }
    *posted = weir_monotonic();
    for (int k = 0; k < t->n && !t->delivered; k++) {
        if ((rc = post_flush(t, &t->cells[k])) < 0) {
            return rc;
        }
    }
    if ((rc = copy_own(t, stamped)) < 0) {
        return rc;
    }
    if (stamped) {
        return await_cells_stamped(t);
    }
    for (int k = 0; k < t->n; k++) {
        if ((rc = await_cell(t, &t->cells[k])) < 0) {
            return rc;
        }
    }
    return 0;
}

void matrix_drop(struct weir_rank *r)
{
    free(r->matrix);
    r->matrix = NULL;
}

int matrix_reset(struct weir_rank *r)
{
    size_t delivered = (size_t)r->cfg.ranks * sizeof *r->matrix->delivered;
    if (!r->matrix) {
        r->matrix = malloc(sizeof *r->matrix + delivered);
        if (!r->matrix) {
            return rank_fail(r, -ENOMEM, "start", -1, "no memory for the iterations of a matrix");
        }
        memset(r->matrix->iterations, 0, sizeof r->matrix->iterations);
    }
    r->matrix->niterations = 0;
    memset(r->matrix->delivered, 0, delivered);
    return 0;
}

void matrix_record(struct weir_rank *r, uint64_t i, uint64_t n, int64_t start, int64_t end)
{
    uint64_t half = WEIR_MAX_STAMPS / 2;
    if (n > WEIR_MAX_STAMPS && i >= half) {
        if (i < n - half) {
            return;
        }
        i -= n - WEIR_MAX_STAMPS;
    }
    r->matrix->iterations[i] = (struct weir_iteration){start, end};
    r->matrix->niterations = i + 1;
}

static void record(struct weir_loop *l, uint64_t i, uint64_t n, int64_t start, int64_t posted,
                   int64_t end)
{
    struct weir_rank *r = l->r;
    matrix_record(r, i, n, start, end);
    hist_record(r->rec.hist, end - start);
    stage_record(&l->post, posted - start);
    stage_record(&l->transfer, end - posted);
    l->end = weir_ticks();
    if (i + 1 >= l->next_point && r->rec.npoints < WEIR_MAX_POINTS) {
        r->rec.points[r->rec.npoints++] = (struct weir_point){l->end, (i + 1) * l->request_bytes};
        l->next_point += l->point_step;
    }
}

/* Deliveries of small cells are not stamped in every iteration: each takes a clock read. */
#define STAMPED_CELL 16384 /* mean bytes */
#define STAMPED_ONE_IN 8

static int stamps_cells(const struct weir_traffic *t, uint64_t i)
{
    return t->bytes / (uint64_t)t->n >= STAMPED_CELL || i % STAMPED_ONE_IN == 0;
}

static void record_cells(struct weir_traffic *t, int64_t at)
{
    struct weir_rank *r = t->l->r;
    for (int k = 0; k < t->n; k++) {
        r->matrix->delivered[k].peer = t->cells[k].peer;
        r->matrix->delivered[k].n++;
        r->matrix->delivered[k].sum_ns += (double)(t->cells[k].done - at);
    }
}

static int iterate(struct weir_traffic *t, uint64_t i, uint64_t n, int64_t at, int timed)
{
    int64_t start, posted;
    int stamped;
    if (!traffic_any(t)) {
        return 0;
    }
    if (!i) {
        t->l->start = weir_ticks();
    }
    stamped = timed && t->n && stamps_cells(t, i);
    start = weir_monotonic();
    int rc = traffic_move(t, stamped, &posted);
    if (rc == 0 && timed) {
        record(t->l, i, n, start, posted, weir_monotonic());
    }
    if (rc == 0 && stamped) {
        record_cells(t, at);
    }
    return rc;
}

int loop_matrix(struct weir_loop *l, const struct weir_case *c, const struct weir_role *o,
                uint64_t n, int timed)
{
    struct weir_rank *r = l->r;
    int64_t lead = matrix_lead(r->cfg.ranks);
    struct weir_traffic t;
    int rc = traffic_make(&t, l, c, o);
    if (rc < 0) {
        return rc;
    }
    if ((rc = matrix_reset(r)) < 0) {
        return rc;
    }
    loop_begin(l, c, t.bytes, n);
    for (uint64_t i = 0; i < n; i++) {
        int64_t at;
        if ((rc = rank_barrier(r, lead, &at)) < 0) {
            return rc; /* not freed: the fabric may still write to the cells; the process ends */
        }
        if ((rc = iterate(&t, i, n, at, timed)) < 0) {
            return rc; /* not freed: the fabric may still write to the cells; the process ends */
        }
        atomic_store_explicit(&r->cfg.control->done, l->done = i + 1, memory_order_relaxed);
    }
    free(t.cells);
    return 0;
}

void loop_matrix_result(const struct weir_loop *l, struct weir_result *out)
{
    struct weir_rank *r = l->r;
    struct timespec step;
    out->clock_ns = weir_monotonic_cost();
    out->resolution_ns = clock_getres(CLOCK_MONOTONIC, &step) == 0 ? (double)step.tv_nsec : 1;
    for (size_t i = 0; i < r->matrix->niterations; i++) {
        r->matrix->iterations[i].start -= r->offset.ahead;
        r->matrix->iterations[i].end -= r->offset.ahead;
    }
    out->iterations = r->matrix->iterations;
    out->niterations = r->matrix->niterations; /* also of a rank that only copies its own cell */
    if (!out->initiator) {
        return;
    }
    out->delivered = r->matrix->delivered;
    out->ndelivered = r->matrix->delivered[0].n ? (size_t)r->cfg.ranks : 0;
}
