package native

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"weir/engine"
	"weir/quantity"
)

// memoryFits refuses a launch whose ranks on this node together need more memory
// than there is: the kernel would not refuse it but kill somebody later.
func (r *rank) memoryFits(region uint64) error {
	var here []int
	for i, n := range r.launch.Nodes {
		if n == r.launch.Nodes[r.self.Rank] {
			here = append(here, i)
		}
	}
	need, what := 0., ""
	if r.cells != nil {
		need, what = r.cellsHere(here)
	} else {
		need, what = r.regionsHere(here, region)
	}
	have, err := available()
	if err != nil || need <= have {
		return nil // where the kernel does not say, allocation itself will
	}
	return &engine.Error{Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -12, Text: fmt.Sprintf(
		"%d ranks with %s need %.4g GiB of memory on this node, and %.4g GiB are available", len(here), what, need/(1<<30), have/(1<<30))}
}

func (r *rank) regionsHere(ranks []int, region uint64) (bytes float64, words string) {
	regions := 0
	for _, i := range ranks {
		regions += regionsOf(r.options, i) * r.launch.Threads()
	}
	return float64(region) * float64(regions), fmt.Sprintf("%d regions of %v", regions, quantity.Size(region))
}

// cellsHere has the same rule as rank.c: who is initiator and target has room to
// probe in beside the cells.
func (r *rank) cellsHere(ranks []int) (bytes float64, words string) {
	for _, i := range ranks {
		local, exposed, probe := r.areas(i)
		bytes += float64(local) + float64(exposed)
		if local > 0 && exposed > 0 {
			bytes += float64(probe)
		}
	}
	return bytes, "the cells of their matrix"
}

var memAvailable = regexp.MustCompile(`(?m)^MemAvailable:\s+(\d+) kB$`)

// available is the memory in bytes that can be had without swapping.
func available() (float64, error) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	m := memAvailable.FindSubmatch(b)
	if m == nil {
		return 0, fmt.Errorf("no MemAvailable in /proc/meminfo")
	}
	kib, err := strconv.ParseFloat(string(m[1]), 64)
	return kib * 1024, err
}
