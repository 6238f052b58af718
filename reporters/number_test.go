package reporters

import (
	"testing"

	"github.com/weir-bench/weir/results"
)

// A column has the unit of most of its values, and one in which none has more than five digits before the point.
func TestUnitsOfColumns(t *testing.T) {
	for _, c := range []struct {
		unit   string
		values []float64
		want   string
	}{
		{"s", []float64{0.19e-6, 3e-6, 17e-3}, "µs"},
		{"s", []float64{440e-6, 12e-3, 5.9e-3, 6.7e-3, 2.0023}, "ms"}, // not 2002300 µs
		{"s", []float64{44e-9, 0.19e-6, 3e-6, 1.96}, "ms"},
		{"s", []float64{0, 17e-3, 35e-3}, "ms"},
		{"s", []float64{2e-6, 30e-6, 170}, "s"},
		{"s", []float64{12, 15, 1e-3}, "s"},
		{"s", []float64{3e-6, results.Unbounded}, "µs"},
		{"s", []float64{5e6}, "s"},
		{"s", nil, "µs"},
		{"B", []float64{137200, 262100}, "MB"},
		{"B", []float64{70e9, 80e9}, "GB"},
		{"GB/s", []float64{123456}, "GB/s"},
	} {
		if got := columnScale(c.unit, c.values...); got.Unit != c.want {
			t.Errorf("%v %s are shown in %s, want %s", c.values, c.unit, got.Unit, c.want)
		}
	}
	doc := &results.Document{}
	for _, v := range []float64{440e-6, 12e-3, 2.0023} {
		c := &results.Case{}
		c.Metrics.Set("step", results.MetricEstimate{Unit: "s", N: 3, Value: v})
		doc.Cases = append(doc.Cases, c)
	}
	if s := scaleOfColumn(doc.Cases, "step"); number(doc.Cases[2], "step", s) != "2002" || s.Unit != "ms" {
		t.Errorf("%s %s", number(doc.Cases[2], "step", s), s.Unit)
	}
}
