/* fabric.h: one table of functions per fabric. A fabric is a .c file with its table and
 * its name in WEIR_FABRICS; scenarios know it when option fabric (package workload) has
 * the name too, which a test holds. What it cannot do it says in caps; callers ask caps, never
 * names. */
#ifndef WEIR_FABRIC_H
#define WEIR_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "weir.h"

struct weir_rank;
struct weir_loop;
struct ceiling;
struct weir_role;

/* One request of a loop: done when all its parts are. */
struct weir_req {
    uint32_t          pending;
    uint32_t          stamped;
    int               peer;
    int               failed;           /* status of a part of a request of no loop */
    /* ticks: before the first part was put, and after the last was posted */
    int64_t           posted, returned;
    struct weir_req  *next;   /* in the list of free ones */
    struct weir_loop *loop;
};

/* Called by a fabric for each part that it had returned WEIR_PENDING for. */
void weir_part_done(struct weir_req *q, int status);

enum { WEIR_DONE = 0, WEIR_PENDING = 1 }; /* less than 0: failed, error filled */

enum weir_caps {
    /* a put is complete when the data is at the target, not before */
    CAP_REMOTE_COMPLETION = 1 << 0,
    CAP_ALLOCATES         = 1 << 1, /* attach allocates memory that has no kind of its own */
    CAP_NETWORK           = 1 << 2, /* reaches other hosts */
    /* this processor or its kernel copies: sources and sinks must be host memory */
    CAP_NEEDS_HOST        = 1 << 3,
    /* the number of a ping is the last byte of its data: for host memory only */
    CAP_MARKS_DATA        = 1 << 4,
    /* put and get copy, and are complete when they return; any thread may call put, which uses no
     * request */
    CAP_COPIES            = 1 << 5,
};

struct weir_pingpong; /* pingpong_part.h */

struct weir_fabric {
    const char *name;
    /* how the file name of the vendor's library begins, which probe loads; NULL: none, or probe
     * says */
    const char *library;
    uint32_t    caps;
    void (*probe)(struct weir_info *out);
    int (*open)(struct weir_rank *r);
    /* Registers one of r->regions; if that has no memory yet (base NULL), it allocates at
     * least size bytes first. Called once for each region. */
    int (*attach)(struct weir_rank *r, enum weir_region_name name);
    /* What peers need to connect and to reach this rank's control region and its sink;
     * returns its length, or an error. */
    int64_t (*address)(struct weir_rank *r, void *buf, size_t cap);
    /* Connects to all peers at once: each of them is in this call too. */
    int (*connect)(struct weir_rank *r, const char *const *blobs, const size_t *lens);
    /* From an address in this rank's source to an offset in the peer's sink, or back. A part that
     * is pending may be kept until post is called, or a flush or progress is. */
    int (*put)(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q);
    int (*get)(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
               struct weir_req *q);
    /* Posts what was put and gotten; posts_itself where put and get do. */
    int (*post)(struct weir_rank *r);
    int (*progress)(struct weir_rank *r); /* less than 0: a connection broke, error filled */
    /* The same of who has just looked for something that must come, in vain: with the
     * option it sleeps until something does, or for WEIR_NAP_MS. */
    int (*wait)(struct weir_rank *r);
    /* Of who waits outside of a measured loop, after each wait: when nothing has moved for long it
     * sleeps until something does, for a moment at most. NULL: nothing could wake it. */
    int (*rest)(struct weir_rank *r);
    /* Done when all puts posted to the peer before are in its memory. */
    int (*flush)(struct weir_rank *r, int peer, struct weir_req *q);
    /* Writes a word into a place of the peer's control region, in the lines that it keeps for
     * this rank: a slot, a ping slot or a flag. Ordered after nothing: flush first. */
    int (*signal)(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
    /* Writes a word into any such place; it is there on return. */
    int (*tell)(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
    /* Nothing is under way; from the next barrier on, writes of this case come from this
     * rank's sources, from the first place of their buffers on; c NULL: no more. For a
     * fabric whose target must know beforehand. */
    int (*expect)(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);
    /* A message from this rank's source to the beginning of the peer's sink, which can see it
     * arriving: seq counts from 1. The buffer may be marked in its last byte, and is used again
     * when the answer has arrived. arrived: this rank has the peer's message number seq. Loops
     * call those of the rank, see ping.c. */
    int (*ping)(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq);
    int (*arrived)(struct weir_rank *r, int peer, size_t n, uint64_t seq);
    /* Whether the fabric runs a ping-pong of such messages by itself; the peer's answer is the
     * same. run_pingpong runs a part of one and gives how many messages it made, fewer where the
     * last one has come. NULL: it runs none. */
    int (*runs_pingpong)(struct weir_rank *r, int peer, size_t bytes);
    int64_t (*run_pingpong)(struct weir_rank *r, int peer, struct weir_pingpong *g);
    /* Adds rates that the path to the peer can carry, CEILING_SPANS of them or
     * what time permits; both ends are in this call. None: the path is bounded by memory copies
     * only. */
    int (*ceiling)(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                   struct ceiling *c);
    /* What was really selected, in words. */
    void (*transport)(struct weir_rank *r, int peer, char *buf, size_t cap);
    /* Adds to a list what of the library carried blocks to and from the peer, and
     * what else it used: see carriers.h. */
    void (*carriers)(struct weir_rank *r, int peer, char *list);
    /* Undoes connect: address and connect work again afterwards, with other addresses. Nothing is
     * under way, and all peers are in this call too, or were. */
    int (*disconnect)(struct weir_rank *r);
    /* After an error nothing that a peer or the library may still use has been freed. */
    int (*close)(struct weir_rank *r);
};

/* All fabrics, in the order in which they are listed: each has a table weir_fab_NAME. */
#define WEIR_NAP_MS 5 /* the deadline and an order to stop are looked at in between */

#define WEIR_FABRICS(F) F(shm) F(tcp) F(ucx) F(libfabric) F(nixl) F(cuda)

#define WEIR_FABRIC_TABLE(name) extern const struct weir_fabric weir_fab_##name;
WEIR_FABRICS(WEIR_FABRIC_TABLE)
#undef WEIR_FABRIC_TABLE

const struct weir_fabric *weir_fabric_find(const char *name);

#endif
