package native

/*
#include <stdlib.h>
#include "role.h"
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

	"weir/engine"
	"weir/quantity"
	"weir/workload/move"
)

func requestBytes(o move.Spec) uint64 { return uint64(o.BlockSize) * uint64(o.Batch) }

// stride is the room of a request in a buffer.
func stride(o move.Spec) uint64 {
	return room(requestBytes(o))
}

// room is what bytes take in an area: whole cache lines, in pairs because they are
// fetched in pairs, so that neighbours do not disturb each other.
func room(bytes uint64) uint64 {
	const lines = 128
	return (bytes + lines - 1) / lines * lines
}

// slots are the places of a buffer that requests go round.
func (r *rank) slots(o move.Spec) uint64 {
	if o.Reuse != "spread" {
		return 1
	}
	round := stride(o) * uint64(o.FanOut())
	return max(1, (r.cache+round-1)/round)
}

// receives is how many bytes come to each thread of a rank in one request of each
// peer that it has data from.
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

// walk is what the requests of a case go over in this rank's memory, with the rest of the
// cache lines at their ends. Between two turns
// of a sequence's pattern others move, so that none is said of it.
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
		if o.Op == "read" { // who receives makes the requests
			sent, received = received, sent
		}
		own := room(uint64(o.OwnBytes(self)))
		sent, received = sent+own, received+own
		return &move.Walk{Initiated: sent, Served: received}
	}
	round := stride(o) * r.slots(o) * uint64(r.launch.Threads())
	if o.Mode == "pingpong" { // each has a message for the other, and has one from it
		return &move.Walk{Initiated: round, Served: round}
	}
	return &move.Walk{Initiated: round * uint64(len(o.Targets(self))), Served: round * uint64(len(o.Sources(self)))}
}

// describeFlows tells the C side whom this rank has to do with. The lists are
// theirs until the function that it returns is called.
func (r *rank) describeFlows(cfg *C.struct_weir_config) (free func()) {
	if r.cells != nil {
		return r.describeCells(cfg)
	}
	o, self := r.options, r.self.Rank
	targets, sources := o.Targets(self), o.Sources(self)
	flows, freeFlows := cArray[C.struct_weir_flow](len(targets))
	for i, t := range targets {
		flows[i] = C.struct_weir_flow{peer: C.int(t), buffer: C.int(slices.Index(o.Sources(t), self))}
	}
	from, freeSources := cArray[C.struct_weir_source](len(sources))
	for i, s := range sources {
		from[i] = C.struct_weir_source{peer: C.int(s)}
	}
	turns, freeTurns := cTurns(probeTurns(o, self))
	all := flowsOf(flows, from, turns)
	freeAll := setFlows(cfg, []C.struct_weir_flows{all})
	cfg.share = 1
	if len(targets) > 0 {
		cfg.share = C.double(o.Share(self))
	}
	return func() { freeFlows(); freeSources(); freeTurns(); freeAll() }
}

// setFlows gives the C side the flows that cases choose from.
func setFlows(cfg *C.struct_weir_config, flows []C.struct_weir_flows) (free func()) {
	list, free := cArray[C.struct_weir_flows](len(flows))
	copy(list, flows)
	cfg.flows, cfg.nflows = unsafe.SliceData(list), C.int(len(flows))
	return free
}

func flowsOf(targets []C.struct_weir_flow, sources []C.struct_weir_source,
	turns []C.struct_weir_turn) C.struct_weir_flows {
	return C.struct_weir_flows{
		targets: unsafe.SliceData(targets), ntargets: C.int(len(targets)),
		sources: unsafe.SliceData(sources), nsources: C.int(len(sources)),
		turns: unsafe.SliceData(turns), nturns: C.int(len(turns)),
	}
}

func cTurns(turns []turn) ([]C.struct_weir_turn, func()) {
	links, free := cArray[C.struct_weir_turn](len(turns))
	for i, t := range turns {
		links[i] = C.struct_weir_turn{peer: C.int(t.peer), initiator: truth(t.initiator)}
	}
	return links, free
}

// cArray makes a list in C memory: a Go list must not hang in what C is given.
func cArray[T any](n int) ([]T, func()) {
	var zero T
	p := C.calloc(C.size_t(n+1), C.size_t(unsafe.Sizeof(zero)))
	if p == nil {
		panic("out of memory")
	}
	return unsafe.Slice((*T)(p), n), func() { C.free(p) }
}

// turn is a link to a peer that a rank helps to probe.
type turn struct {
	peer      int
	initiator bool // this rank is, and not the peer
}

// probeTurns are the links that this rank helps to probe, from each initiator to
// its first target.
func probeTurns(o move.Spec, self int) []turn {
	return turnsOf(int(o.Ranks), self, func(i int) int {
		if targets := o.Targets(i); len(targets) > 0 {
			return targets[0]
		}
		return -1
	})
}

// turnsOf are those of the links from each initiator to one target (-1: it is none)
// that this rank is an end of. Every rank takes them in one order, so that nobody waits in a
// circle: the even initiators before the odd ones, because in a ring, and where each
// has all others, those of one parity have no rank in common and are probed at once.
func turnsOf(ranks, self int, target func(initiator int) int) []turn {
	var turns []turn
	for odd := range 2 {
		for i := odd; i < ranks; i += 2 {
			switch to := target(i); {
			case to < 0:
			case i == self:
				turns = append(turns, turn{to, true})
			case to == self:
				turns = append(turns, turn{i, false})
			}
		}
	}
	return turns
}

// lastLevelCache is the size in bytes of the largest cache of this host's first
// processor; a variable, because tests cannot spread requests over hundreds of MiB.
var lastLevelCache = func() uint64 {
	const usual = 64 << 20 // where the kernel does not say
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

// cacheWord goes before a rank's address: what requests are spread over must be
// equal in all ranks, since it decides where regions lie.
func (r *rank) cacheWord() []byte { return binary.LittleEndian.AppendUint64(nil, r.cache) }

// sameCache cuts that word off a peer's address.
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
