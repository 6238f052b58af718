package reporters

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
)

// wide is a document whose table has 13 columns: three axes, what transfer measures, an asserted metric.
func wide() *results.Document {
	doc := &results.Document{Schema: results.Schema}
	for _, latency := range []string{"1us", "2us"} {
		a := &results.AssertionVerdict{Verdict: results.Pass, Assertion: assertion.Assertion{Unit: "GB/s",
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth.min_rank", Unit: "GB/s"}}}
		c := &results.Case{Key: "path[sim_latency=" + latency + "]", Run: "path", Workload: "transfer",
			Status:    results.OK,
			Axes:      map[string]any{"op": "write", "sim_latency": latency, "block_size": "64KiB"},
			AxisOrder: []string{"op", "sim_latency", "block_size"}, Options: map[string]any{"batch": 1},
			Assertions: []*results.AssertionVerdict{a},
			Launches:   []*results.Launch{{Status: results.OK, Simulated: true}}}
		for name, unit := range map[string]string{"bandwidth": "GB/s", "bandwidth.min_rank": "GB/s", "latency.avg": "s",
			"latency.p50": "s", "latency.p99": "s", "ceiling": ""} {
			e := results.MetricEstimate{Unit: unit, N: 5, Value: 9.842, Median: 9.842, Mean: 9.842, CV: 0.01,
				CI: &[2]float64{9.71, 10.04}, Better: "higher", Samples: 128}
			if unit == "s" {
				e.Value, e.CI = 105.3e-6, &[2]float64{104.9e-6, 105.7e-6}
			}
			c.Metrics.Set(name, e)
		}
		doc.Cases = append(doc.Cases, c)
	}
	return doc
}

// In a window of usual width each column of a table of 13 columns is visible, and in a narrow one the verdict covers
// none.
func TestColumnsFitTheWindow(t *testing.T) {
	phase.Long(t)
	ctx := browser(t)
	path := pageFile(t, "wide", wide())
	for _, width := range []int64{1200, 1400} {
		do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path))
		at := ask[struct {
			Columns int     `json:"columns"`
			Beyond  float64 `json:"beyond"`
		}](t, ctx, `(() => {
			const box = document.querySelector('.box');
			return {columns: box.querySelectorAll('th').length, beyond: box.scrollWidth - box.clientWidth};
		})()`)
		if at.Columns < 13 || at.Beyond > 0 {
			t.Errorf("at %d px the %d columns are %v px wider than the page", width, at.Columns, at.Beyond)
		}
	}
	for _, width := range []int64{400, 500, 600} {
		do(t, ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path))
		if covered := ask[float64](t, ctx, `(() => {
			const at = cell => cell.getBoundingClientRect();
			return Math.max(...['th', 'td'].map(kind => {
				const verdict = document.querySelector(`+"`.box ${kind}:last-child`"+`);
				return at(verdict.previousElementSibling).right - at(verdict).left;
			}));
		})()`); covered > 1 {
			t.Errorf("at %d px the verdict lies over %.0f px of other columns", width, covered)
		}
	}
}

// A word that is wider than the window, such as a commit in a list, is broken.
func TestLongWordsFitTheWindow(t *testing.T) {
	doc := read(t, "passed")
	doc.Previous = &results.Previous{Session: "s", Status: "passed", Differences: []results.Difference{
		{What: "weir commit", Base: strings.Repeat("a", 40), New: strings.Repeat("b", 40)},
	}}
	ctx := browser(t)
	do(t, ctx, chromedp.EmulateViewport(320, 900), chromedp.Navigate("file://"+pageFile(t, "words", doc)))
	if width := ask[float64](t, ctx, `document.documentElement.scrollWidth`); width > 320 {
		t.Errorf("the page is %v px wide in a window of 320", width)
	}
}
