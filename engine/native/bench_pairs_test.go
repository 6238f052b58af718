//go:build weirtest

package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// Compares a matrix with concurrent pairs of ucx_perftest, one per cell.

// allToAll is weir's side: each of four ranks sends to all others.
type allToAll struct {
	what, fabric string
	cells        int64 // per iteration
	options      func(size quantity.Size) move.Spec
}

const (
	allToAllRanks = 4
	streamFor     = quantity.Time(500 * time.Millisecond)
)

func streamed(size quantity.Size) move.Spec {
	return options(size, func(o *move.Spec) {
		o.Pattern, o.Ranks, o.InFlight = "all_to_all", allToAllRanks, allToAllRanks-1
	})
}

func cellByCell(size quantity.Size) move.Spec {
	return trafficOf(generated(matrix.Uniform(allToAllRanks, int64(size))), func(o *move.Spec) {
		o.InFlight = allToAllRanks - 1
	})
}

// matrixRows compares the same bytes from the same number of sources to as many targets.
func matrixRows(t *benchTable) []comparison {
	if !(native{}).Probe([]string{"ucx"})["ucx"].Available || !t.present("ucx_perftest", "ucx-utils") {
		return nil
	}
	const section, pairs = "matrix and ucx_perftest pairs", allToAllRanks * (allToAllRanks - 1)
	env := []string{"UCX_TLS=posix"}
	t.note(section, fmt.Sprintf("All-to-all of %d ranks: %d cells, each with its own source and target. *transfer* streams (pattern all_to_all), in GB/s while all ranks move; *traffic* moves "+
		"the matrix repeatedly: its bytes over the mean time of an iteration, from the common start until the last cell is delivered, without the barrier before it.",
		allToAllRanks, pairs))
	t.note(section, fmt.Sprintf("The peer: %d pairs of `ucx_perftest -t ucp_put_bw -O 1` at a time. Per pair: the iterations between two of its reports (one a second) over the time between them by its "+
		"own clock, both while all pairs ran; then the sum. No process is pinned: the peer's %d processes, half of which are spinning servers, and weir's %d share the processors.",
		pairs, 2*pairs, allToAllRanks))
	var list []comparison
	for _, side := range []allToAll{
		{"transfer over ucx", "ucx", 1, streamed}, {"traffic over ucx", "ucx", pairs, cellByCell},
		{"traffic over shm", "shm", pairs, cellByCell},
	} {
		for _, size := range []quantity.Size{64 << 10, 1 << 20, 16 << 20} {
			o := func(n int64) move.Spec {
				o := side.options(size)
				o.Warmup, o.Verify = n/10+1, "none"
				if o.Matrix != nil {
					o.Iterations = n
				} else { // where ranks share processors, one may end before another begins
					o.Iterations, o.Duration = allToAllRanks, streamFor
				}
				return o
			}
			c := comparison{
				section: section, what: side.what, size: size, cells: side.cells, unit: "GB/s", bar: bar{1, true},
				patience: 3 * time.Minute,
			}
			c.weir = func(b *testing.B, n int64) float64 {
				return weirRun(b, side.fabric, env, o(n)).Metrics["bandwidth"]
			}
			c.peer = func(b *testing.B, _ int64) (float64, string) { return perftestPairs(b, env, pairs, size), "" }
			if side.fabric == "ucx" {
				test := ucxTest{side.what, "ucp_put_bw", "rma", "write", "stream", 1, "ucx_perftest"}
				c.describe = func(b *testing.B) []string { return describeLanes(b, env, test, o(fewestIterations)) }
			}
			list = append(list, c)
		}
	}
	return list
}

// reportRow matches ucx_perftest's reports: iterations so far, and their average in µs.
var reportRow = regexp.MustCompile(`(?m)^\[thread 0\] +(\d+) +\S+ +\S+ +([0-9.]+) `)

// course holds the reports of one pair.
type course struct {
	mu      sync.Mutex
	reports []report
	began   time.Time // a lower bound on the time of any report
	rest    []byte    // incomplete line
}

// report is the number of iterations within the seconds since a pair began.
type report struct{ iterations, seconds float64 }

// Write parses the output of a pair's client.
func (c *course) Write(text []byte) (int, error) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = append(c.rest, text...)
	whole := bytes.LastIndexByte(c.rest, '\n') + 1
	for _, row := range reportRow.FindAllSubmatch(c.rest[:whole], -1) {
		n, err1 := strconv.ParseFloat(string(row[1]), 64)
		each, err2 := strconv.ParseFloat(string(row[2]), 64)
		if err := errors.Join(err1, err2); err != nil {
			return 0, err
		}
		r := report{n, n * each * 1e-6}
		if began := now.Add(-time.Duration(r.seconds * float64(time.Second))); len(c.reports) == 0 ||
			began.Before(c.began) {
			c.began = began
		}
		c.reports = append(c.reports, r)
	}
	c.rest = c.rest[whole:]
	return len(text), nil
}

// since returns the rate between the first report after a time and the last one, in iterations per second. It
// needs three reports.
func (c *course) since(t time.Time) (rate float64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.reports, func(r report) bool { return r.seconds >= t.Sub(c.began).Seconds() })
	if i < 0 || len(c.reports) < i+3 {
		return 0, false
	}
	first, last := c.reports[i], c.reports[len(c.reports)-1]
	return (last.iterations - first.iterations) / (last.seconds - first.seconds), true
}

// combinedRate returns the sum of the rates of all pairs since the last of them began; they run until they are
// killed.
func combinedRate(all []*course) (rate float64, known bool) {
	var latest time.Time
	for _, c := range all {
		c.mu.Lock()
		began, known := c.began, len(c.reports) > 0
		c.mu.Unlock()
		if !known {
			return 0, false
		}
		if began.After(latest) {
			latest = began
		}
	}
	for _, c := range all {
		r, known := c.since(latest)
		if !known {
			return 0, false
		}
		rate += r
	}
	return rate, true
}

// perftestPairs returns the total GB/s of concurrent pairs.
func perftestPairs(b *testing.B, env []string, pairs int, size quantity.Size) float64 {
	b.Helper()
	ctx, stop := context.WithTimeout(context.Background(), benchTimeout)
	runtime.LockOSThread() // Pdeathsig is sent when the starting thread ends
	defer runtime.UnlockOSThread()
	var processes []*exec.Cmd
	defer func() {
		stop()
		for _, p := range processes {
			_ = p.Wait() // it was killed
		}
	}()
	start := func(out io.Writer, args ...string) {
		p := exec.CommandContext(ctx, "ucx_perftest", args...)
		p.Env, p.Stdout = append(userEnvironment(), withWrittenMemory(b, env)...), out
		// a leftover process would share the processors with all later rows
		p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := p.Start(); err != nil {
			b.Fatal(err)
		}
		processes = append(processes, p)
	}
	all, ports := make([]*course, pairs), make([]string, pairs)
	for i := range all { // all servers first: servers waiting for a client do not spin
		port := freePort(b)
		all[i], ports[i] = &course{}, strconv.Itoa(port)
		start(nil, "-p", ports[i])
		awaitListener(b, port)
	}
	for i, c := range all {
		start(c, "-p", ports[i], "127.0.0.1", "-t", "ucp_put_bw", "-s", strconv.FormatInt(int64(size), 10), "-n",
			"1000000000", "-w", "10", "-O", "1")
	}
	for ctx.Err() == nil {
		if rate, known := combinedRate(all); known {
			return rate * float64(size) / 1e9
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.Fatalf("%d pairs did not report three times each within %v", pairs, benchTimeout)
	return 0
}

// The rates of pairs count from the first report of each after the last of them began.
func TestPairsCountWhileAllRun(t *testing.T) {
	const head = "+--------+\n| Stage | # iterations | 50.0%ile | average | overall |\n"
	row := func(iterations int, each string) string {
		return fmt.Sprintf("[thread 0] %20d %10s %10s %10s %10s 1.00 1 1\n", iterations, "0.5", "0.6", each, "2.00")
	}
	early, late := &course{}, &course{}
	write := func(c *course, text string) {
		t.Helper()
		for half := len(text) / 2; text != ""; text, half = text[half:], len(text)-half { // a pipe may split a line
			if _, err := c.Write([]byte(text[:half])); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(early, head+row(1000, "1000.0")+row(2000, "1000.0")+row(2500, "1200.0")+row(3000, "1333.333333"))
	if _, known := combinedRate([]*course{early, late}); known {
		t.Error("a pair that has reported nothing has a rate")
	}
	write(late, head+row(10, "100000.0")+row(30, "66666.666667"))
	early.began = late.began.Add(-1500 * time.Millisecond) // it ran alone for a second
	if _, known := combinedRate([]*course{early, late}); known {
		t.Error("two reports are a rate")
	}
	write(late, row(70, "42857.142857"))
	late.began = early.began.Add(1500 * time.Millisecond)
	if rate, known := combinedRate([]*course{early, late}); !known || math.Abs(rate-(500+30)) > 1e-3 {
		t.Errorf("%v iterations/s, %v, want those of 2 s to 4 s and of 1 s to 3 s: 500 and 30", rate, known)
	}
}
