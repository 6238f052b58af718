/* A ping-pong of two GPUs: each kernel replies to the other's, without the host. A message has
 * arrived when its word has; one thread writes the word with release, after a barrier of the
 * threads that wrote the message. */

struct pingpong_shared {
    u64 word;
};

DEVICE void pingpong_send(const struct pingpong_args *a, u64 word)
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

/* Returns the word of the arrived message; 0: the wait failed. All threads get it. */
DEVICE u64 pingpong_await(const struct pingpong_args *a, struct pingpong_shared *s, u64 word,
                          u64 until)
{
    if (threadIdx.x == 0) {
        const u64 *own = AT(const u64, a->own);
        u64        v;
        for (u32 polls = 1; ((v = load_word(own)) & ~PINGPONG_OVER) != word; polls++) {
            poll_pause();
            if (polls % POLLS_PER_CHECK == 0 &&
                (load_word(AT(const u64, a->words) + PINGPONG_ABORT) || now() > until)) {
                store_word(AT(u64, a->words) + PINGPONG_LATE, 1);
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

/* An extra first message is not recorded: the first sender waits with it until the other kernel
 * runs. */
TEAM_KERNEL weir_pingpong(PINGPONG_ARGS a)
{
    SHARED(struct pingpong_shared, s);
    u64 until = now() + a.timeout, made = 0, over = 0;
    for (u64 i = 0; i <= a.n && !over; i++) {
        u64 word = a.tag + i, came, from = now();
        if (a.begins) {
            pingpong_send(&a, a.over ? word | PINGPONG_OVER : word);
            if (!pingpong_await(&a, s, word, until))
                return;
            if (i && threadIdx.x == 0)
                AT(u64, a.round_trips)[i - 1] = now() - from;
            over = a.over;
        } else {
            if (!(came = pingpong_await(&a, s, word, until)))
                return;
            over = came & PINGPONG_OVER;
            pingpong_send(&a, word);
        }
        made += i && !over;
    }
    if (threadIdx.x == 0) {
        store_word(AT(u64, a.words) + PINGPONG_STEP, step_of_clock());
        store_word(AT(u64, a.words) + PINGPONG_DONE, made);
    }
}
