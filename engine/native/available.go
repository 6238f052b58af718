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
	ranks, regions := 0, 0
	for i, n := range r.launch.Nodes {
		if n == r.launch.Nodes[r.self.Rank] {
			ranks++
			regions += regionsOf(r.options, i) * r.launch.Threads()
		}
	}
	need := float64(region) * float64(regions)
	have, err := available()
	if err != nil || need <= have {
		return nil // where the kernel does not say, allocation itself will
	}
	return &engine.Error{Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -12, Text: fmt.Sprintf(
		"%d ranks with %d regions of %v need %.4g GiB of memory on this node, and %.4g GiB are available", ranks, regions, quantity.Size(region), need/(1<<30), have/(1<<30))}
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
