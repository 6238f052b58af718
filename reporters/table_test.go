package reporters

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
)

func drawn(t *testing.T, doc *results.Document, color bool, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Table(&b, doc, Look{Color: color, Width: width}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableInColor(t *testing.T) {
	t.Setenv("NO_COLOR", "1") // the caller decides, not the environment
	doc := read(t, "failed")
	colored := drawn(t, doc, true, 0)
	golden.Equal(t, filepath.Join("testdata", "failed.color.txt"), []byte(colored))
	if got := text.StripEscape(colored); got != drawn(t, doc, false, 0) {
		t.Error("colour changes more than colour")
	}
}

// tables are the lines of a report that belong to its tables.
func tables(report string) []string {
	var out []string
	for _, block := range strings.Split(report, "\n\n") {
		if strings.Contains(block, "───") {
			out = append(out, strings.Split(block, "\n")...)
		}
	}
	return out
}

func TestTableFitsItsTerminal(t *testing.T) {
	doc := read(t, "failed")
	full := drawn(t, doc, false, 0)
	for _, width := range []int{200, 120, 100, 80, 72, 60} {
		report := drawn(t, doc, false, width)
		for _, line := range tables(report) {
			if n := text.StringWidthWithoutEscSequences(line); n > width {
				t.Errorf("a line of %d columns in a terminal of %d: %s", n, width, line)
			}
		}
		for _, always := range []string{"bandwidth", "GB/s", "verdict"} {
			if !strings.Contains(report, always) {
				t.Errorf("%s is gone at %d columns", always, width)
			}
		}
		if width == 200 && strings.Join(tables(report), "\n") != strings.Join(tables(full), "\n") {
			t.Error("a table that fits has lost something")
		}
	}
	// Nothing is left to drop: what remains is drawn, however narrow the terminal.
	if report := drawn(t, doc, false, 10); !strings.Contains(report, "verdict") {
		t.Error("no table at 10 columns")
	}
}

// A failing rank's last log lines stand below its case, no more than five of them.
func TestTableShowsTheFailingRank(t *testing.T) {
	report := drawn(t, read(t, "aborted"), false, 0)
	for _, want := range []string{
		"rank 1, phase run: killed by signal 9", "| three\n", "| ring: peer gone\n", "| seven\n",
		"2 cases skipped: the session was interrupted",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("%q is missing in\n%s", want, report)
		}
	}
	if strings.Contains(report, "| two") {
		t.Error("more than five log lines")
	}
	if n := strings.Count(report, "killed by signal 9"); n != 2 { // the case, and the trend over it
		t.Errorf("the cause is reported %d times", n)
	}
}

func TestColumnsOfAxesComeFirst(t *testing.T) {
	doc := read(t, "failed")
	for i, c := range doc.Cases {
		c.AxisOrder = []string{"fabric", "block_size", "in_flight"}
		c.Axes["fabric"], c.Axes["in_flight"] = "shm", []any{int64(1), int64(4), int64(16)}[i]
	}
	g := grids(doc)[0]
	var heads []string
	for _, c := range g.columns {
		heads = append(heads, strings.ReplaceAll(c.head, "\n", " "))
	}
	got := strings.Join(heads, ",")
	if !strings.HasPrefix(got, "fabric,in_flight,block size,batch,bandwidth GB/s,96% CI,latency avg µs,") {
		t.Errorf("columns %s", got)
	}
	if g.columns[0].right || !g.columns[1].right {
		t.Error("words are aligned right or numbers left")
	}
}

// What an assertion is about has a column, also where the workload's tables lack it.
func TestAssertedMetricsHaveColumns(t *testing.T) {
	doc := read(t, "sequence")
	for _, a := range doc.Cases[0].Assertions {
		a.Subject = metricLeaf("latency.p50", "s")
	}
	if !slices.ContainsFunc(grids(doc)[0].columns, func(c column) bool { return c.metric == "latency.p50" }) {
		t.Error("latency.p50 has none")
	}
}

// In a terminal a table of very many cases has the first, and all that have a finding.
func TestLongTablesAreCut(t *testing.T) {
	doc := &results.Document{Schema: results.Schema}
	for i := range 2000 {
		c := &results.Case{
			Key: fmt.Sprintf("a[n=%d]", i), Run: "a", Workload: "transfer", Status: results.OK,
			Axes: map[string]any{"n": i}, AxisOrder: []string{"n"},
		}
		if i == 1234 {
			c.Status, c.Reason = results.Error, "it broke"
		}
		doc.Cases = append(doc.Cases, c)
	}
	for _, c := range []struct {
		look Look
		rows int
		says string
	}{
		{Look{Width: 100}, mostRows + 1, "1499 further rows without findings"},
		{Look{}, 2000, ""}, {Look{Width: 100, Wide: true}, 2000, ""},
	} {
		var b bytes.Buffer
		if err := Table(&b, doc, c.look); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(b.String(), "✗")
		rows := strings.Count(b.String(), "\n") - strings.Count(head[:strings.Index(head, "─")], "\n")
		if rows < c.rows || rows > c.rows+20 || !strings.Contains(b.String(), c.says) ||
			!strings.Contains(b.String(), "it broke") {
			t.Errorf("%+v: %d rows, want %d", c.look, rows, c.rows)
		}
	}
}
