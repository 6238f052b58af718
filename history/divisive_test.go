package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/test/phase"
)

func places(cuts []cut) []int {
	var out []int
	for _, c := range cuts {
		out = append(out, c.at)
	}
	return out
}

func TestPublishedSeries(t *testing.T) {
	sum := 0.
	for _, v := range nile {
		sum += v
	}
	if len(nile) != 100 || sum != 91935 || len(coal) != 111 {
		t.Fatalf("the series are not those that were published: %d values with sum %v, %d values", len(nile), sum,
			len(coal))
	}
	for seed := range uint64(4) { // the place may not hang on the permutations
		for _, significance := range []float64{0.05, 0.001} {
			if got := places(divide(nile, significance, [2]uint64{seed, 1})); !slices.Equal(got, []int{28}) {
				t.Errorf("the Nile changes at %v with p <= %v, want 28 (1899)", got, significance)
			}
		}
		cuts := divide(coal, 0.01, [2]uint64{seed, 1})
		if len(cuts) == 0 || cuts[0].at+1851 < 1887 || cuts[0].at+1851 > 1895 {
			t.Errorf("the disasters change at %v, want once within 1887 and 1895", cuts)
		}
	}
}

// split agrees with the definition, written out.
func TestSplitFollowsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		x := make([]float64, 6+r.IntN(20))
		for i := range x {
			x[i] = r.NormFloat64()
		}
		wantK, want := 0, math.Inf(-1)
		for k := LeastSegment; k <= len(x)-LeastSegment; k++ {
			m, n := float64(k), float64(len(x)-k)
			mean := func(a, b []float64, pairs float64) float64 {
				sum := 0.
				for _, v := range a {
					for _, w := range b {
						sum += math.Abs(v - w)
					}
				}
				return sum / pairs
			}
			if q := m * n / (m + n) * (2*mean(x[:k], x[k:], m*n) - mean(x[:k], x[:k], m*(m-1)) - mean(x[k:], x[k:],
				n*(n-1))); q > want {
				wantK, want = k, q
			}
		}
		if k, q := split(x); k != wantK || math.Abs(q-want) > 1e-9 {
			t.Errorf("split at %d with %v, want %d with %v", k, q, wantK, want)
		}
	}
}

func TestNoChange(t *testing.T) {
	for name, x := range map[string][]float64{
		"nothing": nil, "one": {1}, "too few": {1, 1, 9, 9, 9}, "all the same": slices.Repeat([]float64{3}, 50),
		"one sticks out": append(slices.Repeat([]float64{1, 1.1, 0.9}, 8), 5),
	} {
		if got := divide(x, 0.01, [2]uint64{1, 2}); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Operating characteristics over series of 30 sessions: at most as many of 1 000 have a
// false change as the significance says, and in 95 % of 250 a step of three standard
// deviations is found, alone, and at most two sessions off.
func TestOperatingCharacteristics(t *testing.T) {
	phase.NotUnderRace(t)
	const n, steps, significance = 1000, 250, 0.05
	falseAlarms, found := 0, 0
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 42))
		quiet, step := make([]float64, 30), make([]float64, 30)
		for i := range quiet {
			quiet[i] = r.NormFloat64()
			step[i] = r.NormFloat64()
			if i >= 18 {
				step[i] -= 3
			}
		}
		if len(divide(quiet, significance, [2]uint64{seed, 0})) > 0 {
			falseAlarms++
		}
		if seed >= steps {
			continue
		}
		if got := divide(step, 0.01, [2]uint64{seed, 0}); len(got) == 1 && got[0].at >= 16 && got[0].at <= 20 {
			found++
		}
	}
	if limit := n*significance + 3*math.Sqrt(n*significance*(1-significance)); float64(falseAlarms) > limit {
		t.Errorf("%d of %d series have a change that is not there, at most %.0f may", falseAlarms, n, limit)
	}
	if found < steps*95/100 {
		t.Errorf("the step is found in %d of %d series", found, steps)
	}
}

// Several changes are all found, in order.
func TestSeveralChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var x []float64
	for _, l := range []struct {
		level float64
		n     int
	}{{10, 20}, {8, 15}, {9, 25}, {7, 10}} {
		for range l.n {
			x = append(x, l.level+0.1*r.NormFloat64())
		}
	}
	got := divide(x, 0.01, [2]uint64{1, 2})
	if want := []int{20, 35, 60}; !slices.Equal(places(got), want) {
		t.Errorf("changes at %v, want %v", got, want)
	}
	if again := divide(x, 0.01, [2]uint64{1, 2}); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("%v, and again %v", got, again)
	}
}

func BenchmarkDivide(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 365)
	for i := range x {
		x[i] = r.NormFloat64() + float64(i/90)
	}
	for b.Loop() {
		divide(x, 0.01, [2]uint64{1, 2})
	}
}
