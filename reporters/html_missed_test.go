package reporters

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// asserting is a session of 8 cases with an assertion on bandwidth in each.
func asserting(lower float64, verdict results.Verdict) *results.Document {
	doc := session(8, 3)
	for _, c := range doc.Cases {
		c.Assertions = []*results.AssertionVerdict{{Verdict: verdict, Assertion: assertion.Assertion{
			Unit: "GB/s", Bounds: assertion.Bounds{Lower: &lower}, Severity: assertion.Gate,
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
		}}}
	}
	return doc
}

// In the table of a run the metric that missed its bound is marked, and no other.
func TestMissedMetricIsMarked(t *testing.T) {
	for verdict, want := range map[results.Verdict]string{
		results.Fail: "bad", results.InconclusiveVerdict: "doubt", results.Pass: "",
	} {
		doc := asserting(1e6, verdict)
		section := parsePage(t, doc).id(t, "run-1")
		of := -1
		for i, h := range section.all("th") {
			if strings.Contains(h.text(), "bandwidth") {
				of = i
			}
		}
		for i, cell := range section.all("tr")[1].all("td") {
			class := cell.attribute("class")
			if i == of && class != want || i != of && class != "" && class != "v" {
				t.Errorf("%s: column %d is %q", verdict, i, class)
			}
		}
	}
}

// What is 0 in each case has no chart.
func TestNothingButZeroHasNoChart(t *testing.T) {
	doc := asserting(1, results.Pass)
	for _, c := range doc.Cases {
		m := c.Metrics.At("bandwidth")
		m.Value, m.CI = 0, nil
		c.Metrics.Set("bandwidth", m)
	}
	for _, f := range parsePage(t, doc).all("figcaption") {
		if strings.HasPrefix(f.text(), "bandwidth") {
			t.Errorf("there is a chart %q", f.text())
		}
	}
}

// A bound that a chart has no room for is an arrow at its edge.
func TestBoundsBeyondChartsAreArrows(t *testing.T) {
	ctx := browser(t)
	for lower, some := range map[float64]bool{1e6: true, 1e-6: false} {
		do(t, ctx, chromedp.Navigate("file://"+pageFile(t, "arrows", asserting(lower, results.Fail))))
		n := ask[int](t, ctx, `(async () => {
			await `+chartsDrawn+`;
			const first = document.documentElement.weirCharts.values().next().value;
			return first.chart.getZr().storage.getDisplayList(true).filter((e) => e.type === 'polygon').length;
		})()`)
		if (n > 0) != some {
			t.Errorf("there are %d arrows for a bound of %v", n, lower)
		}
	}
}
