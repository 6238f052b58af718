package native

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload/move"
)

// The check gives the same answer when other ranks already have their memory.
func TestMemoryFitsWheneverARankAsks(t *testing.T) {
	defer func(f func() engine.Memory) { freeMemory = f }(freeMemory)
	// a source and a sink each, probe space for the rank written to, the skew between regions, and a page for
	// each of the four arrays of a control region
	const block, need = 8 << 20, 4*8<<20 + 4<<20 + (2+2)*17*4096 + 2*4*4096
	l := engine.Launch{
		ID: "test", Fabric: "tcp", Ranks: 2, Nodes: []string{"a", "a"},
		Cases: []engine.Case{caseOf("a", options(block), patience, 0)},
	}
	open := func(rank int, before *engine.Memory, now uint64) error {
		freeMemory = func() engine.Memory { return engine.Memory{Available: now} }
		_, err := open(l, engine.Identity{Rank: rank, Memory: before}, control(t))
		return err
	}
	for name, c := range map[string]struct {
		before *engine.Memory
		now    uint64
		fits   bool
	}{
		"the other has its memory":      {&engine.Memory{Available: need}, need / 2, true},
		"others have given it back":     {&engine.Memory{Available: need - 1}, need, false},
		"nothing reported, it fits":     {nil, need, true},
		"nothing reported, it does not": {nil, need - 1, false},
		"nothing is known":              {&engine.Memory{}, 0, true},
	} {
		for rank := range 2 {
			err := open(rank, c.before, c.now)
			if c.fits && err != nil || !c.fits && (err == nil || !strings.Contains(err.Error(),
				"2 ranks with buffers of 8MiB need 0.03545 GiB of memory on this node")) {
				t.Errorf("%s: rank %d: %v", name, rank, err)
			}
		}
	}
}

// Reserved huge pages do not count as available memory, and each thread of a rank rounds up to whole ones;
// other NUMA nodes' memory does not count if a node is requested.
func TestMemoryOfAKindFits(t *testing.T) {
	const page = 2 << 20
	pages := func(o *move.Spec) { o.Pages = "2MiB" }
	for name, c := range map[string]struct {
		o    move.Spec
		free engine.Memory
		want string // "": it fits
	}{
		"all are there": {options(100, pages),
			engine.Memory{Available: 1, Huge: map[uint64]uint64{page: 13 * page}}, ""},
		"one is missing": {options(100, pages),
			engine.Memory{Available: 1 << 40, Huge: map[uint64]uint64{page: 12 * page}},
			"2 ranks with buffers of 128B need 13 huge pages of 2MiB on this node, and 12 are free: /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages sets"},
		"of two threads each": {options(100, pages, threaded(2)),
			engine.Memory{Huge: map[uint64]uint64{page: 25 * page}},
			"need 26 huge pages of 2MiB on this node, and 25 are free"},
		"large blocks": {options(5<<20, pages), engine.Memory{Huge: map[uint64]uint64{page: 13 * page}},
			"need 14 huge pages of 2MiB on this node, and 13 are free"},
		"of no such size": {options(100, pages), engine.Memory{Available: 1}, ""},
		"of a node": {options(100, onNode("1")),
			engine.Memory{Available: 1 << 40, Nodes: map[int]uint64{0: 1 << 40, 1: 20 << 20}},
			"need 0.01982 GiB of memory of NUMA node 1, which has 0.01953 GiB at most"},
		"of another node": {options(100, onNode("0")),
			engine.Memory{Available: 1 << 40, Nodes: map[int]uint64{0: 21 << 20, 1: 1}}, ""},
		"of any node": {options(100, onNode("local")),
			engine.Memory{Available: 1 << 40, Nodes: map[int]uint64{0: 1, 1: 1}}, ""},
		"others are available": {options(100), engine.Memory{Available: 1, Huge: map[uint64]uint64{page: 99 * page}},
			"GiB are available"},
	} {
		r := &rank{
			options: c.o, launch: launch{Launch: engine.Launch{Ranks: 2, Nodes: []string{"a", "a"}},
				Cases: []task{{Options: c.o}}}, member: member{self: engine.Identity{Memory: &c.free}},
		}
		r.buffer = r.slots(c.o) * stride(c.o)
		err := r.checkMemory()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
