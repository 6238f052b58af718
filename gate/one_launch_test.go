package gate

import (
	"testing"

	"github.com/weir-bench/weir/results"
)

// One launch against a baseline is judged with all that is known of noise: less data never make a failure certain.
func TestOneLaunchAgainstABaseline(t *testing.T) {
	twelve := []float64{100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 101, 99}
	for _, c := range []struct {
		name   string
		now    float64
		before []float64
		tau    float64 // between sessions; 0: unknown
		want   results.Verdict
	}{
		{"sessions unknown", 95, twelve, 0, results.InconclusiveVerdict},
		{"sessions unknown, baseline of one launch", 95, []float64{100}, 0, results.InconclusiveVerdict},
		{"beyond what sessions may differ by", 70, twelve, 0, results.Fail},
		{"sessions vary by 10 %", 95, twelve, 0.1, results.InconclusiveVerdict},
		{"sessions vary by 0.1 %, launches of the baseline by 1 %", 93, twelve, 0.001, results.Fail},
		{"sessions vary by 0.1 %, within the noise of launches", 96, twelve, 0.001, results.InconclusiveVerdict},
		{"better", 110, twelve, 0.001, results.Pass},
	} {
		doc, a := regression([]float64{c.now}, c.before)
		a.Looks = []int{1}
		if c.tau > 0 {
			doc.Noise = historyOf("c", c.tau)
			doc.Noise[0].Metrics[0].Launch = 0.001
		}
		Judge(doc)
		if a.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, a.Verdict, c.want, a.Message)
		}
		if told := has(a.Reasons, "one-launch"); told && a.Observed.CI != nil {
			t.Errorf("%s: one launch shows no noise, but has the interval %v", c.name, a.Observed.CI)
		}
	}
}

// A launch has an interval also alone, if its noise is known.
func TestOneLaunchOfKnownNoise(t *testing.T) {
	for value, want := range map[float64]results.Verdict{
		39.9: results.InconclusiveVerdict, 40.1: results.InconclusiveVerdict, 38: results.Fail, 50: results.Pass,
	} {
		a := known(0.01, band(p(40), nil, []int{1}))
		judged(caseOf("c", value), a)
		if a.Verdict != want {
			t.Errorf("%v: %s, want %s: %s", value, a.Verdict, want, a.Message)
		}
	}
}
