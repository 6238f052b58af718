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
func (r *rank) memoryFits(footprint uint64) error {
	ranks := uint64(0)
	for _, n := range r.launch.Nodes {
		if n == r.launch.Nodes[r.self.Rank] {
			ranks++
		}
	}
	need := 2 * float64(footprint) * float64(ranks) // a source and a target area for each
	have, err := available()
	if err != nil || need <= have {
		return nil // where the kernel does not say, allocation itself will
	}
	return &engine.Error{Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -12, Text: fmt.Sprintf(
		"%d ranks with requests of %v need %.4g GiB of memory on this node, and %.4g GiB are available", ranks, quantity.Size(footprint), need/(1<<30), have/(1<<30))}
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
