package reporters

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

var (
	anyInterval = regexp.MustCompile(`(\d[\d.]*)–(\d[\d.]*)`)
	gainEnds    = regexp.MustCompile(`([-+]?\d[\d.]*)% to ([-+]?\d[\d.]*)%`)
)

// intervalsIn are the different intervals that a report has.
func intervalsIn(t *testing.T, format string, doc *results.Document, of *regexp.Regexp) (all []string) {
	t.Helper()
	r, _ := Lookup(format)
	var b bytes.Buffer
	if err := r.Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	for _, m := range of.FindAllStringSubmatch(b.String(), -1) {
		if text := m[1] + " " + m[2]; !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// The interval of a number is the same in the tables, the cards, the charts and the messages of all reports.
func TestANumberHasOneInterval(t *testing.T) {
	for _, c := range []struct {
		value, low, high, lower float64
	}{
		{130.2, 33.2, 534, 200}, {31.2, 25.4, 38.3, 40}, {1.2, 0.9996, 1.44, 1}, {10.04, 9.96, 10.13, 10.1},
		{12.1, 8.86, 16.6, 8.9},
	} {
		observed := &results.Observed{Value: c.value, Unit: "GB/s", CI: &[2]float64{c.low, c.high}, N: 5, Looks: 4}
		a := &results.AssertionVerdict{Verdict: results.Fail, Observed: observed}
		a.Assertion = assertion.Assertion{Text: "floor", Severity: assertion.Gate, Unit: "GB/s",
			Bounds:  assertion.Bounds{Lower: &c.lower},
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}}
		a.Message = "bandwidth " + observed.Beside(results.ScaleFor(c.value, "GB/s"), a.Bounds.Lower, a.Bounds.Upper)
		one := &results.Case{Key: "a", Run: "a", Workload: "transfer", Status: results.OK,
			Assertions: []*results.AssertionVerdict{a}}
		one.Metrics.Set("bandwidth", results.MetricEstimate{Unit: "GB/s", N: 5, Value: c.value,
			Median: c.value, Mean: c.value, CI: observed.CI, CV: 0.1, Better: "higher"})
		doc := &results.Document{Schema: results.Schema, Cases: []*results.Case{one}}
		_, low, high := results.Scale{Factor: 1}.Estimate(c.value, observed.CI, &c.lower)
		for _, format := range []string{"table", "markdown", "html", "junit", "github"} {
			if got := intervalsIn(t, format, doc, anyInterval); !slices.Equal(got, []string{low + " " + high}) {
				t.Errorf("%s of %v has the intervals %q, want %s %s", format, c, got, low, high)
			}
		}
	}
}

// A gain that an assertion is about has the interval that decides in the table of gains, too.
func TestAGainHasOneInterval(t *testing.T) {
	doc := withGains()
	row := doc.Gains[0].Rows[0]
	doc.Gains[0].Rows, doc.Gains = doc.Gains[0].Rows[:1], doc.Gains[:1]
	metric := func(of string) *assertion.Expr {
		return &assertion.Expr{Op: assertion.Metric, Metric: row.Metric, Unit: "s", Case: of}
	}
	least := 0.1
	a := &results.AssertionVerdict{Verdict: results.InconclusiveVerdict, Observed: &results.Observed{
		Value: -0.0014, CI: &[2]float64{-0.281, 0.278}, N: 5, Looks: 4}}
	a.Assertion = assertion.Assertion{Text: "gain", Severity: assertion.Gate,
		Bounds: assertion.Bounds{Lower: &least}, Subject: &assertion.Expr{Op: assertion.Sub, Args: []*assertion.Expr{
			{Op: assertion.Const, Value: 1},
			{Op: assertion.Div, Args: []*assertion.Expr{metric(""), metric(row.BaseCase)}},
		}}}
	doc.Cases = []*results.Case{
		{Key: row.Case, Run: "load", Workload: "command", Status: results.OK,
			Assertions: []*results.AssertionVerdict{a}},
		{Key: row.BaseCase, Run: "load", Workload: "command", Status: results.OK},
	}
	for i, v := range []float64{0.337, 0.403} {
		doc.Cases[i].Metrics.Set(row.Metric, results.MetricEstimate{Unit: "s", N: 5, Value: v, Median: v})
	}
	for _, format := range []string{"table", "markdown", "html"} {
		if got := intervalsIn(t, format, doc, gainEnds); fmt.Sprint(got) != "[-28 +28]" {
			t.Errorf("%s has the intervals %q", format, got)
		}
	}
}
