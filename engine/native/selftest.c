#ifdef WEIR_TEST
#define _GNU_SOURCE
#include "selftest.h"

#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loop_ceiling.h"
#include "fab_libfabric.h"
#include "loop.h"
#include "pattern.h"
#include "rank.h"
#include "hist_stage.h"
#include "fab_tcp_wire.h" /* fab_tcp_socket */
#include "fab_ucx.h"

int64_t selftest_pattern(size_t n, int64_t flip)
{
    unsigned char *p = malloc(n);
    if (!p) {
        return -2;
    }
    pattern_fill(p, n, 0x5eed);
    if (flip >= 0) {
        p[flip] ^= 0x10;
    }
    int64_t at = pattern_check(p, n, 0x5eed);
    free(p);
    return at;
}

double selftest_stage_p99(uint32_t none, uint32_t ones, uint32_t twos)
{
    struct weir_stage s = {.n = (uint64_t)ones + twos};
    s.counts[1] = ones;
    s.counts[2] = twos;
    return stage_summary(&s, none).p99;
}

const void *selftest_memory(struct weir_rank *r, int region, size_t *bytes)
{
    *bytes = r->regions[region].size;
    return r->regions[region].base;
}

static int mode_now(void)
{
    int mode = -1;
    return syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) < 0 ? -1 : mode;
}

const char *selftest_binding(void)
{
    struct weir_err err = {0};
    struct weir_binding b;
    for (int before = MPOL_DEFAULT; before <= MPOL_PREFERRED; before++) {
        unsigned long nodes = 1;
        if (syscall(SYS_set_mempolicy, before, before == MPOL_DEFAULT ? NULL : &nodes,
                    8 * sizeof nodes) < 0) {
            return "setting a previous policy failed";
        }
        int rc = node_bind(NUMA_DEFAULT, &b, &err);
        if (rc < 0 || b.node != -1 || mode_now() != before || node_check(&b, &b, &err) < 0 ||
            node_release(&b, &err) < 0) {
            return "numa default changes the policy";
        }
        if (node_bind(NUMA_NODE, &b, &err) < 0 || b.node != 0 || mode_now() != MPOL_BIND) {
            return "numa 0 does not bind";
        }
        char *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) {
            return "no page";
        }
        *page = 1;
        if (node_check(&b, page, &err) < 0) {
            return "a page on node 0 is reported elsewhere";
        }
        b.node = 1;
        if (node_check(&b, page, &err) == 0 ||
            !strstr(err.text, "memory bound to node 1 has a page on node 0")) {
            return "a page on another node is not detected";
        }
        munmap(page, 1);
        if (node_release(&b, &err) < 0 || mode_now() != before) {
            return "the previous policy is not restored";
        }
    }
    syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0);
    return NULL;
}

void selftest_break_tcp(struct weir_rank *r)
{
    for (int peer = 0; peer < r->cfg.ranks; peer++) {
        int fd = fab_tcp_socket(r, peer);
        if (fd >= 0) {
            shutdown(fd, SHUT_RDWR);
        }
    }
}

void selftest_ceiling_span(int64_t ns) { ceiling_span_ns = ns; }

uint64_t selftest_ceiling_time(int64_t ns)
{
    ceiling_time_ns = ns;
    return atomic_exchange(&ceiling_spans, 0);
}

double selftest_record_ns(uint64_t n)
{
    struct weir_rank *r = calloc(1, sizeof *r);
    struct weir_loop l = {.r = r, .next_point = UINT64_MAX};
    struct weir_req q = {.loop = &l, .stamped = 1};
    if (!r) {
        free(r);
        return -1;
    }
    r->rec.hist = hist_new();
    if (!r->rec.hist) {
        free(r);
        return -1;
    }
    weir_clock_calibrate(&r->clk);
    l.clock_ns = l.immediate_clock_ns = (int64_t)r->clk.cost_ns;
    int64_t t0 = weir_ticks();
    for (uint64_t i = 0; i < n; i++) {
        q.pending = 1;
        q.posted = t0 - (int64_t)(i & 1023);
        q.returned = t0;
        weir_part_done(&q, 0);
    }
    double each = (double)weir_ticks_to_ns(&r->clk, weir_ticks() - t0) / (double)n;
    free(r->rec.hist);
    free(r);
    return each;
}

void selftest_libfabric(unsigned ways, size_t piece)
{
#ifdef WEIR_HAS_LIBFABRIC
    libfabric_ways = ways ? ways : LIBFABRIC_ALL_WAYS;
    libfabric_piece = piece;
#else
#endif
}

void selftest_libfabric_listening(int64_t ns)
{
#ifdef WEIR_HAS_LIBFABRIC
    libfabric_listening = ns ? ns : LIBFABRIC_LISTEN_NS;
#else
#endif
}

#ifdef WEIR_HAS_UCX
static _Atomic int devices_gone;
static ucs_status_t (*create_worker)(ucp_context_h, const ucp_worker_params_t *, ucp_worker_h *);

static ucs_status_t create_worker_or_not(ucp_context_h context, const ucp_worker_params_t *p,
                                         ucp_worker_h *w)
{
    return atomic_fetch_sub(&devices_gone, 1) > 0 ? UCS_ERR_NO_DEVICE
                                                  : create_worker(context, p, w);
}
#endif

static int mlx5(const char *device) { return !strncmp(device, "mlx5_", 5); }

void selftest_between_hosts(char *list, char *resources, char *lanes, int second)
{
    carriers_between_hosts(list, resources, lanes, second, mlx5);
}

int selftest_ucx_devices_gone(int times)
{
#ifdef WEIR_HAS_UCX
    char why[WEIR_TEXT];
    if (ucx_load(why, sizeof why) < 0) {
        return -1;
    }
    if (!create_worker) {
        create_worker = ucx.ucp_worker_create;
    }
    devices_gone = times;
    ucx.ucp_worker_create = create_worker_or_not;
    return 0;
#else
    return -1;
#endif
}

#ifdef WEIR_HAS_UCX
static __typeof__(ucx.ucp_mem_map) mem_map;
static int refusals;

#define LOCKABLE (64 << 10) /* limit on locked bytes that is still allowed */

static ucs_status_t mem_map_or_not(ucp_context_h context, const ucp_mem_map_params_t *p,
                                   ucp_mem_h *memh)
{
    if (refusals > 0 && p->length > LOCKABLE) {
        refusals--;
        return UCS_ERR_IO_ERROR;
    }
    return mem_map(context, p, memh);
}
#endif

void selftest_ucx_refuses_memory(int times)
{
#ifdef WEIR_HAS_UCX
    char why[WEIR_TEXT];
    if (ucx_load(why, sizeof why) < 0) {
        return;
    }
    if (!mem_map) {
        mem_map = ucx.ucp_mem_map;
    }
    refusals = times;
    ucx.ucp_mem_map = mem_map_or_not;
#else
#endif
}

struct bounce { /* one cache line for both words: with two, the poller would steal each */
    _Alignas(WEIR_LINE) _Atomic uint64_t there;
    _Atomic uint64_t back;
    _Alignas(WEIR_LINE) uint64_t n;
    int cpu;
};

static int stay_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

static void *bounce_back(void *arg)
{
    struct bounce *b = arg;
    if (stay_on(b->cpu) < 0) {
        atomic_store_explicit(&b->back, UINT64_MAX, memory_order_release);
        return NULL;
    }
    for (uint64_t i = 1; i <= b->n; i++) {
        while (atomic_load_explicit(&b->there, memory_order_acquire) != i) {
            rank_pause();
        }
        atomic_store_explicit(&b->back, i, memory_order_release);
    }
    return NULL;
}

double selftest_handover_ns(int cpu, int other, uint64_t n)
{
    struct bounce b = {.n = n, .cpu = other};
    struct weir_clock clk = {0};
    uint64_t seen = 0;
    int64_t t0 = 0;
    pthread_t thread;
    cpu_set_t before;
    weir_clock_calibrate(&clk);
    if (sched_getaffinity(0, sizeof before, &before) < 0 || stay_on(cpu) < 0) {
        return -1;
    }
    if (pthread_create(&thread, NULL, bounce_back, &b) != 0) {
        sched_setaffinity(0, sizeof before, &before);
        return -1;
    }
    for (uint64_t i = 1; i <= n && seen != UINT64_MAX; i++) {
        if (i == 2) {
            t0 = weir_ticks(); /* both threads are running */
        }
        atomic_store_explicit(&b.there, i, memory_order_release);
        seen = atomic_load_explicit(&b.back, memory_order_acquire);
        while (seen != i && seen != UINT64_MAX) {
            rank_pause();
            seen = atomic_load_explicit(&b.back, memory_order_acquire);
        }
    }
    double each = (double)weir_ticks_to_ns(&clk, weir_ticks() - t0) / (double)(n - 1) / 2;
    pthread_join(thread, NULL);
    sched_setaffinity(0, sizeof before, &before);
    return seen == UINT64_MAX ? -1 : each;
}
#endif
