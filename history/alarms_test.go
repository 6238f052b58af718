package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/test/phase"
)

// plainSeries are values of sessions that weigh alike, not as logarithms.
func plainSeries(values []float64) series {
	return series{values: values, spread: slices.Repeat([]float64{1}, len(values))}
}

func placesOf(cuts []changePoint, _ []drift) []int {
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
	for _, significance := range []float64{0.05, 0.01} {
		if got := placesOf(detectChanges(plainSeries(nile), significance, 0)); !slices.Equal(got, []int{28}) {
			t.Errorf("the Nile changes at %v with p <= %v, want 28 (1899)", got, significance)
		}
	}
	cuts, _ := detectChanges(plainSeries(coal), 0.05, 0)
	if len(cuts) == 0 || cuts[0].at+1851 < 1885 || cuts[0].at+1851 > 1897 {
		t.Errorf("the disasters change at %v, want once within 1885 and 1897", cuts)
	}
}

// The sums of squares are those of ordinary least squares on the whitened values, solved by
// brute force: levels are moved until none makes the sum smaller.
func TestFitIsTheLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 30 {
		n := 9 + r.IntN(20)
		s := series{ratio: true}
		for range n {
			s.values, s.spread = append(s.values, 5+r.NormFloat64()), append(s.spread, 0.5+r.Float64())
		}
		rho := autocorrelations[r.IntN(len(autocorrelations))]
		k := LeastSegment + 1 + r.IntN(n-2*LeastSegment-1)
		f := s.fit([]int{0, LeastSegment}, rho)
		got := f.squares - f.explained(k)
		levels := []float64{5, 5, 5}
		squares := func() float64 {
			sum, before := 0., 0.
			for i, v := range s.values {
				level := levels[0]
				if i >= k {
					level = levels[2]
				} else if i >= LeastSegment {
					level = levels[1]
				}
				z := (v - level) / s.spread[i]
				e := z - rho*before
				if i == 0 {
					e = z * math.Sqrt(1-rho*rho)
				}
				sum += e * e
				before = z
			}
			return sum
		}
		for range 400 {
			for j := range levels { // a parabola has its least value where three points say
				at, step := levels[j], 1.
				middle := squares()
				levels[j] = at + step
				above := squares()
				levels[j] = at - step
				below := squares()
				levels[j] = at + step*(below-above)/(2*(above+below-2*middle))
			}
		}
		if want := squares(); math.Abs(got-want) > 1e-6*want {
			t.Errorf("a sum of squares of %v with a change at %d, want %v", got, k, want)
		}
	}
}

func TestNoChange(t *testing.T) {
	quiet := slices.Repeat([]float64{1, 1.1, 0.9}, 20)
	for name, x := range map[string][]float64{
		"nothing": nil, "one": {1}, "too few": {1, 1, 1, 1, 9, 9, 9}, "all the same": slices.Repeat([]float64{3}, 50),
		"one sticks out":    append(slices.Repeat([]float64{1, 1.1, 0.9}, 8), 5),
		"one of many":       append(slices.Repeat([]float64{1, 1.1, 0.9}, 40), 50),
		"two of many":       append(slices.Repeat([]float64{1, 1.1, 0.9}, 40), 50, 51),
		"two in the middle": slices.Concat(quiet, []float64{50, 51}, quiet),
	} {
		if got, _ := detectChanges(plainSeries(x), 0.05, 0); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Several changes are all found, in order, without a seed.
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
	if got, want := placesOf(detectChanges(plainSeries(x), 0.01, 0)), []int{20, 35, 60}; !slices.Equal(got, want) {
		t.Errorf("changes at %v, want %v", got, want)
	}
}

// A step is where it was, however many sessions followed it.
func TestStepStaysWhereItWas(t *testing.T) {
	for before := 7; before <= 12; before++ {
		for after := LeastSegment; after <= 9; after++ {
			var x []float64
			for i := range before + after {
				level := 10.
				if i >= before {
					level = 10.5
				}
				x = append(x, level+0.01*float64(i%3-1))
			}
			if got, _ := detectChanges(plainSeries(x), 0.01, 0); before+after >= FirstLook &&
				(len(got) != 1 || got[0].at != before) {
				t.Errorf("%d and %d sessions: %+v", before, after, got)
			}
		}
	}
}

// More levels than the fit looks back on are found too.
func TestManyLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var x []float64
	var want []int
	for i := range 12 {
		if i > 0 {
			want = append(want, len(x))
		}
		for range 10 {
			x = append(x, float64(i%2)+0.02*r.NormFloat64())
		}
	}
	if got := placesOf(detectChanges(plainSeries(x), 0.05, 0)); !slices.Equal(got, want) {
		t.Errorf("changes at %v, want %v", got, want)
	}
}

// What was raised with a session is raised in every later history.
func TestAlarmsStay(t *testing.T) {
	phase.NotUnderRace(t)
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		m := model{
			n: 40, sd: 0.02, level: stepped(rapid.IntRange(3, 20).Draw(t, "from"), rapid.IntRange(20, 40).Draw(t, "to"),
				rapid.Float64Range(-0.2, 0.2).Draw(t, "by")),
		}
		each, step := rapid.Float64Range(-0.01, 0.01).Draw(t, "each"), m.level
		m.level = func(i int) float64 { return step(i) + each*float64(i) }
		s := seriesOf(m.points(seed))
		raised := func(cuts []changePoint, drifts []drift) (out []int) {
			for _, d := range drifts {
				out = append(out, -d.raised)
			}
			for _, c := range cuts {
				if c.reported > 0 {
					out = append(out, c.reported)
				}
			}
			return out
		}
		var before []int
		for n := FirstLook; n <= m.n; n++ {
			now := raised(detectChanges(s.upTo(n), 0.05, 0.03))
			for _, b := range before {
				if !slices.Contains(now, b) {
					t.Fatalf("%d sessions: raised with %v, and what was raised with %v is not there", n, now, before)
				}
			}
			before = now
		}
	})
}

// Sessions of many launches weigh more only as far as launches are what differs.
func TestSessionsWeighByTheirLaunches(t *testing.T) {
	for _, test := range []struct {
		session, most, least float64 // of the spread of 3 launches beside that of 24
	}{{0.0001, 3, 2.3}, {0.05, 1.4, 1}} {
		sum := 0.
		const n = 50
		for seed := range uint64(n) {
			m := model{n: 30, sd: test.session, launches: []int{3, 24}, launch: 0.04, level: flat}
			s := seriesOf(m.points(seed))
			sum += s.spread[0] / s.spread[1] / n
		}
		if sum > test.most || sum < test.least {
			t.Errorf("sessions that vary by %v: the spreads have a ratio of %v", test.session, sum)
		}
	}
	if s := seriesOf([]Point{{Value: 1, N: 1}, {Value: 2, N: 9}}); s.spread[0] != s.spread[1] {
		t.Errorf("without launches, spreads are %v", s.spread)
	}
}

func BenchmarkDivide(b *testing.B) {
	s := seriesOf(model{n: 365, sd: 0.02, level: func(i int) float64 { return 0.1 * float64(i/90) }}.points(1))
	for b.Loop() {
		detectChanges(s, 0.05, 0.03)
	}
}
