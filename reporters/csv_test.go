package reporters

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// frame is a CSV report as a data frame sees it: rows by the names of columns.
func frame(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll() // refuses rows of other lengths
	if err != nil {
		t.Fatalf("not CSV: %v", err)
	}
	var rows []map[string]string
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			if _, twice := row[name]; twice {
				t.Fatalf("two columns are named %q: %q", name, all[0])
			}
			row[name] = fields[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// One row for each case and metric, and one for a case without; what stands in it
// is the document's, to the last digit.
func TestCSVIsTidy(t *testing.T) {
	for _, name := range documents {
		doc := read(t, name)
		rows := frame(t, written(t, "csv", doc))
		byKey := map[[2]string]map[string]string{}
		for _, r := range rows {
			byKey[[2]string{r["case"], r["metric"]}] = r
		}
		if len(byKey) != len(rows) {
			t.Errorf("%s: %d rows for %d cases and metrics", name, len(rows), len(byKey))
		}
		want := 0
		for _, c := range doc.Cases {
			if c.Metrics.IsZero() {
				want++
				if r := byKey[[2]string{plain(c.Key), ""}]; r["n"] != "0" || r["verdict"] != standing(c) ||
					r["status"] != c.Status {
					t.Errorf("%s: %s without metrics is %v", name, c.Key, r)
				}
			}
			for metric, m := range c.Metrics.All() {
				want++
				r := byKey[[2]string{plain(c.Key), metric}]
				low, high := "", ""
				if m.CI != nil {
					low, high = raw(m.CI[0]), raw(m.CI[1])
				}
				if r["n"] != strconv.Itoa(m.N) || r["median"] != raw(m.Median) || r["ci_low"] != low ||
					r["ci_high"] != high || r["unit"] != m.Unit || r["verdict"] != standing(c) {
					t.Errorf("%s: %s of %s is %v, want %+v", name, metric, c.Key, r, m)
				}
			}
		}
		if len(rows) != want {
			t.Errorf("%s: %d rows, want %d", name, len(rows), want)
		}
	}
}

func TestCSVSaysWhatIsAssertedOfAMetric(t *testing.T) {
	of := func(metric string, v results.Verdict) *results.AssertionVerdict {
		return &results.AssertionVerdict{
			Assertion: assertion.Assertion{Severity: assertion.Gate,
				Subject: &assertion.Expr{Op: assertion.Metric, Metric: metric}}, Verdict: v,
		}
	}
	doc := &results.Document{Cases: []*results.Case{{
		Key: "c", Status: results.OK, Metrics: results.NamedOf(map[string]results.MetricEstimate{"a": {}, "b": {},
			"c": {}}),
		Assertions: []*results.AssertionVerdict{of("a", results.Pass), of("a", results.Fail), of("b", results.Pass)},
	}}}
	for _, r := range frame(t, written(t, "csv", doc)) {
		if want := map[string]string{"a": "fail", "b": "pass", "c": "-"}[r["metric"]]; r["asserted"] != want ||
			r["verdict"] != "fail" {
			t.Errorf("%s is asserted %q, want %q; the case is %q", r["metric"], r["asserted"], want, r["verdict"])
		}
	}
}

// Axes of any names keep columns of their own, in the same order for each session.
func TestCSVColumnsAreDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axes := rapid.SliceOfNDistinct(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"run", "n", "axis_run",
			"axis_n", "a\tb", "a b", "metric"})), 1, 6, rapid.ID).Draw(t, "axes")
		c := &results.Case{Key: "k", Run: "r", Status: results.OK, AxisOrder: axes, Axes: map[string]any{}}
		for _, a := range axes {
			c.Axes[a] = "value of " + strconv.Quote(a)
		}
		var b strings.Builder
		if err := CSV(&b, &results.Document{Cases: []*results.Case{c}}); err != nil {
			t.Fatal(err)
		}
		row := frame(t, b.String())[0]
		values := map[string]bool{}
		for _, v := range row {
			values[v] = true
		}
		for _, a := range axes {
			if !values[printable.NoCommand("value of "+strconv.Quote(a))] {
				t.Fatalf("the value of axis %q is in no column: %v", a, row)
			}
		}
		if row["run"] != "r" || row["n"] != "0" {
			t.Fatalf("an axis has taken the column of another: %v", row)
		}
	})
}

// A spreadsheet takes no text of a document for a formula, and numbers stay numbers.
func TestCSVHasNoFormulas(t *testing.T) {
	for cell, want := range map[string]string{
		`=cmd|'/c calc'!A1`: `'=cmd|'/c calc'!A1`, "+1+1": "'+1+1", "-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)",
		"\t=1":   "'\t=1",
		"-1.5e9": "-1.5e9", "+3": "+3", "-": "-", "": "", "1MiB": "1MiB", "a=b": "a=b", "-Inf": "-Inf",
	} {
		if got := cells([]string{cell})[0]; got != want {
			t.Errorf("%q is written as %q, want %q", cell, got, want)
		}
	}
	doc := read(t, documents[0])
	hostile := func(c *results.Case) {
		c.Run, c.Key, c.Status = "@run", "=key", "=status"
		c.AxisOrder, c.Axes = []string{"=axis"}, map[string]any{"=axis": "=value"}
		c.Options = map[string]any{"fabric": "=fabric"}
		for _, l := range c.Launches {
			l.Status, l.Fabric, l.Transport, l.Nodes = "=status", "=fabric", "=transport", []string{"=node"}
			l.Failure = &results.Failure{Rank: -1, Cause: "=cause"}
		}
	}
	for _, c := range doc.Cases {
		hostile(c)
	}
	unmeasured := &results.Case{}
	hostile(unmeasured)
	doc.Cases = append(doc.Cases, unmeasured)
	doc.Scenario.Name, doc.Session.ID = "=1+1", "+id"
	for _, format := range []string{"csv", "csv-launches"} {
		for _, row := range frame(t, written(t, format, doc)) {
			for column, cell := range row {
				for _, text := range []string{column, cell} {
					if _, err := strconv.ParseFloat(text, 64); err != nil && text != "-" &&
						strings.ContainsAny(text[:min(1, len(text))], "=+-@") {
						t.Errorf("%s: %s is %q", format, column, cell)
					}
				}
			}
		}
	}
}
