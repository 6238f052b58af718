/* fabric.h: the interface of fabrics. A fabric is a .c file with its table, plus its name in
 * WEIR_FABRICS and in All of package fabric, which a test compares. caps says what it can do;
 * callers test caps, never names. */
#ifndef WEIR_FABRIC_H
#define WEIR_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "weir.h"

struct weir_rank;
struct weir_loop;
struct weir_pingpong;
struct weir_role;
struct ceiling;

/* One request of a loop: done when all its parts are. */
struct weir_req {
    uint32_t pending;
    uint32_t stamped;
    int peer;
    int failed; /* status of a part that belongs to no loop */
    /* ticks: before the first part was put, after the last was posted */
    int64_t posted, returned;
    struct weir_req *next; /* in the free list */
    struct weir_loop *loop;
};

/* Called by a fabric to complete a part for which it had returned WEIR_PENDING; status is 0 or a
 * negative code. */
void weir_part_done(struct weir_req *q, int status);

enum { WEIR_DONE = 0, WEIR_PENDING = 1 };

enum weir_caps {
    /* a completed put is at the target, not before */
    CAP_REMOTE_COMPLETION = 1 << 0,
    CAP_ALLOCATES = 1 << 1, /* attach allocates memory of the fabric's own kind */
    CAP_NETWORK = 1 << 2,   /* reaches other hosts */
    /* the CPU or the kernel copies: sources and sinks must be host memory */
    CAP_NEEDS_HOST = 1 << 3,
    /* the last byte of a ping's data is its sequence mark: host memory only */
    CAP_MARKS_DATA = 1 << 4,
    /* put and get copy and are complete on return; put uses no request and is thread-safe */
    CAP_COPIES = 1 << 5,
};

/* Sizes and offsets are bytes. Functions returning int return 0 on success unless documented
 * otherwise, and else a negative code with the error of the rank's call filled (rank_fail). No
 * function is NULL: fabric_unsupported.h has defaults. */
struct weir_fabric {
    const char *name;
    /* prefix of the file name of the vendor library that probe loads; NULL: none, or set by
     * probe */
    const char *library;
    /* Returns the version of the loaded library; NULL: the fabric loads none that reports it. */
    const char *(*version)(void);
    uint32_t caps; /* enum weir_caps */
    /* Finds out whether the fabric works on this host. */
    void (*probe)(struct weir_info *out);
    /* Allocates r->fs and reads the options; called before memory is allocated. */
    int (*open)(struct weir_rank *r);
    /* Registers one of r->regions; if it has no memory yet (base NULL), allocates at least size
     * bytes first. Called once for each region. */
    int (*attach)(struct weir_rank *r, enum weir_region_name name);
    /* Writes what peers need to connect and to access this rank's control region and sink; returns
     * its length, or an error. */
    int64_t (*address)(struct weir_rank *r, void *buf, size_t cap);
    /* Connects to all peers; collective. blobs and lens have an address for each rank. */
    int (*connect)(struct weir_rank *r, const char *const *blobs, const size_t *lens);
    /* Moves n bytes from an address in this rank's source to an offset in the peer's sink, or back.
     * Returns WEIR_DONE or WEIR_PENDING. A pending part may be queued until post, flush or progress
     * is called. */
    int (*put)(struct weir_rank *r, int peer, const void *local, uint64_t roff, size_t n,
               struct weir_req *q);
    int (*get)(struct weir_rank *r, int peer, void *local, uint64_t roff, size_t n,
               struct weir_req *q);
    /* Posts queued puts and gets; posts_itself where put and get do. */
    int (*post)(struct weir_rank *r);
    /* Polls for completions without blocking; fails when a connection broke. */
    int (*progress)(struct weir_rank *r);
    /* Like progress, after a poll without events: may block (option wait: sleep) until an event
     * arrives or WEIR_BLOCK_MS passes. */
    int (*poll)(struct weir_rank *r);
    /* Called between polls outside measured loops; after long idling it may block for at most 1 ms.
     * no_idle_wait where no event could wake it. */
    int (*idle_wait)(struct weir_rank *r);
    /* Returns WEIR_DONE when all puts posted to the peer before are in its memory, or WEIR_PENDING,
     * and completes q later. */
    int (*flush)(struct weir_rank *r, int peer, struct weir_req *q);
    /* Writes a word to an offset of the peer's control region, in the lines reserved for this rank:
     * a slot, a ping slot or a flag. Not ordered after puts: flush first. */
    int (*signal)(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
    /* Like signal, and waits until the word is delivered. */
    int (*notify)(struct weir_rank *r, int peer, uint64_t place, uint64_t value);
    /* Posts receives at the target of a fabric that needs them. Nothing is in flight. From the next
     * barrier on, this rank's sources write case c, starting at the first place of their buffers. c
     * NULL: no more writes come. */
    int (*prepost)(struct weir_rank *r, const struct weir_case *c, const struct weir_role *o);
    /* Sends ping-pong message number seq, counted from 1: n bytes from this rank's source to the
     * start of the peer's sink. May overwrite the last byte of the buffer by a mark. The buffer is
     * reused when the reply has arrived. */
    int (*ping)(struct weir_rank *r, int peer, void *local, size_t n, uint64_t seq);
    /* Returns 1 when the peer's message number seq has arrived, else 0. Loops call the functions in
     * r->ping, see rank_ping.c. */
    int (*arrived)(struct weir_rank *r, int peer, size_t n, uint64_t seq);
    /* Returns whether the fabric can run a ping-pong of this message size on its own; both ends
     * agree. */
    int (*runs_pingpong)(struct weir_rank *r, int peer, size_t bytes);
    /* Runs a part of such a ping-pong. Returns its number of messages: fewer than requested after
     * the last one. */
    int64_t (*run_pingpong)(struct weir_rank *r, int peer, struct weir_pingpong *g);
    /* Adds rates of the path to the peer in bytes/s: CEILING_SPANS of them, or fewer if time is
     * short. Both ends make this call. No rates: only memory copies bound the path. */
    int (*ceiling)(struct weir_rank *r, int peer, int initiator, const struct weir_case *of,
                   struct ceiling *c);
    /* Writes a description of the selected transport. */
    void (*transport)(struct weir_rank *r, int peer, char *buf, size_t cap);
    /* Adds the library's components that moved blocks to and from the peer, and the others it used,
     * to a list of fabric_carriers.h. */
    void (*carriers)(struct weir_rank *r, int peer, char *list);
    /* Undoes connect; address and connect work again afterwards, with other addresses. Collective;
     * nothing is in flight. */
    int (*disconnect)(struct weir_rank *r);
    /* Frees r->fs. After an error, keeps whatever a peer or the library may still use. */
    int (*close)(struct weir_rank *r);
};

#define WEIR_BLOCK_MS 5 /* the deadline and orders to stop are checked in between */

/* All fabrics, in the order of listings: each has a table weir_fab_NAME. */
#define WEIR_FABRICS(F) F(shm) F(tcp) F(ucx) F(libfabric) F(nixl) F(cuda)

#define WEIR_FABRIC_TABLE(name) extern const struct weir_fabric weir_fab_##name;
WEIR_FABRICS(WEIR_FABRIC_TABLE)
#undef WEIR_FABRIC_TABLE

/* Returns the fabric of this name, or NULL. */
const struct weir_fabric *weir_fabric_find(const char *name);

#endif
