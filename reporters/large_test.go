package reporters

import (
	"fmt"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload/transfer"
)

// sized is a session of this number of cases with five launches and all metrics of a transfer.
func sized(n int) *results.Document {
	doc := &results.Document{Scenario: results.Scenario{Name: "large", File: "large.yaml"}}
	bound := 11.
	for i := range n {
		size := fmt.Sprintf("%dKiB", i)
		c := &results.Case{
			Key: "bandwidth[block_size=" + size + "]", Run: "bandwidth", Workload: "transfer", Status: results.OK,
			Axes: map[string]any{"block_size": size}, AxisOrder: []string{"block_size"},
			Options: map[string]any{"batch": 1.},
		}
		for j, m := range transfer.Kind.Metrics {
			v := float64(i%97+1) * float64(j+1)
			c.Metrics.Set(m.Name, results.MetricEstimate{
				Unit: m.Unit, N: 5, Value: v, Median: v, Mean: v, CV: 0.01, CI: &[2]float64{v * 0.99, v * 1.01},
				Confidence: results.Confidence,
			})
		}
		for j := range 5 {
			c.Launches = append(c.Launches, &results.Launch{Index: j, Status: results.OK, Nodes: []string{"n1", "n2"}})
		}
		c.Assertions = []*results.AssertionVerdict{{
			Assertion: assertion.Assertion{
				Name: "floor", Text: "bandwidth >= 11 GB/s", Severity: assertion.Gate,
				Bounds: assertion.Bounds{Lower: &bound},
			},
			Verdict: []results.Verdict{results.Pass, results.Fail}[i%2], Observed: &results.Observed{Value: 10,
				Unit: "GB/s", N: 5}, Message: "bandwidth 10 GB/s (n=5) < 11 GB/s",
		}}
		doc.Cases = append(doc.Cases, c)
	}
	doc.Summarize()
	return doc
}

func BenchmarkReports(b *testing.B) {
	doc := sized(10_000)
	for _, format := range Formats() {
		r, _ := Lookup(format)
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				n := new(byteCount)
				if err := r.Write(n, doc); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(*n)/1e6, "MB")
			}
		})
	}
}

type byteCount int

func (c *byteCount) Write(p []byte) (int, error) {
	*c += byteCount(len(p))
	return len(p), nil
}
