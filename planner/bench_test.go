package planner

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"weir/dsl"
)

// sweepOf is a scenario whose sweep has 10^n cases.
func sweepOf(n int) string {
	axes := []string{
		"block_size: 4KiB..40KiB +4KiB", "batch: 1..10 +1", "in_flight: 1..10 +1",
		"iterations: 100..1000 +100", "warmup: 1..10 +1", "env.UCX_RNDV_THRESH: [a, b, c, d, e, f, g, h, i, j]",
	}
	return fmt.Sprintf(`
scenario: large
runs:
  sweep:
    workload: transfer
    options: {fabric: tcp%s}
    sweep:
      max_cases: 1000000
      %s
    assert:
      - bandwidth >= 1 GB/s where block_size >= 16KiB
      - latency.p50 <= 10us
`, map[bool]string{true: ", block_size: 4KiB"}[n == 0], strings.Join(axes[:n], "\n      "))
}

// BenchmarkPlan plans sweeps of 10^3 to 10^6 cases, from the text of the file to
// the digest of the plan; ns/case must be flat.
func BenchmarkPlan(b *testing.B) {
	for n := 3; n <= 6; n++ {
		cases := 1
		for range n {
			cases *= 10
		}
		b.Run(fmt.Sprintf("cases=1e%d", n), func(b *testing.B) {
			src := []byte(sweepOf(n))
			for b.Loop() {
				s, _, diags := dsl.Load("large.yaml", src, dsl.Options{})
				if diags.HasErrors() {
					b.Fatal(diags)
				}
				t, diags := Tabulate(s)
				if diags.HasErrors() || t.Len() != cases {
					b.Fatal(diags)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cases), "ns/case")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
		})
	}
}
