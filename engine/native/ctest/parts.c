/* Unit tests of the engine without a launch: copied state, and cleanup after failures. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../loop_contents.h"
#include "../loop_role.h"
#include "../rank.h"
#include "hidden.h"
#include "parts.h"

/* The engine makes impossible requests, and must report them. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

static int report(const char *what, int yes)
{
    printf("%s %s\n", yes ? "ok  " : "FAIL", what);
    return !yes;
}

/* The caller of weir_open frees the configuration afterwards. */
static int keeps_its_configuration(void)
{
    char texts[2][8] = {"shm", "key=no"};
    struct weir_flow target = {.peer = 1};
    struct weir_link_probe turn = {.peer = 1, .initiator = 1};
    struct weir_flows flows = {.targets = &target, .probes = &turn, .ntargets = 1, .nprobes = 1};
    struct weir_rank *r = calloc(1, sizeof *r);
    r->cfg = (struct weir_config){
        .ranks = 2, .fabric = texts[0], .options = texts[1], .flows = &flows, .nflows = 1};
    int rc = lists_make(r);
    memset(texts, 'x', sizeof texts);
    memset(&target, 'x', sizeof target);
    memset(&flows, 'x', sizeof flows);
    memset(&turn, 'x', sizeof turn);
    const struct weir_flows *f = r->cfg.flows;
    int kept = rc == 0 && !strcmp(r->cfg.fabric, "shm") && !strcmp(r->cfg.options, "key=no") &&
               f->ntargets == 1 && f->targets->peer == 1 && f->nprobes == 1 &&
               f->probes->initiator == 1 && r->barrier.all.members[1] == 1;
    lists_drop(r);
    free(r);
    return report("a rank keeps its configuration", kept);
}

static int connects_without_memory(void)
{
    struct weir_err err = {0};
    struct weir_rank *r = calloc(1, sizeof *r);
    r->cfg.ranks = -1; /* more than any machine has memory for */
    int rc = weir_connect(r, NULL, NULL, 0, &err);
    free(r);
    return report("without memory to connect it says so",
                  rc == -ENOMEM && err.code == rc && strstr(err.text, "no memory"));
}

/* A file that cannot wake a rank must not be waited on: poll would return at once each time. */
static int sleeps_on_living_files(void)
{
    struct weir_control control = {0};
    struct weir_err closed = {0}, broken = {0}, none = {0};
    struct weir_rank *r = calloc(1, sizeof *r);
    int ends[2], good = pipe(ends) == 0;
    r->cfg.control = &control;
    r->err = &none;
    good = good && rank_sleep(r, ends[0]) == 0 && write(ends[1], "x", 1) == 1;
    good = good && rank_sleep(r, ends[0]) == 0 && !none.code;
    close(ends[0]);
    r->err = &broken;
    good = good && rank_sleep(r, ends[1]) == -EIO && strstr(broken.text, "broken");
    close(ends[1]);
    r->err = &closed;
    good = good && rank_sleep(r, ends[1]) == -EBADF && strstr(closed.text, "closed");
    free(r);
    return report("a rank does not sleep on a file that is closed or broken", good);
}

/* Overrides libc's. */
static _Atomic int no_thp;

int madvise(void *p, size_t n, int advice)
{
    if (no_thp && advice == MADV_HUGEPAGE) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_madvise, p, n, advice);
}

static long pages_mapped(void)
{
    long n = -1;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%ld", &n) != 1) {
        n = -1;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

static int gives_memory_back(const struct weir_memory *m)
{
    const size_t bytes = (size_t)64 << 20;
    struct weir_region region;
    struct weir_err err = {0};
    long before = pages_mapped();
    char what[64];
    snprintf(what, sizeof what, "%s without huge pages is given back", m->name);
    no_thp = 1;
    int rc = m->alloc(bytes, PAGES_THP, &region, &err);
    no_thp = 0;
    if (rc == -EOPNOTSUPP) { /* it was not requested */
        printf("skipped: %s: %s\n", what, err.text);
        return 0;
    }
    return report(what, rc == -ENOMEM &&
                            pages_mapped() - before < (long)(bytes / 2) / sysconf(_SC_PAGESIZE));
}

/* The contents of an address of shm. */
struct shm_address {
    uint64_t sink; /* bytes of the sink open to peers */
    uint64_t cookie;
    uint32_t length;
    struct sockaddr_un name;
};

/* Sends a descriptor with an incomplete message. */
static int send_short(const struct shm_address *to, int fd)
{
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct iovec word = {(void *)&to->cookie, sizeof to->cookie};
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } ctl = {.align = {.cmsg_level = SOL_SOCKET,
                       .cmsg_type = SCM_RIGHTS,
                       .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct msghdr m = {.msg_iov = &word,
                       .msg_iovlen = 1,
                       .msg_control = ctl.space,
                       .msg_controllen = sizeof ctl.space};
    memcpy(CMSG_DATA(&ctl.align), &fd, sizeof fd);
    int sent = connect(s, (const struct sockaddr *)&to->name, to->length) == 0 &&
               sendmsg(s, &m, MSG_NOSIGNAL) > 0;
    close(s);
    return sent;
}

struct end {
    struct weir_rank *r;
    char address[2 * sizeof(struct shm_address)];
    const char *all;
    size_t lens[2];
    struct weir_err err;
    int rc;
};

static void *meet_and_part(void *arg)
{
    struct end *e = arg;
    e->rc = weir_connect(e->r, e->all, e->lens, 5000000000, &e->err);
    if (e->rc == 0) {
        e->rc = weir_close(e->r, 5000000000, &e->err);
    }
    return NULL;
}

static int closes_what_strangers_send(void)
{
    static struct weir_control control[2];
    struct weir_flows flows = {0};
    struct end ends[2] = {{0}};
    struct shm_address first;
    char all[2 * sizeof first];
    pthread_t t[2];
    int open[2], good = pipe2(open, O_NONBLOCK | O_CLOEXEC) == 0;
    for (int i = 0; i < 2; i++) {
        struct end *e = &ends[i];
        struct weir_config cfg = {.fabric = "shm",
                                  .rank = i,
                                  .ranks = 2,
                                  .cpu = -1,
                                  .one_host = 1,
                                  .flows = &flows,
                                  .nflows = 1,
                                  .control = &control[i],
                                  .source = &weir_mem_dram,
                                  .sink = &weir_mem_dram,
                                  .layout = {.source = WEIR_MIN_AREA, .sink = WEIR_MIN_AREA}};
        size_t n = 0;
        good = good && !weir_open(&cfg, &e->r, &e->err);
        good = good && !weir_address(e->r, e->address, sizeof e->address, &n, &e->err) &&
               n == sizeof first;
    }
    if (!good) {
        return report("ranks of shm open", 0);
    }
    for (int i = 0; i < 2; i++) {
        memcpy(all + (size_t)i * sizeof first, ends[i].address, sizeof first);
        ends[i].all = all;
        ends[i].lens[0] = ends[i].lens[1] = sizeof first;
    }
    memcpy(&first, all, sizeof first);
    good = send_short(&first, open[1]);
    close(open[1]);
    for (int i = 0; i < 2; i++) {
        pthread_create(&t[i], NULL, meet_and_part, &ends[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], NULL);
    }
    char none;
    /* the other end must be closed */
    good = good && !ends[0].rc && !ends[1].rc && read(open[0], &none, 1) == 0;
    close(open[0]);
    return report("a descriptor that a stranger sends to shm is closed", good);
}

/* Functions that a fabric lacks have defaults: no member is NULL. */
static int tables_are_full(void)
{
    int full = 1;
    const char *name;
    for (int i = 0; (name = weir_fabric_name(i)); i++) {
        const struct weir_fabric *f = weir_fabric_find(name);
        full &= f->probe && f->open && f->attach && f->address && f->connect && f->put && f->get &&
                f->post;
        full &= f->progress && f->poll && f->idle_wait && f->flush && f->signal && f->notify &&
                f->prepost && f->ping && f->arrived;
        full &= f->runs_pingpong && f->run_pingpong && f->ceiling && f->transport && f->carriers &&
                f->disconnect && f->close;
    }
    return report("every fabric fills its table", full);
}

/* A peer may signal while this rank still prepares a ping-pong: some fabrics write that into the
 * peer's line, beside the loops' word. */
static int keeps_signals(void)
{
    /* of two ranks: their slots, and the lines of their messages */
    enum { WORDS = WEIR_LINE / sizeof(uint64_t), LINES = 4 * WORDS };
    static _Atomic uint64_t control[LINES];
    static char sink[8];
    struct weir_rank *r = calloc(1, sizeof *r);
    struct weir_case c = {.block = 8};
    struct weir_role o = {.from = 1};
    int kept;
    r->regions[REGION_CONTROL].base = (char *)control;
    r->regions[REGION_SINK].base = sink;
    r->cfg.sink = &weir_mem_dram;
    r->control.pings = 2 * WEIR_LINE;
    for (uint64_t i = 0; i < LINES; i++) {
        atomic_store(&control[i], i + 1);
    }
    kept = !contents_no_ping(r, &c, &o);
    for (uint64_t i = 0; i < LINES; i++) {
        kept &= atomic_load(&control[i]) == (i == 3 * WORDS ? 0 : i + 1);
    }
    free(r);
    return report("an early signal is kept", kept);
}

/* A fabric that copies by the CPU refuses memory that the CPU may not touch. */
static int refuses_hidden(const char *fabric)
{
    static struct weir_control control;
    struct weir_err err;
    struct weir_rank *r;
    struct weir_config cfg = {.fabric = fabric,
                              .ranks = 2,
                              .cpu = -1,
                              .one_host = 1,
                              .control = &control,
                              .source = &weir_mem_dram,
                              .sink = &hidden_memory};
    char want[WEIR_TEXT];
    snprintf(want, sizeof want, "fabric %s moves only host memory, but kind hidden is not", fabric);
    int refused = weir_open(&cfg, &r, &err) < 0 && !strcmp(err.text, want);
    printf("%s %s takes no memory that this processor may not touch\n", refused ? "ok  " : "FAIL",
           fabric);
    return !refused;
}

/* Roles that exceed a region of either end, by one byte or by far, are refused. */
static int keeps_within(void)
{
    static struct weir_control control;
    struct weir_err err = {0};
    uint64_t sinks[] = {1000, 2000};
    struct weir_rank *r = calloc(1, sizeof *r);
    struct weir_flow f = {.peer = 1, .bytes = 100, .local = 900, .remote = 1900};
    struct weir_incoming from = {.peer = 1, .bytes = 100, .offset = 900};
    struct weir_role o = {.targets = &f,
                          .sources = &from,
                          .ntargets = 1,
                          .nsources = 1,
                          .own = {.bytes = 100, .from = 900, .to = 900}};
    uint64_t *const edges[] = {&f.local, &f.remote, &from.offset, &o.own.from, &o.own.to};
    r->cfg = (struct weir_config){
        .control = &control, .layout = {.source = 1010, .first = 10, .sink = 1500, .probe = 1000}};
    r->sinks = sinks;
    r->err = &err;
    int good = role_fits(r, &o) == 0;
    for (size_t i = 0; i < 2 * sizeof edges / sizeof *edges; i++) {
        uint64_t fits = *edges[i / 2];
        *edges[i / 2] = i % 2 ? UINT64_MAX - 99 : fits + 1;
        good &= role_fits(r, &o) < 0 &&
                strstr(err.text, "the launch was opened for smaller cases") != NULL;
        *edges[i / 2] = fits;
        err = (struct weir_err){0};
    }
    o.initiator = 1;
    o.buffer = 501; /* more than probes have space for */
    good &= role_fits(r, &o) < 0;
    free(r);
    return report("a case stays within its regions", good);
}

int parts_fail(void)
{
    return tables_are_full() + keeps_its_configuration() + connects_without_memory() +
           sleeps_on_living_files() + gives_memory_back(&weir_mem_heap) +
           gives_memory_back(&weir_mem_dram) + closes_what_strangers_send() + keeps_within() +
           keeps_signals() + refuses_hidden("shm") + refuses_hidden("tcp");
}
