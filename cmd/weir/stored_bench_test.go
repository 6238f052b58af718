package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/reporters"
)

// What weir may take to judge and to report a document of 10 000 cases with 5 launches
// each.
const (
	storedSizes    = 100
	storedLaunches = 5
	gateBound      = time.Second
	reportBound    = 2 * time.Second
	memoryBound    = 300e6 // bytes
	storedRuns     = 7     // of which the median is taken
)

// BenchmarkStored judges and reports a stored document of that size, each time in a
// process of its own as users have it.
func BenchmarkStored(b *testing.B) {
	program := built(b)
	dir := b.TempDir()
	scenario := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(scenario, fmt.Appendf(nil, largeSession, storedLaunches, 4*storedSizes), 0o600); err != nil {
		b.Fatal(err)
	}
	session := filepath.Join(dir, "session")
	// this process stays small: Linux counts its memory as that of those it starts
	costOf(b, 1, program, "run", scenario, "--out", session, "--quiet")
	path := filepath.Join(session, "results.json")
	var names []string
	costs := map[string]cost{}
	measure := func(name string, bound time.Duration, args ...string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := costOf(b, storedRuns, program, args...)
				c.bound = bound
				names = append(names, name)
				costs[name] = c
				b.ReportMetric(c.wall.Seconds(), "s/run")
				b.ReportMetric(c.cpu.Seconds(), "cpu-s/run")
				b.ReportMetric(float64(c.peak)/1e6, "MB-peak")
				b.ReportMetric(0, "ns/op") // of all runs together it means nothing
			}
		})
	}
	measure("gate", gateBound, "gate", path)
	for _, format := range reporters.Formats() {
		measure(format, reportBound, "report", path, "--report", format+"="+filepath.Join(dir, format))
	}
	keepTable(b, storedTable(b, path, names, costs))
}

// storedTable holds the costs against what they may be, and beside encoding/json.
func storedTable(b *testing.B, path string, names []string, costs map[string]cost) string {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if !json.Valid(text) {
		b.Fatal("no JSON")
	}
	peer := time.Since(start)
	var rows strings.Builder
	for _, name := range names {
		c, met := costs[name], "yes"
		if c.wall > c.bound || c.peak > memoryBound {
			met = "**no**"
		}
		fmt.Fprintf(&rows, "| %s | %.2f s | %.2f s | %.2f | %d MB | ≤ %v, %d MB | %s |\n",
			name, c.wall.Seconds(), c.cpu.Seconds(), c.cpu.Seconds()/peer.Seconds(), c.peak/1e6, c.bound,
			int64(memoryBound/1e6), met)
	}
	return fmt.Sprintf("\n## A large document\n\n%d cases with %d launches each (%d MB): judged and reported, medians of %d runs; JSON is the CPU beside that of encoding/json, which takes %.2f s to look at the text once.\n\n"+
		"| what | time | CPU | × JSON | memory | bar | met |\n|---|---:|---:|---:|---:|---:|---|\n%s", 100*storedSizes,
		storedLaunches, len(text)/1e6, storedRuns, peer.Seconds(), rows.String())
}

// cost is what a process took: medians, and the most memory.
type cost struct {
	wall, cpu time.Duration
	peak      int64         // bytes
	bound     time.Duration // of wall
}

func costOf(b *testing.B, runs int, program string, args ...string) (c cost) {
	b.Helper()
	var walls, cpus []time.Duration
	for range runs {
		start := time.Now()
		cmd := exec.Command(program, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%.1000s", args, err, out)
		}
		walls = append(walls, time.Since(start))
		cpus = append(cpus, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		c.peak = max(c.peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10) // KiB on Linux
	}
	slices.Sort(walls)
	slices.Sort(cpus)
	c.wall, c.cpu = walls[runs/2], cpus[runs/2]
	return c
}

// built is the program as users have it.
func built(b *testing.B) string {
	b.Helper()
	if program := os.Getenv("BENCH_PROGRAM"); program != "" { // where there is no Go to build it
		return program
	}
	program := filepath.Join(b.TempDir(), "weir")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building weir: %v\n%s", err, out)
	}
	return program
}

// keepTable shows a table, and adds it to those that make bench keeps.
func keepTable(b *testing.B, table string) {
	b.Helper()
	fmt.Println(table)
	path := os.Getenv("BENCH_OUT")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(table); err != nil {
		b.Fatal(err)
	}
}
