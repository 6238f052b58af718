/* Measures the bandwidth between two GPUs: back-to-back copies in a stream, of the case's size or
 * of a large one, by the copy engine or the case's engine; the fastest combination counts. */
#include "loop_ceiling.h"
#include "fab_cuda.h"

#define TRIALS 2
#define TRIAL_COPIES 4 /* copies of a trial */
#define SPAN_NS 2000000

struct probe {
    struct weir_rank *r;
    int peer, reads, engine;
    size_t n;
    int copies; /* of a span */
};

static int wait_for_stream(struct probe *p)
{
    struct cuda *c = cuda_of(p->r);
    int code = cuda.cuStreamQuery(c->stream), rc;
    while (code == CU_NOT_READY) {
        if ((rc = rank_tick(p->r)) < 0) {
            return rc;
        }
        code = cuda.cuStreamQuery(c->stream);
    }
    return cuda_check(p->r, p->peer, "cuStreamQuery", code);
}

static int span(struct probe *p, double *rate)
{
    struct cuda *c = cuda_of(p->r);
    uint64_t mine = c->source_dev + p->r->cfg.layout.first, sink = c->peers[p->peer].sink_dev;
    struct cuda_block b =
        p->reads ? (struct cuda_block){mine, sink, p->n} : (struct cuda_block){sink, mine, p->n};
    int64_t t0 = weir_ticks();
    int rc;
    for (int i = 0; i < p->copies; i++) {
        if ((rc = cuda_move(p->r, p->engine, p->peer, b, p->reads)) < 0) {
            return rc;
        }
    }
    if ((rc = wait_for_stream(p)) < 0) {
        return rc;
    }
    *rate =
        (double)p->n * p->copies / (double)weir_ticks_to_ns(&p->r->clk, weir_ticks() - t0) * 1e9;
    return 0;
}

static int own_engine(const struct cuda *c)
{
    return c->engine == ENGINE_AUTO ? ENGINE_SM : c->engine;
}

/* Selects the fastest engine and size, and the number of copies that take a span. */
static int choose(struct probe *p, size_t request)
{
    struct probe best = *p;
    double top = 0;
    size_t most = request > CEILING_LARGE ? request : CEILING_LARGE;
    for (int large = 0; large < 2; large++) {
        for (int own = 0; own < 2; own++) {
            for (int k = 0; k < TRIALS; k++) {
                double rate = 0;
                p->n = large ? most : request;
                p->engine = own ? own_engine(cuda_of(p->r)) : ENGINE_COPY;
                p->copies = TRIAL_COPIES;
                int rc = span(p, &rate);
                if (rc < 0) {
                    return rc;
                }
                if (rate > top) {
                    top = rate;
                    best = *p;
                }
            }
        }
    }
    *p = best;
    double few = top * (SPAN_NS / 1e9) / (double)p->n;
    p->copies = few < TRIAL_COPIES ? TRIAL_COPIES : few > 4096 ? 4096 : (int)few;
    return 0;
}

int cuda_ceiling(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                 struct ceiling *c)
{
    uint64_t over = (uint64_t)1 << 63 | r->barrier.passed;
    struct probe p = {.r = r, .peer = peer, .reads = of->op == OP_READ};
    int64_t from = weir_monotonic();
    int rc;
    if (!initiator) {
        while (rank_counter(r, peer) != over) {
            if ((rc = rank_tick(r)) < 0) {
                return rc;
            }
        }
        return 0;
    }
    if ((rc = choose(&p, of->block * of->batch)) < 0) {
        return rc;
    }
    for (int k = 0;
         k < CEILING_SPANS && (k < CEILING_MIN_SPANS || weir_monotonic() - from < ceiling_time_ns);
         k++) {
        double rate = 0;
        if ((rc = span(&p, &rate)) < 0) {
            return rc;
        }
        ceiling_add(c, rate);
    }
    return rank_notify(r, peer, over);
}
