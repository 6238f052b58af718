/* Barriers of ranks before an operation, and comparisons of their clocks. */

/* A barrier of ranks before operations that start together. */
TEAM_KERNEL weir_ep_meet(ARGS a, u64 number, u64 timeout)
{
    struct op o = begin(&a, number, ~0ull, timeout);
    if (load_relaxed(AT(u32, a.error)))
        return;
    for (u64 q = threadIdx.x; q < (u64)a.ranks; q += blockDim.x) {
        store_release(AT(u32, begun_place(&o, a.sinks[q], (u64)a.rank, 1)), (u32)number);
        (void)wait_flag(&o, begun_place(&o, a.sinks[a.rank], q, 1), EP_FOR_MEETING, (u32)q);
    }
}

/* Returns the smallest step of the clock, in ns. */
DEVICE u64 step_of_clock(void)
{
    u64 step = ~0ull;
    for (u64 i = 0, at = now(), next; i < 8; i++, at = next) {
        while ((next = now()) == at)
            continue;
        step = least(step, next - at);
    }
    return step;
}

/* One thread reports the time `times` times, each at the host's request. */
TEAM_KERNEL weir_ep_clock(u64 words, u64 times, u64 timeout)
{
    u64 *w = AT(u64, words), until = now() + timeout;
    w[EP_WORD_STEP] = step_of_clock();
    for (u64 i = 1; i <= times; i++) {
        while (load_word(&w[EP_WORD_QUERY]) != i) {
            poll_pause();
            if (load_word(&w[EP_WORD_ABORT]) || now() > until)
                return;
        }
        w[EP_WORD_TIME] = now();
        store_word(&w[EP_WORD_ANSWERED], i);
    }
}

DEVICE u64 *clock_word(const struct op *o, u64 rank, u64 i)
{
    return AT(u64, o->a->sinks[rank] + o->a->clocks_at + 8 * i);
}

/* Waits until a word is (1) or is no longer (0) a value, and returns the word; 0: failed. */
DEVICE u64 wait_word(const struct op *o, const u64 *word, int is, u64 value, u32 peer)
{
    u64 v;
    for (u32 polls = 1; ((v = load_word(word)) == value) != is; polls++) {
        poll_pause();
        if (polls % POLLS_PER_CHECK == 0 && wait_failed(o, EP_FOR_CLOCK, peer))
            return 0;
    }
    return v;
}

/* Sends all others the offset of this clock to the host's, and its time; then serves the queries of
 * the asking ranks one after the other. Queries are numbered from first. */
DEVICE void send_time(const struct op *o, u64 ahead, u64 asking, u64 first)
{
    for (u64 q = 1; q < (u64)o->a->ranks; q++) {
        store_word_relaxed(clock_word(o, q, 1), ahead);
        store_word(clock_word(o, q, 0), now());
    }
    for (u64 q = 1; q < (u64)o->a->ranks; q++)
        for (u64 i = first; (asking >> q & 1) && i < first + EP_QUERIES; i++) {
            if (!wait_word(o, clock_word(o, 0, q), 1, i, (u32)q))
                return;
            store_word_relaxed(clock_word(o, q, 0), now());
        }
}

/* The first rank's time was read after the query and before the reply arrived. */
DEVICE void query_time(const struct op *o, u64 *w, u64 asking, u64 first)
{
    u64       own = (u64)o->a->rank;
    u64      *reply = clock_word(o, own, 0), *query = clock_word(o, 0, own);
    u64       reported = wait_word(o, reply, 0, w[EP_WORD_LAST_REPLY], 0), until = now();
    long long from_most = 0, until_least = 0;
    if (!reported)
        return;
    w[EP_WORD_FIRST] = load_word(clock_word(o, own, 1));
    for (u64 i = first; (asking >> own & 1) && i < first + EP_QUERIES; i++) {
        u64 from = now();
        store_word_relaxed(query, i);
        if (!(reported = wait_word(o, reply, 0, reported, 0)))
            return;
        until = now();
        long long a = (long long)(from - reported), b = (long long)(until - reported);
        from_most   = i == first || a > from_most ? a : from_most;
        until_least = i == first || b < until_least ? b : until_least;
    }
    w[EP_WORD_LEAST]      = (u64)from_most;
    w[EP_WORD_MOST]       = (u64)until_least;
    w[EP_WORD_TIME]       = until;
    w[EP_WORD_LAST_REPLY] = reported;
}

/* One thread of each rank compares its clock with the first rank's; asking: a bit for each rank
 * with a GPU that has another clock. */
TEAM_KERNEL weir_ep_compare(ARGS a, u64 words, u64 ahead, u64 asking, u64 first, u64 timeout)
{
    struct op o = begin(&a, 0, ~0ull, timeout);
    if (load_relaxed(AT(u32, a.error)))
        return;
    if (a.rank == 0)
        send_time(&o, ahead, asking, first);
    else
        query_time(&o, AT(u64, words), asking, first);
}
