package native

/*
#include "mem_vram.h"
#include "memory.h"
*/
import "C"

import (
	"os"

	"weir/engine"
	"weir/fabric"
	"weir/quantity"
	"weir/workload/move"
)

// layout are a rank's regions, in bytes, as struct weir_layout has them. Nothing on the C
// side works out a size or a place by itself: it keeps to these and to those of the case.
type layout struct {
	source, sink uint64
	first        uint64 // in the source: where offsets in it are counted from
	probe        uint64 // in the sink: where ceilings are probed; 0: peers use no part of it
	used         uint64 // of the sink, by peers
}

// skew is an odd number of pages. Regions begin at multiples of 256 MiB (see weir_map), and
// a source that begins so much later is never taken for the sink by a first-level cache.
const skew = 17 * 4096

// mostBytes is more than any address space has.
const mostBytes = 1 << 60

// layout is that of any rank of the launch, with one thread of it.
func (r *rank) layout(rank int) (layout, error) {
	local, exposed, probe, served := r.moved(rank)
	if max(local, exposed, probe) > mostBytes {
		return layout{}, &engine.Error{
			Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -7, Text: "buffers of " +
				quantity.Size(max(local, exposed, probe)).String() + " do not fit into any memory",
		}
	}
	l := layout{first: skew, source: skew + area(max(local, probe)), sink: area(max(exposed, probe))}
	if served { // peers need what is in the sink while this rank probes
		l.probe = l.sink + 2*skew // as far from the source as from what peers use
		l.sink = l.probe + area(probe)
		l.used = exposed
	}
	return l, nil
}

// moved are the bytes of a rank's source and sink that requests move, the bytes that it
// probes its ceilings with, and whether peers use its sink.
func (r *rank) moved(rank int) (local, exposed, probe uint64, served bool) {
	if r.cells != nil {
		local, exposed, probe = r.areas(rank)
		return local, exposed, probe, exposed > 0
	}
	targets, sources := len(r.options.Targets(rank)), len(r.options.Sources(rank))
	if targets > 0 {
		probe = r.buffer
	}
	most := mostBytes / uint64(max(1, targets, sources))
	if r.buffer > most {
		return mostBytes + 1, 0, 0, false
	}
	return r.buffer * uint64(max(1, targets)), r.buffer * uint64(max(1, sources)), probe, sources > 0
}

// area is what so many bytes take at least: whole pages, and enough to probe with.
func area(bytes uint64) uint64 {
	page := uint64(os.Getpagesize())
	return (max(bytes, C.WEIR_LEAST) + page - 1) / page * page
}

// vramAllocs are the values of option vram_alloc.
var vramAllocs = map[string]C.int{"": C.VRAM_DEVICE, "device": C.VRAM_DEVICE, "vmm": C.VRAM_VMM, "pool": C.VRAM_POOL}

// kind is that of a region with data, by what options initiator and target name; nil: there is
// none. A rank's own memory is of a kind of its own, which no fabric allocates.
func kind(o move.Spec, name string) *C.struct_weir_memory {
	alloc, known := vramAllocs[o.VRAMAlloc]
	switch {
	case name == fabric.VRAM && known:
		return C.weir_mem_vram(alloc)
	case name != "dram":
		return nil
	case o.Heap():
		return &C.weir_mem_heap
	}
	return &C.weir_mem_dram
}
