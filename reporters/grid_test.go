package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// No cell of a case that passed leaves open why it has no value.
func TestCellsOfPassedCases(t *testing.T) {
	of := func(launches, n int, ci *[2]float64) *results.Document {
		status := map[bool]string{true: results.OK, false: results.Error}[n > 0]
		c := &results.Case{Key: "a", Run: "a", Workload: "transfer", Status: results.OK,
			Assertions: []*results.AssertionVerdict{{Verdict: results.Pass}}}
		for i := range launches {
			c.Launches = append(c.Launches, &results.Launch{Index: i, Status: status})
		}
		if n > 0 {
			c.Metrics.Set("bandwidth", results.MetricEstimate{Unit: "GB/s", N: n, Value: 2, Median: 2, Mean: 2, CI: ci,
				CV: 0.1, Better: "higher"})
		}
		return &results.Document{Schema: results.Schema, Cases: []*results.Case{c}}
	}
	for want, doc := range map[string]*results.Document{
		"| n=1 | 1 | ✓ pass":       of(1, 1, nil),
		"| 0.010–200 | 2 | ✓ pass": of(2, 2, &[2]float64{0.01, 200}),
		"| 1.9–2.1 | 3 | ✓ pass":   of(3, 3, &[2]float64{1.9, 2.1}),
		"| 0 of 5 | ✓ pass":        of(5, 0, nil),
	} {
		text := strings.ReplaceAll(written(t, "markdown", doc), "✓1 pass", "✓ pass")
		if !strings.Contains(text, want) || strings.Contains(text, "| - |") {
			t.Errorf("no %q, or a cell without a value, in\n%s", want, text)
		}
	}
}
