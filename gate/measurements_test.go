package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Cases may share launches, so reasons over several cases count measurements of cases, and those over one count
// launches: an error of two metrics of a launch is one.
func TestReasonsOverSeveralCasesCountMeasurements(t *testing.T) {
	over := func(keys ...string) *results.AssertionVerdict {
		mean := &assertion.Expr{Op: assertion.Mean}
		for _, key := range keys {
			for _, metric := range []string{"errors", "lost"} {
				mean.Args = append(mean.Args, of(key, metric, ""))
			}
		}
		return &results.AssertionVerdict{Looks: looks, Assertion: assertion.Assertion{
			Name: "none", Severity: assertion.Gate, Subject: mean, Bounds: assertion.Bounds{Upper: p(0)}, Cases: keys,
		}}
	}
	several, one := over("a", "b"), over("a")
	doc := docOf()
	for _, key := range []string{"a", "b"} {
		c := caseOf(key, 10, 10, 10, 10, 10)
		for i, l := range c.Launches {
			l.Metrics.Set("errors", float64(i%2))
			l.Metrics.Set("lost", float64(i%2))
		}
		c.Launches[0].Discarded = "it waited"
		c.Launches[1].Status, c.Launches[1].Retried = results.Error, true
		doc.Cases = append(doc.Cases, c)
	}
	kind, _ := workload.Lookup("transfer")
	defined := append(slices.Clone(kind.Metrics),
		workload.Metric{Name: "errors", Better: workload.Lower, MayBeZero: true},
		workload.Metric{Name: "lost", Better: workload.Lower, MayBeZero: true})
	doc.Metrics = []results.MetricTable{{Workload: "transfer", Run: "run", Definitions: defined}}
	doc.Assertions = []*results.AssertionVerdict{several, one}
	Judge(doc)
	for _, test := range []struct {
		a    *results.AssertionVerdict
		says []string
	}{
		{several, []string{"2 measurements of cases had more", "2 of 10 measurements of cases discarded",
			"2 measurements of cases retried"}},
		{one, []string{"1 launch had more", "1 of 5 launches discarded", "1 launch retried"}},
	} {
		wantVerdict(t, test.a, results.Fail)
		for _, want := range test.says {
			if !strings.Contains(test.a.Message, want) {
				t.Errorf("%q lacks %q", test.a.Message, want)
			}
		}
	}
}
