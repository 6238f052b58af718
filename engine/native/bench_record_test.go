//go:build weirtest

package native

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// recordingBound limits what recording may add to an iteration, ns.
const recordingBound = 20

// BenchmarkRecord measures the cost of a stamped request, including one clock read.
func BenchmarkRecord(b *testing.B) {
	least := math.Inf(1)
	for b.Loop() {
		for range 200 { // short ones: some of them are not interrupted
			least = min(least, recordCost(20_000))
		}
	}
	b.ReportMetric(least, "ns/record")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRecording measures what recording adds to an iteration of a stream over shm, which has the
// cheapest puts: the same loop with each request stamped, with the usual stamps, and with none. From 256 KiB,
// where each request is stamped, a copy's own time varies by more than a stamp costs; there the cost is that
// of the stamps at 8 B.
func BenchmarkRecording(b *testing.B) {
	for b.Loop() {
		var rows strings.Builder
		each := math.NaN()
		for _, size := range []quantity.Size{8, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 64 << 20} {
			none, usual, all, read, every := recording(b, size)
			if size == 8 {
				each = all - none
			}
			stamp := each
			if every > 1 { // each stamped request has a clock read for its start
				stamp += read
			}
			met := "yes"
			if stamp/float64(every) > recordingBound {
				met = "**no**"
			}
			fmt.Fprintf(&rows, "| %v | sampled 1 in %d | %.1f ns | %.1f ns | %.1f ns | ≤ %d ns | %s |\n", size, every,
				none, usual-none, stamp/float64(every), recordingBound, met)
		}
		b.ReportMetric(each, "ns/stamp")
		b.ReportMetric(0, "ns/op")
		addSection(b, fmt.Sprintf("\n## Recording\n\nOver shm: an iteration without recording, what recording adds to it as measured (the least of several runs), and what follows from %.1f ns for each stamped request.\n\n"+
			"| size | rate | iteration | measured | by stamps | bar | met |\n|---:|---|---:|---:|---:|---:|---|\n%s",
			each, rows.String()))
	}
}

// recording returns the minimum time of an iteration in ns with no request stamped (except the first), with
// the usual ones, and with all; and the cost of a clock read.
func recording(b *testing.B, size quantity.Size) (none, usual, all, read float64, every int) {
	b.Helper()
	const rounds = 7
	none, usual, all = math.Inf(1), math.Inf(1), math.Inf(1)
	n := max(2, min(100_000, int64(256<<20)/int64(size)))
	for range rounds {
		for _, to := range []struct {
			every int // 0: the usual rate
			least *float64
		}{{math.MaxUint32, &none}, {0, &usual}, {1, &all}} {
			usually := stampOneIn(to.every)
			s := runCases(b, "shm", 2, options(size,
				func(o *move.Spec) { o.Iterations, o.Verify = n, "none" }))[0][0].Samples
			usually()
			*to.least = min(*to.least, float64(s.End-s.Start)/float64(s.Ops))
			if to.every == 0 {
				every, read = s.Every, s.ClockNS
			}
		}
	}
	return none, usual, all, read, every
}

// addSection appends results of `make bench` from elsewhere to the table of BenchmarkPeers.
func addSection(b *testing.B, text string) {
	b.Helper()
	fmt.Println(text)
	path := os.Getenv("BENCH_OUT")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		b.Fatal(err)
	}
}
