//go:build weirtest

package native

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/workload/move"
)

// BenchmarkMatrixBarrier measures an iteration of 16 ranks with negligible data: the barrier, and the lead to
// the common start.
func BenchmarkMatrixBarrier(b *testing.B) {
	for _, ranks := range []int{16, 64} {
		for _, fabric := range []string{"shm", "tcp"} {
			b.Run(fmt.Sprintf("%s/%d", fabric, ranks), func(b *testing.B) {
				o := trafficOf(generated(matrix.Ring(ranks, 1)), func(o *move.Spec) {
					o.Verify, o.Iterations, o.Warmup = "none", max(3, int64(b.N)), 10
				})
				all := runCases(b, fabric, ranks, o)[0]
				first := all[0].Iterations
				var each, skew []int64
				for i := range first {
					from, to := first[i].Start, first[i].Start
					for _, r := range all {
						from, to = min(from, r.Iterations[i].Start), max(to, r.Iterations[i].Start)
					}
					skew = append(skew, to-from)
					if i > 0 {
						each = append(each, first[i].Start-first[i-1].End)
					}
				}
				slices.Sort(each)
				slices.Sort(skew)
				b.ReportMetric(float64(each[len(each)/2]), "ns/meeting")
				b.ReportMetric(float64(skew[len(skew)/2]), "ns/skew")
			})
		}
	}
}

// BenchmarkSequenceStep measures the coordination of a step in a sequence: from the last end of one step to
// the common start of the next, over all ranks and without a sleep.
func BenchmarkSequenceStep(b *testing.B) {
	for _, ranks := range []int{16, 64} {
		for _, fabric := range []string{"shm", "tcp"} {
			b.Run(fmt.Sprintf("%s/%d", fabric, ranks), func(b *testing.B) {
				ring := generated(matrix.Ring(ranks, 1))
				cases := patternCases([]*matrix.Matrix{ring, ring}, func(o *move.Spec) {
					o.Verify, o.Iterations, o.Warmup = "none", 1, 1
					o.Step.Iterations = max(3, int64(b.N))
				})
				all := runCases(b, fabric, ranks, cases...)
				var between, late []int64
				for i := range all[0][0].Steps {
					end, last := int64(0), int64(0)
					for rank := range ranks {
						end = max(end, all[0][rank].Steps[i].End)
						last = max(last, all[1][rank].Steps[i].Start)
					}
					at := all[1][0].Steps[i].Agreed
					between, late = append(between, at-end), append(late, last-at)
				}
				slices.Sort(between)
				slices.Sort(late)
				b.ReportMetric(float64(between[len(between)/2]), "ns/meeting")
				b.ReportMetric(float64(late[len(late)/2]), "ns/late")
			})
		}
	}
}
