package ep

import (
	"math"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

func decoded(t *testing.T, v option.Values) *Spec {
	t.Helper()
	s, err := Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func suite(mode string) option.Values {
	return option.Values{
		"mode": mode, "tokens": int64(128), "hidden": int64(7168), "top_k": int64(8), "experts_per_rank": int64(36),
	}
}

// The metrics that NIXL EP publishes: bytes of a rank, and their rate.
func TestPublishedFigures(t *testing.T) {
	for mode, want := range map[string]struct{ bytes, micros, bandwidth float64 }{
		"dispatch": {7.586e6, 180, 42.14}, "combine": {14.680e6, 340, 43.18}, "e2e": {22.266e6, 519.3, 42.88},
	} {
		s := decoded(t, suite(mode))
		table, err := s.Table()
		if err != nil {
			t.Fatal(err)
		}
		var parts []*Part
		for rank := range 8 {
			p := &Part{Part: &move.Part{Rank: rank}}
			for i := range int64(10) {
				start := i * 1e6
				p.Iterations = append(p.Iterations, Iteration{
					Start: start, Turn: start + 1000, End: start + int64(want.micros*1000),
				})
			}
			parts = append(parts, p)
		}
		m, err := fromIterations(s, table.Amounts(), s.sizes(table), parts, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(m["bytes.logical"]/want.bytes-1) > 1e-3 || math.Abs(m["bandwidth"]-want.bandwidth) > 0.006 ||
			math.Abs(m["latency.avg"]-want.micros*1e-6) > 1e-9 {
			t.Errorf("%s: %.0f bytes in %v s are %.3f GB/s, want %+v", mode, m["bytes.logical"], m["latency.avg"],
				m["bandwidth"], want)
		}
	}
}

func TestMessageBytes(t *testing.T) {
	for _, c := range []struct {
		hidden        int64
		dtype, scales string
		layout        string
		want          int64
	}{
		{4096, "fp8", "f32", "message", 4240}, {7168, "fp8", "f32", "packed", 7408},
		{7168, "fp8", "ue8m0", "message", 7240},
		{7168, "bf16", "f32", "message", 14352}, {7168, "fp8", "pow2", "rank", 7408 + 64},
	} {
		v := suite("e2e")
		v["hidden"], v["dispatch_dtype"], v["layout"] = c.hidden, c.dtype, c.layout
		if c.dtype == "fp8" {
			v["scales"] = c.scales
		}
		if got := decoded(t, v).MessageBytes(); got != c.want {
			t.Errorf("%+v: %d bytes", c, got)
		}
	}
}

// Each metric by hand: two ranks, of which the second is late.
func TestMetrics(t *testing.T) {
	s := decoded(t, option.Values{
		"ranks": int64(2), "tokens": int64(10), "hidden": int64(128), "top_k": int64(1), "experts_per_rank": int64(1),
		"timing": "stream",
	})
	table, err := s.Table()
	if err != nil {
		t.Fatal(err)
	}
	a, z := table.Amounts(), s.sizes(table)
	first := &Part{
		Part: &move.Part{
			Rank: 0, Verified: true, Ceiling: 1e9, CeilingBest: 2e9, Memcpy: 3e9,
			Usage: move.Usage{CPU: 2, Switches: 3}, Prep: move.Prep{Connect: 1}, Clock: move.Clock{Bound: 1e-6},
		},
	}
	second := &Part{
		Part: &move.Part{
			Rank: 1, Ceiling: 3e9, Usage: move.Usage{CPU: 1, Switches: 4}, Prep: move.Prep{Connect: 2},
			Clock: move.Clock{Bound: 2e-6},
		},
	}
	first.Iterations = []Iteration{
		{Start: 0, Turn: 1e6, End: 9e6}, // is not counted: the first of timing stream
		{
			Start: 100, Turn: 600, End: 1100, Quantise: 10, DispatchSend: 20, DispatchWait: 30, Partial: 1,
			CombineSend: 2, CombineWait: 3, Sum: 4,
		},
		{Start: 2000, Turn: 2200, End: 2600},
	}
	second.Iterations = []Iteration{{}, {Start: 150, Turn: 700, End: 1300}, {Start: 2000, Turn: 2300, End: 3000}}
	first.Waits[1], second.Waits[0] = []Wait{{Mean: 9}, {Mean: 3e-7}}, []Wait{{Mean: 5e-7}, {Mean: 9}}
	parts := []*Part{first, second}
	m, err := fromIterations(s, a, z, parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	addWaits(m, parts)
	addHost(m, z, parts)
	moved := *s
	moved.Memory, moved.Timing = "vram", "stream"
	parts[0].Events, parts[0].Wall, parts[1].Events, parts[1].Wall = 8e-6, 9e-6, 4e-6, 10e-6
	kernelMetrics(m, &moved, parts)
	moved.Initiated = "host"
	parts[0].Spent, parts[1].Spent = Spent{6e-6, 12e-6, 18e-6}, Spent{6e-6, 0, 0}
	kernelMetrics(m, &moved, parts)
	n0, n1 := float64(a.Selections[0]), float64(a.Selections[1])
	message, row := 16+128+4., 256.
	b0, b1 := n0*(message+row), n1*(message+row)
	own0 := (1000. + 600) / 2
	own1 := (1150. + 1000) / 2
	together := (1200. + 1000) / 2
	cross01, cross10 := float64(a.Pairs[0][1]), float64(a.Pairs[1][0])
	out0, out1 := cross01*message+4+cross10*row, cross10*message+4+cross01*row
	for name, want := range map[string]float64{
		"bandwidth": (b0/own0 + b1/own1) / 2, "bandwidth.min_rank": min(b0/own0, b1/own1),
		"bandwidth.max_rank": max(b0/own0, b1/own1),
		"latency.avg":        (own0 + own1) / 2 * 1e-9, "latency.min": own0 * 1e-9, "latency.max": own1 * 1e-9,
		"latency.p50": 1000e-9, "latency.p99": 1200e-9,
		"dispatch.latency.p50": 300e-9, "dispatch.latency.p99": 600e-9,
		"combine.latency.avg": ((500.+400)/2 + (600.+700)/2) / 2 * 1e-9,
		"wire_bandwidth":      max(out0, out1) / together, "bytes.wire": max(out0, out1),
		"tokens_per_second": 20 / (together * 1e-9),
		"skew.p50":          300e-9, "skew.start": 25e-9, "phase.quantise": 10e-9 / 4, "phase.send": 22e-9 / 4,
		"phase.wait": 33e-9 / 4, "phase.reduce": 5e-9 / 4,
		"wait.max": 5e-7, "ranks_passed": 1, "ceiling.bandwidth": 2, "ceiling.memcpy": 3, "context_switches": 7,
		"prep.connect": 2, "clock.bound": 3e-6,
		"latency.events": 8e-6 / 3, "latency.wall": 10e-6 / 3,
		"phase.post": 2e-6, "phase.kernel": 2e-6, "phase.launch": 3e-6,
		"cpu_time_per_gb": 3 / (3 * (out0 + out1) / 1e9), "bytes.logical": (b0 + b1) / 2,
		"ceiling.best": out0 / ((own0 + own1) / 2 * 1e-9 * 2e9),
	} {
		if got, ok := m[name]; !ok || math.Abs(got-want) > 1e-9*max(math.Abs(want), 1e-9) {
			t.Errorf("%s = %v (%v), want %v", name, got, ok, want)
		}
	}
	for name := range m {
		if _, ok := Kind.Metric(name); !ok {
			t.Errorf("the workload has no metric %s", name)
		}
	}
	for _, metric := range Kind.Metrics {
		if _, ok := m[metric.Name]; !ok {
			t.Errorf("%s was not computed", metric.Name)
		}
	}
}

// Stored samples give the same metrics again.
func TestRecompute(t *testing.T) {
	v := option.Values{"ranks": int64(2), "tokens": int64(6), "hidden": int64(128), "top_k": int64(2)}
	s, options := decoded(t, v), map[string]any{}
	for name, value := range v {
		options[name] = value
	}
	m, l := &workload.Measured{Spec: s, Nodes: []string{"a", "a"}}, &results.Launch{}
	var files [][]byte
	for rank := range 2 {
		p := &Part{Part: &move.Part{Rank: rank, Initiator: true, Verified: true, Transport: "words"}}
		for i := range int64(20) {
			p.Iterations = append(p.Iterations, Iteration{
				Start: 1000 * i, Turn: 1000*i + 300, End: 1000*i + 500 + i, Quantise: 7,
			})
		}
		part, err := p.Encode("key", 3)
		if err != nil {
			t.Fatal(err)
		}
		m.Parts, files = append(m.Parts, part), append(files, part.Samples)
	}
	metrics, err := behaviour{}.Reduce(m, l)
	if err != nil {
		t.Fatal(err)
	}
	again, err := behaviour{}.Recompute(options, files)
	if err != nil || len(again) < 20 {
		t.Fatalf("%d metrics, %v", len(again), err)
	}
	for name, value := range again {
		if metrics[name] != value {
			t.Errorf("%s = %v, and again %v", name, metrics[name], value)
		}
	}
	if !l.Verified || l.Transport != "words" || len(l.Ranks) != 2 {
		t.Errorf("launch %+v", l)
	}
	_, err = behaviour{}.Recompute(options, files[:1])
	if err == nil || !strings.Contains(err.Error(), "results of 1 ranks") {
		t.Error(err)
	}
}

func TestIncompatibleOptions(t *testing.T) {
	for want, change := range map[string]option.Values{
		"no multiple of 128":          {"hidden": int64(200)},
		"timing stream does not wait": {"timing": "stream", "verify": "full"},

		"needs at least 2":        {"timing": "stream", "iterations": int64(1)},
		"needs the option routes": {"routing": "file"},

		"is for routing file": {"tokens": "file"},
		"different experts": {
			"routing": "top_k", "ranks": int64(2), "experts_per_rank": int64(1), "top_k": int64(4),
		},
		"maxvio 40 is impossible": {"routing": "lognormal", "maxvio": option.Scale(40)},
		"with memory vram":        {"threads": int64(2), "memory": "vram", "fabric": "cuda"},
		"waits for the host":      {"memory": "vram", "fabric": "ucx", "kernel_launch": "graph", "timing": "stream"},
		"needs headers of its":    {"memory": "vram", "fabric": "ucx", "initiated": "device"},
		"no device API":           {"memory": "vram", "fabric": "libfabric", "initiated": "device"},
		"moves host memory only":  {"memory": "vram", "fabric": "tcp"},
		"models one for each":     {"threads": int64(2), "fabric": "sim"},
		"at most":                 {"tokens": int64(1 << 20), "hidden": int64(65536), "ranks": int64(1000)},
	} {
		if _, err := Decode(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", change, err, want)
		}
	}
	if _, err := Decode(option.Values{"masked": quantity.Percent(1)}); err != nil {
		t.Errorf("all selections masked: %v", err)
	}
}

// Kernels store, however the fabric was chosen.
func TestKernelsStore(t *testing.T) {
	for _, fabric := range []string{"cuda", "auto"} {
		s := decoded(t, option.Values{"fabric": fabric, "memory": "vram", "ranks": int64(2)})
		if got := s.Moves().FabricOptions[Engine]; got != "sm" {
			t.Errorf("fabric %s: %s %q", fabric, Engine, got)
		}
	}
}
