//go:build weirtest

package native

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
)

// The engine's own percentile uses the same rank as all others.
func TestStageHasTheNearestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.OneOf(rapid.Uint32Range(0, 300), rapid.Uint32Range(0, 1<<31))
		none, ones, twos := count.Draw(t, "0 ns"), count.Draw(t, "1 ns"), count.Draw(t, "2 ns")
		n, want := int64(none)+int64(ones)+int64(twos), 0.
		if n > 0 {
			switch rank := results.NearestRank(n, results.P99); {
			case rank > int64(none)+int64(ones):
				want = 2
			case rank > int64(none):
				want = 1
			}
		}
		if got := stageP99(none, ones, twos); got != want {
			t.Fatalf("p99 of %d, %d and %d times 0, 1 and 2 ns is %v ns, want %v", none, ones, twos, got, want)
		}
	})
}
