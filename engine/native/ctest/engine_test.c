/* The engine without Go, for the sanitizers: two ranks as threads of one process
 * run every operation, mode and verification over the fabrics named. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pattern.h"
#include "../weir.h"

#define RANKS 2

static const struct weir_case cases[] = {
    {.index = 0, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_SAMPLE, .block = 1, .batch = 1, .iterations = 300, .warmup = 3, .in_flight = 16},
    {.index = 1, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 4097, .batch = 3, .iterations = 20, .warmup = 0, .in_flight = 4},
    {.index = 2, .op = OP_READ, .mode = MODE_STREAM, .verify = VERIFY_FULL, .block = 70000, .batch = 2, .iterations = 20, .warmup = 5, .in_flight = 7},
    {.index = 3, .op = OP_WRITE, .mode = MODE_PINGPONG, .verify = VERIFY_SAMPLE, .block = 8, .batch = 1, .iterations = 300, .warmup = 10, .in_flight = 1},
    {.index = 4, .op = OP_WRITE, .mode = MODE_PINGPONG, .verify = VERIFY_FULL, .block = 100000, .batch = 1, .iterations = 20, .warmup = 1, .in_flight = 1},
    {.index = 5, .op = OP_WRITE, .mode = MODE_STREAM, .verify = VERIFY_NONE, .block = 1 << 20, .batch = 1, .iterations = 30, .warmup = 1, .in_flight = 16},
};
#define NCASES (sizeof cases / sizeof *cases)
#define FOOTPRINT (1u << 20)

struct one {
    const char         *fabric;
    int                 rank, corrupt, failed;
    struct weir_control control;
    struct one         *peer;
    struct weir_rank   *r;
    char                blob[65536];
    size_t              len;
    pthread_barrier_t  *meet;
    struct weir_err     err;
};

static void *life(void *arg)
{
    struct one        *o   = arg;
    struct weir_config cfg = {.fabric = o->fabric, .rank = o->rank, .ranks = RANKS, .cpu = -1, .one_host = 1, .footprint = FOOTPRINT, .seed = 7, .control = &o->control};
    char              *all = malloc(2 * sizeof o->blob);
    o->failed              = 1;
    int open_failed        = weir_open(&cfg, &o->r, &o->err) || weir_address(o->r, o->blob, sizeof o->blob, &o->len, &o->err);
    if (open_failed)
        fprintf(stderr, "%s: %s: %s\n", o->fabric, o->err.op, o->err.text), exit(2);
    pthread_barrier_wait(o->meet);
    struct one *first = o->rank ? o->peer : o, *second = o->rank ? o : o->peer;
    size_t      lens[RANKS] = {first->len, second->len};
    memcpy(all, first->blob, first->len);
    memcpy(all + first->len, second->blob, second->len);
    int rc = weir_connect(o->r, all, lens, 5000000000, &o->err);
    free(all);
    for (size_t i = 0; i < NCASES && !rc; i++) {
        struct weir_result res;
        struct weir_case   c = cases[i];
        c.timeout            = 60000000000;
        c.corrupt            = o->corrupt ? 0 : -1;
        rc                   = weir_run(o->r, &c, &res, &o->err);
        uint64_t want        = c.iterations * c.block * c.batch * (c.mode == MODE_PINGPONG ? 2 : 1);
        if (!rc && res.initiator && res.bytes != want) {
            fprintf(stderr, "%s: case %zu moved %llu bytes, not %llu\n", o->fabric, i, (unsigned long long)res.bytes, (unsigned long long)want);
            return NULL;
        }
    }
    if (!rc)
        rc = weir_close(o->r, 3000000000, &o->err);
    if (rc) {
        atomic_store(&o->peer->control.abort, 1);
        return NULL;
    }
    o->failed = 0;
    return NULL;
}

static void pair(const char *fabric, int corrupt, struct one o[RANKS])
{
    pthread_barrier_t meet;
    pthread_t         t[RANKS];
    memset(o, 0, RANKS * sizeof *o);
    pthread_barrier_init(&meet, NULL, RANKS);
    for (int i = 0; i < RANKS; i++) {
        o[i].fabric = fabric, o[i].rank = i, o[i].meet = &meet, o[i].peer = &o[1 - i], o[i].corrupt = corrupt && i == 1;
        pthread_create(&t[i], NULL, life, &o[i]);
    }
    for (int i = 0; i < RANKS; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_destroy(&meet);
}

int main(int argc, char **argv)
{
    static struct one o[RANKS], leaked[RANKS]; /* the ranks of the run with a fault are given up, not cleaned up */
    int               bad = 0;
    for (int i = 1; i < argc; i++) {
        pair(argv[i], 0, o);
        for (int k = 0; k < RANKS; k++)
            if (o[k].failed)
                printf("FAIL %s rank %d: %s: %s\n", argv[i], k, o[k].err.op, o[k].err.text), bad++;
        printf("%s %s\n", bad ? "FAIL" : "ok  ", argv[i]);
    }
    if (argc > 1) {
        pair(argv[1], 1, leaked);
        if (!leaked[1].failed || !strstr(leaked[1].err.text, "wrong data from rank 0"))
            printf("FAIL a flipped byte went unnoticed: %s\n", leaked[1].err.text), bad++;
        else
            printf("ok   a flipped byte is noticed: %s\n", leaked[1].err.text);
    }
    fflush(stdout);
    _Exit(bad != 0); /* the threads of the ranks given up still run: no leak check over them */
}
