/* Words and confirmations, of the APIs of UCX whose completions say only that the
 * source may be reused: a flush asks the target, which answers once all that was
 * sent before has come, however long its pieces were under way. Asks are numbered and
 * answered in order, so that one answer may stand for several. */
#include "ucx.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <stdlib.h>

int ucx_notes_open(struct weir_rank *r)
{
    struct ucx_rank *u    = r->fs;
    /* asks to a peer at a time: each request may have one, and then there are tells */
    uint32_t         ring = 8;
    while (ring < r->cfg.in_flight + 4)
        ring *= 2;
    u->mask = ring - 1;
    for (int p = 0; p < r->cfg.ranks; p++) {
        u->peers[p].waiting = calloc(ring, sizeof *u->peers[p].waiting);
        u->peers[p].asks    = calloc(ring, sizeof *u->peers[p].asks);
        if (!u->peers[p].waiting || !u->peers[p].asks)
            return rank_fail(r, -ENOMEM, "open", -1, "no memory for the confirmations of %d peers",
                             r->cfg.ranks);
    }
    return 0;
}

void ucx_notes_close(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    for (int p = 0; p < r->cfg.ranks; p++) {
        free(u->peers[p].waiting);
        free(u->peers[p].asks);
    }
    for (struct ucx_ops *next, *o = u->ops; o; o = next) {
        next = o->next;
        free(o);
    }
}

static int more_ops(struct ucx_rank *u)
{
    struct ucx_ops *o = calloc(1, sizeof *o);
    if (!o)
        return -ENOMEM;
    o->next = u->ops;
    u->ops  = o;
    for (int i = 0; i < UCX_OPS; i++)
        o->ops[i].next = u->free, u->free = &o->ops[i];
    return 0;
}

struct ucx_op *ucx_op_take(struct weir_rank *r, int peer, const struct ucx_note *note)
{
    struct ucx_rank *u = r->fs;
    if (!u->free && more_ops(u) < 0) {
        rank_fail(r, -ENOMEM, "send", peer, "no memory for a message");
        return NULL;
    }
    struct ucx_op *op = u->free;
    u->free           = op->next;
    op->note          = *note;
    op->note.from     = (uint16_t)r->cfg.rank;
    op->r             = r;
    op->q             = NULL;
    op->peer          = peer;
    return op;
}

void ucx_op_drop(struct ucx_op *op)
{
    struct ucx_rank *u = ucx_of(op->r);
    op->next           = u->free;
    u->free            = op;
}

int ucx_op_posted(struct ucx_op *op, ucs_status_ptr_t s, const char *call)
{
    struct weir_rank *r    = op->r;
    int               peer = op->peer;
    if (!UCS_PTR_IS_PTR(s))
        ucx_op_drop(op);
    else
        ucx_of(r)->sending++;
    return ucx_posted(r, s, call, peer);
}

/* An endpoint's flush does not wait for a rendezvous. */
int ucx_notes_sent(struct weir_rank *r)
{
    int rc;
    while (ucx_of(r)->sending)
        if ((rc = ucx_wait(r)) < 0 || (rc = rank_tick(r)) < 0)
            return rc; /* the library still has what it sends: nothing may be freed */
    return 0;
}

void ucx_op_sent(void *request, ucs_status_t s, void *arg)
{
    struct ucx_op *op = arg;
    ucx_of(op->r)->sending--;
    if (op->q)
        ucx_part_ended(op->q, s);
    else if (s != UCS_OK && !op->r->closing)
        ucx_broke(op->r, op->peer, "send", (int)s, ucx.ucs_status_string(s));
    ucx_op_drop(op);
    ucx.ucp_request_free(request);
}

int ucx_send_note(struct weir_rank *r, int peer, struct ucx_note note)
{
    struct ucx_op *op = ucx_op_take(r, peer, &note);
    return op ? ucx_of(r)->api->note(r, op) : -ENOMEM;
}

int ucx_notes_signal(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    struct ucx_peer *p  = &ucx_of(r)->peers[peer];
    int              rc = ucx_send_note(
        r, peer,
        (struct ucx_note){
            .kind = NOTE_WORD, .place = place, .value = value, .number = p->asked + 1});
    p->since++;
    return rc < 0 ? rc : 0; /* the note keeps the word until it is sent */
}

int ucx_notes_tell(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    int rc = ucx_notes_signal(r, peer, place, value);
    return rc < 0 ? rc : rank_flush(r, peer);
}

int ucx_notes_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                  struct weir_req *q)
{
    (void)local, (void)roff, (void)n, (void)q;
    return rank_fail(r, -EOPNOTSUPP, "get", peer, "api %s of fabric ucx carries writes only",
                     ucx_of(r)->api->name);
}

int ucx_notes_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[peer];
    int              rc;
    if (!p->since && p->asked == p->told)
        return WEIR_DONE;
    while (p->asked - p->told > u->mask)
        if ((rc = rank_turn(r, peer, "flush")) < 0)
            return rc;
    uint32_t        number = p->asked + 1;
    struct ucx_note ask    = {.kind = NOTE_ASK, .number = number, .place = p->sent,
                              .value = p->since};
    p->waiting[number & u->mask] = q;
    p->asked                     = number;
    p->since                     = 0;
    u->open++;
    rc = ucx_send_note(r, peer, ask);
    return rc < 0 ? rc : WEIR_PENDING;
}

/* Of who was asked. */
static int fulfilled(const struct ucx_rank *u, const struct ucx_peer *p, const struct ucx_ask *a)
{
    return a->known && (u->api->in_row ? p->come >= a->expected : a->come == a->expected);
}

void ucx_settle(struct weir_rank *r, int peer)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[peer];
    struct ucx_ask  *a;
    while (a = &p->asks[(p->floor + 1) & u->mask], fulfilled(u, p, a)) {
        *a = (struct ucx_ask){0};
        p->floor++;
    }
    if (p->floor != p->answered && !p->owed) { /* not from a callback: progress sends it */
        p->owed  = 1;
        p->next  = u->owing;
        u->owing = p;
    }
}

int ucx_answer(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    while (u->owing) {
        struct ucx_peer *p = u->owing;
        u->owing           = p->next;
        p->owed            = 0;
        p->answered        = p->floor;
        int rc = ucx_send_note(r, (int)(p - u->peers),
                               (struct ucx_note){.kind = NOTE_ANSWER, .number = p->floor});
        if (rc < 0)
            return rc;
    }
    return 0;
}

int ucx_awaits(struct weir_rank *r, const struct ucx_note *n)
{
    struct ucx_rank *u = r->fs;
    if (n->number - u->peers[n->from].floor - 1 <= u->mask)
        return 1;
    ucx_broke(r, n->from, "receive", -EPROTO, "it sent a message that belongs to no flush of its");
    return 0;
}

static void asked(struct weir_rank *r, const struct ucx_note *n)
{
    if (!ucx_awaits(r, n))
        return;
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[n->from];
    struct ucx_ask  *a = &p->asks[n->number & u->mask];
    a->expected        = u->api->in_row ? n->place : n->value;
    a->known           = 1;
    ucx_settle(r, n->from);
}

static void answered(struct weir_rank *r, const struct ucx_note *n)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[n->from];
    if (n->number - p->told > p->asked - p->told) {
        ucx_broke(r, n->from, "flush", -EPROTO, "it answered what it was not asked");
        return;
    }
    while (p->told != n->number) {
        p->told++;
        u->open--;
        weir_part_done(p->waiting[p->told & u->mask], 0);
    }
}

void ucx_take_note(struct weir_rank *r, const struct ucx_note *n)
{
    switch (n->kind) {
    case NOTE_WORD:
        if (!rank_has_word(r, n->place))
            ucx_broke(r, n->from, "receive", -EPROTO, "it sent a word for a place that has none");
        else
            atomic_store_explicit(rank_word(r, n->place), n->value, memory_order_release);
        return;
    case NOTE_ASK:
        asked(r, n);
        return;
    case NOTE_ANSWER:
        answered(r, n);
        return;
    case NOTE_HELLO:
        return;
    default:
        ucx_broke(r, n->from, "receive", -EPROTO, "it sent a message of no known kind");
    }
}

/* Who only waits hears nothing of a peer's death: a message finds out. */
static int hello(struct weir_rank *r, int peer)
{
    return ucx_send_note(r, peer, (struct ucx_note){.kind = NOTE_HELLO});
}

int ucx_look(struct weir_rank *r, int peer)
{
    int rc = ucx_wait(r);
    if (rc == 0 && ++ucx_of(r)->peers[peer].looks % ucx_looks(r) == 0)
        rc = hello(r, peer);
    return rc < 0 ? rc : 0;
}

int ucx_find_out(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    for (int p = 0; p < r->cfg.ranks; p++) {
        int rc = u->peers[p].asked == u->peers[p].told ? 0 : hello(r, p);
        if (rc < 0)
            return rc;
    }
    return 0;
}
#endif
