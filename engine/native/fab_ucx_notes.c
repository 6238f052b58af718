/* Words and delivery confirmation, for UCX APIs with local completions only: a flush queries the
 * target, which replies once everything sent before has arrived, including long messages. Queries
 * are numbered and answered in order, so that one reply may answer several. */
#include "fab_ucx.h"

#ifdef WEIR_HAS_UCX
#include <errno.h>
#include <stdlib.h>

int ucx_notes_open(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    /* concurrent queries to a peer: each request may have one, plus notifications */
    uint32_t ring = 8;
    while (ring < r->cfg.in_flight + 4) {
        ring *= 2;
    }
    u->mask = ring - 1;
    for (int p = 0; p < r->cfg.ranks; p++) {
        u->peers[p].waiting = calloc(ring, sizeof *u->peers[p].waiting);
        u->peers[p].incoming = calloc(ring, sizeof *u->peers[p].incoming);
        if (!u->peers[p].waiting || !u->peers[p].incoming) {
            return rank_fail(r, -ENOMEM, "open", -1, "no memory for the confirmations of %d peers",
                             r->cfg.ranks);
        }
    }
    return 0;
}

void ucx_notes_close(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    for (int p = 0; p < r->cfg.ranks; p++) {
        free(u->peers[p].waiting);
        free(u->peers[p].incoming);
    }
    for (struct ucx_ops *next, *o = u->ops; o; o = next) {
        next = o->next;
        free(o);
    }
}

static int more_ops(struct ucx_rank *u)
{
    struct ucx_ops *o = calloc(1, sizeof *o);
    if (!o) {
        return -ENOMEM;
    }
    o->next = u->ops;
    u->ops = o;
    for (int i = 0; i < UCX_OPS; i++) {
        o->ops[i].next = u->free;
        u->free = &o->ops[i];
    }
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
    u->free = op->next;
    op->note = *note;
    op->note.from = (uint16_t)r->cfg.rank;
    op->r = r;
    op->q = NULL;
    op->peer = peer;
    return op;
}

void ucx_op_drop(struct ucx_op *op)
{
    struct ucx_rank *u = ucx_of(op->r);
    op->next = u->free;
    u->free = op;
}

int ucx_op_posted(struct ucx_op *op, ucs_status_ptr_t s, const char *call)
{
    struct weir_rank *r = op->r;
    int peer = op->peer;
    if (!UCS_PTR_IS_PTR(s)) {
        ucx_op_drop(op);
    } else {
        ucx_of(r)->sending++;
    }
    return ucx_posted(r, s, call, peer);
}

/* An endpoint's flush does not wait for a rendezvous. */
int ucx_notes_sent(struct weir_rank *r)
{
    int rc;
    while (ucx_of(r)->sending) {
        if ((rc = ucx_poll(r)) < 0) {
            return rc; /* the library still uses the buffers: nothing may be freed */
        }
        if ((rc = rank_tick(r)) < 0) {
            return rc; /* the library still uses the buffers: nothing may be freed */
        }
    }
    return 0;
}

void ucx_op_sent(void *request, ucs_status_t s, void *arg)
{
    struct ucx_op *op = arg;
    ucx_of(op->r)->sending--;
    if (op->q) {
        ucx_part_ended(op->q, s);
    } else if (s != UCS_OK && !op->r->closing) {
        ucx_broke(op->r, op->peer, "send", (int)s, ucx.ucs_status_string(s));
    }
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
    struct ucx_peer *p = &ucx_of(r)->peers[peer];
    int rc = ucx_send_note(
        r, peer,
        (struct ucx_note){
            .kind = NOTE_WORD, .place = place, .value = value, .number = p->queries + 1});
    p->since++;
    return rc < 0 ? rc : 0; /* the note holds the word until it is sent */
}

int ucx_notes_notify(struct weir_rank *r, int peer, uint64_t place, uint64_t value)
{
    int rc = ucx_notes_signal(r, peer, place, value);
    return rc < 0 ? rc : rank_flush(r, peer);
}

int ucx_notes_get(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
                  struct weir_req *q)
{
    return rank_fail(r, -EOPNOTSUPP, "get", peer, "api %s of fabric ucx carries writes only",
                     ucx_of(r)->api->name);
}

int ucx_notes_flush(struct weir_rank *r, int peer, struct weir_req *q)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[peer];
    int rc;
    if (!p->since && p->queries == p->replies) {
        return WEIR_DONE;
    }
    while (p->queries - p->replies > u->mask) {
        if ((rc = rank_poll_for(r, peer, "flush")) < 0) {
            return rc;
        }
    }
    uint32_t number = p->queries + 1;
    struct ucx_note query = {
        .kind = NOTE_QUERY, .number = number, .place = p->sent, .value = p->since};
    p->waiting[number & u->mask] = q;
    p->queries = number;
    p->since = 0;
    u->open++;
    rc = ucx_send_note(r, peer, query);
    return rc < 0 ? rc : WEIR_PENDING;
}

/* Returns whether a peer's next query is satisfied. */
static int is_satisfied(const struct ucx_rank *u, const struct ucx_peer *p,
                        const struct ucx_query *a)
{
    return a->known && (u->api->ordered ? p->received >= a->expected : a->received == a->expected);
}

void ucx_satisfy(struct weir_rank *r, int peer)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[peer];
    struct ucx_query *a = &p->incoming[(p->satisfied + 1) & u->mask];
    while (is_satisfied(u, p, a)) {
        *a = (struct ucx_query){0};
        p->satisfied++;
        a = &p->incoming[(p->satisfied + 1) & u->mask];
    }
    if (p->satisfied != p->replied &&
        !p->reply_pending) { /* not from a callback: progress sends it */
        p->reply_pending = 1;
        p->next = u->replying;
        u->replying = p;
    }
}

int ucx_send_replies(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    while (u->replying) {
        struct ucx_peer *p = u->replying;
        u->replying = p->next;
        p->reply_pending = 0;
        p->replied = p->satisfied;
        int rc = ucx_send_note(r, (int)(p - u->peers),
                               (struct ucx_note){.kind = NOTE_REPLY, .number = p->satisfied});
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

int ucx_check_number(struct weir_rank *r, const struct ucx_note *n)
{
    struct ucx_rank *u = r->fs;
    if (n->number - u->peers[n->from].satisfied - 1 <= u->mask) {
        return 1;
    }
    ucx_broke(r, n->from, "receive", -EPROTO, "it sent a message with an unknown flush number");
    return 0;
}

static void take_query(struct weir_rank *r, const struct ucx_note *n)
{
    if (!ucx_check_number(r, n)) {
        return;
    }
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[n->from];
    struct ucx_query *a = &p->incoming[n->number & u->mask];
    a->expected = u->api->ordered ? n->place : n->value;
    a->known = 1;
    ucx_satisfy(r, n->from);
}

static void take_reply(struct weir_rank *r, const struct ucx_note *n)
{
    struct ucx_rank *u = r->fs;
    struct ucx_peer *p = &u->peers[n->from];
    if (n->number - p->replies > p->queries - p->replies) {
        ucx_broke(r, n->from, "flush", -EPROTO, "it replied to an unknown query");
        return;
    }
    while (p->replies != n->number) {
        p->replies++;
        u->open--;
        weir_part_done(p->waiting[p->replies & u->mask], 0);
    }
}

void ucx_take_note(struct weir_rank *r, const struct ucx_note *n)
{
    switch (n->kind) {
    case NOTE_WORD:
        if (!rank_has_word(r, n->place)) {
            ucx_broke(r, n->from, "receive", -EPROTO,
                      "it sent a control word to an invalid offset");
        } else {
            atomic_store_explicit(rank_word(r, n->place), n->value, memory_order_release);
        }
        return;
    case NOTE_QUERY:
        take_query(r, n);
        return;
    case NOTE_REPLY:
        take_reply(r, n);
        return;
    case NOTE_HELLO:
        return;
    default:
        ucx_broke(r, n->from, "receive", -EPROTO, "it sent a message of unknown kind");
    }
}

/* Waiting alone does not reveal a peer's death: a message does. */
static int hello(struct weir_rank *r, int peer)
{
    return ucx_send_note(r, peer, (struct ucx_note){.kind = NOTE_HELLO});
}

int ucx_progress_for(struct weir_rank *r, int peer)
{
    int rc = ucx_poll(r);
    if (rc == 0 && ++ucx_of(r)->peers[peer].polls % ucx_probe_after_polls(r) == 0) {
        rc = hello(r, peer);
    }
    return rc < 0 ? rc : 0;
}

int ucx_probe_peers(struct weir_rank *r)
{
    struct ucx_rank *u = r->fs;
    for (int p = 0; p < r->cfg.ranks; p++) {
        int rc = u->peers[p].queries == u->peers[p].replies ? 0 : hello(r, p);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}
#endif
