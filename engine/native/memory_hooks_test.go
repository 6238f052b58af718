//go:build weirtest

package native

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// mapping returns the kernel's entry for the memory at an address of this process: the file behind it ("":
// none), whether it is private, and the fields of /proc/self/smaps in KiB.
func mapping(t *testing.T, at uint64) (file string, private bool, kib map[string]uint64) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kib = map[string]uint64{}
	found := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		var from, to uint64
		if n, _ := fmt.Sscanf(fields[0], "%x-%x", &from, &to); n == 2 {
			if found {
				return file, private, kib
			}
			if found = from <= at && at < to; found {
				private = strings.HasSuffix(fields[1], "p")
				file = strings.Join(fields[5:], " ")
			}
		} else if found && len(fields) == 3 && fields[2] == "kB" {
			kib[strings.TrimSuffix(fields[0], ":")], _ = strconv.ParseUint(fields[1], 10, 64)
		}
	}
	if !found {
		t.Fatalf("nothing is mapped at %x", at)
	}
	return file, private, kib
}

// Data regions have the requested kind of memory: private, or mappable by others. Control words are never in
// private memory.
func TestAllocIsWhatWasAskedFor(t *testing.T) {
	phase.Long(t)
	for _, fabric := range []string{"tcp", "libfabric", "ucx"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			t.Setenv("UCX_TLS", "posix")
			for alloc, change := range map[string]func(*move.Spec){"heap": heap, "fabric": func(*move.Spec) {}} {
				_, ranks := openConnected(t, fabric, []string{"a", "a"}, options(100000, change))
				for _, r := range ranks {
					for region := regionControl; region <= regionSink; region++ {
						base, size := r.memory(region)
						want := alloc == "heap" && region != regionControl
						for _, at := range []uint64{base, base + size - 1} {
							if file, private, _ := mapping(t, at); private != want ||
								private != (file == "" || strings.HasPrefix(file, "[anon")) {
								t.Errorf("alloc %s: region %d: private %v, file %q", alloc, region, private, file)
							}
						}
					}
				}
				closeAll(t, ranks)
			}
		})
	}
}

// Huge pages are used, or the launch says why not: small pages are never used silently. A rank's private
// memory has them over any fabric.
func TestPagesAreWhatWasAskedFor(t *testing.T) {
	phase.Long(t)
	for _, c := range []struct{ pages, alloc, fabrics, words string }{
		{"thp", "fabric", "shm tcp", "this kernel grants no transparent huge pages to shared memory"},
		{"thp", "heap", "tcp ucx libfabric", "this kernel grants no transparent huge pages to private memory"},
		{"2MiB", "fabric", "shm tcp", "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages sets their number"},
		{"2MiB", "heap", "tcp ucx libfabric", "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages sets their number"},
		{"1GiB", "fabric", "shm tcp", "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages sets their number"},
		{"1GiB", "heap", "tcp ucx libfabric",
			"/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages sets their number"},
	} {
		for fabric := range strings.FieldsSeq(c.fabrics) {
			t.Run(strings.Join([]string{c.pages, c.alloc, fabric}, " "), func(t *testing.T) {
				needs(t, fabric)
				o := options(3<<20, withPattern("pairwise", 2),
					func(o *move.Spec) { o.Pages, o.Alloc = c.pages, c.alloc })
				ranks, err := tryCases(t, fabric, 2, o)
				if err != nil {
					if !strings.Contains(err.Error(), c.words) {
						t.Errorf("%v, want %q", err, c.words)
					}
					t.Skip(err)
				}
				checkMoved(t, o, ranks[0], func(rank int) bool { return rank == 0 })
				_, open := openConnected(t, fabric, []string{"a", "a"}, o)
				for _, region := range []int{regionSource, regionSink} {
					base, size := open[0].memory(region)
					_, _, kib := mapping(t, base+size/2)
					if huge := kib["AnonHugePages"] + kib["ShmemPmdMapped"]; c.pages == "thp" && huge < kib["Rss"]/2 {
						t.Errorf("region %d: of %d KiB only %d are in huge pages", region, kib["Rss"], huge)
					}
					if want := uint64(o.ReservedPage()) >> 10; want > 0 &&
						(kib["KernelPageSize"] != want || size>>10 != want*((size>>10)/want)) {
						t.Errorf("region %d: %d bytes in pages of %d KiB", region, size, kib["KernelPageSize"])
					}
				}
				closeAll(t, open)
			})
		}
	}
}

// closeAll closes ranks, which wait for each other.
func closeAll(t *testing.T, ranks []*rank) {
	t.Helper()
	errs := make(chan error, len(ranks))
	for _, r := range ranks {
		go func() { errs <- r.Close() }()
	}
	for range ranks {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// New memory is populated with zeros before a rank uses it; if the kernel cannot populate it, that is an
// error, and no signal ends the process.
func TestNewMemoryIsBroughtIn(t *testing.T) {
	const pages = 64
	bytes := pages * os.Getpagesize()
	fd, err := unix.MemfdCreate("weir", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, int64(bytes)); err != nil {
		t.Fatal(err)
	}
	b, err := unix.Mmap(fd, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	if n := resident(t, b); n != 0 {
		t.Fatalf("%d pages of new memory are there", n)
	}
	if err := clearNew(b); err != nil {
		t.Fatal(err)
	}
	if n := resident(t, b); n != pages {
		t.Errorf("%d of %d pages are there", n, pages)
	}
	if slices.Max(b) != 0 {
		t.Error("new memory is not zero")
	}
	if err := unix.Ftruncate(fd, int64(bytes)/2); err != nil {
		t.Fatal(err)
	}
	if err := clearNew(b); err == nil || !strings.Contains(err.Error(), "touching ") {
		t.Errorf("half of the memory is gone: %v", err)
	}
}

// resident returns the number of pages in memory.
func resident(t *testing.T, b []byte) int {
	t.Helper()
	in := make([]byte, len(b)/os.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		t.Fatal(errno)
	}
	n := 0
	for _, page := range in {
		n += int(page & 1)
	}
	return n
}
