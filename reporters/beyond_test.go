package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// A share of a ceiling is marked where its noise does not explain that it is above 1.
func TestShareBeyondItsCeilingIsMarked(t *testing.T) {
	for _, c := range []struct {
		name     string
		estimate results.MetricEstimate
		marked   bool
	}{
		{"within", results.MetricEstimate{Value: 0.97, CI: &[2]float64{0.95, 0.99}}, false},
		{"by noise", results.MetricEstimate{Value: 1.02, CI: &[2]float64{0.98, 1.06}}, false},
		{"beyond", results.MetricEstimate{Value: 1.25, CI: &[2]float64{1.2, 1.31}}, true},
		{"one launch, a little", results.MetricEstimate{Value: 1.05}, false},
		{"one launch, far", results.MetricEstimate{Value: 1.3}, true},
	} {
		of := &results.Case{Key: "a", Run: "a", Workload: "transfer", Status: results.OK,
			Metrics: results.NamedOf(map[string]results.MetricEstimate{"ceiling": c.estimate})}
		doc := &results.Document{Cases: []*results.Case{of}}
		var b strings.Builder
		for _, g := range grids(doc) {
			b.WriteString(g.run)
			for _, column := range g.columns {
				b.WriteString(column.cell(of))
			}
		}
		if marked := strings.Contains(b.String(), beyondMark); marked != c.marked {
			t.Errorf("%s: %q", c.name, b.String())
		}
		if explained := strings.Contains(strings.Join(marks(doc), "\n"), beyondMark); explained != c.marked {
			t.Errorf("%s: marks %q", c.name, marks(doc))
		}
	}
}
