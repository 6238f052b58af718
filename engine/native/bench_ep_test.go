package native

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/ep/routing"
	"github.com/weir-bench/weir/workload/move"
)

// BenchmarkEPAndTraffic compares dispatches, with messages made before, to workload traffic with the same
// bytes between the same ranks, including their own: the median over pairs of runs of the ratio of their
// median times, between 2 ranks, and between 8 on a host with 16 processors. Dispatch alternates two halves
// of a sink, as NIXL EP has two sets of buffers, and traffic has one: with 256 tokens traffic's buffers fit
// in a last-level cache of 32 MiB and dispatch's do not. With 64 tokens both fit, with 1024 neither: the
// sizes show the effect of the cache on the ratio.
func BenchmarkEPAndTraffic(b *testing.B) {
	for _, ranks := range []int{2, 8} {
		for _, fabric := range []string{"shm", "ucx", "tcp"} {
			for _, tokens := range []int64{64, 256, 1024} {
				for _, layout := range []string{"packed", "message"} {
					b.Run(fmt.Sprintf("%s/ranks=%d/%s/tokens=%d", fabric, ranks, layout, tokens), func(b *testing.B) {
						if !(native{}).Probe([]string{fabric})[fabric].Available {
							b.Skip("not here")
						}
						if ranks > 2 && runtime.NumCPU() < 2*ranks {
							b.Skip("too few processors")
						}
						var ratios []float64
						for range 7 {
							dispatch := dispatchTime(b, fabric, layout, ranks, tokens)
							ratios = append(ratios, dispatch/trafficTime(b, fabric, ranks, tokens))
						}
						b.ReportMetric(median(ratios), "of-traffic")
						b.ReportMetric(0, "ns/op")
					})
				}
			}
		}
	}
}

// BenchmarkEPThreads measures the speedup of operations of two ranks with several threads per rank, as the
// median over pairs of runs: a dispatch that makes its rows while timed, and a combine.
func BenchmarkEPThreads(b *testing.B) {
	for _, mode := range []string{"dispatch", "combine"} {
		for _, tokens := range []int64{128, 1024} {
			for _, threads := range []int{2, 4, 7} {
				b.Run(fmt.Sprintf("%s/tokens=%d/threads=%d", mode, tokens, threads), func(b *testing.B) {
					if runtime.NumCPU() < 2*threads {
						b.Skip("too few processors")
					}
					var ratios []float64
					for range 7 {
						ratios = append(ratios, threadsTime(b, mode, tokens, 1)/threadsTime(b, mode, tokens, threads))
					}
					b.ReportMetric(median(ratios), "of-one-thread")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

func threadsTime(b *testing.B, mode string, tokens int64, threads int) float64 {
	b.Helper()
	v := benchedEP(2, tokens)
	v["mode"], v["threads"], v["quantise"] = mode, int64(threads), "timed"
	m, err := runEP(b, "shm", v)
	if err != nil {
		b.Fatal(err)
	}
	return m["latency.p50"]
}

func benchedEP(ranks int, tokens int64) option.Values {
	return option.Values{
		"ranks": int64(ranks), "tokens": tokens, "hidden": int64(7168), "experts_per_rank": int64(8), "top_k": int64(4),
		"iterations": int64(100), "mode": "dispatch", "quantise": "before", "verify": "none",
	}
}

func dispatchTime(b *testing.B, fabric, layout string, ranks int, tokens int64) float64 {
	b.Helper()
	v := benchedEP(ranks, tokens)
	v["layout"] = layout
	m, err := runEP(b, fabric, v)
	if err != nil {
		b.Fatal(err)
	}
	return m["latency.p50"]
}

// trafficTime returns the time of the traffic matrix of the same routes.
func trafficTime(b *testing.B, fabric string, ranks int, tokens int64) float64 {
	b.Helper()
	s, err := ep.Decode(benchedEP(ranks, tokens))
	if err != nil {
		b.Fatal(err)
	}
	table, err := routing.Make(s.Routes)
	if err != nil {
		b.Fatal(err)
	}
	var cells, own []matrix.Cell
	for from, row := range s.Sent(table)[0] {
		for to, bytes := range row {
			if from == to {
				own = append(own, matrix.Cell{From: from, To: to, Bytes: bytes})
			} else {
				cells = append(cells, matrix.Cell{From: from, To: to, Bytes: bytes})
			}
		}
	}
	o := trafficOf(generated(matrix.New(ranks, cells)), func(o *move.Spec) {
		o.Own, o.Iterations, o.Warmup, o.Verify = generated(matrix.New(ranks, own)), 100, 10, "none"
	})
	m, err := metricsOf(o, runCases(b, fabric, ranks, o)[0])
	if err != nil {
		b.Fatal(err)
	}
	return m["latency.p50"]
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
