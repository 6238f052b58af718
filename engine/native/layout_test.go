package native

import (
	"strings"
	"testing"

	"weir/matrix"
	"weir/workload/move"
)

// What a launch is said to need is what its ranks have: sizes are worked out in one place.
func TestRegionsAreAsLargeAsTheyWereWorkedOut(t *testing.T) {
	for name, o := range map[string]move.Spec{
		"a pair":    options(5<<20, batch4),
		"in a ring": options(100000, under("ring", 3)),
		"to many":   options(3<<20, under("one_to_many", 4)),
		"a matrix":  trafficOf(matrixOf(t, 3, matrix.Cell{From: 0, To: 1, Bytes: 9 << 20}, matrix.Cell{From: 1, To: 2, Bytes: 7})),
	} {
		t.Run(name, func(t *testing.T) {
			nodes := strings.Fields(strings.Repeat("a ", int(o.Ranks)))
			_, ranks := opened(t, "shm", nodes, o)
			var sum float64
			for i, r := range ranks {
				want, err := r.layout(i)
				if err != nil {
					t.Fatal(err)
				}
				_, source := r.memory(regionSource)
				_, sink := r.memory(regionSink)
				_, control := r.memory(regionControl)
				if got := (layout{source, sink, want.first, want.probe}); got != want {
					t.Errorf("rank %d: %+v, want %+v", i, got, want)
				}
				sum += float64(source + sink + control)
			}
			if need, n, err := ranks[0].needed(); err != nil || need != sum || n != len(ranks) {
				t.Errorf("%d ranks are said to need %v bytes, and have %v: %v", n, need, sum, err)
			}
			closeAll(t, ranks)
		})
	}
}

// Places for probes overlap with nothing that peers use, and where copies are compared their
// two ends do not fall on the same lines of a first-level cache.
func TestLayout(t *testing.T) {
	for _, buffer := range []uint64{128, 4096, 1 << 20, 16 << 20, 5<<30 + 128} {
		r := &rank{options: options(8, under("ring", 3)), buffer: buffer}
		l, err := r.layout(1)
		if err != nil {
			t.Fatal(err)
		}
		if l.first+buffer > l.source || buffer > l.probe || l.probe+buffer > l.sink || l.source-l.first < 4<<20 || l.sink-l.probe < 4<<20 {
			t.Errorf("buffers of %d: %+v", buffer, l)
		}
		if l.first%(1<<16) == 0 || (l.probe-l.first)%(1<<16) == 0 || l.probe%(1<<16) == 0 || l.first%4096 != 0 || l.probe%4096 != 0 {
			t.Errorf("buffers of %d: source from %#x on, probes at %#x", buffer, l.first, l.probe)
		}
	}
	r := &rank{options: options(8, under("ring", 3)), buffer: 1 << 60}
	if _, err := r.layout(1); err != nil {
		t.Error(err)
	}
	r.buffer++
	if _, err := r.layout(1); err == nil || !strings.Contains(err.Error(), "do not fit into any memory") {
		t.Errorf("got %v", err)
	}
}
