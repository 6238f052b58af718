package gate

import (
	"math"
	"math/rand/v2"
	"strconv"
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

// Few earlier sessions may have been alike by chance: two that differ as sessions do are not called different by them.
func TestFewEarlierSessionsAreNoProofOfAlikes(t *testing.T) {
	const comparisons, cv, tau = 300, 0.01, 0.02
	for _, earlier := range []int{2, 3, 4} {
		found := 0
		for seed := range uint64(comparisons) {
			r := rand.New(rand.NewPCG(seed, 16))
			one := func(id int) *results.Document {
				level := tau * r.NormFloat64()
				var values []float64
				for range 6 {
					values = append(values, math.Exp(level+cv*r.NormFloat64()))
				}
				c := caseOf("c", values...)
				c.Assertions = []*results.AssertionVerdict{band(p(0.1), nil, looks)}
				doc := docOf(c)
				doc.Session.ID = strconv.Itoa(id)
				return doc
			}
			var docs []*results.Document
			for i := range earlier {
				docs = append(docs, one(i))
			}
			noise, err := NoiseOf(docs)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Compare(one(earlier), one(earlier+1), CompareOptions{Margin: 0.03, Noise: noise})
			e := only(t, c, err)
			if e.Change.Found {
				found++
			}
			if least := 1 - e.Change.CI[0]/e.Change.Value; *e.Change.Detectable < least {
				t.Fatalf("%v is called detectable, and the interval is %v", *e.Change.Detectable, *e.Change.CI)
			}
		}
		if share := float64(found) / comparisons; share > 0.07 {
			t.Errorf("%d earlier sessions: %.1f%% of likes are called different", earlier, 100*share)
		}
	}
}
