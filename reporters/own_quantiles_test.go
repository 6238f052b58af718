package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// A table has a quantile of all values together, and a change since an earlier session is of the launches' own: where
// these are far apart, a line has both.
func TestTwoEstimatesOfAQuantileAreTold(t *testing.T) {
	for _, test := range []struct {
		metric   string
		all, own float64
		want     string
	}{
		{"latency.p99", 43e-3, 4.5e-3, "latency.p99 of a is 43.00 ms of all values together"},
		{"latency.p99", 4.6e-3, 4.5e-3, ""},
		{"latency.avg", 43e-3, 4.5e-3, ""},
	} {
		c := &results.Case{Key: "a", Metrics: results.Named[results.MetricEstimate]{}}
		c.Metrics.Set(test.metric, results.MetricEstimate{Value: test.all, Unit: "s"})
		doc := &results.Document{Cases: []*results.Case{c}, Previous: &results.Previous{Since: []*results.Since{{
			Case: "a", Metric: test.metric, Unit: "s", Base: results.Observed{Value: test.own, Unit: "s"},
			Change: results.Change{Value: 1},
		}}}}
		text := strings.Join(quantilesSince(doc), "\n")
		if (text != "") != (test.want != "") || !strings.Contains(text, test.want) {
			t.Errorf("%s %v: %q, want %q", test.metric, test.all, text, test.want)
		}
	}
}
