package native

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/ep"
)

// epValues returns the options of a small case, with changes.
func epValues(change option.Values) option.Values {
	v := option.Values{
		"ranks": int64(3), "tokens": int64(20), "hidden": int64(256), "experts_per_rank": int64(2), "top_k": int64(3),
		"iterations": int64(5), "warmup": int64(1),
	}
	for name, value := range change {
		v[name] = value
	}
	return v
}

// runEP runs a case of workload ep and returns the metrics of its launch.
func runEP(t testing.TB, fabric string, v option.Values) (map[string]float64, error) {
	t.Helper()
	v["fabric"] = fabric
	s, err := ep.Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	return runRanks(t, epRunner{}, ep.Kind, s)
}

// epTimeout limits the time of a case of ranks in this process.
var epTimeout = patience

// runRanks runs a case between ranks that are all in this process, and returns the metrics of its launch.
func runRanks(t testing.TB, runner engine.Runner, kind *workload.Kind, s workload.Spec) (map[string]float64, error) {
	t.Helper()
	c, err := engine.NewCase("a", s, epTimeout, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := s.Demand()
	l := engine.Launch{
		ID: "test", Runner: d.Runner, Fabric: d.Fabric, Ranks: d.Ranks, Seed: 42, Cases: []engine.Case{c},
	}
	for range l.Ranks {
		l.Nodes = append(l.Nodes, "here")
	}
	ranks, addresses, controls := make([]engine.Rank, l.Ranks), make([][]byte, l.Ranks),
		make([]*engine.Control, l.Ranks)
	free := freeMemory()
	for i := range ranks {
		controls[i] = control(t)
		if ranks[i], err = runner.Open(l, engine.Identity{Rank: i, Memory: &free}, controls[i]); err != nil {
			return nil, err
		}
		if addresses[i], err = ranks[i].(engine.Peers).Address(); err != nil {
			return nil, err
		}
	}
	m := &workload.Measured{Spec: s, Nodes: l.Nodes, Parts: make([]*workload.Part, l.Ranks)}
	var first error // the others fail because they are told to stop
	var once sync.Once
	var wg sync.WaitGroup
	for i, r := range ranks {
		wg.Go(func() {
			err := r.(engine.Peers).Connect(addresses)
			if err == nil {
				m.Parts[i], err = r.Run(c)
			}
			if err == nil {
				err = r.Close()
			}
			if err != nil {
				once.Do(func() {
					first = fmt.Errorf("rank %d: %w%s", i, err, describeRanks(controls))
					for _, ctl := range controls { // as an agent does
						ctl.Abort.Store(1)
					}
				})
			}
		})
	}
	if wg.Wait(); first != nil {
		return nil, first
	}
	return kind.Reduce(m, &results.Launch{})
}

// describeRanks describes what each rank is doing, to diagnose a rare hang.
func describeRanks(controls []*engine.Control) string {
	var b strings.Builder
	for i, c := range controls {
		fmt.Fprintf(&b, "\nrank %d: %s, %d of %d, heartbeat %d", i, engine.Phases[c.Phase.Load()], c.Done.Load(),
			c.Total.Load(), c.Heartbeat.Load())
	}
	return b.String()
}

func checkEP(t *testing.T, fabric string, v option.Values) {
	t.Helper()
	m, err := runEP(t, fabric, v)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	ranks, _ := v["ranks"].(int64)
	passed := float64(ranks)
	if v["verify"] == "none" {
		passed = 0
	}
	if m["ranks_passed"] != passed || m["latency.p50"] <= 0 || m["bandwidth"] <= 0 || m["wait.max"] <= 0 {
		t.Errorf("%v: %v", v, m)
	}
	if m["latency.min"] < 1e-7 || m["latency.max"] > 100 {
		t.Errorf("%v: iterations took %v to %v s", v, m["latency.min"], m["latency.max"])
	}
}

var epLayoutNames = []string{"message", "rank", "packed"}

// With every fabric and layout each token's message and each row arrives at its offset with the right
// contents.
func TestEP(t *testing.T) {
	phase.Long(t)
	eachPath(t, func(t *testing.T, w testPath) {
		if !w.puts() {
			t.Skip("tagged messages carry nothing else")
		}
		for k, layout := range epLayoutNames {
			t.Run(layout, func(t *testing.T) {
				for i, timing := range []string{"aligned", "stream"} {
					if i != k%2 && !phase.Whole() {
						continue
					}
					v := w.values()
					v["layout"], v["timing"] = layout, timing
					checkEP(t, w.fabric, epValues(v))
				}
			})
		}
	})
}

// The same for the other options.
func TestEPOptions(t *testing.T) {
	phase.Long(t)
	changes := []option.Values{
		{"mode": "dispatch"}, {"mode": "combine"}, {"mode": "dispatch", "timing": "stream"},
		{"mode": "combine", "timing": "stream"},
		{"scales": "pow2"}, {"scales": "ue8m0"}, {"dispatch_dtype": "bf16"}, {"quantise": "before"}, {"verify": "full"},
		{"verify": "none"},
		{"tokens": "uniform:0,30"}, {"routing": "hot"}, {"routing": "lognormal", "top_k": int64(2)},
		{"iterations": int64(1), "warmup": int64(0)},
		{"alloc": "heap", "fabric": "tcp"}, {"ranks": int64(7), "experts_per_rank": int64(1)}, {"tokens": int64(1)},
		{"top_k": int64(30), "tokens": int64(4)},
	}
	for k, layout := range epLayoutNames {
		for i, change := range changes {
			if i%len(epLayoutNames) != k && !phase.Whole() {
				continue // each option has one layout in every run
			}
			t.Run(fmt.Sprintf("%s/%d", layout, i), func(t *testing.T) {
				fabric, ok := change["fabric"].(string)
				if !ok {
					fabric = "shm"
				}
				change["layout"] = layout
				checkEP(t, fabric, epValues(change))
			})
		}
	}
}

// One wrong byte is found in any part of received data, and is named.
func TestEPFindsOneWrongByte(t *testing.T) {
	for layout, parts := range map[string][]struct {
		at   int
		want string
	}{
		"message": {
			{0, "wrong dispatch at rank 1 in iteration 0: rank"}, {3, "header, byte 3"},
			{16 + 200, "channel 200: a byte is 0x"}, {16 + 256 + 4, "scale of group 1"},
		},
		"rank":   {{16 + 256 + 8 + 9, "selection 1"}},
		"packed": {{16 + 7, "channel 7"}},
	} {
		for _, p := range parts {
			for when, iteration := range map[string]string{"": "iteration 0", ":timed": "iteration 4"} {
				t.Setenv(CorruptEnv, fmt.Sprintf("1:%d%s", p.at, when))
				_, err := runEP(t, "shm", epValues(option.Values{"layout": layout}))
				if want := strings.Replace(p.want, "iteration 0", iteration, 1); err == nil ||
					!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "token") {
					t.Errorf("%s, byte %d%s: got %v, want %q", layout, p.at, when, err, want)
				}
				var e *engine.Error
				if !errors.As(err, &e) || e.Phase != "verify" {
					t.Errorf("phase of %+v is not verify", e)
				}
			}
		}
	}
	s, err := ep.Decode(epValues(option.Values{"layout": "message", "fabric": "shm"}))
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.Table()
	if err != nil {
		t.Fatal(err)
	}
	l := s.LayOut(table, 1)
	messages, rows := len(l.Come)*int(s.MessageBytes()), len(l.Back)*512
	for at, want := range map[int]string{
		messages + 9:               "wrong count of a dispatch at rank 1 in iteration 0: rank 1, expert of this rank 0",
		messages + 24 + 100:        "wrong row of a combine",
		messages + 24 + rows + 513: "wrong sum of a combine at rank 1 in iteration 0: rank 1, token 1, channel 0",
	} {
		t.Setenv(CorruptEnv, fmt.Sprintf("1:%d", at))
		if _, err := runEP(t, "shm", epValues(nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("byte %d: got %v, want %q", at, err, want)
		}
	}
	t.Setenv(CorruptEnv, fmt.Sprintf("1:%d", l.Received()))
	if _, err := runEP(t, "shm", epValues(nil)); err == nil || !strings.Contains(err.Error(), "rank 1 receives") {
		t.Errorf("a byte that does not come: %v", err)
	}
}

// Ranks with different routes do not connect.
func TestEPOtherRoutes(t *testing.T) {
	s, err := ep.Decode(epValues(option.Values{"fabric": "tcp", "ranks": int64(2)}))
	if err != nil {
		t.Fatal(err)
	}
	var ranks [2]engine.Rank
	var addresses [2][]byte
	for i := range ranks {
		s.Routes.Seed = uint64(i)
		c, err := engine.NewCase("a", s, patience, nil)
		if err != nil {
			t.Fatal(err)
		}
		l := engine.Launch{Fabric: "tcp", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{c}}
		if ranks[i], err = (epRunner{}).Open(l, engine.Identity{Rank: i}, control(t)); err != nil {
			t.Fatal(err)
		}
		if addresses[i], err = ranks[i].(engine.Peers).Address(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ranks[0].(engine.Peers).Connect(addresses[:]); err == nil ||
		!strings.Contains(err.Error(), "its routes differ") {
		t.Error(err)
	}
}
