package executor

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"weir/executor/event"
	"weir/planner"
	"weir/workload"
)

// scaleRow is what a case of so many ranks takes, in the median of its launches.
type scaleRow struct {
	ranks, agents, requests int
	took, busy              time.Duration
	memory                  float64 // the most that the process had, bytes
}

// BenchmarkCrowd is a case on up to 1000 agents of 8 ranks each, all in this process with
// coordinator and etcd: from the word to launch it until all results are kept. The first
// launch of each session is not counted. memory is the most that the process had, with
// all of them.
func BenchmarkCrowd(b *testing.B) {
	const launches = 6
	defer func(old int64) { workload.MostProcesses = old }(workload.MostProcesses)
	workload.MostProcesses = 8000
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
					took:     medianOf(all, func(l crowdLaunch) time.Duration { return l.took }),
					busy:     medianOf(all, func(l crowdLaunch) time.Duration { return l.busy }),
					requests: medianOf(all, crowdLaunch.sum),
				}
				b.Log(kindsOf(all[0].requests))
			}
			b.ReportMetric(r.took.Seconds(), "s/case")
			b.ReportMetric(r.busy.Seconds(), "cpu-s/case")
			b.ReportMetric(float64(r.requests), "requests/case")
			b.ReportMetric(float64(r.requests)/float64(ranks), "requests/rank")
			b.ReportMetric(r.memory/1e6, "MB-peak")
			rows = append(rows, r)
		})
	}
	if len(rows) == 0 {
		return
	}
	keepScale(b, "scale.md", scaleTable(rows))
}

// BenchmarkOverhead is what 16 ranks on this host cost besides what they measure: of a case
// in a launch that runs, of a launch whose ranks are processes, and of one whose ranks are
// played, which is what agents and etcd take of it. Agents are the same for all.
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

// playInside has ranks played within this process.
func playInside(o *Options) { o.inside, o.Host = newPlayedEngine(), fstest.MapFS{} }

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

// keepScale shows what was found, and keeps it where make scale wants it.
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
	text.WriteString("| ranks | agents | s per case | CPU s | etcd requests | per rank | peak MB | requests, logarithmic |\n|--:|--:|--:|--:|--:|--:|--:|:--|\n")
	for _, r := range rows {
		fmt.Fprintf(&text, "| %d | %d | %.3f | %.3f | %d | %.2f | %.0f | %s |\n", r.ranks, r.agents, r.took.Seconds(),
			r.busy.Seconds(), r.requests, float64(r.requests)/float64(r.ranks), r.memory/1e6, bar(r.requests))
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

// bar grows by ten for each factor of ten.
func bar(n int) string {
	length := 0
	for limit := 1.; limit < float64(n); limit *= 1.2589 {
		length++
	}
	return strings.Repeat("▇", length)
}

func kindsOf(requests map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(requests)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, requests[kind]))
	}
	return strings.Join(parts, ", ")
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// forgetPeak makes the kernel forget the most memory that this process had.
func forgetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Fatal(err)
	}
}

// peak is the most memory that this process had, in bytes.
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
