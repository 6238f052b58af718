//go:build cgo

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/cmd/weir/run"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/executor"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// firstByteBound is how long a launch of two ranks may take until bytes have crossed
// the data path.
const firstByteBound = 60 * time.Millisecond

// firstByteLaunches is how many launches the median is of.
const firstByteLaunches = 11

const firstByteScenario = `
scenario: first_byte
runs:
  launch:
    workload: transfer
    options: {fabric: %s, block_size: 4KiB, iterations: 1}
    launches: %d
`

// BenchmarkFirstByte is a launch of two ranks from nothing: the agent starts two
// processes of the program as users have it, they open the fabric and allocate, their
// addresses travel through etcd, they connect and meet on the data path. The last is
// where the first bytes cross it, so the time until all have met is the most that the
// first byte can have taken. The result is added to the table of BenchmarkPeers.
func BenchmarkFirstByte(b *testing.B) {
	program := built(b)
	var rows strings.Builder
	for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
		b.Run(fabric, func(b *testing.B) {
			for b.Loop() {
				took := firstBytes(b, program, fabric)
				middle := took[len(took)/2]
				met := "yes"
				if middle > firstByteBound {
					met = "**no**"
				}
				fmt.Fprintf(&rows, "| %s | %.1f ms | %.1f–%.1f ms | ≤ %v | %s |\n", fabric, ms(middle),
					ms(took[len(took)/4]), ms(took[len(took)*3/4]), firstByteBound, met)
				b.ReportMetric(ms(middle), "ms/launch")
				b.ReportMetric(0, "ns/op") // the time of the benchmark itself means nothing
			}
		})
	}
	keepTable(b, fmt.Sprintf("\n## From nothing to the first byte\n\nTwo ranks on this host, %d launches: from the first process's start until both have met on the data path.\n\n"+
		"| fabric | median | middle half | bar | met |\n|---|---:|---:|---:|---|\n%s", firstByteLaunches,
		rows.String()))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// firstBytes are the times of launches, ascending.
func firstBytes(b *testing.B, program, fabric string) []time.Duration {
	b.Helper()
	s, _, diags := dsl.Load("first_byte.yaml", fmt.Appendf(nil, firstByteScenario, fabric, firstByteLaunches),
		dsl.Options{})
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	var took []time.Duration
	var begun time.Time
	doc, err := executor.Run(context.Background(), p, executor.Options{
		Options: ledger.Options{
			Dir: filepath.Join(b.TempDir(), "session"), SessionID: "first-byte", Judge: gate.Judge,
			Undecided: gate.Undecided,
			Events: func(e event.Event) {
				switch e.Type {
				case event.LaunchStarted:
					begun = e.Time
				case event.CaseStarted:
					took = append(took, e.Time.Sub(begun))
				}
			},
		},
		RankCommand: []string{program, "rank"}, ProbeCommand: []string{program, "probe", "--internal"},
		When: run.Admits, Fabrics: run.AsksFor,
	})
	if err != nil {
		b.Fatal(err)
	}
	if !slices.ContainsFunc(doc.Cases, func(c *results.Case) bool {
		return !strings.HasPrefix(c.Reason,
			"missing: ")
	}) {
		b.Skipf("no launches over %s here: %s", fabric, doc.Cases[0].Reason)
	}
	if slices.ContainsFunc(doc.Cases, func(c *results.Case) bool { return c.Status != results.OK }) ||
		len(took) != firstByteLaunches {
		b.Fatalf("%d launches over %s, want %d: the case is %s: %s", len(took), fabric, firstByteLaunches,
			doc.Cases[0].Status, doc.Cases[0].Reason)
	}
	slices.Sort(took)
	return took
}
