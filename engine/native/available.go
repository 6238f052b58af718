package native

/*
#include "weir.h"
*/
import "C"

import (
	"fmt"
	"math"
	"os"

	"weir/engine"
	"weir/fabric"
	"weir/quantity"
	"weir/workload/move"
)

// freeMemory is what this host has free; a variable, because tests cannot fill it.
var freeMemory = func() engine.Memory { return engine.FreeMemory(os.DirFS("/")) }

// memoryFits refuses a launch whose ranks on this node together need more memory
// than there was before any of them was started: the kernel would not refuse it but
// kill somebody later.
func (r *rank) memoryFits() error {
	need, ranks, err := r.needed()
	if err != nil {
		return err
	}
	return r.fits(r.options, fmt.Sprintf("%d ranks with %s need", ranks, r.buffers()), need)
}

// fits is memoryFits of so many bytes, placed and in pages as options say; what names what
// needs them.
func (m *member) fits(o move.Spec, what string, need float64) error {
	free := m.self.Memory
	if free == nil {
		now := freeMemory()
		free = &now
	}
	if page := uint64(o.ReservedPage()); page > 0 {
		have, known := free.Huge[page]
		if !known || need <= float64(have) {
			return nil // what the kernel has not, allocation itself will say
		}
		what = fmt.Sprintf("%s %.4g huge pages of %v on this node, and %d are free: "+
			"/sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages sets how many there are", what, need/float64(page),
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

// needed are the bytes that the regions with data of the ranks on this node need together,
// and the regions of control beside them where those have pages of the same size.
func (r *rank) needed() (bytes float64, ranks int, err error) {
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
			each += r.inPages(l.source)
		}
		if r.options.Target != fabric.VRAM {
			each += r.inPages(l.sink)
		}
		if !reserved {
			each += float64(C.weir_control_bytes(C.int(r.launch.Ranks)))
		}
		bytes += each * float64(r.launch.Threads())
		ranks++
	}
	return bytes, ranks, nil
}

// buffers are what memory is mostly for, in words.
func (r *rank) buffers() string {
	if r.cells != nil {
		return "the cells of their matrix"
	}
	return fmt.Sprintf("buffers of %v", quantity.Size(r.buffer))
}

// inPages rounds up to the huge pages that a region has, if it has any.
func (r *rank) inPages(bytes uint64) float64 {
	page := float64(r.options.ReservedPage())
	if page == 0 {
		return float64(bytes)
	}
	return math.Ceil(float64(bytes)/page) * page
}
