package reporters

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
)

// trend is a metric that fell in the middle of this number of sessions.
func trend(values []float64, at int) *history.Trend {
	t := &history.Trend{
		Scenario: "nightly", Case: "a[size=1MiB]", Metric: "bandwidth", Unit: "GB/s", Better: "higher",
		Significance: 0.05,
	}
	day := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	for i, v := range values {
		t.Points = append(t.Points, history.Point{
			Session: fmt.Sprintf("s%03d", i), File: fmt.Sprintf("s%03d.json", i), Started: day.AddDate(0, 0, i),
			Value: v,
		})
	}
	mean := func(from, to int) history.Level {
		sum := 0.
		for _, v := range values[from:to] {
			sum += v
		}
		m := sum / float64(to-from)
		return history.Level{From: from, To: to, Value: m, CI: &[2]float64{m - 0.1, m + 0.1}}
	}
	if at == 0 {
		t.Levels = []history.Level{mean(0, len(values))}
		return t
	}
	t.Levels = []history.Level{mean(0, at), mean(at, len(values))}
	r := t.Levels[1].Value / t.Levels[0].Value
	t.Changes = []history.Change{
		{At: at, Before: t.Points[at-1].Session, After: t.Points[at].Session, Ratio: &r, Effect: "worse", P: 0.001},
	}
	return t
}

// fallen is a trend with a change for the worse at the 15th of 24 sessions.
func fallen() *history.Trend {
	var values []float64
	for i := range 24 {
		values = append(values, 12+0.1*float64(i%5)-2*float64(i/14))
	}
	changed := trend(values, 14)
	changed.Workload, changed.Changes[0].Raised = "transfer", changed.Points[16].Session
	changed.Changes[0].Differ = []results.Difference{
		{What: "weir commit", Base: "aaaa", New: "bb\x1b[31mbb"}, {
			What: "cpu.governor", Base: "", New: "powersave", Of: []string{"n1", "n2"},
		},
	}
	for i := range 20 {
		changed.Changes[0].Differ = append(changed.Changes[0].Differ,
			results.Difference{What: fmt.Sprintf("env X%d", i), Base: "1", New: "2"})
	}
	changed.LeftOut = []history.Problem{{File: "x.json", Reason: "the case is error: rank 1 died"}}
	return changed
}

func TestTrendGolden(t *testing.T) {
	changed := fallen()
	var values []float64
	for _, p := range changed.Points[:14] {
		values = append(values, p.Value)
	}
	simulated := trend([]float64{3e-6, 3e-6}, 0)
	simulated.Unit, simulated.Metric, simulated.Points[1].Simulated = "s", "latency.p99", true
	quiet := trend(values, 0)
	quiet.Smaller, quiet.Magnitude = 2, 0.03
	for i := range values {
		values[i] = 20 * math.Pow(0.99, float64(i))
	}
	drifting := trend(values, 0)
	drifting.Drifts = []history.Drift{{From: 0, To: 14, Raised: "s009", EachSession: -0.01, Ratio: true,
		Values: [2]float64{20, values[13]}, Effect: "worse", P: 0.011}}
	for name, doc := range map[string]*history.Trend{
		"changed": changed, "quiet": quiet, "few": simulated, "drifting": drifting,
	} {
		var b strings.Builder
		if err := Trend(&b, doc, 80); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, filepath.Join("testdata", "trend_"+name+".txt"), []byte(b.String()))
	}
}

// Newest sessions far from those before are told, before there are enough for a level.
func TestNewestSessions(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{10, 10.1, 9.9, 10.1, 10}, ""},
		{[]float64{10, 10.2, 10, 9.7}, ""},
		{[]float64{5, 5, 5, 5, 5}, ""},
		{[]float64{0, 0, 0, 0, 1}, ""}, // no percent of 0
		{[]float64{10, 9}, ""},
		{[]float64{10, 10.1, 9.9, 10, 8}, "; the newest session is -20.0% from"},
		{[]float64{10, 10.1, 9.9, 10, 8, 7}, "; the newest 2 sessions are -30.0% from"},
		{[]float64{5, 5, 5, 10, 10}, "; the newest 2 sessions are +100.0% from"},
	} {
		got, _, _ := strings.Cut(newestText(trend(c.values, 0)), " the median of those before")
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

// Whatever the values, sessions and the terminal are, the chart keeps to its width, has
// a point for each column that a session is in, and marks each change.
func TestChartFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1e9, 1e9), rapid.Float64()), 1, 300).Draw(t, "values")
		at := 0
		if len(values) > 1 {
			at = rapid.IntRange(0, len(values)-1).Draw(t, "at")
		}
		width := rapid.IntRange(40, 200).Draw(t, "width")
		doc := trend(values, at)
		lines := strings.Split(chart(doc, results.Scale{Unit: "GB/s", Factor: 1}, width), "\n")
		points := map[int]bool{}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > width {
				t.Fatalf("a line has %d columns of %d: %q", n, width, l)
			}
			for x, r := range []rune(l) {
				if r == '•' {
					points[x] = true
				}
			}
		}
		if len(points) == 0 || len(points) > len(values) || len(values) < 10 && len(points) != len(values) {
			t.Fatalf("%d columns with points for %d sessions:\n%s", len(points), len(values), strings.Join(lines, "\n"))
		}
		if marked := strings.Contains(lines[chartHeight], "┬"); marked != (at > 0) {
			t.Fatalf("change at %d, marked %v:\n%s", at, marked, strings.Join(lines, "\n"))
		}
	})
}

func TestSessions(t *testing.T) {
	var b strings.Builder
	err := Sessions(&b, []history.Entry{
		{
			Session: "s1", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Scenario: "nightly", Status: "failed",
			Cases: map[string]int{"ok": 3, "error": 1}, Weir: "1.0 aaaa", Nodes: []string{"n1", "n2"},
			Fingerprint: "sha256:0123456789abcdef",
		},
		{Session: "s2\x1b[31m", Scenario: "nightly", Status: "passed", Simulated: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"session started (UTC) scenario status cases weir environment nodes",
		"s1 2026-01-02 03:04 nightly ✗ failed 3 ok, 1 error 1.0 aaaa 0123456789ab n1,n2",
		"s2 0001-01-01 00:00 nightly ✓ passed (simulated)",
	}
	for i, l := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if got := strings.Join(strings.Fields(l), " "); got != want[i] {
			t.Errorf("line %d is %q, want %q", i, got, want[i])
		}
	}
}
