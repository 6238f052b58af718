/* Meetings of ranks before an operation, and comparisons of their clocks. */

/* Ranks whose operations are to start together meet before it. */
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

/* The least by which the clock goes on, in ns. */
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

/* One thread tells the time so many times, each when the host asks. */
TEAM_KERNEL weir_ep_clock(u64 words, u64 times, u64 timeout)
{
    u64 *w = AT(u64, words), until = now() + timeout;
    w[EP_WORD_STEP] = step_of_clock();
    for (u64 i = 1; i <= times; i++) {
        while (load_word(&w[EP_WORD_ASKED]) != i) {
            looked_in_vain();
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

/* Waits until a word is (1) or is no longer (0) a value, and gives the word; 0: given up. */
DEVICE u64 wait_word(const struct op *o, const u64 *word, int is, u64 value, u32 who)
{
    u64 v;
    for (u32 looks = 1; ((v = load_word(word)) == value) != is; looks++) {
        looked_in_vain();
        if (looks % TO_LOOK == 0 && given_up(o, EP_FOR_CLOCK, who))
            return 0;
    }
    return v;
}

/* Tells all others by how much this clock is ahead of the host's, and its time; then those that
 * ask, one after the other, its time again. Questions count from first. */
DEVICE void tell_time(const struct op *o, u64 ahead, u64 asking, u64 first)
{
    for (u64 q = 1; q < (u64)o->a->ranks; q++) {
        store_word_relaxed(clock_word(o, q, 1), ahead);
        store_word(clock_word(o, q, 0), now());
    }
    for (u64 q = 1; q < (u64)o->a->ranks; q++)
        for (u64 i = first; (asking >> q & 1) && i < first + EP_QUESTIONS; i++) {
            if (!wait_word(o, clock_word(o, 0, q), 1, i, (u32)q))
                return;
            store_word_relaxed(clock_word(o, q, 0), now());
        }
}

/* The first rank's time was told after the question, and before the answer was there. */
DEVICE void ask_time(const struct op *o, u64 *w, u64 asking, u64 first)
{
    u64       own   = (u64)o->a->rank;
    u64      *heard = clock_word(o, own, 0), *ask = clock_word(o, 0, own);
    u64       told  = wait_word(o, heard, 0, w[EP_WORD_TOLD], 0), until = now();
    long long from_most = 0, until_least = 0;
    if (!told)
        return;
    w[EP_WORD_FIRST] = load_word(clock_word(o, own, 1));
    for (u64 i = first; (asking >> own & 1) && i < first + EP_QUESTIONS; i++) {
        u64 from = now();
        store_word_relaxed(ask, i);
        if (!(told = wait_word(o, heard, 0, told, 0)))
            return;
        until = now();
        long long a = (long long)(from - told), b = (long long)(until - told);
        from_most   = i == first || a > from_most ? a : from_most;
        until_least = i == first || b < until_least ? b : until_least;
    }
    w[EP_WORD_LEAST] = (u64)from_most;
    w[EP_WORD_MOST]  = (u64)until_least;
    w[EP_WORD_TIME]  = until;
    w[EP_WORD_TOLD]  = told;
}

/* One thread of each rank compares its clock with that of the first rank; asking: a bit for each
 * rank whose GPU has another clock. */
TEAM_KERNEL weir_ep_compare(ARGS a, u64 words, u64 ahead, u64 asking, u64 first, u64 timeout)
{
    struct op o = begin(&a, 0, ~0ull, timeout);
    if (load_relaxed(AT(u32, a.error)))
        return;
    if (a.rank == 0)
        tell_time(&o, ahead, asking, first);
    else
        ask_time(&o, AT(u64, words), asking, first);
}
