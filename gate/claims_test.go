package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// The status of a claim follows from the interval of what was found. No verdict rests on it.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		name  string
		claim assertion.Claim
		want  string
	}{
		{"near", assertion.Claim{Case: "now", Expected: 12.5, Tolerance: 0.1, Better: "higher"}, results.ClaimAgrees},
		{"far above", assertion.Claim{Case: "now", Expected: 24, Tolerance: 0.1, Better: "higher"}, results.ClaimWorse},
		{"far below", assertion.Claim{Case: "now", Expected: 6, Tolerance: 0.1, Better: "higher"}, results.ClaimBetter},
		{"less is better", assertion.Claim{Case: "now", Expected: 6, Tolerance: 0.1, Better: "lower"},
			results.ClaimWorse},
		{"no direction", assertion.Claim{Case: "now", Expected: 6, Tolerance: 0.1, Better: "none"}, results.ClaimAbove},
		{"at the edge", assertion.Claim{Case: "now", Expected: 12, Tolerance: 0, Better: "higher"},
			results.ClaimInconclusive},
		{"gain", assertion.Claim{Case: "now", BaseCase: "old", Expected: 0.25, Tolerance: 0.1, Better: "higher"},
			results.ClaimAgrees},
		{"gain that is not there", assertion.Claim{Case: "now", BaseCase: "old", Expected: 0.62, Tolerance: 0.1,
			Better: "higher"}, results.ClaimWorse},
		{"implausible", assertion.Claim{Case: "now", Expected: 285, Tolerance: 0.1, Better: "higher",
			Implausible: "more than a link"}, results.ClaimImplausible},
		{"implausible and measured otherwise", assertion.Claim{Case: "now", Expected: 285, Better: "higher",
			Implausible: "more than a link", Differs: "memory is dram"}, results.ClaimImplausible},
		{"measured otherwise", assertion.Claim{Case: "now", Expected: 12, Tolerance: 0.1, Better: "higher",
			Differs: "memory is dram"}, results.ClaimNotComparable},
		{"unknown case", assertion.Claim{Case: "none", Expected: 1, Better: "higher"}, results.ClaimNotMeasured},
		{"unknown metric", assertion.Claim{Case: "now", Metric: "latency.p50", Expected: 1, Better: "lower"},
			results.ClaimNotMeasured},
	} {
		doc := varied([]float64{10, 10.1, 9.9, 10}, []float64{12, 12.12, 11.88, 12})
		keys := map[string]string{"old": doc.Cases[0].Key, "now": doc.Cases[1].Key}
		if c.claim.Metric == "" {
			c.claim.Metric = "bandwidth"
		}
		c.claim.Case, c.claim.BaseCase = keys[c.claim.Case], keys[c.claim.BaseCase]
		Judge(doc)
		code := doc.Session.ExitCode
		doc.Claims = []*results.Claim{{Claim: c.claim}}
		for range 2 {
			Judge(doc)
			got := doc.Claims[0]
			if got.Status != c.want {
				t.Errorf("%s: %q (%s), want %q; found %+v", c.name, got.Status, got.Message, c.want, got.Found)
			}
			if !strings.Contains(got.Message, c.claim.Differs) {
				t.Errorf("%s: %q does not say that %s", c.name, got.Message, c.claim.Differs)
			}
			if got.Status == results.ClaimNotMeasured != (got.Found == nil) || got.Found == nil && got.Message == "" {
				t.Errorf("%s: found %+v, message %q", c.name, got.Found, got.Message)
			}
		}
		if doc.Session.ExitCode != code {
			t.Errorf("%s: the claim changes the exit code to %d", c.name, doc.Session.ExitCode)
		}
	}
}

// One launch has no interval, so that it neither agrees with a claim nor differs from it.
func TestAClaimNeedsAnInterval(t *testing.T) {
	doc := varied([]float64{3.2}, []float64{46.5})
	for _, c := range doc.Cases {
		doc.Claims = append(doc.Claims, &results.Claim{Claim: assertion.Claim{Case: c.Key, Metric: "bandwidth",
			Better: "higher", Expected: 3, Tolerance: 0.1}})
	}
	doc.Claims = append(doc.Claims, &results.Claim{Claim: assertion.Claim{Case: doc.Cases[1].Key,
		BaseCase: doc.Cases[0].Key, Metric: "bandwidth", Better: "higher", Expected: 0.4, Tolerance: 0.1}})
	Judge(doc)
	for _, c := range doc.Claims {
		if c.Status != results.ClaimInconclusive || c.Found == nil || c.Message != "n=1, too few for an interval" {
			t.Errorf("%s is %q (%s); found %+v", c.Case, c.Status, c.Message, c.Found)
		}
	}
}
