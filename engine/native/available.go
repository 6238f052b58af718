package native

/*
#include "weir.h"
*/
import "C"

import (
	"fmt"
	"math"
	"os"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// freeMemory returns the free memory of this host; a variable, because tests cannot fill it.
var freeMemory = func() engine.Memory { return engine.FreeMemory(os.DirFS("/")) }

// checkMemory refuses a launch if its ranks on this node need more memory than was free before any of them
// started: the kernel would not refuse it but kill a process later.
func (r *rank) checkMemory() error {
	need, ranks, err := r.requiredMemory()
	if err != nil {
		return err
	}
	return r.checkFree(r.options, fmt.Sprintf("%d ranks with %s need", ranks, r.buffers()), need)
}

// checkFree checks that need bytes are free, with the placement and page size of the options; what names the
// consumers.
func (m *member) checkFree(o move.Spec, what string, need float64) error {
	free := m.self.Memory
	if free == nil {
		now := freeMemory()
		free = &now
	}
	if page := uint64(o.ReservedPage()); page > 0 {
		have, known := free.Huge[page]
		if !known || need <= float64(have) {
			return nil // unknown to the kernel: allocation will report it
		}
		what = fmt.Sprintf("%s %.4g huge pages of %v on this node, and %d are free: "+
			"/sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages sets their number", what, need/float64(page),
			quantity.Size(page), have/page, page>>10)
	} else if most, known := free.Nodes[int(o.Placement())]; known && need > float64(most) {
		what = fmt.Sprintf("%s %.4g GiB of memory of NUMA node %v, which has %.4g GiB at most", what, need/(1<<30),
			o.Placement(), float64(most)/(1<<30))
	} else {
		if free.Available == 0 || need <= float64(free.Available) {
			return nil
		}
		what = fmt.Sprintf("%s %.4g GiB of memory on this node, and %.4g GiB are available", what, need/(1<<30),
			float64(free.Available)/(1<<30))
	}
	return &engine.Error{Fabric: m.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -12, Text: what}
}

// requiredMemory returns the bytes of the data regions of all ranks on this node, plus their control regions if those
// have the same page size.
func (r *rank) requiredMemory() (bytes float64, ranks int, err error) {
	reserved := r.options.ReservedPage() > 0
	for i, n := range r.launch.Nodes {
		if n != r.launch.Nodes[r.self.Rank] {
			continue
		}
		l, err := r.layout(i)
		if err != nil {
			return 0, 0, err
		}
		var each float64
		if r.options.Initiator != fabric.VRAM {
			each += r.roundToPages(l.source)
		}
		if r.options.Target != fabric.VRAM {
			each += r.roundToPages(l.sink)
		}
		if !reserved {
			each += float64(C.weir_control_bytes(C.int(r.launch.Ranks)))
		}
		bytes += each * float64(r.launch.Threads())
		ranks++
	}
	return bytes, ranks, nil
}

// buffers describes the main use of memory, for errors.
func (r *rank) buffers() string {
	if r.cells != nil {
		return "the cells of their matrix"
	}
	return fmt.Sprintf("buffers of %v", quantity.Size(r.buffer))
}

// roundToPages rounds up to a region's huge pages, if it has any.
func (r *rank) roundToPages(bytes uint64) float64 {
	page := float64(r.options.ReservedPage())
	if page == 0 {
		return float64(bytes)
	}
	return math.Ceil(float64(bytes)/page) * page
}
