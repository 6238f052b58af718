package workload

import (
	"fmt"
	"slices"
	"testing"
)

// Targets and sources are the two ends of the same flows, nobody has itself, and
// the counts that other packages calculate with are theirs.
func TestTargetsAndSourcesAreTheSameFlows(t *testing.T) {
	pattern, _ := Transfer.Option("pattern")
	for _, name := range pattern.Values {
		for ranks := 2; ranks <= 9; ranks++ {
			if name == "pairwise" && ranks%2 != 0 {
				continue
			}
			for _, both := range []bool{false, name == "pairwise"} {
				o := TransferOptions{Pattern: name, Ranks: int64(ranks), Bidirectional: both}
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
					if len(targets) > 0 && len(targets) != int(o.FanOut()) || len(sources) > 0 && len(sources) != int(o.served(rank)) {
						t.Errorf("%s of %d: rank %d has %d targets and %d sources", name, ranks, rank, len(targets), len(sources))
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

func TestSharesOfATargetAddUpToIt(t *testing.T) {
	for name, want := range map[string]float64{"one_to_many": 1, "many_to_one": 1. / 3, "ring": 1, "all_to_all": 1, "pairwise": 1} {
		if got := (TransferOptions{Pattern: name, Ranks: 4}).Share(1); got != want && name != "one_to_many" {
			t.Errorf("%s: share %v, want %v", name, got, want)
		}
	}
	if got := (TransferOptions{Pattern: "one_to_many", Ranks: 4}).Share(0); got != 1 {
		t.Errorf("the only initiator has %v of its path", got)
	}
}
