package native

import (
	"fmt"
	"slices"
	"testing"

	"weir/matrix"
	"weir/routing"
	"weir/workload"
	"weir/workload/ep"
	"weir/workload/move"
)

// BenchmarkEPAndTraffic compares dispatches, with messages made before, to workload traffic with
// the same bytes between the same ranks, their own included: the median over pairs of runs of the
// ratio of their median times. Dispatch has two halves of a sink in turn, as NIXL EP has two sets of
// buffers, and traffic has one: with 256 tokens traffic's buffers fit in a last-level cache of 32 MiB
// and dispatch's do not. With 64 tokens both fit, with 1024 neither: sizes tell what the cache does to
// the ratio.
func BenchmarkEPAndTraffic(b *testing.B) {
	for _, fabric := range []string{"shm", "ucx", "tcp"} {
		for _, tokens := range []int64{64, 256, 1024} {
			for _, layout := range []string{"packed", "message"} {
				b.Run(fmt.Sprintf("%s/%s/tokens=%d", fabric, layout, tokens), func(b *testing.B) {
					if !(native{}).Probe([]string{fabric})[fabric].Available {
						b.Skip("not here")
					}
					var ratios []float64
					for range 7 {
						ratios = append(ratios, dispatchTime(b, fabric, layout, tokens)/trafficTime(b, fabric, tokens))
					}
					slices.Sort(ratios)
					b.ReportMetric(ratios[len(ratios)/2], "of-traffic")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

func benchedEP(tokens int64) workload.Values {
	return workload.Values{
		"ranks": int64(2), "tokens": tokens, "hidden": int64(7168), "experts_per_rank": int64(8), "top_k": int64(4),
		"iterations": int64(100), "mode": "dispatch", "quantise": "before", "verify": "none",
	}
}

func dispatchTime(b *testing.B, fabric, layout string, tokens int64) float64 {
	b.Helper()
	v := benchedEP(tokens)
	v["layout"] = layout
	m, err := runEP(b, fabric, v)
	if err != nil {
		b.Fatal(err)
	}
	return m["latency.p50"]
}

// trafficTime is that of the matrix of the same routes.
func trafficTime(b *testing.B, fabric string, tokens int64) float64 {
	b.Helper()
	s, err := ep.Decode(benchedEP(tokens))
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
	o := trafficOf(generated(matrix.New(2, cells)), func(o *move.Spec) {
		o.Own, o.Iterations, o.Warmup, o.Verify = generated(matrix.New(2, own)), 100, 10, "none"
	})
	m, err := metricsOf(o, runCases(b, fabric, 2, o)[0])
	if err != nil {
		b.Fatal(err)
	}
	return m["latency.p50"]
}
