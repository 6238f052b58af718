package planner

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

// sweepOf returns a scenario with 10^n cases.
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

// weaveOf returns a scenario of about 10^n cases with everything that makes cases differ: zip,
// concat and exclude, a `when`, an option computed from an axis, a need with a shared axis, and
// assertions over two axes and over another run.
func weaveOf(n int) (src string, cases int) {
	batches, warmups, rest := 10, 10, 1
	for range n - 3 {
		rest *= 10
	}
	src = fmt.Sprintf(`
scenario: woven
runs:
  base:
    workload: transfer
    options: {fabric: tcp, block_size: 4KiB}
    sweep: {batch: 1..10 +1, in_flight: 1..10 +1}
  sweep:
    workload: transfer
    needs: {run: base, on: always}
    when: batch < 10 || warmup < 10
    options: {fabric: tcp, iterations: "${axis.batch * 100}"}
    env: {ROW: "${axis.row}"}
    sweep:
      max_cases: 2000000
      concat:
        - {zip: {block_size: [4KiB, 8KiB, 16KiB, 32KiB, 64KiB], in_flight: [1, 2, 3, 4, 5]}, batch: 1..10 +1, warmup: 1..10 +1, row: 0..%[1]d +1}
        - {zip: {block_size: [1MiB, 2MiB, 4MiB, 8MiB, 16MiB], in_flight: [1, 2, 3, 4, 5]}, batch: 1..10 +1, warmup: 1..10 +1, row: 0..%[1]d +1}
      exclude:
        - {when: batch == 1 && warmup == 1, reason: too short}
    assert:
      - bandwidth >= 1 GB/s where block_size >= 16KiB && batch > 2
      - bandwidth >= 0.5 * run("base").bandwidth
      - latency.p50 <= 10us
`, rest-1)
	return src, 100 + 10*batches*warmups*rest
}

// BenchmarkValidate reads and plans a scenario of a hundred runs.
func BenchmarkValidate(b *testing.B) {
	var src strings.Builder
	src.WriteString("scenario: hundred\nruns:\n")
	for i := range 100 {
		fmt.Fprintf(&src, "  run%d:\n    workload: transfer\n    options: {fabric: tcp, iterations: 100}\n", i)
		if i > 0 {
			fmt.Fprintf(&src, "    needs: run%d\n", i-1)
		}
		src.WriteString("    sweep: {block_size: 4KiB..64KiB x2}\n    assert:\n      - bandwidth >= 1 GB/s where block_size >= 16KiB\n      - latency.p50 <= 10us\n")
	}
	benchPlan(b, src.String(), 500)
}

// BenchmarkPlan plans sweeps of 10^3 to 10^6 cases, from the text of the file to the digest of the
// plan; ns/case must be constant. Woven sweeps have everything that makes cases differ.
func BenchmarkPlan(b *testing.B) {
	for n, cases := 3, 1000; n <= 6; n, cases = n+1, 10*cases {
		b.Run(fmt.Sprintf("cases=1e%d", n), func(b *testing.B) { benchPlan(b, sweepOf(n), cases) })
		src, woven := weaveOf(n)
		b.Run(fmt.Sprintf("woven=1e%d", n), func(b *testing.B) { benchPlan(b, src, woven) })
	}
}

// BenchmarkSave writes the plan of 10^5 cases.
func BenchmarkSave(b *testing.B) {
	src, cases := weaveOf(5)
	table, diags := Tabulate(read(b, "large.yaml", src, dsl.Options{}))
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	for b.Loop() {
		if err := table.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cases), "ns/case")
}

func benchPlan(b *testing.B, text string, cases int) {
	b.ReportAllocs()
	for b.Loop() {
		t, diags := Tabulate(read(b, "large.yaml", text, dsl.Options{}))
		if diags.HasErrors() || t.Len() != cases {
			b.Fatal(diags, t)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cases), "ns/case")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
}
