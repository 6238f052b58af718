package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// The first parts of a launch are slower if the warm-up is too short; faster ones mean that the launch slows down.
func TestUnsteadyLaunches(t *testing.T) {
	for ratio, want := range map[float64]string{
		0.6: "warm-up too short: c: in the first 2 of 10 parts a launch is 40% slower than in the rest",
		1.5: "launches slow down: c: in the first 2 of 10 parts a launch is 50% faster than in the rest",
		154: "launches slow down: c: in the first 2 of 10 parts a launch is 154 times as fast as in the rest",
	} {
		doc := &results.Document{Cases: []*results.Case{{
			Key: "c", WarmUp: &results.WarmUp{Pieces: 2, Of: 10, Ratio: ratio, Moves: 0.1},
		}}}
		if got := unsteady(doc); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("ratio %v: %q", ratio, got)
		}
	}
}
