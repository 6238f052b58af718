package reporters

import (
	"math"
	"testing"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// What operations have is spread over their time: no part of it is lost, and none is outside.
func TestRateOverTime(t *testing.T) {
	r := results.NewRecords("phase", "first", "last", "output")
	r.Add(1, 2e9, 8e9, 60) // 10 per second
	r.Add(1, 5e9, 8e9, 60) // 20 per second more
	r.Add(1, 6e9, 6e9, 30) // at once
	r.Add(0, 0, 8e9, 1000) // not measured
	r.Add(1, -1, -1, 1000) // without a token
	chart := rateOf([]*results.Records{r}, workload.ChartSpec{
		At: "first", Until: "last", Only: map[string]int64{"phase": 1},
		Columns: []workload.RecordColumn{{Name: "output", Title: "output tokens"}},
	})
	points := chart.Series[0].Points
	if chart.Series[0].Style != html.Filled || len(points) != rateBins+1 || points[0].X != 0 ||
		math.Abs(points[rateBins].X-6) > 1e-9 {
		t.Fatalf("%+v", chart)
	}
	sum := 0.
	for i, p := range points[:rateBins] {
		sum += p.Y * 0.1
		want := 10.
		if i >= 30 {
			want = 30
		}
		if i == 40 {
			want += 300
		}
		if math.Abs(p.Y-want) > 1e-6 {
			t.Errorf("from %v s on: %v per second, not %v", p.X, p.Y, want)
		}
	}
	if math.Abs(sum-150) > 1e-6 || points[0].Says[0] != "10.0 output tokens per second, 0 ns to 100 ms" {
		t.Errorf("%v in all; %q", sum, points[0].Says)
	}
	none := workload.ChartSpec{At: "first", Until: "nothing", Columns: []workload.RecordColumn{{Name: "output"}}}
	if c := rateOf([]*results.Records{r}, none); c.Kind != "" {
		t.Errorf("%+v", c)
	}
}
