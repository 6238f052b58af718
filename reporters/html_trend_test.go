package reporters

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/workload"
)

func trendPage(t interface {
	Helper()
	Fatal(...any)
}, doc *history.Trend) element {
	t.Helper()
	var b bytes.Buffer
	if err := TrendHTML(&b, doc, "", Addresses{}); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return element{root}
}

// The page says what changed, between which sessions, what differs there, and has every
// session as a point and as a row.
func TestTrendPage(t *testing.T) {
	doc := fallen()
	page := trendPage(t, doc)
	if got := page.all("h1")[0].text(); got != "✗ worse bandwidth of a[size=1MiB]" {
		t.Errorf("headline %q", got)
	}
	card := page.all("details")[1].text()
	for _, want := range []string{
		"12.186 GB/s (96% CI 12.09–12.29, n=14) -> 10.200 GB/s (96% CI 10.10–10.30, n=10): -16.3%",
		"between s013 (2026-01-14 03:00) and s014 (2026-01-15 03:00), raised with s016; p=0.0010",
		"cpu.governor: (none) -> powersave (n1, n2)", "env X19: 1 -> 2",
	} {
		if !strings.Contains(card, want) {
			t.Errorf("the change does not say %q: %s", want, card)
		}
	}
	section := page.id(t, "sessions")
	rows := section.all("table")[0].rows()
	if len(rows) != 24 || rows[0][0] != "s023" || rows[9][5] != "1 ✗ worse" || rows[10][5] != "" {
		t.Errorf("rows %q", rows)
	}
	says := titles(t, page.id(t, "charts-sessions"))
	if got := strings.Count(says, "s0"); got != 24 {
		t.Errorf("%d points for 24 sessions", got)
	}
	for _, want := range []string{
		"s014 (2026-01-15 03:00): 10.40 GB/s (n=0)\n", "level of 10 sessions: 10.200 GB/s (96% CI 10.10–10.30, n=10)\n",
	} {
		if !strings.Contains(says, want) {
			t.Errorf("nothing says %q:\n%s", want, says)
		}
	}
	kind, _ := workload.Lookup("transfer")
	m, _ := kind.Metric("bandwidth")
	if text := page.text(); !strings.Contains(text, m.Doc) ||
		!strings.Contains(text, "x.json: the case is error: rank 1 died") {
		t.Error("the metric is not defined, or it is not said what was left out")
	}
}

func TestTrendPageWithoutChange(t *testing.T) {
	steady := make([]float64, history.FirstLook)
	for i := range steady {
		steady[i] = 3e-6
	}
	if text := trendPage(t, trend(steady, 0)).text(); !strings.Contains(text, "= unchanged") {
		t.Error("it does not say that nothing changed")
	}
	doc := trend([]float64{3e-6, 5e-6}, 0)
	doc.Points[1].Simulated = true
	text := trendPage(t, doc).text()
	for _, want := range []string{
		"? inconclusive", "too few sessions to detect a change", "SIMULATED: the numbers of 1 of 2 sessions",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(text, "Environment") {
		t.Error("there is a section without content")
	}
}

// Whatever was measured and however it is called, the page is made, and drawings have places only.
func TestNothingBreaksTheTrendPage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
			0, -1, 5e-324, math.MaxFloat64, -math.MaxFloat64,
		}))
		doc := trend(rapid.SliceOfN(value, 4, 9).Draw(rt, "values"), rapid.IntRange(0, 3).Draw(rt, "at"))
		doc.Case = "</title><script>" + rapid.String().Draw(rt, "case")
		for i := range doc.Points {
			if rapid.Bool().Draw(rt, "interval") {
				doc.Points[i].CI = &[2]float64{value.Draw(rt, "low"), value.Draw(rt, "high")}
			}
		}
		page := trendPage(rt, doc)
		if n := len(charts(rt, page)); n != 1 {
			rt.Fatalf("%d charts", n)
		}
		if n := len(page.all("script")); n != 3 { // the chart's data, the library and the page's own
			rt.Fatalf("%d scripts", n)
		}
	})
}
