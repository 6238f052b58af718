package reporters

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// The heads as nixlbench prints them.
const (
	nixlbenchHead        = "Block Size (B)      Batch Size     B/W (GB/Sec)   Avg Lat. (us)  Avg Prep (us)  P99 Prep (us)  Avg Post (us)  P99 Post (us)  Avg Tx (us)    P99 Tx (us)    "
	nixlbenchHeadSeveral = "Block Size (B)      Batch Size     B/W (GB/Sec)   Aggregate B/W (GB/Sec)   Network Util (%)    Avg Lat. (us)  Avg Prep (us)  P99 Prep (us)  Avg Post (us)  P99 Post (us)  Avg Tx (us)    P99 Tx (us)    "
)

// transfers is a session of a transfer over some ranks with two block sizes, and one
// of each other kind of case.
func transfers(ranks float64) *results.Document {
	estimate := func(unit string, v float64) results.MetricEstimate {
		return results.MetricEstimate{Unit: unit, N: 1, Value: v, Median: v, Mean: v}
	}
	doc := &results.Document{Session: results.Session{Status: results.Passed}}
	for i, size := range []string{"4KiB", "1MiB"} {
		k := float64(i + 1)
		doc.Cases = append(doc.Cases, &results.Case{
			Key: "t[fabric=tcp,block_size=" + size + "]", Run: "t", Workload: "transfer", Status: results.OK,
			Axes: map[string]any{"fabric": "tcp", "block_size": size}, AxisOrder: []string{"fabric", "block_size"},
			Options: map[string]any{"block_size": size, "batch": 8., "ranks": ranks},
			Metrics: results.NamedOf(map[string]results.MetricEstimate{
				"bandwidth": estimate("GB/s", 10*k), "bandwidth.min_rank": estimate("GB/s", 4*k),
				"ceiling":     estimate("", 0.25*k),
				"latency.avg": estimate("s", 1e-6*k), "prep.request": estimate("s", 2e-6*k),
				"prep.request.p99": estimate("s", 7e-6*k), "post.avg": estimate("s", 3e-6*k),
				"post.p99": estimate("s", 4e-6*k), "transfer.avg": estimate("s", 0),
				"transfer.p99": estimate("s", 5e-6*k),
			}),
		})
	}
	doc.Cases = append(doc.Cases,
		&results.Case{Key: "gone", Run: "t", Workload: "transfer", Status: results.Skipped, Reason: "no tcp"},
		&results.Case{Key: "dead", Run: "t", Workload: "transfer", Status: results.Error, Reason: "rank 1 died",
			Axes: map[string]any{"fabric": "tcp"}, AxisOrder: []string{"fabric"},
			Options: map[string]any{"block_size": "2MiB", "batch": 8., "ranks": ranks}},
		&results.Case{Key: "m", Run: "m", Workload: "traffic", Status: results.OK})
	return doc
}

// Each number stands under the head that nixlbench has for it.
func TestNIXLBenchColumns(t *testing.T) {
	for _, c := range []struct {
		ranks float64
		head  string
		rows  [][]string
	}{
		{2, nixlbenchHead, [][]string{
			{"4096", "8", "10.00", "1.000", "2.000", "7.000", "3.000", "4.000", "0", "5.000"},
			{"1048576", "8", "20.00", "2.000", "4.000", "14.00", "6.000", "8.000", "0", "10.00"},
		}},
		{4, nixlbenchHeadSeveral, [][]string{
			{"4096", "8", "4.000", "10.00", "25.00", "1.000", "2.000", "7.000", "3.000", "4.000", "0", "5.000"},
			{"1048576", "8", "8.000", "20.00", "50.00", "2.000", "4.000", "14.00", "6.000", "8.000", "0", "10.00"},
		}},
	} {
		lines := strings.Split(written(t, "nixlbench", transfers(c.ranks)), "\n")
		at := -1
		for i, l := range lines {
			if l == c.head+"Verdict" {
				at = i
			}
		}
		if at < 0 {
			t.Fatalf("%v ranks: the head is not nixlbench's:\n%s", c.ranks, strings.Join(lines, "\n"))
		}
		if want := map[float64]string{2: "t: fabric=tcp", 4: "t: fabric=tcp 4 ranks"}[c.ranks]; lines[at-1] != want {
			t.Errorf("above the table stands %q, want %q", lines[at-1], want)
		}
		starts := regexp.MustCompile(`\S.*?(  +|$)`).FindAllStringIndex(c.head, -1)
		for i, want := range c.rows {
			for j, span := range starts {
				if got := strings.TrimSpace(lines[at+2+i][span[0]:span[1]]); got != want[j] {
					t.Errorf("%v ranks, row %d: under %q stands %q, want %q", c.ranks, i,
						strings.TrimSpace(c.head[span[0]:span[1]]), got, want[j])
				}
			}
		}
		want := append([]string{"2097152", "8"}, slices.Repeat([]string{"-"}, len(starts)-2)...)
		verdict := "! error: the case ended with an error: rank 1 died"
		if got, ok := strings.CutSuffix(lines[at+4], verdict); !ok || !slices.Equal(strings.Fields(got), want) {
			t.Errorf("the case without numbers: %q", lines[at+4])
		}
	}
}

// What means something else than in nixlbench is said before any number.
func TestNIXLBenchSaysWhatDiffers(t *testing.T) {
	text := written(t, "nixlbench", transfers(4))
	notes, tables, _ := strings.Cut(text, "\nt: fabric=tcp")
	for _, column := range []string{
		"B/W", "Aggregate B/W", "Avg Lat.", "Avg Prep", "P99 Prep", "P99 ...", "Network Util",
	} {
		if !strings.Contains(notes, column) {
			t.Errorf("the notes do not speak of %s", column)
		}
	}
	for _, says := range []string{"1 case of other workloads not shown", "1 case skipped: no tcp"} {
		if !strings.Contains(tables, says) {
			t.Errorf("it does not say %q:\n%s", says, tables)
		}
	}
}

// Parts of a time add up in the table: of launches that differ by much the geometric mean of the
// whole is not the sum of an arithmetic and a geometric one.
func TestNIXLBenchTimesAddUp(t *testing.T) {
	doc := transfers(2)
	c := doc.Cases[0]
	for name, m := range map[string][2]float64{ // geometric, arithmetic
		"latency.avg": {250e-6, 1700e-6}, "post.avg": {0.05e-6, 0.067e-6}, "transfer.avg": {1699.933e-6, 1699.933e-6},
	} {
		e := c.Metrics.At(name)
		e.Value, e.Mean = m[0], m[1]
		c.Metrics.Set(name, e)
	}
	text := written(t, "nixlbench", doc)
	if !strings.Contains(text, " 1700 ") || strings.Contains(text, " 250.0 ") {
		t.Errorf("the latency is not the mean of which post and transfer are parts:\n%s", text)
	}
}

// The published measurements over EFA stand in the columns of nixlbench.
func TestNIXLBenchHasThePublishedNumbers(t *testing.T) {
	estimate := func(unit string, v float64) results.MetricEstimate {
		return results.MetricEstimate{Unit: unit, N: 1, Value: v, Median: v, Mean: v}
	}
	doc := &results.Document{Session: results.Session{Status: results.Passed}}
	for _, row := range []struct {
		size               string
		bandwidth, latency float64
	}{{"4KiB", 0.08, 49.2}, {"1MiB", 14.12, 74.3}, {"16MiB", 41.06, 408.6}, {"64MiB", 46.48, 1443.8}} {
		doc.Cases = append(doc.Cases, &results.Case{
			Key: "efa[block_size=" + row.size + "]", Run: "efa", Workload: "transfer", Status: results.OK,
			Axes: map[string]any{"block_size": row.size}, AxisOrder: []string{"block_size"},
			Options: map[string]any{"block_size": row.size, "batch": 1., "ranks": 2.},
			Metrics: results.NamedOf(map[string]results.MetricEstimate{
				"bandwidth":   estimate("GB/s", row.bandwidth),
				"latency.avg": estimate("s", row.latency*1e-6),
			}),
		})
	}
	got := written(t, "nixlbench", doc)
	for _, want := range []string{
		`(?m)^4096 +1 +0\.0800* +49\.20? `, `(?m)^1048576 +1 +14\.12 +74\.30? `,
		`(?m)^16777216 +1 +41\.06 +408\.6 `, `(?m)^67108864 +1 +46\.48 +144[34](\.8)? `,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
