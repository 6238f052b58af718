package native

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"weir/engine"
	"weir/results"
	"weir/test/phase"
	"weir/workload"
	"weir/workload/ep"
)

// epValues are those of a small case, and others in their place.
func epValues(change workload.Values) workload.Values {
	v := workload.Values{
		"ranks": int64(3), "tokens": int64(20), "hidden": int64(256), "experts_per_rank": int64(2), "top_k": int64(3),
		"iterations": int64(5), "warmup": int64(1),
	}
	for name, value := range change {
		v[name] = value
	}
	return v
}

// runEP runs a case of workload ep and gives the metrics of its launch.
func runEP(t testing.TB, fabric string, v workload.Values) (map[string]float64, error) {
	t.Helper()
	v["fabric"] = fabric
	s, err := ep.Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	return runRanks(t, epRunner{}, ep.Kind, s)
}

// epPatience is how long a case of ranks in this process may take.
var epPatience = patience

// runRanks runs a case between ranks that are all in this process, and gives the metrics of its
// launch.
func runRanks(t testing.TB, runner engine.Runner, kind *workload.Kind, s workload.Spec) (map[string]float64, error) {
	t.Helper()
	c, err := engine.NewCase("a", s, epPatience, nil)
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
					first = fmt.Errorf("rank %d: %w%s", i, err, whereRanksAre(controls))
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

// whereRanksAre says what each rank is doing; of a hang that is seldom it is the only trace.
func whereRanksAre(controls []*engine.Control) string {
	var b strings.Builder
	for i, c := range controls {
		fmt.Fprintf(&b, "\nrank %d: %s, %d of %d, heartbeat %d", i, engine.Phases[c.Phase.Load()], c.Done.Load(),
			c.Total.Load(), c.Heartbeat.Load())
	}
	return b.String()
}

func checkEP(t *testing.T, fabric string, v workload.Values) {
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

// Over every fabric and with every layout each token's message and each row comes to its place,
// and is what it is to be.
func TestEP(t *testing.T) {
	phase.NotUnderRace(t)
	for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
		for _, layout := range epLayoutNames {
			t.Run(fabric+"/"+layout, func(t *testing.T) {
				needs(t, fabric)
				for _, timing := range []string{"aligned", "stream"} {
					checkEP(t, fabric, epValues(workload.Values{"layout": layout, "timing": timing}))
				}
			})
		}
	}
}

// The same of the other options.
func TestEPOptions(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	changes := []workload.Values{
		{"mode": "dispatch"}, {"mode": "combine"}, {"mode": "dispatch", "timing": "stream"},
		{"mode": "combine", "timing": "stream"},
		{"scales": "pow2"}, {"scales": "ue8m0"}, {"dispatch_dtype": "bf16"}, {"quantise": "before"}, {"verify": "full"},
		{"verify": "none"},
		{"tokens": "uniform:0,30"}, {"routing": "hot"}, {"routing": "lognormal", "top_k": int64(2)},
		{"iterations": int64(1), "warmup": int64(0)},
		{"alloc": "heap", "fabric": "tcp"}, {"ranks": int64(7), "experts_per_rank": int64(1)}, {"tokens": int64(1)},
		{"top_k": int64(30), "tokens": int64(4)},
	}
	for _, layout := range epLayoutNames {
		for i, change := range changes {
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

// Over libfabric's providers delivery is told in different ways; UCX's messages carry puts too.
func TestEPOverEachProvider(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	for _, p := range providers(t) {
		for _, layout := range epLayoutNames {
			t.Run(p+"/"+layout, func(t *testing.T) {
				checkEP(t, "libfabric", epValues(workload.Values{"layout": layout, "provider": p}))
			})
		}
	}
	for _, layout := range epLayoutNames {
		t.Run("am/"+layout, func(t *testing.T) {
			checkEP(t, "ucx", epValues(workload.Values{"layout": layout, "api": "am"}))
		})
	}
}

// One wrong byte is found in whichever part of what comes it is, and is named.
func TestEPFindsOneWrongByte(t *testing.T) {
	phase.NotUnderRace(t)
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
				_, err := runEP(t, "shm", epValues(workload.Values{"layout": layout}))
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
	s, err := ep.Decode(epValues(workload.Values{"layout": "message", "fabric": "shm"}))
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

// Ranks whose routes differ do not connect.
func TestEPOtherRoutes(t *testing.T) {
	s, err := ep.Decode(epValues(workload.Values{"fabric": "tcp", "ranks": int64(2)}))
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
		!strings.Contains(err.Error(), "other routes") {
		t.Error(err)
	}
}

// nixlEP runs in a process of its own, see nixlChildren.
func nixlEP(t *testing.T) error {
	for _, layout := range epLayoutNames {
		if _, err := runEP(t, "nixl", epValues(workload.Values{"layout": layout})); err != nil {
			return err
		}
	}
	return nil
}

func TestEPOverNixl(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	if out := nixlChild(t, "ep", "WEIR_NIXL_LIBRARY="+fakeNixl(t), "FAKE_NIXL_POLLS=2"); !strings.Contains(out,
		"FINE") {
		t.Error(out)
	}
}
