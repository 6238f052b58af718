//go:build weirtest

package native

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/workload/move"
)

// The announced memory of a launch is what its ranks allocate: sizes are computed in one place.
func TestRegionsAreAsLargeAsTheyWereWorkedOut(t *testing.T) {
	for name, o := range map[string]move.Spec{
		"a pair":    options(5<<20, batch4),
		"in a ring": options(100000, withPattern("ring", 3)),
		"to many":   options(3<<20, withPattern("one_to_many", 4)),
		"a matrix": trafficOf(matrixOf(t, 3, matrix.Cell{From: 0, To: 1, Bytes: 9 << 20},
			matrix.Cell{From: 1, To: 2, Bytes: 7})),
	} {
		t.Run(name, func(t *testing.T) {
			nodes := strings.Fields(strings.Repeat("a ", int(o.Ranks)))
			_, ranks := openConnected(t, "shm", nodes, o)
			var sum float64
			for i, r := range ranks {
				want, err := r.layout(i)
				if err != nil {
					t.Fatal(err)
				}
				_, source := r.memory(regionSource)
				_, sink := r.memory(regionSink)
				_, control := r.memory(regionControl)
				if got := (layout{source, sink, want.first, want.probe, want.used}); got != want {
					t.Errorf("rank %d: %+v, want %+v", i, got, want)
				}
				if served := want.probe > 0; served != (want.used > 0) || want.used > want.sink {
					t.Errorf("rank %d: peers use %d bytes of %+v", i, want.used, want)
				}
				sum += float64(source + sink + control)
			}
			if need, n, err := ranks[0].requiredMemory(); err != nil || need != sum || n != len(ranks) {
				t.Errorf("%d ranks are said to need %v bytes, and have %v: %v", n, need, sum, err)
			}
			closeAll(t, ranks)
		})
	}
}
