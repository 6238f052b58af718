/* A ping-pong of two GPUs: the kernel of each answers that of the other, and no host is asked in
 * between. A message is there when its word is, which one thread writes with release behind a
 * barrier of the threads that wrote the message. */

struct rally_shared {
    u64 word;
};

DEVICE void send_ball(const struct rally_args *a, u64 word)
{
    u64 units = a->bytes / 16, tail = a->bytes % 16;
    for (u64 i = threadIdx.x; i < units; i += blockDim.x)
        AT(uint4, a->to)[i] = AT(const uint4, a->from)[i];
    for (u64 i = threadIdx.x; i < tail; i += blockDim.x)
        AT(char, a->to + 16 * units)[i] = AT(const char, a->from + 16 * units)[i];
    barrier();
    if (threadIdx.x == 0)
        store_word(AT(u64, a->theirs), word);
}

/* The word of the message that has come; 0: the wait was given up. All threads get it. */
DEVICE u64 await_ball(const struct rally_args *a, struct rally_shared *s, u64 word, u64 until)
{
    if (threadIdx.x == 0) {
        const u64 *own = AT(const u64, a->own);
        u64        v;
        for (u32 looks = 1; ((v = load_word(own)) & ~RALLY_OVER) != word; looks++) {
            looked_in_vain();
            if (looks % TO_LOOK == 0 &&
                (load_word(AT(const u64, a->words) + RALLY_ABORT) || now() > until)) {
                store_word(AT(u64, a->words) + RALLY_LATE, 1);
                v = 0;
                break;
            }
        }
        s->word = v;
    }
    barrier();
    u64 v = s->word;
    barrier();
    return v;
}

TEAM_KERNEL weir_rally(RALLY_ARGS a)
{
    SHARED(struct rally_shared, s);
    u64 until = now() + a.timeout, played = 0, over = 0;
    for (u64 i = 1; i <= a.n && !over; i++) {
        u64 word = a.tag + i, came, from = now();
        if (a.begins) {
            send_ball(&a, a.over ? word | RALLY_OVER : word);
            if (!await_ball(&a, s, word, until))
                return;
            if (threadIdx.x == 0)
                AT(u64, a.round_trips)[i - 1] = now() - from;
        } else {
            if (!(came = await_ball(&a, s, word, until)))
                return;
            over = came & RALLY_OVER;
            send_ball(&a, word);
        }
        played += !over;
    }
    if (threadIdx.x == 0)
        store_word(AT(u64, a.words) + RALLY_PLAYED, played);
}
