package reporters

import (
	"io"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// single is a document of a case that passed by this number of launches, with a tail of 188 samples.
func single(launches int) *results.Document {
	c := &results.Case{
		Key: "a", Run: "a", Workload: "transfer", Status: results.OK,
		Metrics: results.NamedList([]string{"bandwidth", "latency.p99"}, []results.MetricEstimate{
			{
				Unit: "GB/s", N: launches, Value: 10, Median: 10, Mean: 10,
				Confidence: 0.96, Better: "higher",
			},
			{
				Unit: "s", N: launches, Value: 5.74e-6, Median: 5.74e-6, Mean: 5.74e-6,
				Confidence: 0.96, Better: "lower",
				Samples: 188,
			},
		}),
	}
	lower := 9.
	a := &results.AssertionVerdict{
		Assertion: assertion.Assertion{
			Name: "floor", Severity: assertion.Gate, Unit: "GB/s", Bounds: assertion.Bounds{Lower: &lower},
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
		},
		Verdict:  results.Pass,
		Observed: &results.Observed{Value: 10, Unit: "GB/s", N: launches},
	}
	if launches > 1 {
		a.Observed.CI = &[2]float64{9.9, 10.1}
	}
	for i := range launches {
		c.Launches = append(c.Launches, &results.Launch{Index: i, Status: results.OK, Verified: true})
	}
	c.Assertions = []*results.AssertionVerdict{a}
	doc := &results.Document{Schema: results.Schema, Cases: []*results.Case{c}}
	doc.Session.Status = results.Passed
	doc.Summarize()
	return doc
}

// A pass by one launch has a mark of its own, and a tail quantile its number of samples.
func TestPassOfOneLaunchAndSamplesOfTails(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *results.Document) error{
		"table":    func(w io.Writer, doc *results.Document) error { return Table(w, doc, Look{}) },
		"markdown": Markdown, "html": HTML, "junit": JUnit, "csv": CSV,
	} {
		for _, launches := range []int{1, 5} {
			var b strings.Builder
			if err := write(&b, single(launches)); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			if name != "csv" && strings.Contains(got, onePass+" pass") != (launches == 1) {
				t.Errorf("%s of %d launches: the mark of one launch is wrong:\n%s", name, launches, got)
			}
			if name != "junit" && !strings.Contains(got, "188") {
				t.Errorf("%s does not have the number of samples", name)
			}
		}
	}
}

// What is not steady, and what varies, stands in the reports for people.
func TestWarmUpAndComponentsStandInReports(t *testing.T) {
	const varies = "bandwidth of a varies by 3.1% between parts of a launch, 2.0% between launches, 1.0% between sessions"
	doc := single(5)
	c := doc.Cases[0]
	c.WarmUp = &results.WarmUp{Pieces: 3, Of: 16, Ratio: 0.7, Moves: 0.056}
	m := c.Metrics.At("bandwidth")
	m.Components = []results.Variance{{Of: "pieces", CV: 0.031}, {Of: "launches", CV: 0.02}, {Of: "sessions", CV: 0.01}}
	c.Metrics.Set("bandwidth", m)
	for name, write := range map[string]func(io.Writer, *results.Document) error{
		"table":    func(w io.Writer, doc *results.Document) error { return Table(w, doc, Look{}) },
		"markdown": Markdown, "html": HTML,
	} {
		var b strings.Builder
		if err := write(&b, doc); err != nil {
			t.Fatal(err)
		}
		components := varies
		if name == "html" {
			components = "<td>a<td>bandwidth<td>3.1%<td>2.0%<td>1.0%"
		}
		for _, want := range []string{
			"in the first 3 of 16 parts a launch is 30% slower than in the rest, which moves its bandwidth by 5.6%",
			components,
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}
