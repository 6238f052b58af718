//go:build weirtest

package native

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// BenchmarkPeers compares the engine with its peers in pairs: the same library, transport, window, iterations
// and kind of buffer, both as two processes on the same two processors, alternating (A B B A), because the
// machine's speed changes from minute to minute. It writes a table to .build/bench.md (BENCH_OUT), and its
// pairs to a .csv beside it. BENCH is a regular expression of the rows to measure, BENCH_PAIRS the number of
// pairs (11; three times as many while a bar is undecided), BENCH_SECONDS the approximate length of each
// side's timed part (0.15), BENCH_CPUS the processors (benchCPUs).
func BenchmarkPeers(b *testing.B) {
	only, err := regexp.Compile(os.Getenv("BENCH"))
	if err != nil {
		b.Fatalf("BENCH: %v", err)
	}
	pairs := 11
	if text := os.Getenv("BENCH_PAIRS"); text != "" {
		if pairs, err = strconv.Atoi(text); err != nil || pairs < 1 {
			b.Fatalf("BENCH_PAIRS is %q, not a number of pairs", text)
		}
	}
	if text := os.Getenv("BENCH_SECONDS"); text != "" {
		if measureFor, err = strconv.ParseFloat(text, 64); err != nil || !(measureFor > 0) {
			b.Fatalf("BENCH_SECONDS is %q, not a number of seconds", text)
		}
	}
	t := newTable(pairs, benchCPUs(b))
	for _, group := range []func(*benchTable) []comparison{
		memcpyRows, probeRows, ucxRows, libfabricRows, shmRows, tcpRows, matrixRows,
	} {
		for _, c := range group(t) {
			if only.MatchString(c.name()) {
				b.Run(c.name(), func(b *testing.B) {
					for b.Loop() {
						c.measure(b, t)
					}
				})
			}
		}
	}
	fmt.Println(t.markdown())
}

var benchSizes = []quantity.Size{8, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}

// comparison is one row: weir's side and the peer's, which run a number of iterations and return a value in
// the row's unit.
type comparison struct {
	section, what string
	size          quantity.Size
	cells         int64 // requests of this size per iteration; 0: one
	unit          string
	bar           bar
	weir          func(b *testing.B, iterations int64) float64
	peer          func(b *testing.B, iterations int64) (float64, string)    // and a remark about this run
	together      func(b *testing.B, iterations int64) (weir, peer float64) // instead: one launch has both
	// notes of the section, before anything is timed
	describe func(b *testing.B) []string
	// instead of rowFor, if a run of the peer takes seconds
	patience time.Duration
}

func (c comparison) name() string { return fmt.Sprintf("%s/%s/%v", c.section, c.what, c.size) }

// measureFor is the approximate length of the timed part of either side; at least fewestIterations are run,
// so that start and end do not show.
var measureFor = 0.15 // s

const (
	fewestIterations = 5
	mostIterations   = 2_000_000
	// rowFor limits the time of a row, once it has the minimum of pairs for a median: transfers that a peer
	// emulates may take a second.
	rowFor      = 25 * time.Second
	fewestPairs = 3
	mostPairs   = 3 // times the requested number, while undecided
)

// seconds returns the duration of one iteration at a value in the row's unit.
func (c comparison) seconds(value float64) float64 {
	if c.unit == "GB/s" {
		return float64(c.size) * float64(max(1, c.cells)) / (value * 1e9)
	}
	return 2 * value * 1e-6 // there and back
}

func (c comparison) measure(b *testing.B, t *benchTable) {
	row := &benchRow{section: c.section, what: c.what, size: c.size, unit: c.unit, bar: c.bar, remark: "failed"}
	t.rows = append(t.rows, row)
	defer t.write(b)
	if c.describe != nil {
		for _, line := range c.describe(b) {
			t.note(c.section, line)
		}
	}
	n := c.iterations(b)
	var ours, theirs, ratios []float64
	remarks := map[string]bool{}
	begun := time.Now()
	for i := 0; i < t.pairs || (i < mostPairs*t.pairs && !row.bar.decided(ratios)); i++ {
		if i >= fewestPairs && time.Since(begun) > max(rowFor, c.patience) {
			break
		}
		weir, peer, remark := c.pair(b, n, i)
		if math.IsInf(peer, 1) {
			b.Fatalf("%d iterations are fewer than the peer can time", n)
		}
		ours, theirs, ratios = append(ours, weir), append(theirs, peer), append(ratios, weir/peer)
		if remark != "" {
			remarks[remark] = true
		}
	}
	row.weir, row.peer, row.ratios = median(ours), median(theirs), ratios
	row.ours, row.theirs = ours, theirs
	if len(ratios) != t.pairs {
		remarks[fmt.Sprintf("%d pairs", len(ratios))] = true
	}
	row.remark = strings.Join(slices.Sorted(maps.Keys(remarks)), "; ")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(row.weir, "weir-"+c.unit)
	b.ReportMetric(row.peer, "peer-"+c.unit)
	b.ReportMetric(0, "ns/op") // the benchmark's own time is meaningless
}

// pair runs both sides; the first one alternates.
func (c comparison) pair(b *testing.B, n int64, i int) (weir, peer float64, remark string) {
	if c.together != nil {
		weir, peer = c.together(b, n)
		return weir, peer, ""
	}
	run := []func(){
		func() { weir = c.weir(b, n) },
		func() { peer, remark = c.peer(b, n) },
	}
	run[i%2]()
	run[1-i%2]()
	return weir, peer, remark
}

// iterations returns as many as the slower side has time for.
func (c comparison) iterations(b *testing.B) int64 {
	few := max(fewestIterations, min(10_000, 16<<20/max(int64(c.size), 1<<10)))
	weir, peer, _ := c.pair(b, few, 0)
	// sooner than its clock advances
	for ; math.IsInf(peer, 1) && few < mostIterations; few = min(10*few, mostIterations) {
		weir, peer, _ = c.pair(b, 10*few, 0)
	}
	each := max(c.seconds(weir), c.seconds(peer))
	return int64(min(mostIterations, max(fewestIterations, math.Round(measureFor/each))))
}

// present returns whether a peer is installed, and otherwise notes how to install it.
func (t *benchTable) present(tool, pkg string) bool {
	if _, err := exec.LookPath(tool); err != nil {
		t.absent = append(t.absent, fmt.Sprintf("%s is not installed (Debian: apt-get install %s, or scripts/setup bench)",
			tool, pkg))
		return false
	}
	return true
}

// benchOptions returns those of one side of a comparison: nothing is verified, as no peer does, and the
// warm-up is a tenth, as the peers are configured.
func benchOptions(size quantity.Size, iterations int64, change ...func(*move.Spec)) move.Spec {
	o := options(size, change...)
	o.Iterations, o.Warmup, o.Verify = iterations, iterations/10+1, "none"
	return o
}
