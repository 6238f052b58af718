package gate

import (
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Medians of three launches without a common value pass a bound that is a thousand times larger.
func TestMedianOfDifferentLaunchesFarFromItsBound(t *testing.T) {
	kind, _ := workload.Lookup("traffic")
	c := &results.Case{Key: "c", Run: "run", Workload: "traffic", Status: results.OK, Options: map[string]any{}}
	for i, center := range []float64{3.5e6, 2.1e6, 0.27e6} {
		values := make([]float64, 50)
		for k := range values {
			values[k] = center * (1 + 0.001*float64(k-24))
		}
		d := results.Distributions{}
		d.Add("latency", values, 0)
		c.Launches = append(c.Launches, &results.Launch{
			Index: i, Status: results.OK, Verified: true, Distributions: d,
			Metrics: results.ValuesOf(map[string]float64{"latency.p50": center * 1e-9, "requests.stamped": 50}),
		})
	}
	a := &results.AssertionVerdict{
		Assertion: assertion.Assertion{
			Name: "median", Severity: assertion.Gate, Subject: metric("latency.p50", "s"), Unit: "s",
			Bounds: assertion.Bounds{Upper: p(5)},
		},
		Looks: []int{3},
	}
	c.Assertions = []*results.AssertionVerdict{a}
	doc := docOf(c)
	doc.Metrics = []results.MetricTable{kind.Table()}
	if Judge(doc); a.Verdict != results.Pass {
		t.Errorf("%s: %s", a.Verdict, a.Message)
	}
}

// A distance that is too large for chance is believed: noisy launches far from a bound need some more, not hundreds.
func TestAdviceOfNoisyLaunchesFarFromTheirBound(t *testing.T) {
	for _, test := range []struct {
		bound  float64
		advice bool
	}{{50, true}, {20, true}, {2, false}} {
		a := band(nil, p(test.bound), []int{3})
		judged(caseOf("c", 3.523, 2.156, 0.2691), a)
		if a.Verdict != results.InconclusiveVerdict || has(a.Reasons, "launches-would-decide") != test.advice ||
			has(a.Reasons, "too-noisy") == test.advice {
			t.Errorf("<= %g GB/s: %s: %s", test.bound, a.Verdict, a.Message)
		}
	}
}

// A value at the end of a halo is too near to be decided there, however far it is from the bound.
func TestAdviceAtTheEndOfAHalo(t *testing.T) {
	for halo, near := range map[float64]bool{0.2: true, 0: false} {
		a := band(p(10), nil, []int{5})
		a.Halo = halo
		judged(caseOf("c", 6.6, 9.5, 7.5, 8.2, 8.4), a)
		if has(a.Reasons, "near-bound") != near {
			t.Errorf("halo %v: %s: %s", halo, a.Verdict, a.Message)
		}
	}
}
