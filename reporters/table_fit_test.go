package reporters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// withAxes is a run with axes and an estimate of each metric; axis batch does not vary.
func withAxes(axes int, metrics ...string) *results.Document {
	doc := &results.Document{Schema: results.Schema}
	for i := range 1 << axes {
		c := &results.Case{Key: fmt.Sprintf("a[%d]", i), Run: "a", Workload: "transfer", Status: results.OK,
			Axes: map[string]any{"batch": int64(7)}, AxisOrder: []string{"batch"}}
		for k := range axes {
			name := fmt.Sprintf("some_long_axis_%d", k)
			c.Axes[name] = int64(i >> k & 1)
			c.AxisOrder = append(c.AxisOrder, name)
		}
		for _, m := range metrics {
			c.Metrics.Set(m, results.MetricEstimate{Unit: "s", N: 3, Value: 2, Median: 2, Mean: 2, Better: "lower"})
		}
		c.Launches = []*results.Launch{{Status: results.OK}}
		doc.Cases = append(doc.Cases, c)
	}
	return doc
}

// asserts adds an assertion about each of some metrics to all cases, or over them.
func asserts(doc *results.Document, over bool, metrics ...string) {
	for _, m := range metrics {
		a := &results.AssertionVerdict{Verdict: results.Pass}
		a.Subject = &assertion.Expr{Op: assertion.Metric, Metric: m, Unit: "s"}
		for _, c := range doc.Cases {
			if over {
				a.Cases = append(a.Cases, c.Key)
			} else {
				c.Assertions = append(c.Assertions, a)
			}
		}
		if over {
			doc.Assertions = append(doc.Assertions, a)
		}
	}
}

// An asserted metric has a column at any width: axes with one value leave first, then other metrics.
func TestAssertedMetricsStay(t *testing.T) {
	for _, over := range []bool{false, true} {
		doc := withAxes(1, "bandwidth", "latency.avg", "latency.p50", "latency.p99", "ceiling", "message_rate")
		asserts(doc, over, "latency.p50", "message_rate")
		report := drawn(t, doc, false, 60)
		head, _, _ := strings.Cut(report, "─")
		for _, want := range []string{"p50", "message_rate", "some_long_axis_0", "verdict"} {
			if !strings.Contains(head, want) {
				t.Errorf("over %v: no %s in\n%s", over, want, report)
			}
		}
		if strings.Contains(head, "bandwidth") || strings.Contains(head, "batch") || strings.Contains(head, "p99") {
			t.Errorf("over %v: other columns take the room\n%s", over, report)
		}
		if !strings.Contains(report, "\n  axes: batch=7\n") {
			t.Errorf("over %v: the value of batch is nowhere\n%s", over, report)
		}
		if wide := drawn(t, doc, false, 200); !strings.Contains(wide, "p99") || !strings.Contains(wide, "batch  ") {
			t.Errorf("columns are left out that fit\n%s", wide)
		}
	}
}

// A table of many axes has lines for those that change least; one of many asserted metrics is several tables.
func TestTablesOfManyAxesFit(t *testing.T) {
	many := []string{
		"bandwidth", "latency.avg", "latency.p50", "latency.p99", "message_rate", "operations", "latency.max",
	}
	doc := withAxes(5, many...)
	asserts(doc, false, many...)
	report := drawn(t, doc, false, 80)
	for line := range strings.Lines(report) {
		if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	key := "some_long_axis_4=0 some_long_axis_3=0 some_long_axis_2=0"
	if !strings.Contains(report, "\n"+key) {
		t.Errorf("no line for the axes that change least in\n%s", report)
	}
	narrow := drawn(t, doc, false, 50)
	if n := strings.Count(narrow, "─\n"); n < 2 {
		t.Errorf("%d tables at 50 columns\n%s", n, narrow)
	}
	for _, m := range []string{"message_rate", "p50", "p99"} {
		if !strings.Contains(narrow, m) {
			t.Errorf("no %s in\n%s", m, narrow)
		}
	}
}

// Rows are marked as simulated only where others are not: else the banner says it.
func TestSimulatedRowsAreMarkedBesideOthers(t *testing.T) {
	doc := withAxes(1, "bandwidth")
	for _, c := range doc.Cases {
		c.Launches[0].Simulated = true
	}
	if report := drawn(t, doc, false, 80); strings.Contains(report, "(simulated)") {
		t.Errorf("%s", report)
	}
	doc.Cases[1].Launches[0].Simulated = false
	if report := drawn(t, doc, false, 80); strings.Count(report, "(simulated)") != 1 {
		t.Errorf("%s", report)
	}
}
