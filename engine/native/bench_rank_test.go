//go:build weirtest

package native

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload/move"
)

// benchTimeout limits the time of a launch or a peer.
const benchTimeout = time.Minute

// measured is the result of a launch of one case.
type measured struct {
	Metrics   map[string]float64
	Transport string // of rank 0
}

// speed returns GB/s of a stream, µs per message of a ping-pong.
func (m measured) speed(o move.Spec) float64 {
	if o.Mode == "stream" {
		return m.Metrics["bandwidth"]
	}
	return m.Metrics["latency.avg"] * 1e6
}

// weirRun runs one case. Two ranks use the processors of benchCPUs; more ranks, several threads, and hosts
// with few processors are not pinned.
func weirRun(b *testing.B, fabric string, env []string, o move.Spec) measured {
	b.Helper()
	ctx, stop := context.WithTimeout(context.Background(), benchTimeout)
	defer stop() // kills leftover processes
	c := caseOf("a", o, benchTimeout, 0)
	cpus, ranks := benchCPUs(b), make([]*rankProcess, o.Ranks)
	l := engine.Launch{
		Fabric: fabric, Ranks: len(ranks), Nodes: slices.Repeat([]string{"a"}, len(ranks)), Seed: 1,
		Cases: []engine.Case{c},
	}
	for i := range ranks {
		self := engine.Identity{Rank: i}
		if o.Threads == 1 && len(ranks) == 2 {
			self.CPUs = []int{cpus[i]}
		}
		ranks[i] = startRank(b, ctx, l, self, env...)
	}
	meet(b, ranks)
	found := make([]*move.Part, len(ranks))
	for i, p := range ranks {
		found[i] = p.found(b)
		found[i].Rank = i
	}
	for i, p := range ranks {
		if err := p.cmd.Wait(); err != nil {
			b.Fatalf("rank %d: %v: %s", i, err, &p.words)
		}
	}
	metrics, err := metricsOf(o, found)
	if err != nil {
		b.Fatal(err)
	}
	return measured{metrics, found[0].Transport}
}
