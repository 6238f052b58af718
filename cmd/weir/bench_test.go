package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weir-bench/weir/cmd/weir/run"
	"github.com/weir-bench/weir/dsl"
	_ "github.com/weir-bench/weir/engine/sim"
	"github.com/weir-bench/weir/executor"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// largeSession is one group of simulated cases, with assertions about each case and about all of them.
const largeSession = `
scenario: large
runs:
  sweep:
    workload: transfer
    options: {fabric: sim}
    launches: %d
    sweep:
      max_cases: 1000000
      block_size: 4KiB..%dKiB +4KiB
      batch: 1..100 +1
    assert:
      - bandwidth >= 1 MB/s
      - {that: latency.p50 <= 10s, multiple: holm}
      - max(bandwidth over block_size) >= 1 MB/s
      - bandwidth increases with block_size within 99%%
`

// BenchmarkSession runs sessions of many cases end to end, and writes the
// document and every report of them; ns/case must be flat.
func BenchmarkSession(b *testing.B) {
	for _, sizes := range []int{10, 100} {
		b.Run(fmt.Sprintf("cases=%d", 100*sizes), func(b *testing.B) {
			p := largePlan(b, sizes, 3)
			for b.Loop() {
				benchSession(b, p)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/float64(len(p.Cases)), "ms/case")
		})
	}
}

// largePlan is of 100 cases for each size.
func largePlan(b *testing.B, sizes, launches int) *planner.Plan {
	b.Helper()
	s, _, diags := dsl.Load("large.yaml", fmt.Appendf(nil, largeSession, launches, 4*sizes), dsl.Options{})
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	return p
}

// simulated runs a plan into a session directory.
func simulated(b *testing.B, p *planner.Plan) (doc *results.Document, dir string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "session")
	doc, err := executor.Run(context.Background(), p, executor.Options{
		Options:     ledger.Options{Dir: dir, SessionID: "large", Judge: gate.Judge, Undecided: gate.Undecided},
		RankCommand: []string{os.Args[0]}, ProbeCommand: []string{os.Args[0]}, When: run.Admits, Fabrics: run.AsksFor,
	})
	if err != nil || doc.Session.ExitCode != gate.ExitPassed {
		b.Fatal(err, doc.Session)
	}
	return doc, dir
}

func benchSession(b *testing.B, p *planner.Plan) {
	doc, dir := simulated(b, p)
	timed := func(what string, do func() error) {
		start := time.Now()
		if err := do(); err != nil {
			b.Fatal(what, err)
		}
		b.ReportMetric(time.Since(start).Seconds(), what+"-s")
	}
	path := filepath.Join(dir, "results.json")
	timed("write", func() error { return doc.Write(path) })
	timed("read", func() error { _, err := results.Read(path); return err })
	timed("judge", func() error { gate.Judge(doc); return nil })
	for _, name := range reporters.Formats() {
		r, _ := reporters.Lookup(name)
		timed(name, func() error { return r.Write(io.Discard, doc) })
	}
}
