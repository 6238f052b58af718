/* weir_open: allocates and registers the memory of a rank on its thread, and opens the fabric. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys_copy.h"
#include "gpu_cuda.h"
#include "hist.h"
#include "rank_options.h"
#include "rank.h"
#include "rank_life.h"
#include "rank_team.h"
#include "rank_thread.h"

#define ARRAYS 4 /* arrays of lines in the control region */

static uint64_t array_bytes(int ranks)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return ((uint64_t)ranks * WEIR_LINE + page - 1) / page * page;
}

uint64_t weir_control_bytes(int ranks) { return ARRAYS * array_bytes(ranks); }

/* Checks the node of the first, the middle and the last page of a region. */
static int check_placement(struct weir_rank *r, const struct weir_region *of)
{
    struct weir_err e = {0};
    size_t at[] = {0, of->size / 2, of->size - 1};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        if (node_check(&r->binding, of->base + at[i], &e) < 0) {
            return rank_fail(r, e.code, "alloc", -1, "%s", e.text);
        }
    }
    return 0;
}

static int clear(struct weir_rank *r, struct weir_region *g, int64_t *from)
{
    struct weir_err e = {0};
    int rc = g->kind->clear(g, &e);
    rank_add_step_time(&r->life.clear, from);
    return rc < 0 ? rank_fail(r, rc, "alloc", -1, "%s", e.text) : 0;
}

/* Allocates and registers a region, with the fabric's own memory or one of weir_memory. */
static int make_region(struct weir_rank *r, enum weir_region_name name,
                       const struct weir_memory *kind, uint64_t bytes, int pages)
{
    struct weir_region *g = &r->regions[name];
    struct weir_err e = {0};
    int rc;
    int own = !(r->fab->caps & CAP_ALLOCATES && kind->by_fabric);
    *g = (struct weir_region){.size = bytes, .fd = -1, .kind = kind};
    int64_t t1 = weir_monotonic();
    if (own) {
        if ((rc = kind->alloc(bytes, pages, g, &e)) < 0) {
            return rank_fail(r, rc, "alloc", -1, "%s", e.text);
        }
    }
    rank_add_step_time(&r->life.alloc, &t1);
    if (own) {
        if ((rc = clear(r, g, &t1)) < 0) {
            return rc;
        }
    }
    if ((rc = r->fab->attach(r, name)) < 0) {
        return rc;
    }
    /* a fabric that allocates does both in one call: all of it counts as registration */
    rank_add_step_time(&r->life.registering, &t1);
    return own ? 0 : clear(r, g, &t1);
}

static int make_regions(struct weir_rank *r)
{
    const struct weir_layout *l = &r->cfg.layout;
    struct weir_err e = {0};
    int rc;
    if (node_bind(r->cfg.numa, &r->binding, &e) < 0) {
        return rank_fail(r, e.code, "alloc", -1, "%s", e.text);
    }
    if ((rc = make_region(r, REGION_CONTROL, &weir_mem_dram, weir_control_bytes(r->cfg.ranks),
                          PAGES_DEFAULT)) < 0) {
        return rc;
    }
    if ((rc = make_region(r, REGION_SOURCE, r->cfg.source, l->source, r->cfg.pages)) < 0) {
        return rc;
    }
    if ((rc = make_region(r, REGION_SINK, r->cfg.sink, l->sink, r->cfg.pages)) < 0) {
        return rc;
    }
    if (node_release(&r->binding, &e) < 0) {
        return rank_fail(r, e.code, "alloc", -1, "%s", e.text);
    }
    for (int i = 0; i < REGIONS; i++) {
        if (r->regions[i].kind->host) {
            if ((rc = check_placement(r, &r->regions[i])) < 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* Prepares this thread for its kinds of memory, before fabrics open and use them. */
static int bind_kinds(struct weir_rank *r)
{
    struct weir_err e = {0};
    int rc;
    if ((rc = r->cfg.source->bind(&r->cfg, &e)) < 0) {
        return rank_fail(r, rc, "open", -1, "%s", e.text);
    }
    if ((rc = r->cfg.sink->bind(&r->cfg, &e)) < 0) {
        return rank_fail(r, rc, "open", -1, "%s", e.text);
    }
    return 0;
}

/* Fails if the regions are too small to probe ceilings. */
static int check_probe_space(struct weir_rank *r)
{
    const struct weir_layout *l = &r->cfg.layout;
    if (l->source >= WEIR_MIN_AREA && l->first <= l->source - WEIR_MIN_AREA &&
        l->sink >= WEIR_MIN_AREA && l->probe <= l->sink - WEIR_MIN_AREA) {
        return 0;
    }
    return rank_fail(r, -EINVAL, "alloc", -1,
                     "a source of %llu bytes from offset %llu, or a sink of %llu bytes from offset "
                     "%llu, is too small to probe ceilings",
                     (unsigned long long)l->source, (unsigned long long)l->first,
                     (unsigned long long)l->sink, (unsigned long long)l->probe);
}

static int do_open(struct weir_rank *r, void *arg)
{
    int rc;
    int64_t from = weir_monotonic();
    weir_memory_set_heartbeat(&r->cfg.control->heartbeat);
    rank_phase(r, PH_READY, 0);
    weir_clock_calibrate(&r->clk);
    r->control.pings = array_bytes(r->cfg.ranks);
    r->control.counters = 2 * r->control.pings;
    r->control.outbox = 3 * r->control.pings;
    if ((rc = check_probe_space(r)) < 0) {
        return rc;
    }
    if ((rc = bind_kinds(r)) < 0) {
        return rc;
    }
    if ((rc = r->fab->open(r)) < 0) {
        return rc;
    }
    if ((rc = options_all_known(r)) < 0) {
        return rc;
    }
    rank_add_step_time(&r->life.open, &from);
    if ((rc = make_regions(r)) < 0) {
        return rc;
    }
    if (r->cfg.source->gpu || r->cfg.sink->gpu) {
        memcpy(r->life.gpu, cuda_current()->bus, sizeof r->life.gpu);
    }
    rank_choose_pings(r);
    r->rec.hist = hist_new();
    if (!r->rec.hist) {
        return rank_fail(r, -ENOMEM, "alloc", -1, "no memory for the recorder");
    }
    r->sinks = calloc((size_t)r->cfg.ranks, sizeof *r->sinks);
    if (!r->sinks) {
        return rank_fail(r, -ENOMEM, "alloc", -1, "no memory for the recorder");
    }
    return 0;
}

void *weir_alloc_page_aligned(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, whole);
    return p ? memset(p, 0, whole) : NULL;
}

int weir_open(const struct weir_config *cfg, struct weir_rank **out, struct weir_err *err)
{
    struct weir_rank *r = weir_alloc_page_aligned(sizeof *r);
    memset(err, 0, sizeof *err);
    err->peer = -1;
    if (!r) {
        err->code = -ENOMEM;
        snprintf(err->text, sizeof err->text, "no memory for a rank");
        return err->code;
    }
    r->cfg = *cfg;
    uint32_t busy = (uint32_t)(cfg->ranks * (cfg->team ? cfg->team->threads : 1));
    for (r->wait.poll_mask = 255; r->wait.poll_mask > 7 && (r->wait.poll_mask + 1) * busy > 512;
         r->wait.poll_mask >>= 1) {
        ;
    }
    r->copy = weir_copies(&(size_t){0});
    r->err = err;
    r->fab = weir_fabric_find(cfg->fabric);
    rank_phase(r, PH_START, 0);
    if (!r->fab) {
        rank_fail(r, -EINVAL, "open", -1, "this version of weir has no fabric %s", cfg->fabric);
    } else if (!cfg->one_host && !(r->fab->caps & CAP_NETWORK)) {
        rank_fail(r, -EHOSTUNREACH, "open", -1, "fabric %s does not reach other hosts",
                  cfg->fabric);
    } else if (r->fab->caps & CAP_NEEDS_HOST && !(cfg->source->host && cfg->sink->host)) {
        rank_fail(r, -EOPNOTSUPP, "open", -1,
                  "fabric %s moves only host memory, but kind %s is not", cfg->fabric,
                  cfg->source->host ? cfg->sink->name : cfg->source->name);
    } else if (cfg->ranks < 2 || cfg->ranks > WEIR_MAX_RANKS || cfg->rank < 0 ||
               cfg->rank >= cfg->ranks) {
        rank_fail(r, -EINVAL, "open", -1, "rank %d of %d", cfg->rank, cfg->ranks);
    } else if (lists_make(r) == 0) {
        r->thread = thread_start(r, err);
        if (r->thread) {
            thread_call(r->thread, do_open, NULL, err);
        }
    }
    r->err = NULL;
    if (err->code) {
        fflush(NULL); /* as in rank_call */
        free(r);      /* the process exit frees the thread and the fabric's state */
        return err->code;
    }
    *out = r;
    return 0;
}

int weir_confirms_delivery(const struct weir_rank *r)
{
    return (r->fab->caps & CAP_REMOTE_COMPLETION) != 0;
}
