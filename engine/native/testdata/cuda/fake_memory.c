/* Memory of the fake: see fake_cuda.h. */
#define _GNU_SOURCE
#include "fake_cuda.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA ((size_t)64 << 30) /* address space of GPUs, with nothing mapped */
#define MOST_RANGES 4096
#define UNIT ((size_t)2 << 20)
#define TAIL 4096 /* of a file: its owner */

enum sort { FREE, DEVICE_MEMORY, IMPORTED_HANDLE, MAPPED, OF_POOL, RESERVED, HOST };

struct range {
    enum sort sort;
    uint64_t  at;
    size_t    size;
    char     *behind; /* NULL: nothing yet */
    int       fd;     /* of shareable memory; -1: none */
    size_t    offset; /* in the file */
    int       owner;  /* physical index of its GPU */
    int       context;/* the GPU that it was made on, by index in the process */
    unsigned  access; /* bit i: physical GPU i */
    cu_pool   pool;
};

struct cu_pool {
    int      fd, owner;
    size_t   used;
    unsigned access;
    int      imported;
};

struct handle { /* stored at the end of a file */
    uint64_t magic, size;
    int      owner;
};
#define MAGIC 0x77656972u

static struct range    ranges[MOST_RANGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char           *arena;
static size_t          taken;
static size_t          used[MOST_DEVICES];

static size_t round_up(size_t n) { return (n + UNIT - 1) / UNIT * UNIT; }

static size_t memory(void)
{
    const char *text = getenv("FAKE_CUDA_MEMORY");
    return text ? strtoull(text, NULL, 10) : (size_t)4 << 30;
}

static uint64_t addresses(size_t n)
{
    if (!arena) {
        arena = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED)
            abort();
    }
    if (taken + round_up(n) > ARENA)
        return 0;
    uint64_t at = (uint64_t)(size_t)arena + taken;
    taken += round_up(n);
    return at;
}

static struct range *new_range(struct range r)
{
    for (int i = 0; i < MOST_RANGES; i++)
        if (ranges[i].sort == FREE) {
            ranges[i] = r;
            return &ranges[i];
        }
    return NULL;
}

static struct range *range_at(uint64_t at)
{
    for (int i = 0; i < MOST_RANGES; i++)
        if (ranges[i].sort != FREE && at >= ranges[i].at && at - ranges[i].at < ranges[i].size)
            return &ranges[i];
    return NULL;
}

static struct range *range_from(uint64_t at, enum sort sort)
{
    struct range *r = range_at(at);
    return r && r->at == at && r->sort == sort ? r : NULL;
}

static int in_arena(uint64_t at)
{
    return arena && at >= (uint64_t)(size_t)arena && at < (uint64_t)(size_t)arena + ARENA;
}

void *fake_find(uint64_t address, size_t n, int device)
{
    void *found = NULL;
    pthread_mutex_lock(&lock);
    struct range *r = range_at(address);
    if (r && r->behind && address + n <= r->at + r->size &&
        (r->sort == HOST || r->access >> fake_physical(device) & 1))
        found = r->behind + (address - r->at);
    pthread_mutex_unlock(&lock);
    return found;
}

int fake_is_host(uint64_t address)
{
    pthread_mutex_lock(&lock);
    int host = !in_arena(address) && !range_at(address);
    pthread_mutex_unlock(&lock);
    return host;
}

static int visible(void)
{
    const char *text = getenv("FAKE_CUDA_VISIBLE");
    return text && *text;
}

/* Maps a file's memory, of which the GPU has the address at. */
static char *behind(int fd, size_t offset, size_t n, cu_address at)
{
    char *p = mmap(visible() ? (void *)(size_t)at : NULL, n, PROT_READ | PROT_WRITE,
                   MAP_SHARED | (visible() ? MAP_FIXED : 0), fd, (off_t)offset);
    return p == MAP_FAILED ? NULL : p;
}

static void unmap(const struct range *r)
{
    if (visible())
        mmap(r->behind, r->size, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    else
        munmap(r->behind, r->size);
}

static void drop(struct range *r)
{
    if (r->behind && r->sort != HOST)
        unmap(r);
    if (r->fd >= 0)
        close(r->fd);
    *r = (struct range){.sort = FREE, .fd = -1};
}

int fake_release_all(int device)
{
    int left = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_RANGES; i++)
        if (ranges[i].sort != FREE && ranges[i].sort != HOST && ranges[i].context == device)
            left++;
    pthread_mutex_unlock(&lock);
    return left;
}

/* Creates a file of n bytes, followed by its owner. */
static int new_file(size_t n, int owner)
{
    struct handle h  = {MAGIC, n, owner};
    int           fd = memfd_create("stand-in of CUDA", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)(n + TAIL)) < 0 ||
        pwrite(fd, &h, sizeof h, (off_t)n) != sizeof h)
        abort();
    return fd;
}

static int file_is(int fd, struct handle *h)
{
    struct stat s;
    return fstat(fd, &s) == 0 && s.st_size > TAIL &&
           pread(fd, h, sizeof *h, s.st_size - TAIL) == sizeof *h && h->magic == MAGIC &&
           h->size == (uint64_t)s.st_size - TAIL;
}

static int take(int owner, size_t n)
{
    if (used[owner] + n > memory())
        return CU_OUT_OF_MEMORY;
    used[owner] += n;
    return CU_DONE;
}

#define WITH_CONTEXT(c)                                          \
    struct cu_context *c;                                        \
    int                code = fake_current(&c);                  \
    if (code != CU_DONE)                                         \
        return code;                                             \
    int physical = fake_physical(c->device);                     \
    (void)physical

/* ---- plain memory, and handles of it ---- */

int cuMemAlloc_v2(cu_address *out, size_t bytes)
{
    WITH_CONTEXT(c);
    size_t n = round_up(bytes);
    if (!bytes)
        return CU_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if ((code = take(physical, n)) == CU_DONE) {
        int fd = new_file(n, physical);
        *out   = addresses(n);
        char *p = behind(fd, 0, n, *out);
        memset(p, 0xa5, n < UNIT ? n : UNIT); /* memory is not zeroed by default */
        new_range((struct range){DEVICE_MEMORY, *out, n, p, fd, 0, physical, c->device,
                                 1u << physical, NULL});
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int let_go(cu_address p, enum sort sort)
{
    WITH_CONTEXT(c);
    pthread_mutex_lock(&lock);
    struct range *r = range_from(p, sort);
    code            = r ? CU_DONE : CU_INVALID_VALUE;
    if (r && sort == DEVICE_MEMORY)
        used[r->owner] -= r->size;
    if (r)
        drop(r);
    pthread_mutex_unlock(&lock);
    return code;
}

int cuMemFree_v2(cu_address p) { return let_go(p, DEVICE_MEMORY); }

struct ipc {
    uint64_t magic, size;
    int      pid, fd, owner;
};

int cuIpcGetMemHandle(struct cu_shared *out, cu_address p)
{
    WITH_CONTEXT(c);
    pthread_mutex_lock(&lock);
    struct range *r = range_from(p, DEVICE_MEMORY);
    code            = r ? CU_DONE : CU_INVALID_VALUE;
    if (r) {
        struct ipc i = {MAGIC, r->size, getpid(), r->fd, r->owner};
        memset(out, 0, sizeof *out);
        memcpy(out, &i, sizeof i);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int cuIpcOpenMemHandle_v2(cu_address *out, struct cu_shared handle, unsigned flags)
{
    WITH_CONTEXT(c);
    struct ipc i;
    char       path[64];
    memcpy(&i, &handle, sizeof i);
    if (i.magic != MAGIC || flags != CU_LAZY_PEERS)
        return CU_INVALID_VALUE;
    if (i.pid == getpid())
        return INVALID_CONTEXT;
    if (i.owner != physical && !fake_peers_reach())
        return NO_PEER_ACCESS;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", i.pid, i.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NOT_MAPPED;
    pthread_mutex_lock(&lock);
    *out = addresses(i.size);
    new_range((struct range){IMPORTED_HANDLE, *out, i.size, behind(fd, 0, i.size, *out), fd, 0,
                             i.owner, c->device, 1u << physical, NULL});
    pthread_mutex_unlock(&lock);
    return CU_DONE;
}

int cuIpcCloseMemHandle(cu_address p) { return let_go(p, IMPORTED_HANDLE); }

/* ---- physical memory that is mapped ---- */

#define OF_HANDLE(h) ((int)(h) - 1)

static int of_device(const struct cu_allocation *of)
{
    return of->type == CU_PINNED && of->handles == CU_BY_DESCRIPTOR &&
                   of->location.type == CU_ON_DEVICE && of->location.id >= 0 &&
                   of->location.id < fake_devices()
               ? CU_DONE
               : CU_INVALID_VALUE;
}

int cuMemGetAllocationGranularity(size_t *out, const struct cu_allocation *of, int option)
{
    *out = UNIT;
    return option == CU_RECOMMENDED ? of_device(of) : CU_INVALID_VALUE;
}

int cuMemCreate(cu_handle *out, size_t bytes, const struct cu_allocation *of,
                unsigned long long flags)
{
    WITH_CONTEXT(c);
    if (of_device(of) != CU_DONE || bytes % UNIT || !bytes || flags)
        return CU_INVALID_VALUE;
    int owner = fake_physical(of->location.id);
    pthread_mutex_lock(&lock);
    if ((code = take(owner, bytes)) == CU_DONE)
        *out = (cu_handle)new_file(bytes, owner) + 1;
    pthread_mutex_unlock(&lock);
    return code;
}

int cuMemRelease(cu_handle handle)
{
    struct handle h;
    if (!file_is(OF_HANDLE(handle), &h))
        return CU_INVALID_VALUE;
    close(OF_HANDLE(handle));
    return fake_ready();
}

int cuMemAddressReserve(cu_address *out, size_t bytes, size_t alignment, cu_address at,
                        unsigned long long flags)
{
    WITH_CONTEXT(c);
    if (bytes % UNIT || alignment || at || flags)
        return CU_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *out = addresses(bytes);
    new_range((struct range){RESERVED, *out, bytes, NULL, -1, 0, 0, c->device, 0, NULL});
    pthread_mutex_unlock(&lock);
    return CU_DONE;
}

int cuMemAddressFree(cu_address p, size_t bytes)
{
    (void)bytes;
    return let_go(p, RESERVED);
}

int cuMemMap(cu_address p, size_t bytes, size_t offset, cu_handle handle, unsigned long long flags)
{
    WITH_CONTEXT(c);
    struct handle h;
    if (!file_is(OF_HANDLE(handle), &h) || offset || flags || bytes != h.size)
        return CU_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct range *r = range_from(p, RESERVED);
    code            = r && r->size == bytes ? CU_DONE : CU_INVALID_VALUE;
    if (code == CU_DONE) {
        r->sort   = MAPPED;
        r->behind = behind(OF_HANDLE(handle), 0, bytes, p);
        r->owner  = h.owner;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int cuMemUnmap(cu_address p, size_t bytes)
{
    WITH_CONTEXT(c);
    pthread_mutex_lock(&lock);
    struct range *r = range_from(p, MAPPED);
    code            = r && r->size == bytes ? CU_DONE : CU_INVALID_VALUE;
    if (code == CU_DONE) {
        unmap(r);
        r->sort = RESERVED, r->behind = NULL, r->access = 0;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int granted(const struct cu_access *list, size_t n, int owner, unsigned *access)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].location.type != CU_ON_DEVICE || list[i].location.id < 0 ||
            list[i].location.id >= fake_devices() || list[i].flags != CU_READ_AND_WRITE)
            return CU_INVALID_VALUE;
        int to = fake_physical(list[i].location.id);
        if (to != owner && !fake_peers_reach())
            return INVALID_DEVICE;
        *access |= 1u << to;
    }
    return CU_DONE;
}

int cuMemSetAccess(cu_address p, size_t bytes, const struct cu_access *list, size_t n)
{
    WITH_CONTEXT(c);
    pthread_mutex_lock(&lock);
    struct range *r = range_from(p, MAPPED);
    code = r && r->size == bytes ? granted(list, n, r->owner, &r->access) : CU_INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return code;
}

static int duplicate(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        abort();
    return copy;
}

int cuMemExportToShareableHandle(void *out, cu_handle handle, int type, unsigned long long flags)
{
    struct handle h;
    if (!file_is(OF_HANDLE(handle), &h) || type != CU_BY_DESCRIPTOR || flags)
        return CU_INVALID_VALUE;
    *(int *)out = duplicate(OF_HANDLE(handle));
    return fake_ready();
}

int cuMemImportFromShareableHandle(cu_handle *out, void *from, int type)
{
    WITH_CONTEXT(c);
    struct handle h;
    int           fd = (int)(size_t)from;
    if (type != CU_BY_DESCRIPTOR || !file_is(fd, &h))
        return CU_INVALID_VALUE;
    *out = (cu_handle)duplicate(fd) + 1;
    return CU_DONE;
}

int cuMemGetHandleForAddressRange(void *out, cu_address p, size_t bytes, int type,
                                  unsigned long long flags)
{
    (void)out, (void)p, (void)bytes, (void)type, (void)flags;
    return CU_INVALID_VALUE; /* it has no dma_buf */
}

/* ---- pools ---- */

#define POOL_BYTES ((size_t)1 << 30)

int cuMemPoolCreate(cu_pool *out, const struct cu_pool_of *of)
{
    WITH_CONTEXT(c);
    if (of->type != CU_PINNED || of->handles != CU_BY_DESCRIPTOR ||
        of->location.type != CU_ON_DEVICE || of->location.id != c->device)
        return CU_INVALID_VALUE;
    if (!(*out = calloc(1, sizeof **out)))
        return CU_OUT_OF_MEMORY;
    **out = (struct cu_pool){new_file(POOL_BYTES, physical), physical, 0, 1u << physical, 0};
    return CU_DONE;
}

int cuMemPoolDestroy(cu_pool pool)
{
    close(pool->fd);
    free(pool);
    return fake_ready();
}

int cuMemPoolSetAccess(cu_pool pool, const struct cu_access *list, size_t n)
{
    WITH_CONTEXT(c);
    return granted(list, n, pool->owner, &pool->access);
}

int cuMemPoolExportToShareableHandle(void *out, cu_pool pool, int type, unsigned long long flags)
{
    if (type != CU_BY_DESCRIPTOR || flags || pool->imported)
        return CU_INVALID_VALUE;
    *(int *)out = duplicate(pool->fd);
    return fake_ready();
}

int cuMemPoolImportFromShareableHandle(cu_pool *out, void *from, int type,
                                       unsigned long long flags)
{
    WITH_CONTEXT(c);
    struct handle h;
    int           fd = (int)(size_t)from;
    if (type != CU_BY_DESCRIPTOR || flags || !file_is(fd, &h))
        return CU_INVALID_VALUE;
    if (!(*out = calloc(1, sizeof **out)))
        return CU_OUT_OF_MEMORY;
    **out = (struct cu_pool){duplicate(fd), h.owner, 0, 1u << h.owner, 1};
    return CU_DONE;
}

int cuMemAllocFromPoolAsync(cu_address *out, size_t bytes, cu_pool pool, cu_stream stream)
{
    WITH_CONTEXT(c);
    size_t n = round_up(bytes);
    if (!stream)
        return INVALID_HANDLE;
    if (!bytes || pool->imported)
        return CU_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    code = pool->used + n > POOL_BYTES ? CU_OUT_OF_MEMORY : take(pool->owner, n);
    if (code == CU_DONE) {
        *out = addresses(n);
        new_range((struct range){OF_POOL, *out, n, behind(pool->fd, pool->used, n, *out), -1,
                                 pool->used, pool->owner, c->device, pool->access, pool});
        pool->used += n;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int cuMemFreeAsync(cu_address p, cu_stream stream)
{
    return stream ? let_go(p, OF_POOL) : INVALID_HANDLE;
}

struct in_pool {
    uint64_t offset, size;
};

int cuMemPoolExportPointer(struct cu_shared *out, cu_address p)
{
    WITH_CONTEXT(c);
    pthread_mutex_lock(&lock);
    struct range *r = range_from(p, OF_POOL);
    code            = r ? CU_DONE : CU_INVALID_VALUE;
    if (r) {
        struct in_pool i = {r->offset, r->size};
        memset(out, 0, sizeof *out);
        memcpy(out, &i, sizeof i);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int cuMemPoolImportPointer(cu_address *out, cu_pool pool, struct cu_shared *from)
{
    WITH_CONTEXT(c);
    struct in_pool i;
    memcpy(&i, from, sizeof i);
    if (!pool->imported || i.offset + i.size > POOL_BYTES)
        return CU_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *out = addresses(i.size);
    new_range((struct range){OF_POOL, *out, i.size, behind(pool->fd, i.offset, i.size, *out), -1,
                             i.offset, pool->owner, c->device, pool->access, pool});
    pthread_mutex_unlock(&lock);
    return CU_DONE;
}

/* ---- host memory registered with GPUs ---- */

static int show(void *p, size_t bytes)
{
    pthread_mutex_lock(&lock);
    uint64_t      at = (uint64_t)(size_t)p;
    struct range *r  = range_at(at);
    int           rc = r ? ALREADY_REGISTERED : CU_DONE;
    if (!r)
        new_range((struct range){HOST, at, bytes, p, -1, 0, 0, -1, 0, NULL});
    pthread_mutex_unlock(&lock);
    return rc;
}

static int hide(void *p)
{
    pthread_mutex_lock(&lock);
    struct range *r = range_from((uint64_t)(size_t)p, HOST);
    if (r)
        drop(r);
    pthread_mutex_unlock(&lock);
    return r ? CU_DONE : NOT_REGISTERED;
}

int cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    WITH_CONTEXT(c);
    if (flags != (CU_PORTABLE | CU_MAPPED))
        return CU_INVALID_VALUE;
    *out = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *out ? show(*out, bytes) : CU_OUT_OF_MEMORY;
}

int cuMemFreeHost(void *p)
{
    int rc = hide(p);
    if (rc == CU_DONE)
        free(p);
    return rc;
}

int cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags)
{
    WITH_CONTEXT(c);
    return flags == (CU_PORTABLE | CU_MAPPED) ? show(p, bytes) : CU_INVALID_VALUE;
}

int cuMemHostUnregister(void *p) { return fake_ready() ? fake_ready() : hide(p); }

int cuMemHostGetDevicePointer_v2(cu_address *out, void *p, unsigned flags)
{
    WITH_CONTEXT(c);
    pthread_mutex_lock(&lock);
    struct range *r = range_at((uint64_t)(size_t)p);
    code            = r && r->sort == HOST && !flags ? CU_DONE : CU_INVALID_VALUE;
    *out            = (cu_address)(size_t)p;
    pthread_mutex_unlock(&lock);
    return code;
}
