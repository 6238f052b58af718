package schedule

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Gaps of MLPerf LoadGen's schedule for its scenario Server have the same distribution as ours.
func TestGapsAreThoseOfLoadGen(t *testing.T) {
	const rate, seeds = 500, 20
	content, err := os.ReadFile("testdata/loadgen.txt")
	if err != nil {
		t.Fatal(err)
	}
	var theirs []float64
	before := 0.
	for line := range strings.Lines(string(content)) {
		if line[0] == '#' {
			continue
		}
		at, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			t.Fatal(err)
		}
		if at > 0 { // the first has no gap before it
			theirs = append(theirs, (at-before)/1e6)
		}
		before = at
	}
	if len(theirs) != 999 {
		t.Fatalf("%d gaps", len(theirs))
	}
	exponential := func(rate float64) func(float64) float64 {
		return func(x float64) float64 { return 1 - math.Exp(-rate*x) }
	}
	if p := kolmogorov(theirs, exponential(rate)); p <= 0.01 {
		t.Errorf("LoadGen's gaps are exponential with p = %v", p)
	}
	for seed := range uint64(seeds) {
		ours := gaps(times(t, Open{Arrivals: Arrivals{Kind: Poisson}, Rate: rate, Requests: 1000, Seed: seed}))
		if p := bothKolmogorov(ours, theirs); seeds*p <= 0.01 {
			t.Errorf("seed %d: our gaps and LoadGen's are of one distribution with p = %v", seed, p)
		}
		other := gaps(times(t, Open{Arrivals: Arrivals{Kind: Poisson}, Rate: 1.3 * rate, Requests: 1000, Seed: seed}))
		if p := bothKolmogorov(other, theirs); p > 0.01 {
			t.Errorf("seed %d: gaps of another rate and LoadGen's are of one distribution with p = %v", seed, p)
		}
	}
}

// bothKolmogorov returns the probability that two samples of one distribution are at least as far apart.
func bothKolmogorov(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	distance, i, k := 0., 0, 0
	for i < len(a) && k < len(b) {
		x := min(a[i], b[k])
		for i < len(a) && a[i] <= x {
			i++
		}
		for k < len(b) && b[k] <= x {
			k++
		}
		distance = max(distance, math.Abs(float64(i)/float64(len(a))-float64(k)/float64(len(b))))
	}
	n := math.Sqrt(float64(len(a)) * float64(len(b)) / float64(len(a)+len(b)))
	return beyond((n + 0.12 + 0.11/n) * distance)
}
