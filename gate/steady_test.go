package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
)

// coursed gives a case launches whose pieces vary by 3 % with an autocorrelation, and whose first
// pieces are slower.
func coursed(seed uint64, launches int, rho float64, slow int, slower float64) *results.Case {
	r := rand.New(rand.NewPCG(seed, 31))
	c := caseOf("c")
	for i := range launches {
		l := caseOf("", 1).Launches[0]
		l.Index = i
		level, x := 0.02*r.NormFloat64(), r.NormFloat64()
		for k := range 16 {
			v := math.Exp(level + 0.03*x)
			if k < slow {
				v *= 1 - slower
			}
			l.Pieces = append(l.Pieces, v)
			x = rho*x + math.Sqrt(1-rho*rho)*r.NormFloat64()
		}
		c.Launches = append(c.Launches, l)
	}
	return c
}

// steadiness are the rows of the table of warm-ups.
var steadiness = []struct {
	name     string
	launches int
	rho      float64
	slow     int
	slower   float64
	most     float64 // of cases that are marked, in percent: the bars; 0: none
	least    float64
}{
	{"steady, 3 launches", 3, 0, 0, 0, 5, 0},
	{"steady, 5 launches, autocorrelation 0.5", 5, 0.5, 0, 0, 5, 0},
	{"steady, 12 launches, autocorrelation 0.8", 12, 0.8, 0, 0, 5, 0},
	{"the first 3 of 16 parts 30 % slower, 3 launches", 3, 0, 3, 0.3, 0, 0},
	{"the first 3 of 16 parts 30 % slower, 5 launches", 5, 0.5, 3, 0.3, 0, 90},
	{"the first part 20 % slower, 5 launches", 5, 0, 1, 0.2, 0, 0},
	{"the first part 20 % slower, 12 launches", 12, 0, 1, 0.2, 0, 90},
}

// marked is in how many percent of cases the warm-up is called too short.
func marked(n, launches int, rho float64, slow int, slower float64) float64 {
	found := 0
	for seed := range uint64(n) {
		if warmUp(coursed(seed, launches, rho, slow, slower).Launches) != nil {
			found++
		}
	}
	return 100 * float64(found) / float64(n)
}

func TestWarmUpsAreToldFromSteadyLaunches(t *testing.T) {
	phase.NotUnderRace(t)
	n := simulated(t, 400, 5000)
	for _, s := range steadiness {
		got := marked(n, s.launches, s.rho, s.slow, s.slower)
		t.Logf("%s: %.1f%% marked", s.name, got)
		held(t, s.name, got, s.most, n)
		if got < s.least {
			t.Errorf("%s: %.1f%% are marked, %v%% are promised", s.name, got, s.least)
		}
	}
}

// A warm-up that was too short is reported on its case and changes no verdict.
func TestWarmUpChangesNoVerdict(t *testing.T) {
	c := coursed(1, 5, 0, 3, 0.3)
	a := band(p(0.5), p(2), []int{5})
	judged(c, a)
	w := c.WarmUp
	if w == nil || w.Pieces < 3 || w.Of != 16 || w.Ratio > 0.95 || w.Moves < 0.01 || a.Verdict != results.Pass {
		t.Errorf("%+v, %s: %s", w, a.Verdict, a.Message)
	}
	if m := c.Metrics.At("bandwidth"); len(m.Components) != 2 || m.Components[0].Of != "pieces" ||
		m.Components[0].DF != 75 || m.Components[1].Of != "launches" {
		t.Errorf("components %+v", m.Components)
	}
}

// Sessions are a level of what a metric varies by where history knows them.
func TestSessionsAreALevel(t *testing.T) {
	c := caseOf("c", 1, 1.1, 1.05)
	doc := docOf(c)
	doc.Noise = []results.CaseNoise{{Case: "c", Metrics: []assertion.Noise{
		{Metric: "bandwidth", Launch: 0.02, Session: 0.01, SessionDF: 4, KnowsSessions: true, From: "history"},
	}}}
	Judge(doc)
	m := c.Metrics.At("bandwidth")
	if len(m.Components) != 2 || m.Components[1] != (results.Variance{Of: "sessions", CV: 0.01, DF: 4}) {
		t.Errorf("components %+v", m.Components)
	}
	doc.Noise[0].Environment = "sha256:other"
	if Judge(doc); c.Metrics.At("bandwidth").Components != nil {
		t.Errorf("of another environment: %+v", c.Metrics.At("bandwidth").Components)
	}
}
