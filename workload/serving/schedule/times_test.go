package schedule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/golden"
)

func times(t *testing.T, o Open) []int64 {
	t.Helper()
	list, err := o.Times()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// kolmogorov returns the probability that n values of the assumed distribution are at least as far from it (the
// asymptotic series with Stephens' correction).
func kolmogorov(values []float64, distribution func(float64) float64) float64 {
	slices.Sort(values)
	n, distance := float64(len(values)), 0.
	for i, v := range values {
		f := distribution(v)
		distance = max(distance, f-float64(i)/n, float64(i+1)/n-f)
	}
	return beyond((math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * distance)
}

// beyond returns the probability that Kolmogorov's variable is above x.
func beyond(x float64) (p float64) {
	for k := 1.; k <= 100; k++ {
		p += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*x*x)
	}
	return min(p, 1)
}

func gaps(list []int64) []float64 {
	out, before := make([]float64, len(list)), int64(0)
	for i, at := range list {
		out[i], before = float64(at-before)/1e9, at
	}
	return out
}

// Of 20 seeds the least p is below 0.01 for one in five correct generators. So all of them together must have p > 0.01
// (Bonferroni), and the probabilities of many seeds must be uniform.
func TestPoissonGapsAreExponentialAndTimesUniform(t *testing.T) {
	const rate, seconds, seeds, more = 50, 40, 20, 400
	var ofGaps, ofTimes []float64
	for seed := range uint64(more) {
		list := times(t, Open{Arrivals: Arrivals{Kind: Poisson}, Rate: rate, Duration: seconds * 1e9, Seed: seed})
		at := make([]float64, len(list))
		for i, v := range list {
			at[i] = float64(v) / 1e9
		}
		ofGaps = append(ofGaps, kolmogorov(gaps(list), func(x float64) float64 { return 1 - math.Exp(-rate*x) }))
		ofTimes = append(ofTimes, kolmogorov(at, func(x float64) float64 { return x / seconds }))
	}
	for name, list := range map[string][]float64{"gaps": ofGaps, "times": ofTimes} {
		if p := seeds * slices.Min(list[:seeds]); p <= 0.01 {
			t.Errorf("%s of %d seeds are those of a Poisson process with p = %v", name, seeds, p)
		}
		if p := kolmogorov(list, func(x float64) float64 { return x }); p <= 0.01 {
			t.Errorf("the probabilities of %s of %d seeds are uniform with p = %v", name, more, p)
		}
	}
}

func TestKolmogorovRefusesAnotherRate(t *testing.T) {
	list := times(t, Open{Arrivals: Arrivals{Kind: Poisson}, Rate: 50, Requests: 2000})
	if p := kolmogorov(gaps(list), func(x float64) float64 { return 1 - math.Exp(-60*x) }); p > 0.01 {
		t.Errorf("gaps of 50/s are those of 60/s with p = %v", p)
	}
}

func TestGammaGapsHaveTheirMeanAndVariation(t *testing.T) {
	for _, shape := range []float64{0.25, 1, 2, 16} {
		const n, rate = 200_000, 10
		list := gaps(times(t, Open{Arrivals: Arrivals{Kind: Gamma, Shape: shape}, Rate: rate, Requests: n, Seed: 7}))
		mean, variance := 0., 0.
		for _, g := range list {
			mean += g / n
		}
		for _, g := range list {
			variance += (g - mean) * (g - mean) / n
		}
		// the standard error of the mean is cv/sqrt(n) of it
		cv := 1 / math.Sqrt(shape)
		if math.Abs(mean*rate-1) > 4*cv/math.Sqrt(n) {
			t.Errorf("shape %v: mean %v", shape, mean)
		}
		if got := math.Sqrt(variance) / mean; math.Abs(got/cv-1) > 0.02 {
			t.Errorf("shape %v: coefficient of variation %v, not %v", shape, got, cv)
		}
	}
}

func TestAConstantRateDoesNotDrift(t *testing.T) {
	list := times(t, Open{Arrivals: Arrivals{Kind: Constant}, Rate: 3, Requests: 3_000_001})
	for i, at := range list {
		if want := int64(math.Round(float64(i) * 1e9 / 3)); at != want {
			t.Fatalf("request %d is due at %d, not %d", i, at, want)
		}
	}
	if last := list[len(list)-1]; last != 1e15 {
		t.Errorf("request 3 000 000 of 3/s is due at %d ns, not after 1 000 000 s", last)
	}
}

// From 2/s to 20/s over 60 s, t seconds have 2t + (18/60) t²/2 requests: 660 after 60 s, and 20
// in each second after that.
func TestARampIsTheInverseOfItsIntegral(t *testing.T) {
	ramp := &Ramp{From: 2, To: 20, Over: 60e9}
	list := times(t, Open{Arrivals: Arrivals{Kind: Constant}, Ramp: ramp, Duration: 61e9})
	if len(list) != 680 {
		t.Errorf("%d requests, not 660 + 20", len(list))
	}
	for i, at := range list {
		s := float64(at) / 1e9
		want := 2*s + 0.15*s*s
		if s > 60 {
			want = 660 + 20*(s-60)
		}
		if math.Abs(want-float64(i)) > 1e-6 {
			t.Errorf("at %v s there are %v requests, not %d", s, want, i)
		}
	}
}

func TestRampToZeroEnds(t *testing.T) {
	ramp := &Ramp{From: 10, To: 0, Over: 10e9} // 50 requests
	list := times(t, Open{Arrivals: Arrivals{Kind: Constant}, Ramp: ramp, Duration: 100e9})
	if len(list) != 51 || list[50] != 10e9 {
		t.Errorf("%d requests, the last at %d", len(list), list[len(list)-1])
	}
	_, err := Open{Arrivals: Arrivals{Kind: Constant}, Ramp: ramp, Requests: 100}.Times()
	if err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("100 requests of a ramp that has 51: %v", err)
	}
}

func TestBurstsShareATime(t *testing.T) {
	list := times(t, Open{Arrivals: Arrivals{Kind: Burst, Size: 3}, Rate: 6, Requests: 8})
	if want := []int64{0, 0, 0, 5e8, 5e8, 5e8, 1e9, 1e9}; !slices.Equal(list, want) {
		t.Errorf("%v, not %v", list, want)
	}
	list = times(t, Open{Arrivals: Arrivals{Kind: Burst}, Requests: 4})
	if want := []int64{0, 0, 0, 0}; !slices.Equal(list, want) {
		t.Errorf("%v, not %v", list, want)
	}
}

func TestTimesAreSortedAndAsMany(t *testing.T) {
	for _, text := range []string{"constant", "poisson", "gamma:0.5", "gamma:4", "burst:7"} {
		a, err := ParseArrivals(text)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(10) {
			for _, ramp := range []*Ramp{nil, {From: 0, To: 40, Over: 3e9}, {From: 30, To: 5, Over: 3e9}} {
				o := Open{Arrivals: a, Rate: 20, Ramp: ramp, Requests: 150, Seed: seed}
				list := times(t, o)
				if len(list) != 150 || !slices.IsSorted(list) || list[0] < 0 {
					t.Errorf("%s, seed %d: %d times, sorted: %v", text, seed, len(list), slices.IsSorted(list))
				}
				// a duration cuts the same times
				o.Requests, o.Duration = 0, list[100]
				if cut := times(t, o); !slices.Equal(cut, list[:len(cut)]) || list[len(cut)] != list[100] {
					t.Errorf("%s, seed %d: a duration changes the times before it", text, seed)
				}
			}
		}
	}
}

func TestFirstTimesOfASeed(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{"constant", "poisson", "gamma:0.5", "gamma:2", "burst:4"} {
		a, err := ParseArrivals(text)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %v\n", text, times(t, Open{Arrivals: a, Rate: 8, Requests: 8, Seed: 3}))
	}
	ramp := &Ramp{From: 2, To: 20, Over: 2e9}
	fmt.Fprintf(&b, "%v %v\n", ramp, times(t, Open{Arrivals: Arrivals{Kind: Constant}, Ramp: ramp, Requests: 8}))
	golden.Equal(t, "testdata/times.golden", []byte(b.String()))
}

// Launches have gaps of their own: with the same ones in all, their chance would look like a property of the server.
// The number of requests of launches in a duration varies as that of a Poisson process, with variance equal to the
// mean.
func TestLaunchesHaveTheirOwnGaps(t *testing.T) {
	const launches, mean = 400, 160.
	counts, squares := 0., 0.
	for launch := range uint64(400) {
		o := Open{Arrivals: Arrivals{Kind: Poisson}, Rate: 40, Duration: mean / 40 * 1e9, Seed: 1, Launch: launch}
		n := float64(len(times(t, o)))
		counts, squares = counts+n, squares+n*n
		if !slices.Equal(times(t, o), times(t, o)) {
			t.Fatalf("launch %d is not repeatable", launch)
		}
	}
	got := counts / launches
	variance := squares/launches - got*got
	if math.Abs(got-mean) > 4*math.Sqrt(mean/launches) || variance < 0.75*mean || variance > 1.3*mean {
		t.Errorf("mean %v, variance %v, want %v for both", got, variance, mean)
	}
	constant := func(launch uint64) []int64 {
		return times(t, Open{Arrivals: Arrivals{Kind: Constant}, Rate: 8, Requests: 8, Launch: launch})
	}
	if !slices.Equal(constant(0), constant(1)) {
		t.Error("constant arrivals differ between launches")
	}
}

func TestInvalidLoads(t *testing.T) {
	poisson := Arrivals{Kind: Poisson}
	for _, c := range []struct {
		load Open
		want string
	}{
		{Open{Arrivals: poisson, Rate: 1}, "ends after requests or after a duration"},
		{Open{Arrivals: poisson, Rate: 0, Requests: 1}, "rate above 0"},
		{Open{Arrivals: poisson, Rate: math.NaN(), Requests: 1}, "rate above 0"},
		{Open{Arrivals: poisson, Rate: 1e7, Requests: 1}, "rate above 0"},
		{Open{Arrivals: poisson, Rate: 1, Requests: -1, Duration: 1}, "negative"},
		{Open{Arrivals: poisson, Rate: 1, Requests: MaxRequests + 1}, "more than"},
		{Open{Arrivals: poisson, Rate: 1e6, Duration: 3600e9}, "lower its rate"},
		{Open{Arrivals: poisson, Rate: 1e-9, Requests: 100}, "104 days"},
		{Open{Arrivals: poisson, Rate: 1, Duration: math.MaxInt64}, "104 days"},
		{Open{Arrivals: Arrivals{Kind: Burst}, Rate: 1, Duration: 1e9}, "how many"},
		{Open{Arrivals: poisson, Ramp: &Ramp{}, Requests: 1}, "no requests"},
		{Open{Arrivals: poisson, Ramp: &Ramp{From: 1, To: 1}, Requests: 1}, "a time above 0"},
		{Open{Arrivals: poisson, Ramp: &Ramp{From: -1, To: 1, Over: 1}, Requests: 1}, "from 0 to"},
	} {
		if _, err := c.load.Times(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, not %q", c.load, err, c.want)
		}
	}
}

func TestTextsAreReadAndWritten(t *testing.T) {
	for _, text := range []string{"constant", "poisson", "gamma:2", "gamma:0.5", "burst", "burst:16"} {
		if a, err := ParseArrivals(text); err != nil || a.String() != text {
			t.Errorf("%q is %v, %v", text, a, err)
		}
	}
	for _, text := range []string{"2/s..20/s over 60s", "0/s..0.5/s over 1500ms"} {
		if r, err := ParseRamp(text); err != nil || r.String() != text {
			t.Errorf("%q is %v, %v", text, r, err)
		}
	}
	for text, want := range map[string]string{
		"":                      "constant, poisson",
		"uniform":               "constant, poisson",
		"poisson:2":             "no number",
		"gamma":                 "gamma:SHAPE",
		"gamma:0":               "gamma:SHAPE",
		"gamma:NaN":             "gamma:SHAPE",
		"burst:0":               "burst:REQUESTS",
		"burst:":                "burst:REQUESTS",
		"ramp 2/s":              "no ramp",
		"ramp 2/s..3 over 1":    "has no unit",
		"ramp 2/s..3/s over":    "no ramp",
		"ramp 2/s..3/s over 5":  "has no unit",
		"ramp 2/s..3GB over 5s": "is a",
	} {
		var err error
		if ramp, ok := strings.CutPrefix(text, "ramp "); ok {
			_, err = ParseRamp(ramp)
		} else {
			_, err = ParseArrivals(text)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", text, err, want)
		}
	}
}

func TestClientsShareAllRequestsAndSlots(t *testing.T) {
	for clients := 1; clients <= 5; clients++ {
		for concurrency := range 12 {
			sum := 0
			for c := range clients {
				sum += Slots(concurrency, c, clients)
			}
			if sum != concurrency {
				t.Errorf("%d clients have %d slots of %d", clients, sum, concurrency)
			}
		}
		sent := make([]int, clients)
		for i := range 60 {
			sent[Client(i, clients)]++
		}
		if slices.Max(sent) != 60/clients {
			t.Errorf("%d clients send %v", clients, sent)
		}
	}
}
