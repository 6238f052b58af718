package reporters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

var rowOfLatencies = []string{"latency.min", "latency.p50", "latency.p90", "latency.p95", "latency.p99", "latency.p999",
	"latency.max"}

// ofLatencies is a document of a case whose launches have these latencies in µs, each ascending.
func ofLatencies(launches [][]float64) *results.Document {
	c := &results.Case{Key: "a", Run: "a", Workload: "transfer", Status: results.OK}
	for i, values := range launches {
		m := map[string]float64{"bandwidth": 1, "requests.stamped": 10_000}
		for k, name := range rowOfLatencies {
			m[name] = values[k] * 1e-6
		}
		c.Launches = append(c.Launches, &results.Launch{Index: i, Status: results.OK, Verified: true,
			Metrics: results.ValuesOf(m)})
	}
	return &results.Document{Schema: results.Schema, Cases: []*results.Case{c}}
}

// latencyRow is the row of the case in the table of latencies.
func latencyRow(t interface{ Fatalf(string, ...any) }, doc *results.Document) (row []float64) {
	d := newDraft(workload.DefinitionsOf(doc))
	table := d.quantileTable(grids(doc)[0], d.quantiles(doc.Cases))
	for _, cell := range table.Rows[0].Cells {
		text, _, _ := strings.Cut(cell, " ")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%q: %v", cell, err)
		}
		row = append(row, v)
	}
	return row
}

// The least and the greatest latency of a row are those of all launches, as its quantiles are.
func TestLatenciesOfARowStandInOrder(t *testing.T) {
	doc := ofLatencies([][]float64{
		{0.95, 1, 1.1, 1.2, 1.3, 1.4, 2}, {0.95, 1, 1.1, 1.2, 1.3, 1.4, 2}, {95, 96, 97, 98, 99, 100, 101},
	})
	gate.Judge(doc)
	c := doc.Cases[0]
	for name, pooled := range map[string]float64{"latency.p50": 1e-6, "latency.p90": 97e-6, "latency.p95": 98e-6,
		"latency.p99": 99e-6, "latency.p999": 100e-6} {
		e, _ := c.Metrics.Get(name)
		e.Value = pooled // as of launches with distributions
		c.Metrics.Set(name, e)
	}
	if least, _ := c.Metrics.Get("latency.min"); least.Value < 1e-6 {
		t.Fatalf("the mean of the least latencies is %v: it is to be above the median of all", least.Value)
	}
	if row := latencyRow(t, doc); row[0] != 0.95 || row[len(row)-1] != 101 || !slices.IsSorted(row) {
		t.Errorf("the row is %v", row)
	}
	rapid.Check(t, func(t *rapid.T) {
		var launches [][]float64
		for i := range rapid.IntRange(1, 5).Draw(t, "launches") {
			values := rapid.SliceOfN(rapid.Float64Range(0.5, 900), len(rowOfLatencies), len(rowOfLatencies)).Draw(t,
				fmt.Sprintf("launch %d", i))
			slices.Sort(values)
			launches = append(launches, values)
		}
		doc := ofLatencies(launches)
		gate.Judge(doc)
		if row := latencyRow(t, doc); !slices.IsSorted(row) {
			t.Fatalf("the row of %v is %v", launches, row)
		}
	})
}
