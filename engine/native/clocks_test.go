package native

import (
	"context"
	"os/exec"
	"slices"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// Ranks with clocks a thousand seconds apart, like hosts booted at different times, agree on their starts:
// their times of an iteration differ by no more than the error bounds, which can be checked on one machine.
func TestClocksOfTwoHosts(t *testing.T) {
	phase.Long(t)
	const apart = 1000e9 // ns
	elsewhere := []string{"unshare", "-T", "--monotonic", "1000"}
	if out, err := exec.Command(elsewhere[0],
		append(slices.Clone(elsewhere[1:]), "true")...).CombinedOutput(); err != nil {
		t.Skipf("no time namespaces here: %v: %s", err, out)
	}
	m := matrixOf(t, 3, matrix.Cell{From: 0, To: 1, Bytes: 4096}, matrix.Cell{From: 1, To: 2, Bytes: 4096},
		matrix.Cell{From: 2, To: 0, Bytes: 4096})
	for _, fabric := range []string{"tcp", "ucx"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			cases := map[string]move.Spec{
				"traffic": trafficOf(m),
				"sequence": patternCases([]*matrix.Matrix{m},
					func(o *move.Spec) { o.Step.Before = quantity.Time(2e6) })[0],
			}
			for name, o := range cases {
				t.Run(name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					l := engine.Launch{ID: "test", Fabric: fabric, Ranks: 3, Seed: 42, Nodes: []string{"a", "b", "a"},
						Cases: []engine.Case{caseOf("a", o, patience, patience)}}
					var ranks []*rankProcess
					for i := range 3 {
						var starter []string
						if i == 1 {
							starter = elsewhere
						}
						ranks = append(ranks, startRankBy(t, ctx, starter, l, engine.Identity{Rank: i}))
					}
					meet(t, ranks)
					var all []*move.Part
					for _, p := range ranks {
						all = append(all, p.found(t))
					}
					for i := range all[0].Iterations {
						for _, r := range all[1:] {
							if d := r.Iterations[i].Start - all[0].Iterations[i].Start; d > apart/2 || d < -apart/2 {
								t.Fatalf("iteration %d of rank %d begins %d ns after that of rank 0", i, r.Rank, d)
							}
						}
					}
					for i := range all[0].Steps {
						// ranks 0 and 2 have the same clock: their results differ by no more than their
						// bounds
						if d := all[2].Steps[i].Agreed - all[0].Steps[i].Agreed; float64(max(d,
							-d)) > all[2].Clock.Bound*1e9 {
							t.Errorf("iteration %d: rank 2 agreed to a start %d ns from rank 0's, and the bound is %v s",
								i, d, all[2].Clock.Bound)
						}
					}
					bound, err := metricsOf(o, all)
					if err != nil || bound["clock.bound"] <= 0 || all[1].Clock.Bound <= 0 {
						t.Errorf("%v: bounds %v and %v s, %v", bound["clock.bound"], all[1].Clock.Bound,
							all[2].Clock.Bound, err)
					}
					t.Logf("known to %.3g and %.3g us", all[1].Clock.Bound*1e6, all[2].Clock.Bound*1e6)
				})
			}
		})
	}
}
