package native

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"weir/engine"
	"weir/workload"
)

// benchPatience ends a launch, or a peer, that hangs.
const benchPatience = time.Minute

// measured is what a launch of one case found.
type measured struct {
	Metrics   map[string]float64
	Transport string
	Every     int // one request in so many was stamped
}

// speed is GB/s of a stream, µs of a message of a ping-pong.
func (m measured) speed(o workload.TransferOptions) float64 {
	if o.Mode == "stream" {
		return m.Metrics["bandwidth"]
	}
	return m.Metrics["latency.avg"] * 1e6
}

// weirRun runs one case between two ranks on processors 0 and 1; with several threads
// they run wherever the kernel likes, as where processors are few.
func weirRun(b *testing.B, fabric string, env []string, o workload.TransferOptions) measured {
	b.Helper()
	ctx, stop := context.WithTimeout(context.Background(), benchPatience)
	defer stop() // kills whoever is left
	l := engine.Launch{Fabric: fabric, Ranks: 2, Nodes: []string{"a", "a"}, Seed: 1, Cases: []engine.Case{{Key: "a", Options: o, Timeout: int64(benchPatience)}}}
	ranks := make([]*rankProcess, 2)
	for i := range ranks {
		self := engine.Identity{Rank: i}
		if o.Threads == 1 {
			self.CPUs = []int{i}
		}
		ranks[i] = startRank(b, ctx, l, self, env...)
	}
	meet(b, ranks)
	var m measured
	if err := json.NewDecoder(ranks[0].out).Decode(&m); err != nil {
		b.Fatalf("%v; rank 0: %v: %s", err, ranks[0].end(), &ranks[0].words)
	}
	for i, p := range ranks {
		if err := p.cmd.Wait(); err != nil {
			b.Fatalf("rank %d: %v: %s", i, err, &p.words)
		}
	}
	return m
}
