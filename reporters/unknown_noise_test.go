package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// A session that took eight launches for want of known noise says how to take fewer.
func TestUnknownNoiseIsTold(t *testing.T) {
	low, high := 0.9, 1.1
	doc := func(metric string, noise []assertion.Noise) *results.Document {
		c := &results.Case{
			Key:      "a",
			Run:      "a",
			Workload: "transfer",
			Status:   results.OK,
			Options:  map[string]any{"verify": "none"},
		}
		for i, v := range []float64{1, 1.01, 0.99, 1, 1.01, 0.99, 1, 1} {
			c.Launches = append(c.Launches, &results.Launch{Index: i, Status: results.OK, Verified: true,
				Metrics: results.ValuesOf(map[string]float64{metric: v})})
		}
		c.Assertions = []*results.AssertionVerdict{{Looks: []int{3, 5, 8}, Assertion: assertion.Assertion{
			Severity: assertion.Gate, Unit: "GB/s", Bounds: assertion.Bounds{Lower: &low, Upper: &high}, Noise: noise,
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: metric, Unit: "GB/s"},
		}}}
		d := &results.Document{Schema: results.Schema, Cases: []*results.Case{c}}
		gate.Judge(d)
		if c.Assertions[0].Verdict != results.Pass {
			t.Fatalf("%s: %s", c.Assertions[0].Verdict, c.Assertions[0].Message)
		}
		return d
	}
	got := unknownNoise(doc("bandwidth", nil))
	if len(got) != 1 || !strings.HasPrefix(got[0], "1 case took 8 launches or more") {
		t.Errorf("%q", got)
	}
	known := []assertion.Noise{{Metric: "bandwidth", Launch: 0.01, From: "history"}}
	if got := unknownNoise(doc("bandwidth", known)); got != nil {
		t.Errorf("%q", got)
	}
	c := doc("bandwidth", nil).Cases[0]
	c.Assertions[0].Subject.Metric = "latency.p99"
	if passedWithoutNoise(c) {
		t.Error("a quantile of the tail may have needed launches for its values")
	}
}
