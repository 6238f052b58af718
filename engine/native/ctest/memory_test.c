/* Tests of host memory: copies between kinds, sharing between processes, and population. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../memory.h"
#include "../sys_vector.h"
#include "../weir.h"
#include "hidden.h"
#include "memory_test.h"

/* Copies between any two kinds, more than a piece at a time. */
static int copies_between_kinds(void)
{
    const struct weir_memory *kinds[] = {&weir_mem_dram, &weir_mem_heap, &hidden_memory};
    const size_t n = 40001;
    int bad = 0;
    for (int i = 0; i < 9; i++) {
        struct weir_region from, to;
        struct weir_err err = {0};
        int64_t wrong = 0, torn = 0;
        if (kinds[i / 3]->alloc(n + 1, PAGES_DEFAULT, &from, &err) < 0 ||
            kinds[i % 3]->alloc(n + 1, PAGES_DEFAULT, &to, &err) < 0) {
            return 1;
        }
        from.kind->fill(from.base, n + 1, 5, &err);
        bad |= memory_copy(to.kind, to.base, from.kind, from.base, n, &err) < 0;
        to.kind->check(to.base, n, 5, &torn, &err);
        to.kind->check(to.base, n + 1, 5, &wrong, &err);
        bad |= torn != -1 || wrong != (int64_t)n;
        from.kind->free(&from);
        to.kind->free(&to);
    }
    printf("%s memory of any kind is copied to any\n", bad ? "FAIL" : "ok  ");
    return bad;
}

/* Memory exported by one process is imported by another; private memory is not exported. */
static int shares_memory(void)
{
    struct weir_region mine, theirs, own, none;
    struct weir_err err = {0};
    int64_t wrong = 0;
    struct weir_handle handle;
    if (weir_mem_dram.alloc(5000, PAGES_DEFAULT, &mine, &err) < 0 ||
        weir_mem_dram.export(&mine, &handle, &err) < 0 ||
        weir_mem_dram.import(&handle, 5000, &theirs, &err) < 0 ||
        weir_mem_heap.alloc(5000, PAGES_DEFAULT, &own, &err) < 0) {
        return 1;
    }
    theirs.kind->fill(theirs.base, 5000, 7, &err);
    mine.kind->check(mine.base, 5000, 7, &wrong, &err);
    int refused = own.kind->export(&own, &handle, &err) < 0 &&
                  strstr(err.text, "kind heap cannot be shared") &&
                  own.kind->import(&handle, 5000, &none, &err) < 0;
    int good = wrong == -1 && theirs.base != mine.base && refused;
    mine.kind->free(&mine);
    theirs.kind->free(&theirs);
    own.kind->free(&own);
    printf("%s memory is shared by its kind\n", good ? "ok  " : "FAIL");
    return !good;
}

/* Returns the bytes of a region with pages in this process's page table; -1: unknown. (The counters
 * of /proc/self/statm are off by a few pages.) */
static long mapped_bytes(const struct weir_region *g)
{
    long page = sysconf(_SC_PAGESIZE), mapped = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry;
    if (fd < 0) {
        return -1;
    }
    for (size_t at = 0; at < g->size; at += (size_t)page) {
        off_t place = (off_t)(((uintptr_t)g->base + at) / (uintptr_t)page * sizeof entry);
        if (pread(fd, &entry, sizeof entry, place) != sizeof entry) {
            mapped = -1;
            break;
        }
        mapped += entry >> 63 ? page : 0; /* the present bit */
    }
    close(fd);
    return mapped;
}

/* Long operations on memory advance the heartbeat between pieces: reserving, populating,
 * clearing. */
static int memory_beats(void)
{
    enum { PIECES = 3 };
    const struct weir_memory *kinds[] = {&weir_mem_dram, &weir_mem_heap};
    int good = 1;
    for (int i = 0; i < 2; i++) {
        _Atomic uint64_t beats = 0;
        struct weir_region g;
        struct weir_err err = {0};
        weir_memory_set_heartbeat(&beats);
        if (kinds[i]->alloc(PIECES * WEIR_PIECE, PAGES_DEFAULT, &g, &err) < 0) {
            return 1;
        }
        uint64_t allocated = atomic_load(&beats);
        good &= kinds[i]->clear(&g, &err) == 0 && atomic_load(&beats) >= allocated + PIECES;
        uint64_t brought_in = atomic_load(&beats);
        good &= host_clear(&g, &err) == 0 && atomic_load(&beats) >= brought_in + 2 * PIECES;
        weir_memory_set_heartbeat(NULL);
        kinds[i]->free(&g);
    }
    printf("%s work on much memory shows life\n", good ? "ok  " : "FAIL");
    return !good;
}

/* Imported memory is populated as its owner says, and all of it is the same memory. */
static int maps_at_once(void)
{
    enum { SIZE = 32 << 20 };
    struct weir_region mine, theirs;
    struct weir_err err = {0};
    struct weir_handle handle;
    const size_t at_once[] = {SIZE, 4 << 20, 0};
    long mapped[3];
    int good = 1;
    if (weir_mem_dram.alloc(SIZE, PAGES_DEFAULT, &mine, &err) < 0 ||
        weir_mem_dram.export(&mine, &handle, &err) < 0) {
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        handle.populated = at_once[i];
        if (weir_mem_dram.import(&handle, SIZE, &theirs, &err) < 0) {
            return 1;
        }
        mapped[i] = mapped_bytes(&theirs);
        theirs.base[SIZE - 1] = (char)(5 + i);
        good &= mine.base[SIZE - 1] == 5 + i;
        theirs.kind->free(&theirs);
    }
    mine.kind->free(&mine);
    if (getenv("WEIR_EMULATED")) { /* qemu-user says of all memory that none is mapped */
        printf(
            "skipped: memory is imported with the pages that it says: not told by an emulator\n");
        return !good;
    }
    good &= mapped[0] > SIZE / 2 && mapped[1] >= 4 << 20 && mapped[1] < SIZE / 4;
    good &= mapped[2] < SIZE / 8;
    printf("%s memory is imported with the pages that it says: %ld, %ld and %ld bytes\n",
           good ? "ok  " : "FAIL", mapped[0], mapped[1], mapped[2]);
    return !good;
}

/* The processor has the vector instructions that the compiler's runtime finds. */
static int finds_vectors(void)
{
    int want = 0;
#if defined(__x86_64__)
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512vl");
    want = avx512 ? 512 : __builtin_cpu_supports("avx2") ? 256 : 0;
#endif
    printf("%s vectors of %d bits\n", vector_bits() == want ? "ok  " : "FAIL", vector_bits());
    return vector_bits() != want;
}

int memory_tested(void)
{
    return finds_vectors() + copies_between_kinds() + shares_memory() + maps_at_once() +
           memory_beats();
}
