package move_test

import (
	"fmt"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
	"slices"
	"testing"
)

// Targets and sources are the two ends of the same flows, no rank has itself, and the counts that other packages use
// match them.
func TestTargetsAndSourcesAreTheSameFlows(t *testing.T) {
	pattern, _ := transfer.Kind.Option("pattern")
	for _, name := range pattern.Values {
		for ranks := 2; ranks <= 9; ranks++ {
			if name == "pairwise" && ranks%2 != 0 {
				continue
			}
			for _, both := range []bool{false, name == "pairwise"} {
				o := move.Spec{Pattern: name, Ranks: int64(ranks), Bidirectional: both}
				flows := map[string]int{}
				most := 0
				for rank := range ranks {
					targets, sources := o.Targets(rank), o.Sources(rank)
					for _, p := range targets {
						flows[fmt.Sprint(rank, " to ", p)]++
					}
					for _, p := range sources {
						flows[fmt.Sprint(p, " to ", rank)] += 2
					}
					if slices.Contains(targets, rank) || slices.Contains(sources, rank) || !slices.IsSorted(sources) {
						t.Errorf("%s of %d: rank %d has targets %v and sources %v", name, ranks, rank, targets, sources)
					}
					if len(targets) > 0 && len(targets) != int(o.FanOut()) ||
						len(sources) > 0 && len(sources) != int(o.Served(rank)) {
						t.Errorf("%s of %d: rank %d has %d targets and %d sources", name, ranks, rank, len(targets),
							len(sources))
					}
					if o.Initiates(rank) != (len(targets) > 0) {
						t.Errorf("%s of %d: rank %d initiates: %v, to %v", name, ranks, rank, o.Initiates(rank),
							targets)
					}
					most = max(most, max(1, len(targets))+max(1, len(sources)))
				}
				for flow, ends := range flows {
					if ends != 3 {
						t.Errorf("%s of %d: %s has only one end, or one twice", name, ranks, flow)
					}
				}
				if most != int(o.Regions()) {
					t.Errorf("%s of %d: %d regions, not %d", name, ranks, o.Regions(), most)
				}
			}
		}
	}
}

// The shares of the initiators of a target add up to at most 1, and to 1 if all send to it alone.
func TestSharesOfATargetAddUpToIt(t *testing.T) {
	pattern, _ := transfer.Kind.Option("pattern")
	for _, name := range pattern.Values {
		for ranks := 2; ranks <= 9; ranks++ {
			if name == "pairwise" && ranks%2 != 0 {
				continue
			}
			for _, both := range []bool{false, name == "pairwise"} {
				o := move.Spec{Pattern: name, Ranks: int64(ranks), Bidirectional: both}
				for target := range ranks {
					sum := 0.
					for _, initiator := range o.Sources(target) {
						share := o.Share(initiator)
						if share <= 0 || share > 1 {
							t.Errorf("%s of %d: rank %d has %v of its path", name, ranks, initiator, share)
						}
						sum += share / float64(o.FanOut())
					}
					if sum > 1+1e-9 || name == "many_to_one" && target == 0 && sum < 1-1e-9 {
						t.Errorf("%s of %d: %v of target %d are used", name, ranks, sum, target)
					}
				}
			}
		}
	}
}
