package sim

import (
	"math"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep"
)

// exchanged returns the metrics of a launch of workload ep over fabric sim.
func exchanged(t *testing.T, change option.Values) map[string]float64 {
	t.Helper()
	v := option.Values{
		"fabric": "sim", "ranks": int64(4), "tokens": int64(64), "hidden": int64(1024), "iterations": int64(30),
		"sim_bandwidth": quantity.Rate(10e9),
		"sim_latency":   quantity.Time(5000), "sim_noise": quantity.Percent(0), "sim_jitter": quantity.Percent(0),
	}
	for name, value := range change {
		v[name] = value
	}
	s, err := ep.Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	c, err := engine.NewCase("a", s, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := engine.Launch{
		Runner: s.Demand().Runner, Fabric: "sim", Ranks: 4, Nodes: []string{"a", "a", "a", "a"}, Seed: 7,
		Cases: []engine.Case{c},
	}
	played, err := New().Play(l)
	if err != nil || played.Failure != nil {
		t.Fatalf("%+v, %v", played, err)
	}
	kind, _ := workload.Lookup("ep")
	launch := &results.Launch{}
	m, err := kind.Reduce(&workload.Measured{Spec: s, Nodes: l.Nodes, Parts: played.Cases[0].Ranks}, launch)
	if err != nil {
		t.Fatal(err)
	}
	if !launch.Verified || played.Cases[0].To <= played.Cases[0].From {
		t.Errorf("launch %+v, case %+v", launch, played.Cases[0])
	}
	return m
}

// Without variation an operation takes the latency, and the bytes of the busiest rank over the bandwidth.
func TestExchange(t *testing.T) {
	for _, mode := range []string{"dispatch", "combine"} {
		for _, layout := range []string{"message", "rank", "packed"} {
			m := exchanged(t, option.Values{"mode": mode, "layout": layout})
			want := 5e-6 + m["bytes.wire"]/10e9
			for _, name := range []string{"latency.p50", "latency.p99"} {
				if math.Abs(m[name]-want) > 2e-9 {
					t.Errorf("%s, %s: %s is %v, want %v", mode, layout, name, m[name], want)
				}
			}
			if m["ceiling.bandwidth"] != 10 || m["skew.start"] != 0 || m["ranks_passed"] != 4 {
				t.Errorf("%s, %s: %v", mode, layout, m)
			}
		}
	}
	dispatch, combine, both := exchanged(t, option.Values{"mode": "dispatch"}),
		exchanged(t, option.Values{"mode": "combine"}), exchanged(t, nil)
	if sum := dispatch["latency.p50"] + combine["latency.p50"]; both["latency.p50"] > sum+2e-9 ||
		both["latency.p50"] < 0.8*sum {
		t.Errorf("an iteration of both takes %v, and its operations alone %v", both["latency.p50"], sum)
	}
	if both["dispatch.latency.p50"] != dispatch["latency.p50"] {
		t.Errorf("the dispatch takes %v, and alone %v", both["dispatch.latency.p50"], dispatch["latency.p50"])
	}
}

// Ranks that do not meet between iterations are never further apart than an operation.
func TestExchangeAsAStream(t *testing.T) {
	m := exchanged(t, option.Values{"timing": "stream", "sim_jitter": quantity.Percent(0.3)})
	if m["skew.start"] <= 0 || m["skew.start"] > m["latency.p50"] || m["latency.p99"] <= m["latency.p50"] {
		t.Errorf("%v", m)
	}
	if again := exchanged(t, option.Values{"timing": "stream",
		"sim_jitter": quantity.Percent(0.3)}); again["latency.p99"] != m["latency.p99"] {
		t.Errorf("another time it is %v, not %v", again["latency.p99"], m["latency.p99"])
	}
}
