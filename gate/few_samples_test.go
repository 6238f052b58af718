package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// A quantile of too few values of all launches together decides nothing, whatever the bound.
func TestQuantileOfFewSamplesIsInconclusive(t *testing.T) {
	for _, test := range []struct {
		metric  string
		stamped float64
		decided bool
	}{
		{"latency.p99", 37, false}, {"latency.p99", 77, false}, {"latency.p99", 78, true}, // by five launches
		{"latency.p999", 500, false}, {"latency.p90", 5, false}, {"latency.p50", 64, true}, {"latency.max", 64, true},
		{"post.p99", 58, false}, {"bandwidth", 5, true},
	} {
		c := caseOf("c", 1, 1.01, 0.99, 1, 1.02)
		for _, l := range c.Launches {
			l.Metrics = results.ValuesOf(map[string]float64{
				test.metric: l.Metrics.At("bandwidth"), "requests.stamped": test.stamped,
			})
		}
		a := band(nil, p(2), []int{5})
		a.Subject = metric(test.metric, "")
		a.Unit = ""
		doc := judged(c, a)
		if a.Verdict != results.Pass {
			t.Errorf("an older document, which says of no values: %s: %s", a.Verdict, a.Message)
		}
		kind, _ := workload.Lookup(c.Workload)
		doc.Metrics = []results.MetricTable{kind.Table()}
		Judge(doc)
		if decided := a.Verdict == results.Pass; decided != test.decided ||
			!decided && !has(a.Reasons, "few-samples") {
			t.Errorf("%s of %v: %s: %s", test.metric, test.stamped, a.Verdict, a.Message)
		}
		if need := Undecided(doc); len(need) != 0 {
			t.Errorf("%s of %v asks for launches of %v", test.metric, test.stamped, need)
		}
		m, _ := doc.Cases[0].Metrics.Get(test.metric)
		quantile := strings.Contains(test.metric, ".p")
		if quantile != (m.Samples == int64(test.stamped)) {
			t.Errorf("%s of %v has %d samples", test.metric, test.stamped, m.Samples)
		}
	}
}
