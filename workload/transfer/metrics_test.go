package transfer

import (
	"math"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// initiator is a rank that moved bytes evenly between two times (ns).
func initiator(rank int, from, to int64, bytes uint64) *move.Part {
	one := move.Stage{Stamps: 1, Mean: 1e-9, P99: 1e-9}
	return &move.Part{Rank: rank, Initiator: true, Memcpy: 50e9, Ceiling: 10e9, CeilingBest: 12e9,
		Prep: move.Prep{Connect: float64(rank)}, Stages: move.Stages{
			Prepare: 1e-9, Made: one, Listed: one, Registered: one,
		},
		Samples: &results.Samples{
			Ops: bytes / 1000, Bytes: bytes, Start: from, End: to, Counts: map[int]int64{500: 10},
		}}
}

func transferCase() move.Spec {
	return move.Spec{Mode: "stream", BlockSize: 1000, Batch: 1}
}

func TestOneInitiator(t *testing.T) {
	m, err := Metrics(transferCase(), []*move.Part{initiator(0, 0, 1e9, 4e9), {Rank: 1, Prep: move.Prep{Alloc: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"bandwidth": 4, "bandwidth.min_rank": 4, "message_rate": 4e6, "ceiling": 0.4, "ceiling.bandwidth": 10,
		"ceiling.memcpy": 50,
		"latency.p50":    500e-9, "latency.avg": 500e-9, "prep.alloc": 2, "prep.connect": 0,
	} {
		if math.Abs(m[name]-want) > 1e-9*math.Max(1, want) {
			t.Errorf("%s = %v, want %v", name, m[name], want)
		}
	}
	for _, metric := range Kind.Metrics {
		if _, ok := m[metric.Name]; !ok {
			t.Errorf("metric %s of the registry is not measured", metric.Name)
		}
	}
	for name := range m {
		if _, ok := Kind.Metric(name); !ok {
			t.Errorf("metric %s is not in the registry", name)
		}
	}
}

// Two initiators overlap for half of their time: only what they move together counts, not the sum of their solo rates.
func TestOverlapWindow(t *testing.T) {
	a, b := initiator(0, 0, 2e9, 4e9), initiator(1, 1e9, 3e9, 4e9)
	// a alone is fast; while b runs too, it moves 1 GB in its second second
	a.Samples.Progress = []results.Progress{{Time: 1e9, Bytes: 3e9}}
	m, err := Metrics(transferCase(), []*move.Part{a, b, {Rank: 2}, {Rank: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if got := m["bandwidth"]; math.Abs(got-3) > 1e-9 {
		t.Errorf("aggregate is %v GB/s, want 1 of a and 2 of b", got)
	}
	for name, want := range map[string]float64{"overlap": 1. / 3, "skew": 1, "skew.end": 1} {
		if math.Abs(m[name]-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, m[name], want)
		}
	}
	if m["bandwidth.min_rank"] != 2 || m["ceiling.bandwidth"] != 20 {
		t.Errorf("least rank %v, ceiling %v", m["bandwidth.min_rank"], m["ceiling.bandwidth"])
	}
}

func TestMissingSamples(t *testing.T) {
	for want, ranks := range map[string][]*move.Part{
		"do not overlap":        {initiator(0, 0, 1e9, 1e9), initiator(1, 2e9, 3e9, 1e9)},
		"no rank has samples":   {{Rank: 0}, {Rank: 1}},
		"rank 0 has no samples": {{Rank: 0, Initiator: true}},
	} {
		if m, err := Metrics(transferCase(), ranks); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want %q", m, err, want)
		}
	}
}

func TestPingPongLatencyIsHalfARoundTrip(t *testing.T) {
	c := transferCase()
	c.Mode = "pingpong"
	r := initiator(0, 0, 2000, 20000)
	r.Samples.Ops = 10 // round trips of 200 ns, of 1000 bytes each way
	m, err := Metrics(c, []*move.Part{r, {Rank: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m["latency.avg"]-100e-9) > 1e-15 || math.Abs(m["message_rate"]-1e7) > 1 {
		t.Errorf("latency %v, messages per second %v", m["latency.avg"], m["message_rate"])
	}
}

// Usage is of all ranks, over the bytes of all initiators; skew is between the first and the last start; the mean of a
// stage is over all stamps.
func TestUsageSkewAndStages(t *testing.T) {
	a, b := initiator(0, 0, 1e9, 3e9), initiator(1, 2e6, 1e9, 1e9)
	a.Usage, b.Usage = move.Usage{CPU: 1, Switches: 3}, move.Usage{CPU: 0.5, Switches: 4}
	a.Clock, b.Clock = move.Clock{Resolution: 1e-9, Cost: 10e-9}, move.Clock{Resolution: 5e-9, Cost: 8e-9}
	a.Stages = move.Stages{Prepare: 1e-6, Post: move.Stage{Stamps: 3, Mean: 100e-9, P99: 1e-6}}
	b.Stages = move.Stages{
		Prepare: 2e-6, Made: move.Stage{Stamps: 2, Mean: 1e-6, P99: 3e-6}, Post: move.Stage{Stamps: 1, Mean: 500e-9,
			P99: 0.9e-6}, Transfer: move.Stage{Stamps: 1, Mean: 7e-6, P99: 8e-6},
	}
	m, err := Metrics(transferCase(), []*move.Part{a, b, {Rank: 2, Usage: move.Usage{CPU: 0.5, Switches: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"cpu_time_per_gb": 0.5, "context_switches": 8, "skew": 2e-3, "requests": 4e6, "requests.stamped": 20,
		"clock.resolution": 5e-9, "clock.cost": 10e-9,
		"prep.request": 2e-6, "prep.request.p99": 3e-6, "post.avg": 200e-9, "post.p99": 1e-6, "transfer.avg": 7e-6,
		"transfer.p99": 8e-6,
	} {
		if math.Abs(m[name]-want) > 1e-9*want {
			t.Errorf("%s = %v, want %v", name, m[name], want)
		}
	}
}

// A ping-pong that kernels run has no time of posting, not even 0.
func TestKernelsPostNothing(t *testing.T) {
	o := transferCase()
	o.Fabric, o.Mode, o.Initiator, o.Target = "cuda", "pingpong", "vram", "vram"
	for engine, posts := range map[string]bool{"copy": true, "sm": false} {
		o.FabricOptions = map[string]string{"cuda_engine": engine}
		m, err := Metrics(o, []*move.Part{initiator(0, 0, 1e9, 3e9), {Rank: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"post.avg", "post.p99"} {
			if _, has := m[name]; has != posts {
				t.Errorf("cuda_engine %s: %s %v", engine, name, has)
			}
		}
	}
}
