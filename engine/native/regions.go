package native

/*
#include "loop_role.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

func requestBytes(o move.Spec) uint64 { return uint64(o.BlockSize) * uint64(o.Batch) }

// stride returns the size of a request's place in a buffer.
func stride(o move.Spec) uint64 {
	return room(requestBytes(o))
}

// room returns the size of an area for bytes: whole cache lines, in pairs because they are fetched in pairs,
// so that neighbours do not share them.
func room(bytes uint64) uint64 {
	const lines = 128
	return (bytes + lines - 1) / lines * lines
}

// slots returns the number of places in a buffer; requests use them cyclically.
func (r *rank) slots(o move.Spec) uint64 {
	if o.Reuse != "spread" {
		return 1
	}
	round := stride(o) * uint64(o.FanOut())
	return max(1, (r.cache+round-1)/round)
}

// receives returns the bytes that each thread of a rank receives in one request of each of its sources.
func receives(o move.Spec, rank int) uint64 {
	if o.Matrix != nil {
		sum := uint64(o.OwnBytes(rank))
		for _, from := range o.Matrix.Senders() {
			sum += uint64(o.Matrix.At(from, rank))
		}
		return sum
	}
	peers := o.Sources(rank)
	switch {
	case o.Mode == "pingpong":
		peers = append(o.Targets(rank), peers...)
	case o.Op == "read":
		peers = o.Targets(rank)
	}
	return requestBytes(o) * uint64(len(peers))
}

// walk describes the memory of this rank that the requests of a case use, in whole cache lines; nil for a
// sequence's patterns, since others move between two runs of a pattern.
func (r *rank) walk(o move.Spec) *move.Walk {
	self := r.self.Rank
	if o.Step != nil {
		return nil
	}
	if o.Matrix != nil {
		var sent, received uint64
		for peer := range int(o.Ranks) {
			sent += room(uint64(o.Matrix.At(self, peer)))
			received += room(uint64(o.Matrix.At(peer, self)))
		}
		if o.Op == "read" { // the receiver makes the requests
			sent, received = received, sent
		}
		own := room(uint64(o.OwnBytes(self)))
		sent, received = sent+own, received+own
		return &move.Walk{Initiated: sent, Served: received}
	}
	round := stride(o) * r.slots(o) * uint64(r.launch.Threads())
	if o.Mode == "pingpong" { // each rank sends and receives a message
		return &move.Walk{Initiated: round, Served: round}
	}
	return &move.Walk{Initiated: round * uint64(len(o.Targets(self))), Served: round * uint64(len(o.Sources(self)))}
}

// describeFlows passes the traffic patterns of this rank to the C side, in lists of a.
func (r *rank) describeFlows(a *cArrays, cfg *C.struct_weir_config) {
	if r.cells != nil {
		r.describeCells(a, cfg)
		return
	}
	o, self := r.options, r.self.Rank
	targets := o.Targets(self)
	setFlows(a, cfg, flowsOf(
		listOf(a, targets, func(t int) C.struct_weir_flow {
			return C.struct_weir_flow{peer: C.int(t), buffer: C.int(slices.Index(o.Sources(t), self))}
		}),
		listOf(a, o.Sources(self), func(s int) C.struct_weir_incoming {
			return C.struct_weir_incoming{peer: C.int(s)}
		}),
		cProbes(a, probeOrder(o, self))))
	if len(targets) > 0 {
		cfg.share = C.double(o.Share(self))
	}
}

// setFlows sets the flows that cases select from.
func setFlows(a *cArrays, cfg *C.struct_weir_config, flows ...C.struct_weir_flows) {
	list := newList[C.struct_weir_flows](a, len(flows))
	copy(list, flows)
	cfg.flows, cfg.nflows = unsafe.SliceData(list), C.int(len(flows))
}

func flowsOf(targets []C.struct_weir_flow, sources []C.struct_weir_incoming,
	probes []C.struct_weir_link_probe) C.struct_weir_flows {
	return C.struct_weir_flows{
		targets: unsafe.SliceData(targets), ntargets: C.int(len(targets)),
		sources: unsafe.SliceData(sources), nsources: C.int(len(sources)),
		probes: unsafe.SliceData(probes), nprobes: C.int(len(probes)),
	}
}

func cProbes(a *cArrays, probes []linkProbe) []C.struct_weir_link_probe {
	return listOf(a, probes, func(t linkProbe) C.struct_weir_link_probe {
		return C.struct_weir_link_probe{peer: C.int(t.peer), initiator: cBool(t.initiator)}
	})
}

// linkProbe is one probe of a link that this rank is an end of.
type linkProbe struct {
	peer      int
	initiator bool // this rank initiates
}

// probeOrder returns the links that this rank helps to probe, from each initiator to its first target.
func probeOrder(o move.Spec, self int) []linkProbe {
	return probesOf(int(o.Ranks), self, func(i int) int {
		if targets := o.Targets(i); len(targets) > 0 {
			return targets[0]
		}
		return -1
	})
}

// probesOf returns the links from each initiator to one target (-1: none) that this rank is an end of. All
// ranks use the same order, so there is no deadlock: even initiators before odd ones, because in a ring, and
// where each has all others, those of one parity have no rank in common and are probed at once.
func probesOf(ranks, self int, target func(initiator int) int) []linkProbe {
	var probes []linkProbe
	for odd := range 2 {
		for i := odd; i < ranks; i += 2 {
			switch to := target(i); {
			case to < 0:
			case i == self:
				probes = append(probes, linkProbe{to, true})
			case to == self:
				probes = append(probes, linkProbe{i, false})
			}
		}
	}
	return probes
}

// lastLevelCache returns the size in bytes of the largest cache of this host's first processor; a variable,
// because tests cannot spread requests over hundreds of MiB.
var lastLevelCache = func() uint64 {
	const usual = 64 << 20 // if the kernel does not say
	var largest quantity.Size
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*/size")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		if size, err := quantity.ParseSize(strings.TrimSpace(string(text)) + "iB"); err == nil {
			largest = max(largest, size)
		}
	}
	if largest == 0 {
		return usual
	}
	return uint64(largest)
}

// cacheWord precedes a rank's address: the size that requests are spread over must be equal on all ranks,
// since it determines region offsets.
func (r *rank) cacheWord() []byte { return binary.LittleEndian.AppendUint64(nil, r.cache) }

// sameCache removes that word from a peer's address and compares it.
func (r *rank) sameCache(peer int, address []byte) ([]byte, error) {
	if len(address) < 8 {
		return nil, &engine.Error{
			Fabric: r.fabric, Op: "connect", Phase: "connect", Peer: peer, Code: -71,
			Text: fmt.Sprintf("its address has only %d bytes", len(address)),
		}
	}
	if theirs := binary.LittleEndian.Uint64(address); theirs != r.cache {
		return nil, &engine.Error{Fabric: r.fabric, Op: "connect", Phase: "connect", Peer: peer, Code: -95,
			Text: fmt.Sprintf(
				"reuse spread: its last-level cache has %v and that of rank %d %v; ranks with different caches cannot spread requests over the same places",
				quantity.Size(theirs/2), r.self.Rank, quantity.Size(r.cache/2))}
	}
	return address[8:], nil
}
