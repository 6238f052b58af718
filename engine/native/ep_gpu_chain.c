/* Verifies operations that run back to back as in the timed part, by kernels in the same stream. A
 * check by the host would miss data that arrives after its operation has ended. Two kinds of
 * contents alternate, so that the half of a sink is wrong until an operation replaces it. The host
 * has verified one operation of each kind before; all others must bring the same. */
#include <errno.h>
#include <stdlib.h>

#include "loop_contents.h"
#include "ep_gpu.h"
#include "fab_cuda.h"

#define MAX_ITERATIONS 64
#define THREADS 256 /* of a block */

enum group { MESSAGES, COUNTS, ROWS, SUMS, GROUPS }; /* of pieces, in this order */

struct ep_chain {
    struct ep_args args[2]; /* by kind of contents */
    struct ep_piece *pieces;
    u32 n[GROUPS];
    cu_address memory;
    u64 pieces_dev, found, expected[2];
    u64 rows, terms; /* of the first kind, where rows are pulled */
    size_t expected_bytes;
};

#ifdef WEIR_TEST
_Atomic int64_t ep_gpu_stale_iteration = -1;
#endif

/* ---- pieces ---- */

static void add_piece(struct ep_chain *c, enum group of, u64 at, size_t bytes)
{
    u32 i = 0;
    for (int g = 0; g < GROUPS; g++) {
        i += c->n[g];
    }
    c->pieces[i] = (struct ep_piece){.at = at, .expected = c->expected_bytes, .bytes = (u32)bytes};
    c->expected_bytes += (bytes + 15) / 16 * 16;
    c->n[of]++;
}

/* Adds what the host checks too, in its order. */
static void add_pieces(struct ep_run *u, struct ep_chain *c)
{
    const struct weir_ep *e = u->e;
    const struct ep_args *a = &u->gpu->args;
    u64 dispatched = a->sinks[a->rank] + a->dispatch_at,
        received = a->sinks[a->rank] + a->combine_at;
    for (u32 i = 0; ep_does(u, EP_DISPATCH) && i < e->nmessages; i++) {
        add_piece(c, MESSAGES, dispatched + e->messages[i].at, e->message);
    }
    for (int s = 0; ep_does(u, EP_DISPATCH) && s < u->r->cfg.ranks; s++) {
        add_piece(c, COUNTS, dispatched + e->counts_at[s], (size_t)e->per_rank * sizeof *e->counts);
    }
    if (!ep_does(u, EP_COMBINE)) {
        return;
    }
    for (u32 i = 0; !ep_pulls(u) && i < e->nincoming; i++) {
        add_piece(c, ROWS, received + e->incoming[i].at, ep_row_bytes(e));
    }
    for (u32 t = 0; t < (u32)e->tokens; t++) {
        add_piece(c, SUMS, a->out + t * ep_row_bytes(e), ep_row_bytes(e));
    }
}

/* ---- memory ---- */

static size_t pulled_bytes(const struct ep_run *u)
{
    return ep_pulls(u) ? u->e->nmade * ep_row_bytes(u->e) : 0;
}

static int allocate(struct ep_run *u, struct ep_chain *c)
{
    const struct weir_ep *e = u->e;
    size_t at = 0, most = e->nmessages + (size_t)u->r->cfg.ranks + e->nincoming + (size_t)e->tokens;
    c->pieces = calloc(most + 1, sizeof *c->pieces);
    if (!c->pieces) {
        return rank_fail(u->r, -ENOMEM, "verify", -1, "no memory for the places of %zu rows", most);
    }
    add_pieces(u, c);
    c->args[0] = c->args[1] = u->gpu->args;
    c->pieces_dev = ep_gpu_reserve(&at, most * sizeof *c->pieces);
    c->found = ep_gpu_reserve(&at, sizeof(u64));
    c->expected[0] = ep_gpu_reserve(&at, c->expected_bytes);
    c->expected[1] = ep_gpu_reserve(&at, c->expected_bytes);
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0 || e->posted) {
            c->args[kind].x = ep_gpu_reserve(&at, (size_t)e->tokens * ep_row_bytes(e));
            c->args[kind].source = ep_gpu_reserve(&at, u->used);
        }
    }
    c->rows = ep_gpu_reserve(&at, pulled_bytes(u));
    c->terms = ep_gpu_reserve(&at, u->gpu->terms * sizeof(struct ep_term));
    if (cuda.cuMemAlloc_v2(&c->memory, at + 256) != CU_DONE) {
        return rank_fail(u->r, -ENOMEM, "verify", -1,
                         "the GPU has no %zu more bytes to verify back-to-back operations; verify "
                         "none skips this",
                         at);
    }
    u64 *each[] = {&c->pieces_dev,     &c->found,    &c->expected[0],    &c->expected[1],
                   &c->rows,           &c->terms,    &c->args[0].source, &c->args[0].x,
                   &c->args[1].source, &c->args[1].x};
    for (size_t i = 0; i < sizeof each / sizeof *each - (e->posted ? 0 : 2); i++) {
        *each[i] += c->memory;
    }
    return 0;
}

static int copy_pieces(struct ep_run *u, struct ep_chain *c)
{
    size_t n = (size_t)c->n[MESSAGES] + c->n[COUNTS] + c->n[ROWS] + c->n[SUMS];
    int rc = ep_gpu_copy_in(u, c->pieces_dev, c->pieces, n * sizeof *c->pieces);
    return rc < 0 ? rc : ep_gpu_set(u, c->found, 0xff, sizeof(u64));
}

static int copy(struct ep_run *u, cu_address to, cu_address from, size_t n)
{
    return n ? CUDA_EP(u, cuMemcpyAsync, to, from, n, u->gpu->stream) : 0;
}

/* ---- the two kinds of contents ---- */

/* Compares the data of an operation with the expected data of this kind of contents; found 0:
 * stores it as expected. */
static int compare(struct ep_run *u, enum weir_ep_operation o, uint64_t iteration, int kind,
                   u64 found)
{
    struct ep_chain *c = u->gpu->chain;
    enum group from = o == EP_DISPATCH ? MESSAGES : ROWS;
    u64 most = 2 * (u64)cuda_current()->multiprocessors;
    u64 shift = ep_half_of(u, iteration) * u->e->parts[o].half, first = 0;
    int rc = 0;
    for (enum group g = MESSAGES; g < from + 2 && rc == 0; first += c->n[g++]) {
        u64 pieces = c->pieces_dev + first * sizeof *c->pieces, n = c->n[g],
            moved = g == SUMS ? 0 : shift, number = iteration * GROUPS + g;
        void *values[] = {&pieces, &n, &moved, &c->expected[kind], &found, &number};
        unsigned blocks = (unsigned)(n < most ? n : most);
        if (g >= from && n) {
            rc = ep_gpu_launch(u, KERNEL_EP_VERIFY, blocks, THREADS, values);
        }
    }
    return rc;
}

static int compare_all(struct ep_run *u, uint64_t iteration, int kind, u64 found)
{
    int rc = 0;
    for (int o = 0; o < EP_OPERATIONS && rc == 0; o++) {
        if (ep_does(u, (enum weir_ep_operation)o)) {
            rc = compare(u, (enum weir_ep_operation)o, iteration, kind, found);
        }
    }
    return rc;
}

/* Copies what a rank sends from. */
static int copy_contents(struct ep_run *u, const struct ep_args *to, const struct ep_args *from)
{
    int rc = copy(u, to->x, from->x, (size_t)u->e->tokens * ep_row_bytes(u->e));
    return rc < 0 ? rc : copy(u, to->source, from->source, u->used);
}

/* Moves the current contents, which are of the first kind, to where the chain expects them. */
static int keep_first(struct ep_run *u)
{
    struct ep_chain *c = u->gpu->chain;
    struct ep_args *a = &u->gpu->args;
    int rc;
    if ((rc = compare_all(u, 0, 0, 0)) < 0) {
        return rc;
    }
    if ((rc = copy_contents(u, &c->args[0], a)) < 0) {
        return rc;
    }
    return copy(u, c->rows, a->sinks[a->rank] + a->combine_at, pulled_bytes(u));
}

/* Rows that peers pull are in the first half with the second kind of contents, and of the first
 * kind in the second half. */
static int place_pulled(struct ep_run *u)
{
    struct ep_chain *c = u->gpu->chain;
    struct ep_args *a = &u->gpu->args;
    size_t n = u->gpu->terms * sizeof(struct ep_term);
    int rc = 0;
    if (!ep_pulls(u)) {
        return 0;
    }
    struct ep_term *terms = malloc(n + 1);
    if (!terms) {
        return rank_fail(u->r, -ENOMEM, "verify", -1, "no memory for %zu bytes of terms", n);
    }
    rc = ep_gpu_copy_out(u, terms, a->term, n);
    for (u32 i = 0; i < u->gpu->terms; i++) {
        terms[i].at += a->combine_half;
    }
    c->args[0].term = c->terms;
    if (rc == 0) {
        rc = ep_gpu_copy_in(u, c->terms, terms, n);
    }
    free(terms);
    return rc < 0 ? rc
                  : copy(u, a->sinks[a->rank] + a->combine_at + a->combine_half, c->rows,
                         pulled_bytes(u));
}

static int make_second(struct ep_run *u)
{
    int rc;
    if ((rc = ep_fill(u, PASS_TIMED)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(u->r, 0, NULL)) < 0) {
        return rc;
    }
    if ((rc = ep_iterate(u, 1)) < 0) {
        return rc;
    }
    if ((rc = ep_finish(u)) < 0) {
        return rc;
    }
    if ((rc = ep_check(u, PASS_TIMED, 1, -1)) < 0) {
        return rc;
    }
    if ((rc = compare_all(u, 1, 1, 0)) < 0) {
        return rc;
    }
    if ((rc = rank_barrier(u->r, 0, NULL)) < 0) {
        return rc;
    }
    if ((rc = place_pulled(u)) < 0) {
        return rc;
    }
    if (u->e->posted) {
        if ((rc = copy_contents(u, &u->gpu->chain->args[1], &u->gpu->args)) < 0) {
            return rc;
        }
    }
    if ((rc = ep_finish(u)) < 0) {
        return rc;
    }
    return rank_barrier(u->r, 0, NULL);
}

/* ---- the chain ---- */

/* Returns the kind of contents of an iteration: a half gets the other kind each time. */
static int kind_of(const struct ep_run *u, uint64_t iteration)
{
    return (int)(u->e->aligned ? iteration : iteration >> 1) & 1;
}

static const struct ep_args *args_of(const struct ep_run *u, uint64_t iteration, int kind)
{
#ifdef WEIR_TEST
    if ((int64_t)iteration == ep_gpu_stale_iteration && u->r->cfg.rank == 1) {
        return &u->gpu->chain->args[!kind];
    }
#endif
    return &u->gpu->chain->args[kind];
}

/* Before the host sends: waits until the last iteration is compared, and has the contents sent from
 * the source, which alone is registered with the fabric. */
static int meet(struct ep_run *u, const struct ep_args *contents)
{
    int rc = copy_contents(u, &u->gpu->args, contents);
    if (rc < 0 || !u->e->aligned) {
        return rc; /* ep_posted_work waits for the stream, and a peer for this rank */
    }
    if ((rc = ep_finish(u)) < 0) {
        return rc;
    }
    return rank_barrier(u->r, 0, NULL);
}

/* Enqueues an iteration. Of each eight, the first four check after each operation; the next four
 * check both operations after the second, which then follows the first as in the timed part. */
static int put(struct ep_run *u, uint64_t iteration)
{
    struct ep_gpu *g = u->gpu;
    int kind = kind_of(u, iteration), each = !(iteration & 4), rc;
    struct ep_args own = g->args;
    u64 found = g->chain->found;
    if (u->e->posted) {
        rc = meet(u, args_of(u, iteration, kind));
    } else {
        g->args = *args_of(u, iteration, kind);
        rc = ep_gpu_prepare(u);
    }
    for (int o = 0; o < EP_OPERATIONS && rc == 0; o++) {
        if (!ep_does(u, (enum weir_ep_operation)o)) {
            continue;
        }
        rc = u->e->posted ? ep_operate(u, (enum weir_ep_operation)o, iteration, &u->times[o])
                          : ep_gpu_operate(u, (enum weir_ep_operation)o, iteration);
        if (each && rc == 0) {
            rc = compare(u, (enum weir_ep_operation)o, iteration, kind, found);
        }
    }
    g->args = own;
    return rc < 0 || each ? rc : compare_all(u, iteration, kind, found);
}

static int run(struct ep_run *u, uint64_t n)
{
    struct ep_gpu *g = u->gpu;
    int rc = 0;
    if (u->e->launch & EP_GRAPH) {
        rc = ep_gpu_record(u, n, put);
        if (rc == 0) {
            rc = CUDA_EP(u, cuGraphLaunch, g->made, g->stream);
        }
    } else {
        for (uint64_t i = 0; i < n && rc == 0; i++) {
            rc = put(u, i);
        }
    }
    if (rc == 0) {
        rc = ep_finish(u);
    }
    ep_gpu_drop_graph(g);
    return rc;
}

/* Reports the first difference found. */
static int report_difference(struct ep_run *u, uint64_t n)
{
    static const char *const what[GROUPS] = {"message of a dispatch", "count of a dispatch",
                                             "row of a combine", "sum of a combine"};
    const struct weir_ep *e = u->e;
    struct ep_chain *c = u->gpu->chain;
    u64 found;
    int rc = ep_gpu_copy_out(u, &found, c->found, sizeof found), source;
    if (rc < 0 || found == ~0ull) {
        return rc;
    }
    u64 number = found >> EP_VERIFY_NUMBER, word = found & ((1u << EP_VERIFY_PIECE) - 1);
    u32 piece = (u32)(found >> EP_VERIFY_PIECE & ((1u << EP_VERIFY_PIECE) - 1));
    int64_t token = piece;
    switch (number % GROUPS) {
    case MESSAGES:
        source = e->messages[piece].rank;
        token = e->messages[piece].token;
        break;
    case COUNTS:
        source = (int)piece;
        token = -1;
        break;
    case ROWS:
        token = e->incoming[piece].token;
        source = e->experts[u->r->cfg.rank][token * e->top_k + e->incoming[piece].k] / e->per_rank;
        break;
    default:
        source = u->r->cfg.rank;
    }
    return rank_fail(
        u->r, -EBADMSG, "verify", source == u->r->cfg.rank ? -1 : source,
        "wrong %s at rank %d in iteration %llu of %llu back-to-back ones: rank %d, token %lld, "
        "from byte %llu on; the same data was right with host synchronisation",
        what[number % GROUPS], u->r->cfg.rank, (unsigned long long)(number / GROUPS),
        (unsigned long long)n, source, (long long)token, (unsigned long long)word * 4);
}

void ep_gpu_drop_chain(struct ep_gpu *g)
{
    struct ep_chain *c = g->chain;
    if (!c) {
        return;
    }
    if (c->memory) {
        (void)cuda.cuMemFree_v2(c->memory);
    }
    free(c->pieces);
    free(c);
    g->chain = NULL;
}

int ep_gpu_chain(struct ep_run *u)
{
    uint64_t n = u->e->of.iterations < MAX_ITERATIONS ? u->e->of.iterations : MAX_ITERATIONS;
    struct ep_chain *c = u->gpu->chain = calloc(1, sizeof *c);
    int rc;
    if (!c) {
        return rank_fail(u->r, -ENOMEM, "verify", -1, "no memory to check operations");
    }
    rank_phase(u->r, PH_VERIFY, n);
    if ((rc = allocate(u, c)) < 0) {
        return rc;
    }
    if ((rc = copy_pieces(u, c)) < 0) {
        return rc;
    }
    if ((rc = keep_first(u)) < 0) {
        return rc;
    }
    if ((rc = make_second(u)) < 0) {
        return rc;
    }
    if ((rc = run(u, n)) < 0) {
        return rc;
    }
    if ((rc = report_difference(u, n)) < 0) {
        return rc;
    }
    ep_gpu_drop_chain(u->gpu);
    return rank_barrier(u->r, 0, NULL);
}
