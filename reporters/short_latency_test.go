package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// A latency is marked that is shorter than the best copy of its bytes.
func TestLatencyThatNoCopyHasIsMarked(t *testing.T) {
	for _, c := range []struct {
		name    string
		latency float64
		change  map[string]any
		marked  bool
	}{
		{"as long as a copy", 28.2e-9, nil, false},
		{"shorter", 21.6e-9, nil, true},
		{"shorter, of documents", 21.6e-9, map[string]any{"block_size": "4KiB", "batch": 1., "ranks": 2.}, true},
		{"of four threads", 21.6e-9, map[string]any{"threads": int64(4)}, false},
		{"of a larger batch", 40e-9, map[string]any{"batch": int64(2)}, true},
	} {
		options := map[string]any{
			"block_size": quantity.Size(4096), "batch": int64(1), "ranks": int64(2), "threads": int64(1),
			"bidirectional": false,
		}
		for name, v := range c.change {
			options[name] = v
		}
		of := &results.Case{Key: "a", Run: "a", Workload: "transfer", Status: results.OK, Options: options,
			Metrics: results.NamedOf(map[string]results.MetricEstimate{
				"bandwidth": {Value: 138}, "ceiling.best": {Value: 0.95}, "latency.p50": {Value: c.latency},
			})}
		doc := &results.Document{Cases: []*results.Case{of}}
		var b strings.Builder
		for _, g := range grids(doc) {
			for _, column := range g.columns {
				b.WriteString(column.cell(of))
			}
		}
		if marked := strings.Contains(b.String(), shortMark); marked != c.marked {
			t.Errorf("%s: %q", c.name, b.String())
		}
		if explained := strings.Contains(strings.Join(marks(doc), "\n"), shortMark); explained != c.marked {
			t.Errorf("%s: marks %q", c.name, marks(doc))
		}
		for _, width := range []int{40, 200} { // narrow: the column of latencies does not fit
			report := drawn(t, doc, false, width)
			if n := strings.Count(report, shortMark); n == 1 {
				t.Errorf("%s, %d columns: a mark is shown or explained, not both:\n%s", c.name, width, report)
			}
		}
	}
}
