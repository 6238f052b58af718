package native

/*
#include "mem_vram.h"
#include "memory.h"
*/
import "C"

import (
	"os"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// layout has the sizes and offsets of a rank's regions, in bytes, as struct weir_layout. The C side computes
// no region sizes or offsets of its own: it uses these and those of the case.
type layout struct {
	source, sink uint64
	first        uint64 // offset in the source that request offsets count from
	probe        uint64 // offset in the sink where ceilings are probed; 0: peers use no part of it
	used         uint64 // bytes of the sink used by peers
}

// skew is an odd number of pages. Regions begin at multiples of 256 MiB (see weir_map); with this offset a
// source and a sink never share tags of a first-level cache.
const skew = 17 * 4096

// mostBytes exceeds any address space.
const mostBytes = 1 << 60

// layout returns that of any rank of the launch, for one of its threads.
func (r *rank) layout(rank int) (layout, error) {
	local, exposed, probe, served := r.moved(rank)
	if max(local, exposed, probe) > mostBytes {
		return layout{}, &engine.Error{
			Fabric: r.fabric, Op: "alloc", Phase: "ready", Peer: -1, Code: -7, Text: "buffers of " +
				quantity.Size(max(local, exposed, probe)).String() + " do not fit into any memory",
		}
	}
	l := layout{first: skew, source: skew + area(max(local, probe)), sink: area(max(exposed, probe))}
	if served { // peers need the sink's contents while this rank probes
		l.probe = l.sink + 2*skew // separate from the source and from the peers' part
		l.sink = l.probe + area(probe)
		l.used = exposed
	}
	return l, nil
}

// moved returns the bytes of a rank's source and sink that requests move, the bytes of its ceiling probes,
// and whether peers use its sink.
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

// area returns the bytes of a region for data: whole pages, and enough to probe with.
func area(bytes uint64) uint64 {
	page := uint64(os.Getpagesize())
	return (max(bytes, C.WEIR_MIN_AREA) + page - 1) / page * page
}

// vramAllocs are the values of option vram_alloc.
var vramAllocs = map[string]C.int{"": C.VRAM_DEVICE, "device": C.VRAM_DEVICE, "vmm": C.VRAM_VMM, "pool": C.VRAM_POOL}

// kind returns that of a data region, by the value of option initiator or target; nil: unknown. A rank's
// private memory is a separate kind, which no fabric allocates.
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
