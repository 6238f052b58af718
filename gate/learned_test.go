package gate

import (
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// Earlier sessions show how a metric varies that may be 0 but never was, such as a time to the first token; then a miss
// against a baseline is decided. They show nothing of one that was 0.
func TestNoiseOfMetricsThatMayBeZero(t *testing.T) {
	skews := func(values ...float64) *results.Case {
		c := caseOf("c", 46, 46, 46)
		for i, v := range values {
			c.Launches[i].Metrics.Set("skew", v)
		}
		return c
	}
	assertionOf := func() *results.AssertionVerdict {
		a := band(nil, p(1.1), looks)
		stored := &assertion.Expr{Op: assertion.Metric, Metric: "skew", Unit: "s", Case: "c", Baseline: true}
		a.Subject, a.Unit = ratio(metric("skew", "s"), stored), ""
		return a
	}
	const open = results.InconclusiveVerdict
	for name, c := range map[string]struct {
		sessions [][]float64
		learned  bool
		want     results.Verdict
	}{
		"no session":     {nil, false, open},
		"above 0":        {[][]float64{{2, 2.01, 2.02}, {2.01, 2, 2.02}, {2.02, 2.01, 2}}, true, results.Fail},
		"once 0":         {[][]float64{{2, 2.01, 2.02}, {2.01, 0, 2.02}, {2.02, 2.01, 2}}, false, open},
		"sessions apart": {[][]float64{{2, 2.01, 2.02}, {4, 4.01, 4.02}, {1, 1.01, 1.02}}, true, open},
	} {
		t.Run(name, func(t *testing.T) {
			var docs []*results.Document
			for i, values := range c.sessions {
				one := skews(values...)
				one.Assertions = []*results.AssertionVerdict{assertionOf()}
				doc := docOf(one)
				doc.Session.ID, doc.Environment.Fingerprint = string(rune('a'+i)), "sha256:01"
				docs = append(docs, doc)
			}
			var noise []results.CaseNoise
			if len(docs) > 0 {
				var err error
				if noise, err = NoiseOf(docs); err != nil {
					t.Fatal(err)
				}
			}
			if got := len(noise) > 0; got != c.learned {
				t.Errorf("learned: %+v", noise)
			}
			a, now := assertionOf(), skews(2.5, 2.51, 2.52)
			now.Assertions = []*results.AssertionVerdict{a}
			doc := docOf(now)
			doc.Environment.Fingerprint, doc.Noise = "sha256:01", noise
			doc.Baseline = &results.Baseline{
				Session: "monday", Fingerprint: "sha256:01", Cases: []results.BaselineCase{{Key: "c"}},
			}
			for _, v := range []float64{2, 2.01, 2.02} {
				b := &doc.Baseline.Cases[0]
				b.Launches = append(b.Launches, results.ValuesOf(map[string]float64{"skew": v}))
			}
			Judge(doc)
			wantVerdict(t, a, c.want)
		})
	}
}
