/* libfabric.h: what the files that drive libfabric share: the library's functions,
 * the provider that was chosen, and the state of a rank on it. */
#ifndef WEIR_LIBFABRIC_H
#define WEIR_LIBFABRIC_H

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

/* The whole foreign interface; all else goes through the library's own tables of
 * functions. Versions are pinned: fi_info grew with FABRIC_1.7, and a lookup without
 * a version takes the library's newest. */
#define LIBFABRIC_SYMBOLS(F)                                                           \
    F(fi_version, "FABRIC_1.0")                                                        \
    F(fi_strerror, "FABRIC_1.0") F(fi_tostr, "FABRIC_1.0") F(fi_getinfo, "FABRIC_1.3") \
        F(fi_freeinfo, "FABRIC_1.3") F(fi_dupinfo, "FABRIC_1.3") F(fi_fabric, "FABRIC_1.1")

#define LIBFABRIC_MEMBER(f, version) __typeof__(f) *f;
struct libfabric_api {
    LIBFABRIC_SYMBOLS(LIBFABRIC_MEMBER)
};
extern struct libfabric_api libfabric;

int libfabric_load(char *why, size_t cap); /* 0, or a negative errno and why */
/* A function of FABRIC_1.0 that some libraries may not have; NULL: this one has not. */
void *libfabric_symbol(const char *name);

/* Writes a line to stderr for each variable FI_… that is set and that libfabric, whose
 * providers have been asked, does not know; package fabric reads it in the rank's log. */
void libfabric_unknown_variables(void);

/* How this rank knows that what it wrote is in the target's memory. Asked for in
 * this order; the first that a provider grants is used. */
enum libfabric_delivery {
    DELIVERY_COMPLETION, /* a write completes when its data is there (FI_DELIVERY_COMPLETE) */
    /* a read with FI_FENCE waits for the writes before it and sees what they did */
    DELIVERY_FENCE,
    DELIVERY_ORDER,      /* a read after writes is carried out after them (FI_ORDER_RAW) */
    DELIVERY_WAYS,
};
extern const char *const libfabric_delivery_words[DELIVERY_WAYS];

/* For tests, of what no provider here has: a bit per way that may be chosen (all of
 * them), and the most bytes of one operation (0: as the provider says). */
#define LIBFABRIC_ALL_WAYS ((1u << DELIVERY_WAYS) - 1)
/* How long a rank waits for a lower one to connect, before it connects itself. */
#define LIBFABRIC_LISTENING 500000000 /* ns */
#ifdef WEIR_TEST
extern unsigned libfabric_ways;
extern size_t   libfabric_piece;
extern int64_t  libfabric_listening;
#else
static const int64_t  libfabric_listening = LIBFABRIC_LISTENING;
static const unsigned libfabric_ways  = LIBFABRIC_ALL_WAYS;
static const size_t   libfabric_piece = 0;
#endif

/* The provider and interface to use, owned by the caller; NULL and the error filled if there is
 * none. */
struct fi_info *libfabric_choose(struct weir_rank *r, enum libfabric_delivery *way);
void            libfabric_probe(struct weir_info *out);

/* One operation that the provider works on. */
struct libfabric_op {
    struct fi_context2   context; /* first: the provider's while the operation runs */
    struct libfabric_op *next;    /* in the list of free ones */
    struct libfabric_op *whole;   /* of a request in pieces: the one that counts them */
    struct weir_req     *q;       /* told when the whole is done; NULL: nobody */
    uint32_t             left;    /* pieces of the whole */
    int                  peer;
    const char          *name;
};

struct libfabric_there { /* a region of a peer */
    uint64_t base, key;
};

struct libfabric_peer {
    fi_addr_t        address;
    struct libfabric_there regions[REGIONS]; /* but its source */
    uint32_t         outstanding; /* operations to it */
    struct weir_req *flush;       /* told when there are none */
    struct weir_req  awaited;     /* of an operation that this rank waits for at once */
    uint32_t         ping, pieces; /* the message that is arriving, and its pieces that have */
    uint32_t         looks; /* for it, in vain */
};

struct libfabric_rank {
    struct weir_fabric      table; /* weir_fab_libfabric with what the provider can do in caps */
    struct fi_info         *info;
    struct fid_fabric      *fabric;
    struct fid_domain      *domain;
    struct fid_av          *av;
    struct fid_cq          *cq;
    int                     file; /* of its events, for who sleeps */
    struct fid_ep          *ep;
    struct fid_mr          *mr[REGIONS];
    void                   *desc[REGIONS]; /* as the local end of an operation */
    enum libfabric_delivery delivery;
    size_t                  piece; /* most bytes of one operation */
    /* most bytes of one that completes when it is posted; 0: none does */
    size_t                  inject;
    struct libfabric_op    *ops, *free;
    size_t                  nops;
    struct libfabric_peer  *peers;
    uint64_t               *heard; /* by lower rank: what it last wrote to connect */
    struct weir_err         broken; /* the first error that a completion queue told; it stays */
};

/* libfabric_wire.c: opening, registering, addresses, connecting. */
int     libfabric_open(struct weir_rank *r);
int     libfabric_attach(struct weir_rank *r, enum weir_region_name name);
int64_t libfabric_address(struct weir_rank *r, void *buf, size_t cap);
int     libfabric_connect(struct weir_rank *r, const char *const *blobs, const size_t *lens);
void    libfabric_transport(struct weir_rank *r, int peer, char *buf, size_t cap);
void    libfabric_carriers(struct weir_rank *r, int peer, char *list);
int     libfabric_disconnect(struct weir_rank *r);
int     libfabric_close(struct weir_rank *r);

/* fab_libfabric.c */
int libfabric_progress(struct weir_rank *r);
/* connects to all peers, whose addresses are known */
int libfabric_meet(struct weir_rank *r);

#endif
#endif
