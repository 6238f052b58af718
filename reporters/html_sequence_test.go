package reporters

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	drawing "github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// charts are those below an element.
func charts(t interface {
	Helper()
	Fatal(...any)
}, e element) []drawing.Chart {
	t.Helper()
	var out []drawing.Chart
	for _, s := range e.all("script") {
		if s.attribute("type") != "application/json" {
			continue
		}
		var c drawing.Chart
		if err := json.Unmarshal([]byte(s.FirstChild.Data), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// titles are what the charts below an element say in words, one in a line.
func titles(t interface {
	Helper()
	Fatal(...any)
}, e element) string {
	t.Helper()
	var b strings.Builder
	for _, c := range charts(t, e) {
		for _, s := range c.Series {
			for _, p := range s.Points {
				b.WriteString(strings.Join(p.Says, "; ") + "\n")
			}
		}
		for _, s := range c.Spans {
			b.WriteString(s.Says + "\n")
		}
		for _, s := range c.Cells {
			b.WriteString(s.Says + "\n")
		}
	}
	return b.String()
}

// A sequence has the slowdown of its patterns over their places, when each was planned and
// played, and a heat map of each on one scale of colours.
func TestPageShowsASequence(t *testing.T) {
	page := parsePage(t, read(t, "sequence"))
	section := page.id(t, "charts-run-1")
	if got := section.all("figcaption")[0].text(); got != "slowdown over pattern" {
		t.Errorf("the first chart is %q", got)
	}
	says := titles(t, section)
	for _, want := range []string{
		"kv[fabric=shm,pattern=2]: slowdown 1.811 (96% CI 1.74–1.88, n=3), ✗ fail",
		"pattern 1 was planned at 12.0 ms\n",
		"pattern 1, iteration 2: from 12.6 ms, 7.30 µs, 550 µs after it was planned\n",
	} {
		if !strings.Contains(says, want) {
			t.Errorf("nothing says %q:\n%s", want, says)
		}
	}
	if got := strings.Count(says, ", iteration "); got != 9 {
		t.Errorf("%d bars for 3 iterations of 3 patterns", got)
	}
	if text := section.text(); !strings.Contains(text, "in launch 2, which of 3 took nearest to the median") {
		t.Errorf("it is not said which launch is drawn: %s", text)
	}
	maps := page.id(t, "matrices")
	if got := strings.Count(titles(t, maps), "rank "); got == 0 {
		t.Error("no heat maps")
	}
	heat := map[string]float64{}
	for _, chart := range charts(t, maps) {
		for _, c := range chart.Cells {
			heat[c.Says] = c.Heat
		}
	}
	if small, ok := heat["rank 1 → rank 2: 64KiB"]; !ok || small != 0 || heat["rank 0 → rank 2: 4MiB"] != 1 {
		t.Errorf("%v: the patterns of a sequence are drawn on one scale", heat)
	}
	if got := page.text(); !strings.Contains(got, "SLEEPS SCALED by 0.5 in kv") {
		t.Error("the page does not say that sleeps were scaled")
	}
}

// Where the plan cannot be known, none is drawn; the times that were measured are.
func TestSequenceWithoutItsPlan(t *testing.T) {
	for why, change := range map[string]func(*results.Document){
		"pattern 0 is not in the document": func(d *results.Document) { d.Cases = d.Cases[1:] },
		`has no option "jitter"`:           func(d *results.Document) { d.Cases[1].Options["jitter"] = "1ms" },
		"option matrix":                    func(d *results.Document) { d.Cases[1].Options["matrix"] = "4: 1>2" },
		"the patterns have different numbers of ranks": func(d *results.Document) {
			d.Cases[1].Options["matrix"], d.Cases[1].Options["ranks"] = "2: 0>1=5", 2.
		},
		"their matrices are too large": func(d *results.Document) {
			d.Cases[1].Options["matrix"] = strings.Repeat(" ", mostPlanned)
		},
	} {
		doc := read(t, "sequence")
		change(doc)
		page := parsePage(t, doc)
		if says := titles(t, page); strings.Contains(says, "planned") ||
			!strings.Contains(says, "pattern 1, iteration 0: from 12.5 ms, 5.80 µs") {
			t.Errorf("%s: %s", why, says)
		}
		if !strings.Contains(page.text(), why) {
			t.Errorf("it does not say that %s", why)
		}
	}
}

// The launch that is drawn is the one in the middle, whatever order they are in, and none that failed.
func TestTypicalLaunch(t *testing.T) {
	launch := func(index int, end float64) *results.Launch {
		return &results.Launch{Index: index, Status: results.OK, Played: [][2]float64{{0, end}, {0, end + 2}}}
	}
	failed := launch(9, 3)
	failed.Status = results.Error
	first := &results.Case{Launches: []*results.Launch{launch(2, 1), launch(0, 1), launch(1, 1)}}
	last := &results.Case{Launches: []*results.Launch{launch(0, 9), failed, launch(1, 4), launch(2, 3)}}
	if index, n, ok := typical([]*results.Case{first, last}); index != 1 || n != 3 || !ok {
		t.Errorf("launch %d of %d, %v", index, n, ok)
	}
	if _, _, ok := typical([]*results.Case{{}}); ok {
		t.Error("found a launch where there is none")
	}
}

// A long sequence is drawn in part, and the page says what is left out.
func TestLongSequenceIsDrawnInPart(t *testing.T) {
	doc := read(t, "sequence")
	one := doc.Cases[0]
	doc.Cases = nil
	for i := range 50 {
		c := *one
		c.Key = fmt.Sprintf("kv[pattern=%d]", i)
		c.Axes = map[string]any{"pattern": float64(i)}
		c.AxisOrder = []string{"pattern"}
		c.Options = map[string]any{"pattern": float64(i), "ranks": 4., "matrix": fmt.Sprintf("4: 0>1=%d", i+1)}
		doc.Cases = append(doc.Cases, &c)
	}
	doc.Plan.Cases = len(doc.Cases)
	page := parsePage(t, doc)
	for _, want := range []string{
		"10 further patterns are not drawn.",
		"Of 38 further patterns of run kv there is no heat map; the table has them.",
	} {
		if !strings.Contains(page.text(), want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if got := strings.Count(titles(t, page.id(t, "matrices")), "→"); got != mostPatterns {
		t.Errorf("%d heat maps", got)
	}
	if rows := page.id(t, "matrices").all("table")[0].rows(); len(rows) != 50 {
		t.Errorf("%d rows of matrices", len(rows))
	}
}

// Axes that another one decides tell no series apart.
func TestFollows(t *testing.T) {
	cases := read(t, "sequence").Cases
	if !follows(cases, "isl", "pattern") || !follows(cases, "fabric", "pattern") ||
		follows(cases, "pattern", "fabric") {
		t.Error("isl follows from the pattern, and the pattern from nothing")
	}
	if l := newLayout(cases); l.axis != "pattern" || len(l.panels) != 1 || len(l.panels[0].series) != 1 {
		t.Errorf("axis %s, panels %v", l.axis, l.panels)
	}
}
