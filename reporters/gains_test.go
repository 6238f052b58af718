package reporters

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/golden"
)

// withGains is a document with a table of gains in each of the forms that a row can have.
func withGains() *results.Document {
	q := 0.001
	observed := func(v float64, unit string) *results.Observed {
		return &results.Observed{Value: v, Unit: unit, CI: &[2]float64{v * 0.99, v * 1.01}, N: 5}
	}
	row := func(variant string, concurrency float64, metric, unit, better string, before, after, gain float64,
		found bool) *results.Gain {
		return &results.Gain{
			Variant: variant, Axes: map[string]any{"concurrency": concurrency}, Metric: metric, Unit: unit,
			Better: better, Case: "load[variant=" + variant + "]", BaseCase: "load[variant=stock]",
			Before: observed(before, unit), After: observed(after, unit), Pairs: 5,
			Gain: &results.Change{
				Value: gain, CI: &[2]float64{gain - 0.02, gain + 0.02}, P: &q, Q: &q, Found: found,
			},
			Message: "paired: the launches took turns",
		}
	}
	additive := row("patched", 1, "errors", "", "lower", 3, 1, 2, true)
	additive.Additive = true
	single := row("patched", 8, "latency.p99", "s", "lower", 0.632, 0.366, 0.42, false)
	single.Gain = &results.Change{Value: 0.42}
	broken := &results.Gain{
		Variant: "optimized", Axes: map[string]any{"concurrency": 8.}, Case: "load[variant=optimized,concurrency=8]",
		BaseCase: "load[variant=stock,concurrency=8]", Message: "new: the case has no launch",
	}
	alike := *broken
	alike.Case = "load[variant=optimized,concurrency=16]"
	return &results.Document{
		Schema: results.Schema, Scenario: results.Scenario{Name: "gains"},
		Session: results.Session{ID: "s", Status: results.Passed},
		Gains: []*results.Gains{{Run: "load", Baseline: "stock", Rows: []*results.Gain{
			row("patched", 1, "latency.avg", "s", "lower", 0.403, 0.337, 0.1638, true),
			row("patched", 1, "output_throughput", "1/s", "higher", 301, 487, 0.618, true),
			row("optimized", 1, "ttft.avg", "s", "lower", 3.517, 3.6, -0.0236, false),
			additive, single, broken, &alike,
		}}, {Run: "other", Baseline: "stock", Rows: []*results.Gain{}}},
	}
}

func TestGoldenGains(t *testing.T) {
	var md, text strings.Builder
	doc := withGains()
	if err := Markdown(&md, doc); err != nil {
		t.Fatal(err)
	}
	if err := Table(&text, doc, Look{}); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, filepath.Join("testdata", "gains", "gains.md"), []byte(md.String()))
	golden.Equal(t, filepath.Join("testdata", "gains", "gains.txt"), []byte(text.String()))
}

func TestATerminalShowsSomeRowsOfGains(t *testing.T) {
	doc := withGains()
	table := doc.Gains[0]
	for len(table.Rows) < mostTexts+7 {
		table.Rows = append(table.Rows, table.Rows[0])
	}
	var text strings.Builder
	if err := Table(&text, doc, Look{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "and 7 more rows; report.md has them") {
		t.Error(text.String())
	}
}

// A gain is not called real if the interval beside it contains 0.
func TestAGainIsRealOnlyBeyondItsInterval(t *testing.T) {
	table := &results.Gains{Baseline: "stock", Rows: []*results.Gain{withGains().Gains[0].Rows[0]}}
	row := table.Rows[0]
	for ci, want := range map[[2]float64]string{{0.1, 0.3}: "yes", {-0.0013, 0.36}: notShown} {
		judged := map[gainKey]*results.AssertionVerdict{
			{row.Case, row.BaseCase, row.Metric}: {Observed: &results.Observed{Value: 0.2, CI: &ci, N: 3}},
		}
		rows := gainTableOf(table, judged).rows
		if got := rows[0][len(rows[0])-1]; got != want {
			t.Errorf("%v: %q, want %q", ci, got, want)
		}
	}
}

// An interval of a gain that says nothing is not printed as two numbers, and far ends of others only as limits.
func TestIntervalsThatSayNothing(t *testing.T) {
	doc := withGains()
	nothing := &[2]float64{-2.7e7, 1}
	doc.Gains[0].Rows[0].Gain.CI = nothing
	add := func(unit, base string, value float64, ci *[2]float64) {
		c := &results.Claim{Claim: assertion.Claim{Case: "load", BaseCase: base, Metric: "m", Unit: unit, Written: "1",
			Better: "higher", Expected: 1, Tolerance: 0.1, Source: "d"}}
		c.Judge(&results.Observed{Value: value, Unit: unit, CI: ci, N: 2}, "")
		doc.Claims = append(doc.Claims, c)
	}
	add("GB/s", "", 0.12, &[2]float64{2.382e-24, 5.8e21})
	add("GB/s", "stock", 0.3, nothing)
	add("GB/s", "stock", 0.3, &[2]float64{0.2, 0.4})
	var text, page strings.Builder
	if err := Table(&text, doc, Look{}); err != nil {
		t.Fatal(err)
	}
	if err := HTML(&page, doc); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), tooWide); n != 2 || strings.Contains(text.String(), "e+") {
		t.Errorf("%d intervals are too wide:\n%s", n, text.String())
	}
	if !strings.Contains(text.String(), "+20% to +40%") || !strings.Contains(text.String(), " <0.000012–>1200 ") ||
		strings.Contains(page.String(), "e+21") {
		t.Errorf("%s", text.String())
	}
	for _, g := range []string{
		results.Observed{Value: 0.3, CI: nothing, N: 2}.Gain(), results.Observed{Value: 0.3, CI: nothing, N: 9}.Gain(),
	} {
		if strings.Contains(g, "e+") {
			t.Errorf("a verdict says %s", g)
		}
	}
}

// What a document says of one thing that two runs measure in different ways stands once: beside what was found.
func TestAClaimOfTwoRunsStandsOnce(t *testing.T) {
	doc := &results.Document{Schema: results.Schema, Session: results.Session{Status: results.Passed}}
	for _, run := range []string{"plugin", "library", "none"} {
		c := &results.Claim{Claim: assertion.Claim{Run: run, Case: run + "[a=1]", Metric: "m", Unit: "GB/s",
			Better: "higher", Expected: 1, Written: "1 GB/s", Source: "d"}}
		switch run {
		case "library":
			c.Judge(&results.Observed{Value: 1, Unit: "GB/s", CI: &[2]float64{0.9, 1.1}, N: 3}, "")
		case "none":
			c.Expected = 2
			fallthrough
		default:
			c.Judge(nil, "skipped")
		}
		doc.Claims = append(doc.Claims, c)
	}
	var page strings.Builder
	if err := HTML(&page, doc); err != nil {
		t.Fatal(err)
	}
	for i, run := range []string{"library[a=1]", "none[a=1]"} {
		rows := claimTables(doc)[0].rows
		if len(rows) != 2 || rows[i][0] != run || !strings.Contains(page.String(), run) {
			t.Errorf("rows %q", rows)
		}
	}
}
