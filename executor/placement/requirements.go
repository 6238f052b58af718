package placement

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// Requirements are what each node of a launch must have besides processors and GPUs.
type Requirements struct {
	NICs      int
	Driver    string           // of the NICs; "": any
	HugePages map[string]int64 // free bytes, by size of a page
	// LockedMemory is how much a process must be able to lock, in bytes; math.MaxInt64: without a limit; 0: any.
	LockedMemory int64
}

// lacks describes what a node lacks, each with what to do about it.
func (r Requirements) lacks(name string, n results.Node) (why []string) {
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if there := countDevices(n, r.Driver); there < r.NICs {
		what := "NICs"
		if r.Driver != "" {
			what += " of driver " + r.Driver
		}
		add("%s on node %s (needed: %d, there: %d; ls /sys/class/infiniband lists devices, and a pod has those that its "+
			"resources name)", what, name, r.NICs, there)
	}
	for _, page := range slices.Sorted(maps.Keys(r.HugePages)) {
		need, there := r.HugePages[page], freePages(n, page)
		if there >= need {
			continue
		}
		size, _ := quantity.ParseSize(page) // the loader has checked it
		count := (need + int64(size) - 1) / max(int64(size), 1)
		add("free huge pages of %s on node %s (needed: %v, there: %v; %d in "+
			"/sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages reserves them, and a pod has those of its resource "+
			"hugepages-%s)", page, name, quantity.Size(need), quantity.Size(there), count, size>>10, page[:len(page)-1])
	}
	if limit := lockLimit(n); limit < r.LockedMemory {
		need := "unlimited"
		if r.LockedMemory < math.MaxInt64 {
			need = quantity.Size(r.LockedMemory).String()
		}
		add("locked memory on node %s (needed: %s, there: %v; raise ulimit -l where the agent starts)", name, need,
			quantity.Size(limit))
	}
	return why
}

// countDevices counts the RDMA devices and network interfaces of a driver. Without a driver, it counts those that
// ranks may have to themselves.
func countDevices(n results.Node, driver string) (count int) {
	if driver == "" {
		return len(DataDevices(n))
	}
	for _, d := range n.RDMA {
		if d.Driver == driver {
			count++
		}
	}
	if count > 0 {
		return count
	}
	for _, d := range n.NICs {
		if d.Driver == driver {
			count++
		}
	}
	return count
}

// freePages are the bytes of free huge pages of a size.
func freePages(n results.Node, page string) int64 {
	for _, h := range n.Memory.Hugepages {
		if quantity.Size(h.Size).String() == page {
			return h.Size * int64(h.Free)
		}
	}
	return 0
}

// lockLimit is how much a process may lock, in bytes. An unknown limit is none.
func lockLimit(n results.Node) int64 {
	limit, err := strconv.ParseInt(n.Memory.LockLimit, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return limit
}
