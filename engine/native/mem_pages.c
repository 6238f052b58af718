/* Page sizes of host memory: transparent huge pages where the kernel grants them, and reserved
 * ones. It is an error if there are none, because results with small pages would carry the wrong
 * name. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <linux/memfd.h>

#include "memory.h"

int weir_memory_failed(struct weir_err *err, const char *what, size_t bytes)
{
    int e = errno;
    err->code = -e;
    struct rlimit as;
    int n = snprintf(err->text, sizeof err->text, "%s %zu bytes of host memory: %s", what, bytes,
                     strerror(e));
    if (e == ENOMEM && getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY) {
        snprintf(
            err->text + n, sizeof err->text - (size_t)n,
            "; this process may have %llu KiB of address space: raise the limit with ulimit -v",
            (unsigned long long)as.rlim_cur / 1024);
    }
    return -e;
}

const struct weir_reserved *weir_reserved(int pages)
{
    static const struct weir_reserved sizes[] = {
        [PAGES_2MIB] = {(size_t)2 << 20, MFD_HUGETLB | MFD_HUGE_2MB,
                        MAP_HUGETLB | (int)MFD_HUGE_2MB, "2MiB"},
        /* the same bits for mmap */
        [PAGES_1GIB] = {(size_t)1 << 30, MFD_HUGETLB | MFD_HUGE_1GB,
                        MAP_HUGETLB | (int)MFD_HUGE_1GB, "1GiB"},
    };
    return pages >= 0 && (size_t)pages < sizeof sizes / sizeof *sizes && sizes[pages].size
               ? &sizes[pages]
               : NULL;
}

int weir_reserved_failed(struct weir_err *err, const struct weir_reserved *of, size_t bytes)
{
    int e = errno;
    err->code = -e;
    snprintf(err->text, sizeof err->text,
             "pages %s: the kernel has no %zu free huge pages of that size (%s): "
             "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages sets their number, "
             "free_hugepages beside it shows the free ones",
             of->name, bytes / of->size, strerror(e), of->size >> 10);
    return -e;
}

int weir_thp_granted(struct weir_err *err, const char *sort, const char *policy, const char *enough)
{
    char text[128] = "";
    FILE *f = fopen(policy, "re");
    if (f) {
        size_t n = fread(text, 1, sizeof text - 1, f);
        text[n] = 0;
        fclose(f);
    }
    static const char *const grants[] = {"[always]", "[advise]", "[madvise]", "[within_size]",
                                         "[force]"};
    for (size_t i = 0; i < sizeof grants / sizeof *grants; i++) {
        if (strstr(text, grants[i])) {
            return 0;
        }
    }
    text[strcspn(text, "\n")] = 0;
    err->code = -EOPNOTSUPP;
    snprintf(err->text, sizeof err->text,
             "pages thp: this kernel grants no transparent huge pages to %s memory (%s is '%s', "
             "needs %s)",
             sort, policy, text, enough);
    return err->code;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static _Thread_local _Atomic uint64_t *heartbeat;

void weir_memory_set_heartbeat(_Atomic uint64_t *of_rank) { heartbeat = of_rank; }

void weir_memory_heartbeat(void)
{
    if (heartbeat) {
        atomic_fetch_add_explicit(heartbeat, 1, memory_order_relaxed);
    }
}

int weir_populate(char *p, size_t bytes)
{
    for (size_t off = 0; off < bytes; off += WEIR_PIECE) {
        size_t n = bytes - off < WEIR_PIECE ? bytes - off : WEIR_PIECE;
        if (madvise(p + off, n, MADV_POPULATE_WRITE) < 0) {
            return -1;
        }
        weir_memory_heartbeat();
    }
    return 0;
}

int weir_thp(struct weir_err *err, char *p, size_t bytes)
{
    if (madvise(p, bytes, MADV_HUGEPAGE) < 0 || (weir_populate(p, bytes) < 0 && errno != EINVAL)) {
        return weir_memory_failed(err, "requesting transparent huge pages for", bytes);
    }
    return 0;
}
