/* What can be tested of the engine without a launch: what it keeps, and what it gives back
 * when something fails. */
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

#include "../rank.h"
#include "parts.h"

/* The engine asks for what cannot be had, and says so. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

static int told(const char *what, int yes)
{
    printf("%s %s\n", yes ? "ok  " : "FAIL", what);
    return !yes;
}

/* Whoever opens a rank frees what its configuration points to. */
static int keeps_its_configuration(void)
{
    char              texts[2][8] = {"shm", "key=no"};
    struct weir_flow  target = {.peer = 1};
    struct weir_turn  turn   = {.peer = 1, .initiator = 1};
    struct weir_flows flows  = {.targets = &target, .turns = &turn, .ntargets = 1, .nturns = 1};
    struct weir_rank *r      = calloc(1, sizeof *r);
    r->cfg = (struct weir_config){.ranks = 2, .fabric = texts[0], .options = texts[1],
                                  .flows = &flows, .nflows = 1};
    int rc = lists_make(r);
    memset(texts, 'x', sizeof texts), memset(&target, 'x', sizeof target),
        memset(&flows, 'x', sizeof flows);
    memset(&turn, 'x', sizeof turn);
    const struct weir_flows *f = r->cfg.flows;
    int kept = rc == 0 && !strcmp(r->cfg.fabric, "shm") && !strcmp(r->cfg.options, "key=no") &&
               f->ntargets == 1 && f->targets->peer == 1 && f->nturns == 1 &&
               f->turns->initiator == 1 && r->all.members[1] == 1;
    lists_drop(r);
    free(r);
    return told("a rank keeps its configuration", kept);
}

static int connects_without_memory(void)
{
    struct weir_err   err = {0};
    struct weir_rank *r   = calloc(1, sizeof *r);
    r->cfg.ranks          = -1; /* more than any machine has room for */
    int rc                = weir_connect(r, NULL, NULL, 0, &err);
    free(r);
    return told("without memory to connect it says so",
                rc == -ENOMEM && err.code == rc && strstr(err.text, "no memory"));
}

/* A file that cannot wake a rank must not be slept on: poll comes back at once each time. */
static int sleeps_on_living_files(void)
{
    struct weir_control control = {0};
    struct weir_err     closed = {0}, broken = {0}, none = {0};
    struct weir_rank   *r = calloc(1, sizeof *r);
    int                 ends[2], good = pipe(ends) == 0;
    r->cfg.control = &control;
    r->err         = &none;
    good           = good && rank_sleep(r, ends[0]) == 0 && write(ends[1], "x", 1) == 1;
    good           = good && rank_sleep(r, ends[0]) == 0 && !none.code;
    close(ends[0]);
    r->err = &broken;
    good   = good && rank_sleep(r, ends[1]) == -EIO && strstr(broken.text, "broken");
    close(ends[1]);
    r->err = &closed;
    good   = good && rank_sleep(r, ends[1]) == -EBADF && strstr(closed.text, "closed");
    free(r);
    return told("a rank does not sleep on a file that is closed or broken", good);
}

/* Stands before libc's. */
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
    long  n = -1;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%ld", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

static int gives_memory_back(const struct weir_memory *m)
{
    const size_t       bytes = (size_t)64 << 20;
    struct weir_region region;
    struct weir_err    err    = {0};
    long               before = pages_mapped();
    char               what[64];
    snprintf(what, sizeof what, "%s without huge pages is given back", m->name);
    no_thp = 1;
    int rc = m->alloc(bytes, PAGES_THP, &region, &err);
    no_thp = 0;
    if (rc == -EOPNOTSUPP) { /* it is not asked for them */
        printf("skipped: %s: %s\n", what, err.text);
        return 0;
    }
    return told(what, rc == -ENOMEM &&
                          pages_mapped() - before < (long)(bytes / 2) / sysconf(_SC_PAGESIZE));
}

/* What the address of a rank of shm holds. */
struct shm_address {
    uint64_t           sink; /* bytes of it that peers may use */
    uint64_t           cookie;
    uint32_t           length;
    struct sockaddr_un name;
};

/* Sends a descriptor with fewer bytes than belong to it. */
static int send_short(const struct shm_address *to, int fd)
{
    int          s    = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct iovec word = {(void *)&to->cookie, sizeof to->cookie};
    union {
        char           space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } ctl = {.align = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
                       .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct msghdr m = {.msg_iov = &word, .msg_iovlen = 1, .msg_control = ctl.space,
                       .msg_controllen = sizeof ctl.space};
    memcpy(CMSG_DATA(&ctl.align), &fd, sizeof fd);
    int sent = connect(s, (const struct sockaddr *)&to->name, to->length) == 0 &&
               sendmsg(s, &m, MSG_NOSIGNAL) > 0;
    close(s);
    return sent;
}

struct end {
    struct weir_rank *r;
    char              address[2 * sizeof(struct shm_address)];
    const char       *all;
    size_t            lens[2];
    struct weir_err   err;
    int               rc;
};

static void *meet_and_part(void *arg)
{
    struct end *e = arg;
    if ((e->rc = weir_connect(e->r, e->all, e->lens, 5000000000, &e->err)) == 0)
        e->rc = weir_close(e->r, 5000000000, &e->err);
    return NULL;
}

static int closes_what_strangers_send(void)
{
    static struct weir_control control[2];
    struct weir_flows          flows = {0};
    struct end                 ends[2] = {{0}};
    struct shm_address         first;
    char                       all[2 * sizeof first];
    pthread_t                  t[2];
    int                        open[2], good = pipe2(open, O_NONBLOCK | O_CLOEXEC) == 0;
    for (int i = 0; i < 2; i++) {
        struct end        *e   = &ends[i];
        struct weir_config cfg = {.fabric = "shm", .rank = i, .ranks = 2, .cpu = -1, .one_host = 1,
                                  .flows = &flows,
                                  .nflows = 1, .control = &control[i], .source = &weir_mem_dram,
                                  .sink = &weir_mem_dram,
                                  .layout = {.source = WEIR_LEAST, .sink = WEIR_LEAST}};
        size_t             n   = 0;
        good                   = good && !weir_open(&cfg, &e->r, &e->err);
        good = good && !weir_address(e->r, e->address, sizeof e->address, &n, &e->err) &&
               n == sizeof first;
    }
    if (!good)
        return told("ranks of shm open", 0);
    for (int i = 0; i < 2; i++) {
        memcpy(all + (size_t)i * sizeof first, ends[i].address, sizeof first);
        ends[i].all = all, ends[i].lens[0] = ends[i].lens[1] = sizeof first;
    }
    memcpy(&first, all, sizeof first);
    good = send_short(&first, open[1]);
    close(open[1]);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, meet_and_part, &ends[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    char none;
    /* nobody has the other end */
    good = good && !ends[0].rc && !ends[1].rc && read(open[0], &none, 1) == 0;
    close(open[0]);
    return told("a descriptor that a stranger sends to shm is closed", good);
}

/* What a fabric cannot do has a function that says so: callers ask for no NULL. */
static int tables_are_full(void)
{
    int         full = 1;
    const char *name;
    for (int i = 0; (name = weir_fabric_name(i)); i++) {
        const struct weir_fabric *f = weir_fabric_find(name);
        full &= f->probe && f->open && f->attach && f->address && f->connect && f->put && f->get &&
                f->post;
        full &= f->progress && f->wait && f->flush && f->signal && f->expect && f->ping &&
                f->arrived && f->ceiling;
        full &= f->transport && f->carriers && f->close;
    }
    return told("every fabric fills its table", full);
}

int parts_fail(void)
{
    return tables_are_full() + keeps_its_configuration() + connects_without_memory() +
           sleeps_on_living_files() + gives_memory_back(&weir_mem_heap) +
           gives_memory_back(&weir_mem_dram) + closes_what_strangers_send();
}
