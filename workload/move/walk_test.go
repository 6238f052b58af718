package move

import (
	"testing"

	"github.com/weir-bench/weir/results"
)

// Ranks of one node share its cache; if the value of one node is unknown, the total is.
func TestWorkingSet(t *testing.T) {
	walks := func(list ...Walk) []*Part {
		var out []*Part
		for i := range list {
			out = append(out, &Part{Walk: &list[i]})
		}
		return out
	}
	for name, c := range map[string]struct {
		ranks  []*Part
		nodes  []string
		caches map[string]int64
		want   results.WorkingSet
		state  string
	}{
		"one node": {walks(Walk{Initiated: 20}, Walk{Served: 20}), []string{"a", "a"},
			map[string]int64{"a": 32}, results.WorkingSet{Initiator: 20, Target: 20, Node: 40, Cache: 32},
			results.Cold},
		"two nodes": {walks(Walk{Initiated: 20}, Walk{Served: 20}), []string{"a", "b"},
			map[string]int64{"a": 64, "b": 32}, results.WorkingSet{Initiator: 20, Target: 20, Node: 20, Cache: 32},
			results.Hot},
		"as much": {walks(Walk{Initiated: 32}, Walk{Served: 32}), []string{"a", "b"},
			map[string]int64{"a": 32, "b": 64}, results.WorkingSet{Initiator: 32, Target: 32, Node: 32, Cache: 32},
			results.Hot},
		"an unknown cache": {walks(Walk{Initiated: 20}, Walk{Served: 20}), []string{"a", "b"},
			map[string]int64{"a": 32}, results.WorkingSet{Initiator: 20, Target: 20, Node: 20}, ""},
		"unknown, the first": {walks(Walk{Initiated: 20}, Walk{Served: 20}), []string{"b", "a"},
			map[string]int64{"a": 32}, results.WorkingSet{Initiator: 20, Target: 20, Node: 20}, ""},
	} {
		got := WorkingSet(c.ranks, c.nodes, c.caches)
		if got == nil || *got != c.want || got.State() != c.state {
			t.Errorf("%s: %+v, want %+v, which is %q", name, got, c.want, c.state)
		}
	}
	if got := WorkingSet([]*Part{{}}, []string{"a"}, nil); got != nil {
		t.Errorf("nobody said what it walks: %+v", got)
	}
}
