package native

import (
	"fmt"
	"slices"
	"testing"

	"weir/matrix"
	"weir/workload"
)

// BenchmarkMatrixBarrier is what an iteration of 16 ranks costs that moves nothing to
// speak of: the meeting, the common start, and the lead up to it.
func BenchmarkMatrixBarrier(b *testing.B) {
	for _, ranks := range []int{16, 64} {
		for _, fabric := range []string{"shm", "tcp"} {
			b.Run(fmt.Sprintf("%s/%d", fabric, ranks), func(b *testing.B) {
				o := traffic(generated(matrix.Ring(ranks, 1)), func(o *workload.TransferOptions) {
					o.Verify, o.Iterations, o.Warmup = "none", max(3, int64(b.N)), 10
				})
				all := transfer(b, fabric, ranks, o)[0]
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
