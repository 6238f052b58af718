package move

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/matrix"
)

func trafficOptions(m *matrix.Matrix) Spec {
	return Spec{Fabric: "shm", Op: "write", Initiator: "dram", Target: "dram", Pattern: MatrixPattern, Mode: "stream",
		Verify: "sample", Reuse: "hot", Pages: "default", Payload: "random",
		Matrix: m, Ranks: int64(m.Ranks()), BlockSize: 1, Batch: 1, Threads: 1, Shards: 1, Iterations: 1, InFlight: 16}
}

func newMatrix(t interface{ Fatal(...any) }, ranks int, cells ...matrix.Cell) *matrix.Matrix {
	m, err := matrix.New(ranks, cells)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The flows of a matrix are its cells, from the senders for writes and from the receivers for reads; an initiator
// begins with the next rank.
func TestFlowsOfAMatrix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 8).Draw(rt, "ranks")
		var cells []matrix.Cell
		for from := range ranks {
			for to := range ranks {
				if from != to && rapid.Bool().Draw(rt, "sends") {
					cells = append(cells, matrix.Cell{From: from, To: to, Bytes: 1})
				}
			}
		}
		o := trafficOptions(newMatrix(rt, ranks, cells...))
		o.Op = rapid.SampledFrom([]string{"write", "read"}).Draw(rt, "op")
		want, most, regions := map[string]bool{}, 0, 0
		for _, c := range cells {
			if o.Op == "read" {
				c.From, c.To = c.To, c.From
			}
			want[fmt.Sprint(c.From, " to ", c.To)] = true
		}
		flows := map[string]int{}
		for rank := range ranks {
			targets, sources := o.Targets(rank), o.Sources(rank)
			for _, p := range targets {
				flows[fmt.Sprint(rank, " to ", p)]++
			}
			for _, p := range sources {
				flows[fmt.Sprint(p, " to ", rank)] += 2
			}
			distance := func(p int) int { return (p - rank + ranks) % ranks }
			if !slices.IsSorted(sources) || !slices.IsSortedFunc(targets,
				func(a, b int) int { return distance(a) - distance(b) }) {
				rt.Fatalf("rank %d has targets %v and sources %v", rank, targets, sources)
			}
			if o.Share(rank) != 1 || o.served(rank) != int64(len(sources)) {
				rt.Fatalf("rank %d has %v of its path and %d sources", rank, o.Share(rank), o.served(rank))
			}
			most, regions = max(most, len(targets)), max(regions, max(1, len(targets))+max(1, len(sources)))
		}
		for flow, ends := range flows {
			if ends != 3 || !want[flow] {
				rt.Fatalf("%s has only one end, or is none", flow)
			}
		}
		if len(flows) != len(want) || o.FanOut() != int64(most) || o.Regions() != int64(regions) {
			rt.Fatalf("%d flows of %d, %d targets at most, want %d, and %d regions, want %d", len(flows), len(want),
				o.FanOut(), most, o.Regions(), regions)
		}
	})
}

func TestInvalidMatrices(t *testing.T) {
	ring := newMatrix(t, 3, matrix.Cell{From: 0, To: 1, Bytes: 5}, matrix.Cell{From: 1, To: 2, Bytes: 5})
	if err := trafficOptions(ring).Check(); err != nil {
		t.Errorf("a matrix like any other: %v", err)
	}
	for want, spoil := range map[string]func(*Spec){
		"needs a matrix, and":                     func(o *Spec) { o.Matrix = nil },
		"pattern matrix needs a matrix":           func(o *Spec) { o.Pattern = "ring" },
		"the matrix has 3 ranks and the launch 4": func(o *Spec) { o.Ranks = 4 },
		"at least 2":                              func(o *Spec) { o.Matrix, o.Ranks = newMatrix(t, 1), 1 },
		"nothing would move":                      func(o *Spec) { o.Matrix = newMatrix(t, 3) },
		"has mode stream":                         func(o *Spec) { o.Threads = 2 },
		"a batch and threads of 1":                func(o *Spec) { o.Batch = 2 },
		"iterations and no duration":              func(o *Spec) { o.Duration = 1 },
		"not spread over memory":                  func(o *Spec) { o.Reuse = "spread" },
		"random contents":                         func(o *Spec) { o.Payload = "zero" },
		"0 shards":                                func(o *Spec) { o.Shards = 0 },
		"there are 1 to 1048576":                  func(o *Spec) { o.Shards = 1<<20 + 1 },
		"fabric sim has no model":                 func(o *Spec) { o.Fabric = fabric.SimName },
		"api tag of fabric ucx posts": func(o *Spec) {
			o.Fabric, o.FabricOptions = "ucx", fabric.Options{"api": "tag"}
		},
		"for op read use api rma": func(o *Spec) {
			o.Fabric, o.FabricOptions, o.Op = "ucx", fabric.Options{"api": "am"}, "read"
		},
		"cells of a matrix move at the same time": func(o *Spec) {
			o.Fabric, o.FabricOptions = "nixl", fabric.Options{"nixl_reregister": "true"}
		},
		"has no pages thp": func(o *Spec) { o.Fabric, o.Pages = "ucx", "thp" },
		"rank 2 has": func(o *Spec) {
			o.Matrix = newMatrix(t, 3, matrix.Cell{From: 0, To: 2, Bytes: 1 << 49},
				matrix.Cell{From: 1, To: 2, Bytes: 1<<49 + 1})
		},
	} {
		o := trafficOptions(ring)
		spoil(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
