package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
)

// scaleRow is the cost of a case with this many ranks, in the median of its launches.
type scaleRow struct {
	ranks, agents int
	took, busy    time.Duration
	memory        float64 // the most that the process had, bytes
}

// BenchmarkCrowd runs a case on up to 1000 simulated agents of 8 ranks, each with a stream of its own, and
// measures from the start of a launch until all results are stored, without the first launch of each session.
// Memory and processor time are the coordinator's.
func BenchmarkCrowd(b *testing.B) {
	const launches = 6
	defer func(old int64) { option.MostProcesses = old }(option.MostProcesses)
	option.MostProcesses = mostCrowded
	var rows []scaleRow
	for _, ranks := range []int{10, 30, 100, 300, 1000, 3000, 8000} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			var r scaleRow
			for b.Loop() {
				forgetPeak(b)
				bench := newBench(b)
				bench.dir = filepath.Join(inMemory(b), "b") // thousands of files of samples would measure a disk
				all := bench.crowd(ranks, launches)[1:]
				r = scaleRow{
					ranks: ranks, agents: agentsFor(ranks), memory: peak(b),
					took: medianOf(all, func(l crowdLaunch) time.Duration { return l.took }),
					busy: medianOf(all, func(l crowdLaunch) time.Duration { return l.busy }),
				}
			}
			b.ReportMetric(r.took.Seconds(), "s/case")
			b.ReportMetric(r.busy.Seconds(), "cpu-s/case")
			b.ReportMetric(r.memory/1e6, "MB-peak")
			rows = append(rows, r)
		})
	}
	if len(rows) == 0 {
		return
	}
	keepScale(b, "scale.md", scaleTable(rows))
}

// BenchmarkOverhead measures the cost of 16 ranks on this host besides measuring: of a case in a running launch,
// of a launch with rank processes, and of one with simulated ranks, which is the cost of agents and etcd. Agents
// are the same for all.
func BenchmarkOverhead(b *testing.B) {
	const times = 20
	text := "\n| 16 ranks on one host | ms, median of 20 |\n|---|--:|\n"
	for _, row := range []struct {
		name, what string
		measure    func(b *bench) []time.Duration
	}{
		{"case", "a further case in a launch", func(b *bench) []time.Duration { return b.furtherCases(times) }},
		{"played", "a launch of played ranks",
			func(b *bench) []time.Duration { return b.furtherLaunches(times, playInside) }},
		{"processes", "a launch of fresh processes",
			func(b *bench) []time.Duration { return b.furtherLaunches(times) }},
	} {
		b.Run(row.name, func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				took = medianOf(row.measure(newBench(b)), func(d time.Duration) time.Duration { return d })
			}
			b.ReportMetric(took.Seconds()*1e3, "ms")
			text += fmt.Sprintf("| %s | %.1f |\n", row.what, took.Seconds()*1e3)
		})
	}
	keepScale(b, "scale.md", text)
}

// playInside simulates ranks in this process.
func playInside(o *Options) { o.inProcess, o.Host = newPlayedEngine(), fstest.MapFS{} }

// furtherCases are the times from the end of a case to the end of the next.
func (b *bench) furtherCases(n int) (took []time.Duration) {
	var cases []*planner.Case
	for i := range n + 1 {
		cases = append(cases, sixteen(fmt.Sprintf("c[x=%d]", i)))
	}
	b.pass(onePlan(cases...))
	return b.between(event.CaseFinished)
}

// furtherLaunches are the times from the end of a launch to the end of the next.
func (b *bench) furtherLaunches(n int, change ...func(*Options)) []time.Duration {
	c := sixteen("c")
	c.Options["fabric"] = "tcp"
	b.pass(aPlan([]*planner.Case{c}, aGroup("g", []*planner.Case{c}, n+1)), change...)
	return b.between(event.LaunchFinished)
}

// between are the times between events of a type.
func (b *bench) between(what event.Type) (times []time.Duration) {
	var last time.Time
	for _, e := range b.events {
		if e.Type != what {
			continue
		}
		if !last.IsZero() {
			times = append(times, e.Time.Sub(last))
		}
		last = e.Time
	}
	return times
}

// medianOf is the lower median of a measure.
func medianOf[T any, N int | time.Duration](list []T, of func(T) N) N {
	var values []N
	for _, v := range list {
		values = append(values, of(v))
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// keepScale logs the results, and stores them for make scale.
func keepScale(b *testing.B, name, text string) {
	b.Helper()
	fmt.Println(text)
	dir := os.Getenv("SCALE_OUT")
	if dir == "" {
		return
	}
	if err := appendTo(filepath.Join(dir, name), text); err != nil {
		b.Fatal(err)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func scaleTable(rows []scaleRow) string {
	var text strings.Builder
	text.WriteString("| ranks | agents | s per case | CPU s | peak MB |\n|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(&text, "| %d | %d | %.3f | %.3f | %.0f |\n", r.ranks, r.agents, r.took.Seconds(), r.busy.Seconds(),
			r.memory/1e6)
	}
	return text.String()
}

func inMemory(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "crowd")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// forgetPeak resets the kernel's peak memory of this process.
func forgetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Fatal(err)
	}
}

// peak is the peak memory of this process in bytes.
func peak(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	kB, err := strconv.ParseFloat(string(peakLine.FindSubmatch(text)[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kB * 1024
}
