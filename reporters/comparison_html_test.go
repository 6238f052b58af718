package reporters

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/weir-bench/weir/results"
)

// comparedTo is a comparison of a document a with another: a change of 0.02 % within 5 %.
func comparedTo(file, session string, v results.EffectVerdict) *results.Comparison {
	return &results.Comparison{
		Base: results.Compared{File: "a", Session: "s1"}, New: results.Compared{File: file, Session: session},
		Confidence: results.Confidence, Margin: 0.03,
		Effects: []*results.Effect{{
			Case: "write", Metric: "bandwidth", Unit: "GB/s", Better: "higher",
			Base: &results.Observed{Value: 10, N: 3}, New: &results.Observed{Value: 10.002, N: 3},
			Change: &results.Change{Value: 1.0002, CI: &[2]float64{0.95, 1.05}}, Verdict: v,
		}},
	}
}

// A page of several documents names each, by its session if it has no file. In the table of all documents a change has
// the colour of its own verdict. A chart shows intervals of changes whole, however small the change.
func TestPageOfSeveralDocuments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "several.html")
	if err := results.WriteWith(path, func(w io.Writer) error {
		return ComparisonHTML(w, "./", comparedTo("", "s2", results.Regression),
			comparedTo("c", "s3", results.NoRegression))
	}); err != nil {
		t.Fatal(err)
	}
	ctx := browser(t)
	do(t, ctx, chromedp.Navigate("file://"+path))
	at := ask[struct{ Text, Home, Classes string }](t, ctx, `({
		Text: document.body.innerText, Home: document.querySelector('.kind a').getAttribute('href'),
		Classes: Array.from(document.querySelectorAll('#documents tbody td, #documents tbody tr'), (e) => e.className).join(),
	})`)
	if !strings.Contains(at.Text, "A is a, B is s2, C is c") || at.Home != "./" {
		t.Errorf("the page leads to %q and says %.200s", at.Home, at.Text)
	}
	if at.Classes != ",,,,bad,good" {
		t.Errorf("the classes of a row and its cells are %q", at.Classes)
	}
	if n := ask[int](t, ctx, `new Set(Array.from(document.querySelectorAll('.box'),
		(b) => b.getAttribute('aria-label'))).size`); n != 3 {
		t.Errorf("three tables have %d names", n)
	}
	views := ask[[][]float64](t, ctx, `Array.from(document.documentElement.weirCharts.values(), (c) => c.view.x)`)
	for _, v := range views {
		if len(views) != 2 || v[0] > -0.05 || v[1] < 0.05 {
			t.Errorf("the intervals from -5 %% to 5 %% are not in %v", views)
		}
	}
}
