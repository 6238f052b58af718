package reporters

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// session has this number of cases and launches: fabrics × batches ×
// sizes, half of which has an assertion, and one in fifty fails.
func session(cases, launches int) *results.Document {
	start := time.Date(2026, 11, 21, 10, 15, 0, 0, time.UTC)
	doc := &results.Document{
		Schema: results.Schema, Scenario: results.Scenario{Name: "large", File: "large.yaml"},
		Session: results.Session{
			ID: "20261121-101500-large-3f9a", Status: results.Failed, ExitCode: 1, Started: start,
			Finished: start.Add(time.Hour),
		},
		Environment: results.Environment{Nodes: []results.Node{{Name: "n1"}}, Fingerprint: "sha256:1"},
	}
	lower := 1.
	fabrics := []string{"shm", "tcp", "ucx", "libfabric"}
	for i := range cases {
		fabric := fabrics[i%len(fabrics)]
		size, batch := quantity.Size(1<<(10+i/len(fabrics)%16)), 1+i/len(fabrics)/16
		key := fmt.Sprintf("bandwidth[batch=%d,block_size=%v,fabric=%s]", batch, size, fabric)
		bandwidth := 2 + 20*float64(i%97)/97
		if i%50 == 7 {
			bandwidth = 0.5
		}
		c := &results.Case{
			Key: key, ID: fmt.Sprintf("sha256:%d", i), Run: "bandwidth", Workload: "transfer", Status: results.OK,
			Axes:      map[string]any{"fabric": fabric, "block_size": size.String(), "batch": int64(batch)},
			AxisOrder: []string{"fabric", "block_size", "batch"},
		}
		estimate := func(name, unit string, v float64) {
			c.Metrics.Set(name, results.MetricEstimate{
				Unit: unit, N: launches, Value: v, Median: v, Mean: v, CV: 0.01, CI: &[2]float64{0.98 * v, 1.02 * v},
				Confidence: 0.96,
			})
		}
		estimate("bandwidth", "GB/s", bandwidth)
		estimate("ceiling.bandwidth", "GB/s", 25)
		estimate("ceiling", "", bandwidth/25)
		for k, q := range []string{
			"latency.min", "latency.p50", "latency.p90", "latency.p95", "latency.p99", "latency.p999", "latency.max",
		} {
			estimate(q, "s", float64(size)*1e-9/bandwidth*math.Pow(1.4, float64(k)))
		}
		estimate("latency.avg", "s", float64(size)*1.7e-9/bandwidth)
		for l := range launches {
			c.Launches = append(c.Launches, &results.Launch{
				Index: l, Started: start.Add(time.Duration(i*launches+l) * 70 * time.Millisecond), Duration: 0.06,
				Status: results.OK, Nodes: []string{"n1", "n1"}, Fabric: fabric,
				Metrics: results.ValuesOf(map[string]float64{"bandwidth": bandwidth * (1 + 0.01*float64(l%3)),
					"latency.p50": 1e-6}), Verified: true,
			})
		}
		if i%2 == 1 {
			a := &results.AssertionVerdict{
				Assertion: assertion.Assertion{Name: "floor", Text: "bandwidth >= 1 GB/s",
					Lowered: "bandwidth in [1, ∞) GB/s", File: "large.yaml", Line: 12, Severity: assertion.Gate,
					Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}, Unit: "GB/s",
					Bounds: assertion.Bounds{Lower: &lower}},
				Verdict: results.Pass, Message: fmt.Sprintf("bandwidth %.2f GB/s", bandwidth),
				Observed: &results.Observed{
					Value: bandwidth, Unit: "GB/s", CI: &[2]float64{0.98 * bandwidth, 1.02 * bandwidth}, N: launches,
				},
			}
			if bandwidth < lower {
				a.Verdict = results.Fail
			}
			c.Assertions = append(c.Assertions, a)
		}
		doc.Cases = append(doc.Cases, c)
	}
	doc.Plan.Cases = cases
	doc.Summarize()
	return doc
}

func bySize(a, b string) int {
	x, _ := quantity.ParseSize(a)
	y, _ := quantity.ParseSize(b)
	return cmp.Compare(x, y)
}

// BenchmarkHTML10000 writes the page of 10 000 cases with 5 launches each.
func BenchmarkHTML10000(b *testing.B) {
	doc := session(10_000, 5)
	n := &counter{}
	for b.Loop() {
		n.bytes = 0
		if err := HTML(n, doc); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n.bytes)/1e6, "MB/page")
}

type counter struct{ bytes int }

func (c *counter) Write(p []byte) (int, error) { c.bytes += len(p); return len(p), nil }

var _ io.Writer = (*counter)(nil)
