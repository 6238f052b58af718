/* fab_libfabric.h: shared by the files of fabric libfabric: the library's functions, the selected
 * provider, and a rank's state. */
#ifndef WEIR_FAB_LIBFABRIC_H
#define WEIR_FAB_LIBFABRIC_H

#if __has_include(<rdma/fabric.h>)
#define WEIR_HAS_LIBFABRIC 1
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "fabric.h"

/* The complete foreign interface; everything else goes through the library's own function tables.
 * Versions are pinned: fi_info grew with FABRIC_1.7, and a lookup without a version takes the
 * library's newest. */
/* clang-format off */
#define LIBFABRIC_SYMBOLS(F) \
    F(fi_version, "FABRIC_1.0") F(fi_strerror, "FABRIC_1.0") F(fi_tostr, "FABRIC_1.0") \
    F(fi_getinfo, "FABRIC_1.3") F(fi_freeinfo, "FABRIC_1.3") F(fi_dupinfo, "FABRIC_1.3") \
    F(fi_fabric, "FABRIC_1.1")
/* clang-format on */

#define LIBFABRIC_MEMBER(f, version) __typeof__(f) *f;
struct libfabric_api {
    LIBFABRIC_SYMBOLS(LIBFABRIC_MEMBER)
};
extern struct libfabric_api libfabric;

int libfabric_load(char *why, size_t cap); /* 0, or a negative errno, and why is set */
const char *libfabric_version(void);       /* of the loaded library */
/* Returns a function of FABRIC_1.0 that some libraries lack; NULL: not available. */
void *libfabric_symbol(const char *name);

/* Writes a line to stderr for each FI_… variable that is set but unknown to libfabric after its
 * providers were queried; package fabric reads it in the rank's log. */
void libfabric_unknown_variables(void);
/* Lists the variables of the library and of the providers that it has queried; NULL: it cannot.
 * A value is NULL if the variable is not set. */
struct fi_param *libfabric_params(int *count);
void libfabric_params_free(struct fi_param *list);

/* How this rank learns that a write is in the target's memory. Tried in this order; the first one
 * that a provider supports is used. */
enum libfabric_delivery {
    /* a write completes when its data is at the target (FI_DELIVERY_COMPLETE) */
    DELIVERY_COMPLETION,
    /* a read with FI_FENCE waits for earlier writes and sees their data */
    DELIVERY_FENCE,
    DELIVERY_ORDER, /* reads execute after earlier writes (FI_ORDER_RAW) */
    DELIVERY_WAYS,
};
extern const char *const libfabric_delivery_words[DELIVERY_WAYS];

/* For tests: bit mask of the methods that may be selected (default: all), and the maximum of bytes
 * per operation (0: the provider's). */
#define LIBFABRIC_ALL_WAYS ((1u << DELIVERY_WAYS) - 1)
/* How long a rank waits for a lower one to connect before it connects itself. */
#define LIBFABRIC_LISTEN_NS 500000000 /* ns */
#ifdef WEIR_TEST
extern unsigned libfabric_ways;
extern size_t libfabric_piece;
extern int64_t libfabric_listening;
#else
static const int64_t libfabric_listening = LIBFABRIC_LISTEN_NS;
static const unsigned libfabric_ways = LIBFABRIC_ALL_WAYS;
static const size_t libfabric_piece = 0;
#endif

/* Selects the provider and interface; the caller owns the result. NULL if there is none, with the
 * error filled. */
struct fi_info *libfabric_choose(struct weir_rank *r, enum libfabric_delivery *way);
void libfabric_probe(struct weir_info *out);

/* One operation in flight. */
struct libfabric_op {
    struct fi_context2 context;  /* first member: owned by the provider while the operation runs */
    struct libfabric_op *next;   /* in the free list */
    struct libfabric_op *parent; /* for pieces of a request: the operation that counts them */
    struct weir_req *q;          /* completed with the last piece; NULL: none */
    uint32_t left;               /* pieces left of the request */
    int peer;
    const char *name;
};

struct libfabric_remote_region { /* a region of a peer */
    uint64_t base, key;
};

struct libfabric_peer {
    fi_addr_t address;
    struct libfabric_remote_region regions[REGIONS]; /* all except its source */
    uint32_t outstanding;                            /* operations to it */
    struct weir_req *flush;                          /* completed when there are none */
    struct weir_req awaited;                         /* of an operation awaited synchronously */
    uint32_t ping, pieces; /* the arriving message, and its pieces so far */
    uint32_t polls;        /* polls for it without success */
};

struct libfabric_rank {
    struct weir_fabric table; /* weir_fab_libfabric with the provider's capabilities in caps */
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    int file; /* file descriptor for blocking waits */
    struct fid_ep *ep;
    struct fid_mr *mr[REGIONS];
    void *desc[REGIONS]; /* as the local end of an operation */
    enum libfabric_delivery delivery;
    size_t piece; /* most bytes of one operation */
    /* most bytes of an operation that completes when posted; 0: none */
    size_t inject;
    struct libfabric_op *ops, *free;
    size_t nops;
    struct libfabric_peer *peers;
    uint64_t *last_hello;   /* by lower rank: the last word that it wrote to connect */
    struct weir_err broken; /* the first error reported by a completion queue; it stays */
};

/* fab_libfabric_wire.c: opening, registering, closing. */
int libfabric_open(struct weir_rank *r);
int libfabric_attach(struct weir_rank *r, enum weir_region_name name);
/* Fails the rank with libfabric's text of rc, a negative errno; peer -1: none. */
int libfabric_failed(struct weir_rank *r, const char *op, int peer, int64_t rc);
/* Returns the number of entries of the completion queue. */
size_t libfabric_events(const struct weir_rank *r, const struct libfabric_rank *f);
int libfabric_disconnect(struct weir_rank *r);
int libfabric_close(struct weir_rank *r);

/* fab_libfabric_facts.c */
void libfabric_transport(struct weir_rank *r, int peer, char *buf, size_t cap);
void libfabric_carriers(struct weir_rank *r, int peer, char *list);

/* fab_libfabric_address.c */
int64_t libfabric_address(struct weir_rank *r, void *buf, size_t cap);
int libfabric_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens);
int libfabric_leave(struct weir_rank *r, int peer); /* forgets its address and keys */

/* fab_libfabric_events.c: the completion queue. libfabric_poll may sleep until an event comes. */
int libfabric_progress(struct weir_rank *r);
int libfabric_poll(struct weir_rank *r);

/* fab_libfabric.c */
/* Connects to all peers, with their addresses known. */
int libfabric_connect_peers(struct weir_rank *r);

#endif
#endif
