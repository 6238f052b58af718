package gate

import (
	"testing"

	"github.com/weir-bench/weir/results/assertion"
)

// The power of an assertion is what its verdicts are in simulated sessions.
func TestPower(t *testing.T) {
	lower, upper := 0.9, 1.1
	a := assertion.Assertion{
		Subject: metric("bandwidth", "GB/s"), Unit: "GB/s", Bounds: assertion.Bounds{Lower: &lower, Upper: &upper},
		Noise: []assertion.Noise{{Metric: "bandwidth", Launch: 0.02, From: "reference t"}},
	}
	rows, ok := PowerOf(a, looks, []float64{0.8, 0.9, 1}, 50)
	if !ok || rows[0].Fail < 0.99 || rows[1].Inconclusive < 0.9 || rows[2].Pass < 0.99 || rows[2].Launches > 6 {
		t.Errorf("%v %+v", ok, rows)
	}
	a.Noise = nil
	if _, ok := PowerOf(a, looks, []float64{1}, 1); ok {
		t.Error("has a power although nothing is known of its noise")
	}
}
