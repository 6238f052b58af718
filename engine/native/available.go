package native

import (
	"fmt"
	"math"
	"os"

	"weir/engine"
	"weir/quantity"
)

// freeMemory is what this host has free; a variable, because tests cannot fill it.
var freeMemory = func() engine.Memory { return engine.FreeMemory(os.DirFS("/")) }

// memoryFits refuses a launch whose ranks on this node together need more memory
// than there was before any of them was started: the kernel would not refuse it but
// kill somebody later.
func (r *rank) memoryFits(region uint64) error {
	free := r.self.Memory
	if free == nil {
		now := freeMemory()
		free = &now
	}
	need, what, ranks := r.needed(region)
	text := fmt.Sprintf("%d ranks with %s need", ranks, what)
	if page := uint64(r.options.ReservedPage()); page > 0 {
		have, known := free.Huge[page]
		if !known || need <= float64(have) {
			return nil // what the kernel has not, allocation itself will say
		}
		text = fmt.Sprintf("%s %.4g huge pages of %v on this node, and %d are free: "+
			"/sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages sets how many there are", text, need/float64(page), quantity.Size(page), have/page, page>>10)
	} else if most, known := free.Nodes[int(r.options.Placement())]; known && need > float64(most) {
		text = fmt.Sprintf("%s %.4g GiB of memory of NUMA node %v, which has %.4g GiB at most", text, need/(1<<30), r.options.Placement(), float64(most)/(1<<30))
	} else {
		if free.Available == 0 || need <= float64(free.Available) {
			return nil
		}
		text = fmt.Sprintf("%s %.4g GiB of memory on this node, and %.4g GiB are available", text, need/(1<<30), float64(free.Available)/(1<<30))
	}
	return &engine.Error{Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -12, Text: text}
}

// needed are the bytes that the ranks on this node need together, in whole pages.
func (r *rank) needed(region uint64) (bytes float64, what string, ranks int) {
	regions := 0
	for i, n := range r.launch.Nodes {
		if n != r.launch.Nodes[r.self.Rank] {
			continue
		}
		ranks++
		if r.cells != nil {
			bytes += r.inPages(r.cellsOf(i))
			continue
		}
		own := regionsOf(r.options, i)
		regions += own * r.launch.Threads()
		bytes += r.inPages(float64(region)*float64(own)) * float64(r.launch.Threads())
	}
	if r.cells != nil {
		return bytes, "the cells of their matrix", ranks
	}
	return bytes, fmt.Sprintf("%d regions of %v", regions, quantity.Size(region)), ranks
}

// inPages rounds up to the huge pages that a thread's memory has, if it has any.
func (r *rank) inPages(bytes float64) float64 {
	page := float64(r.options.ReservedPage())
	if page == 0 {
		return bytes
	}
	return math.Ceil(bytes/page) * page
}

// cellsOf has the same rule as rank.c: who is initiator and target has room to
// probe in beside the cells.
func (r *rank) cellsOf(rank int) float64 {
	local, exposed, probe := r.areas(rank)
	bytes := float64(local) + float64(exposed)
	if local > 0 && exposed > 0 {
		bytes += float64(probe)
	}
	return bytes
}
