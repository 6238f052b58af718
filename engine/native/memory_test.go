package native

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"weir/engine"
	"weir/results"
	"weir/workload/move"
)

func heap(o *move.Spec) { o.Alloc = "heap" }

// mapping is what the kernel says of the memory that holds an address of this process:
// the file behind it ("": none), whether it is private, and the fields of
// /proc/self/smaps in KiB.
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

// What is asked for is what a rank has for data: memory of its own, or such that others can
// map. Words by which ranks meet are never in memory of the first kind.
func TestAllocIsWhatWasAskedFor(t *testing.T) {
	for _, fabric := range []string{"tcp", "libfabric", "ucx"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			t.Setenv("UCX_TLS", "posix")
			for alloc, change := range map[string]func(*move.Spec){"heap": heap, "fabric": func(*move.Spec) {}} {
				_, ranks := opened(t, fabric, []string{"a", "a"}, options(100000, change))
				for _, r := range ranks {
					for region := regionControl; region <= regionSink; region++ {
						base, size := r.memory(region)
						want := alloc == "heap" && region != regionControl
						for _, at := range []uint64{base, base + size - 1} {
							if file, private, _ := mapping(t, at); private != want || private != (file == "" || strings.HasPrefix(file, "[anon")) {
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

// A fabric moves memory that it did not allocate, every byte of it, by each of its ways.
func TestHeapMovesEveryByte(t *testing.T) {
	for _, fabric := range []string{"tcp", "libfabric"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			checkTransfer(t, fabric, []move.Spec{options(8, heap), options(4097, heap, batch4), options(1<<20, heap, read), options(100000, heap, pingpong), options(64<<10, heap, full)})
		})
	}
	for _, env := range []map[string]string{overKernel, overQueue, overSockets, secondProtocols} {
		for _, name := range []string{"rma", "am", "tag", "tag_sync"} {
			t.Run(fmt.Sprint("ucx ", name, " ", env), func(t *testing.T) {
				needs(t, "ucx")
				setenv(t, env)
				cases := []move.Spec{options(8, heap, api(name)), options(4097, heap, batch4, api(name)), options(1<<20+3, heap, full, api(name)), options(100000, heap, pingpong, api(name))}
				if name == "rma" {
					cases = append(cases, options(70000, heap, read))
				}
				checkTransfer(t, "ucx", cases)
			})
		}
	}
}

// secondProtocols are those of UCX 1.16 and later, which older versions have to be asked for.
var secondProtocols = map[string]string{"UCX_TLS": "posix,cma", "UCX_PROTO_ENABLE": "y"}

func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	for k, v := range env {
		t.Setenv(k, v)
	}
}

// The two are not one measurement: what UCX has allocated it may store into, what it has
// not it moves as messages, or since 1.16 through the kernel without a copy of its own,
// which is what NIXL gets. What is read back tells them apart.
func TestHeapTakesAnotherWay(t *testing.T) {
	needs(t, "ucx")
	setenv(t, overKernel)
	posix, cma := results.Transport{Name: "posix", Device: "memory", Use: results.DataUse}, results.Transport{Name: "cma", Device: "memory", Use: results.DataUse}
	allocated, own := []results.Transport{posix}, []results.Transport{posix}
	own[0].Emulated = true
	var major, minor int
	version := (native{}).Probe([]string{"ucx"})["ucx"].Version
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n != 2 {
		t.Fatalf("UCX has version %q", version)
	}
	if major > 1 || minor >= 16 {
		allocated, own = []results.Transport{cma, posix}, []results.Transport{cma}
		allocated[0].Use, allocated[1].Use = results.PossibleUse, results.PossibleUse
	}
	for _, c := range []struct {
		name   string
		change func(*move.Spec)
		want   []results.Transport
	}{
		{"allocated", func(*move.Spec) {}, allocated},
		{"heap", heap, own},
	} {
		t.Run(c.name, func(t *testing.T) {
			var data []results.Transport
			for _, carrier := range runCases(t, "ucx", 2, options(64<<10, c.change))[0][0].Transports {
				carrier.Ranks = nil
				if carrier.Data() {
					data = append(data, carrier)
				}
			}
			if fmt.Sprintf("%+v", data) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("UCX %s: carried by %+v, want %+v", version, data, c.want)
			}
		})
	}
}

// Huge pages are there, or the launch says why not: never small pages unsaid. A rank's
// own memory has them over any fabric.
func TestPagesAreWhatWasAskedFor(t *testing.T) {
	for _, c := range []struct{ pages, alloc, fabrics, words string }{
		{"thp", "fabric", "shm tcp", "this kernel gives no transparent huge pages to shared memory"},
		{"thp", "heap", "tcp ucx libfabric", "this kernel gives no transparent huge pages to private memory"},
		{"2MiB", "fabric", "shm tcp", "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages sets how many"},
		{"2MiB", "heap", "tcp ucx libfabric", "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages sets how many"},
		{"1GiB", "fabric", "shm tcp", "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages sets how many"},
		{"1GiB", "heap", "tcp ucx libfabric", "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages sets how many"},
	} {
		for fabric := range strings.FieldsSeq(c.fabrics) {
			t.Run(strings.Join([]string{c.pages, c.alloc, fabric}, " "), func(t *testing.T) {
				needs(t, fabric)
				o := options(3<<20, under("pairwise", 2), func(o *move.Spec) { o.Pages, o.Alloc = c.pages, c.alloc })
				ranks, err := tryCases(t, fabric, 2, o)
				if err != nil {
					if !strings.Contains(err.Error(), c.words) {
						t.Errorf("%v, want %q", err, c.words)
					}
					t.Skip(err)
				}
				checkMoved(t, o, ranks[0], func(rank int) bool { return rank == 0 })
				_, open := opened(t, fabric, []string{"a", "a"}, o)
				for _, region := range []int{regionSource, regionSink} {
					base, size := open[0].memory(region)
					_, _, kib := mapping(t, base+size/2)
					if huge := kib["AnonHugePages"] + kib["ShmemPmdMapped"]; c.pages == "thp" && huge < kib["Rss"]/2 {
						t.Errorf("region %d: of %d KiB only %d are in huge pages", region, kib["Rss"], huge)
					}
					if want := uint64(o.ReservedPage()) >> 10; want > 0 && (kib["KernelPageSize"] != want || size>>10 != want*((size>>10)/want)) {
						t.Errorf("region %d: %d bytes in pages of %d KiB", region, size, kib["KernelPageSize"])
					}
				}
				closeAll(t, open)
			})
		}
	}
}

// closeAll ends ranks, which wait for each other.
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

// Where nobody knows beforehand that there are none, allocating says the same.
func TestAllocationSaysThatThereAreNoHugePages(t *testing.T) {
	for _, pages := range []string{"2MiB", "1GiB"} {
		for _, alloc := range []string{"fabric", "heap"} {
			o := options(1<<40, func(o *move.Spec) { o.Pages, o.Alloc = pages, alloc })
			l := engine.Launch{Fabric: "tcp", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{caseOf("a", o, patience, 0)}}
			_, err := open(l, engine.Identity{Memory: &engine.Memory{}}, control(t))
			if want := fmt.Sprintf("/sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages sets how many", o.ReservedPage()>>10); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("pages %s, alloc %s: %v, want %q", pages, alloc, err, want)
			}
		}
	}
}
