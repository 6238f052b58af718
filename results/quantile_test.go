package results_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
)

var quantiles = []results.Quantile{
	results.Minimum, results.P50, results.P90, results.P95, results.P99, results.P999, results.Maximum,
}

// nearestRank is the definition in exact arithmetic: n times the quantile, rounded up,
// and at least 1.
func nearestRank(n int64, q results.Quantile) int64 {
	product := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(q)))
	rank, rest := new(big.Int).DivMod(product, big.NewInt(int64(results.Maximum)), new(big.Int))
	if rest.Sign() > 0 {
		rank.Add(rank, big.NewInt(1))
	}
	return max(rank.Int64(), min(n, 1))
}

func TestNearestRank(t *testing.T) {
	for _, test := range []struct {
		n    int64
		q    results.Quantile
		want int64
	}{
		{1, results.Minimum, 1}, {1, results.P999, 1}, {20, results.Minimum, 1}, {20, results.P50, 10},
		{20, results.P90, 18}, {20, results.P95, 19}, {20, results.P99, 20},
		{51, results.P99, 51}, {60, results.P99, 60}, {99, results.P99, 99}, {100, results.P99, 99},
		{101, results.P99, 100}, {175, results.P99, 174}, {200, results.P99, 198},
		{501, results.P999, 501}, {999, results.P999, 999}, {1000, results.P999, 999}, {1001, results.P999, 1000},
		{1000, results.P95, 950}, {math.MaxInt64, results.Maximum, math.MaxInt64},
	} {
		if got := results.NearestRank(test.n, test.q); got != test.want {
			t.Errorf("quantile %d of %d values is the %dth, want the %dth", test.q, test.n, got, test.want)
		}
	}
}

// In a sorted list the value of the nearest rank is the least that has at least the share
// of values at or below it, whatever values are equal.
func TestNearestRankIsOfSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 1500).Draw(t, "values")
		slices.Sort(values)
		q := rapid.SampledFrom(quantiles).Draw(t, "quantile")
		got := values[results.NearestRank(int64(len(values)), q)-1]
		share := func(v int) int64 { // of values up to v, in parts of 100 000 for all of them
			upTo, _ := slices.BinarySearch(values, v+1)
			return int64(upTo) * int64(results.Maximum)
		}
		least := int64(len(values)) * int64(q)
		if share(got) < least || got != values[0] && share(got-1) >= least {
			t.Fatalf("quantile %d of %v is %d", q, values, got)
		}
	})
}

func TestNearestRankIsExactForAnyNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, math.MaxInt64).Draw(t, "values")
		q := results.Quantile(rapid.Int64Range(0, int64(results.Maximum)).Draw(t, "quantile"))
		if got, want := results.NearestRank(n, q), nearestRank(n, q); got != want {
			t.Fatalf("quantile %d of %d values is the %dth, want the %dth", q, n, got, want)
		}
	})
}

// The longest of enough values is beyond the quantile in 98 of 100 samples, and not so of one fewer.
func TestEnoughValuesForAQuantile(t *testing.T) {
	for q, want := range map[results.Quantile]struct{ enough, tenBeyond int64 }{
		results.Minimum: {1, 10}, results.P50: {6, 20}, results.P90: {38, 100}, results.P95: {77, 200},
		results.P99: {390, 1000}, results.P999: {3911, 10_000}, results.Maximum: {1, 1},
	} {
		if got := q.Enough(); got != want.enough {
			t.Errorf("quantile %d takes %d values, want %d", q, got, want.enough)
		}
		if got := q.TenBeyond(); got != want.tenBeyond {
			t.Errorf("ten are beyond quantile %d of %d values, want %d", q, got, want.tenBeyond)
		}
		share := float64(q) / float64(results.Maximum)
		bounds := func(n int64) bool { return 1-math.Pow(share, float64(n)) >= 0.98 }
		if share > 0 && share < 1 && (!bounds(want.enough) || bounds(want.enough-1)) {
			t.Errorf("quantile %d is bounded by %d values: %v", q, want.enough, bounds(want.enough))
		}
	}
}
