package epcontrol

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

func decode(t *testing.T, v option.Values) *Spec {
	t.Helper()
	s, err := Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Buffers have the size of NIXL EP's get_rdma_size_hint.
func TestBuffers(t *testing.T) {
	for _, c := range []struct {
		tokens, hidden, ranks, experts int64
		gigabytes                      float64
	}{
		{512, 4096, 8, 8, 1.09}, {512, 4096, 8, 32, 4.36}, {128, 7168, 8, 36, 2.15}, {512, 4096, 4, 8, 0.55},
		{128, 7168, 4, 36, 1.07},
	} {
		s := decode(t, option.Values{
			"tokens": c.tokens, "hidden": c.hidden, "ranks": c.ranks, "experts_per_rank": c.experts, "fabric": "tcp",
		})
		source, sink := s.Buffers()
		if got := float64(source+sink) / 1e9; math.Abs(got-c.gigabytes) > 0.005 || (source+sink)%128 != 0 {
			t.Errorf("%+v: %v GB", c, got)
		}
	}
	// by hand: d = 16 + 256, c = 264, 4 experts: send 8 * 272 or 32 * 264, receive 32 * 272, 32 bytes of signals
	source, sink := decode(t, option.Values{
		"tokens": int64(8), "hidden": int64(128), "ranks": int64(2), "experts_per_rank": int64(2), "fabric": "tcp",
	}).Buffers()
	if source != 2*32*260 || source+sink != (2*(32*260+32*272+128)+127)/128*128 {
		t.Errorf("%d and %d", source, sink)
	}
}

func TestTurns(t *testing.T) {
	for operation, want := range map[string]string{
		"cycle": "+init +connect +disconnect +reconnect +destroy", "init": "+init -destroy",
		"connect": "-init +connect -destroy", "disconnect": "-init -connect +disconnect -destroy",
		"reconnect": "-init -connect -disconnect +reconnect -destroy", "destroy": "-init -connect +destroy",
	} {
		var got []string
		for _, turn := range decode(t, option.Values{"operation": operation, "fabric": "tcp"}).Turns() {
			sign := "-"
			if turn.Timed {
				sign = "+"
			}
			got = append(got, sign+turn.Name)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s", operation, text)
		}
	}
}

// roundsOf gives each step of a round this many ms more than the step before.
func roundOf(first int64) (r Round) {
	for i := range Columns() {
		r = append(r, (first+int64(i))*1e6)
	}
	return r
}

func parts(t *testing.T, lists ...[]Round) (all []*workload.Part) {
	t.Helper()
	for rank, list := range lists {
		p, err := Encode("a", 1, rank, &move.Part{Initiator: true, Verified: true}, list)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestMetrics(t *testing.T) {
	s := decode(t, option.Values{"ranks": int64(2), "rounds": int64(2), "fabric": "tcp"})
	m := &workload.Measured{
		Spec: s, Nodes: []string{"a", "a"},
		Parts: parts(t, []Round{roundOf(1), roundOf(2)}, []Round{roundOf(3), roundOf(10)}),
	}
	got, err := behaviour{}.Reduce(m, &results.Launch{})
	if err != nil {
		t.Fatal(err)
	}
	source, sink := s.Buffers()
	for name, want := range map[string]float64{
		// init is the first four steps: 1+2+3+4 = 10 ms, 14, 18 and 46
		"init.avg": 22e-3, "init.min": 10e-3, "init.max": 46e-3, "init.p50": 14e-3, "init.open": 4e-3,
		"init.register": 7e-3,
		// disconnect is the 9th and 10th: 9+10 = 19, 21, 23 and 37
		"disconnect.avg": 25e-3, "disconnect.p50": 21e-3, "disconnect.unmap": 13e-3,
		"destroy.max": 49e-3, "destroy.free": 19e-3, "ranks_passed": 2, "buffer.bytes": float64(source + sink),
		// all 16 steps of a round: 136 ms + 16 for each that the first is later
		"total": (136 + 152 + 168 + 280) * 1e-3 / 4,
	} {
		if math.Abs(got[name]-want) > 1e-12 {
			t.Errorf("%s is %v, not %v", name, got[name], want)
		}
	}
	var files [][]byte
	for _, p := range m.Parts {
		files = append(files, p.Samples)
	}
	again, err := behaviour{}.Recompute(map[string]any{"ranks": 2., "rounds": 2., "fabric": "tcp"}, files)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range again {
		if got[name] != v {
			t.Errorf("%s was %v and is %v", name, got[name], v)
		}
	}
	if len(again) != len(got)-2 {
		t.Errorf("%d metrics of %d come again", len(again), len(got))
	}
	for name := range got {
		if _, ok := Kind.Metric(name); !ok {
			t.Errorf("%s is not declared", name)
		}
	}
}

func TestOneOperationHasItsMetricsOnly(t *testing.T) {
	s := decode(t, option.Values{
		"ranks": int64(2), "rounds": int64(1), "operation": "connect", "fabric": "tcp",
	})
	got, err := s.fromRounds([][]byte{
		parts(t, []Round{roundOf(1)})[0].Samples, parts(t, []Round{roundOf(1)})[0].Samples,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range got {
		if !strings.HasPrefix(name, "connect.") {
			t.Errorf("%s is there", name)
		}
	}
	if math.Abs(got["connect.avg"]-26e-3) > 1e-12 { // 5+6+7+8
		t.Error(got)
	}
}

func TestDamagedSamplesAreRefused(t *testing.T) {
	s := decode(t, option.Values{"ranks": int64(2), "rounds": int64(2), "fabric": "tcp"})
	good := parts(t, []Round{roundOf(1), roundOf(2)})[0].Samples
	negative := parts(t, []Round{roundOf(1), roundOf(-5)})[0].Samples
	other := results.NewRecords("init.open")
	other.Add(1)
	var short bytes.Buffer
	if err := other.Write(&short); err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{good[:len(good)/2], negative, short.Bytes(), nil,
		parts(t, []Round{roundOf(1)})[0].Samples} {
		if m, err := s.fromRounds([][]byte{good, content}); err == nil {
			t.Errorf("%d bytes: %v", len(content), m)
		}
	}
	m := &workload.Measured{Spec: s, Parts: []*workload.Part{{Facts: json.RawMessage("7"), Samples: good}}}
	if _, err := (behaviour{}).Reduce(m, &results.Launch{}); err == nil {
		t.Error("facts that are none were taken")
	}
}

func TestIncompatibleOptions(t *testing.T) {
	for text, v := range map[string]option.Values{
		"no model of connecting": {"fabric": "sim"},
		"buffers have more than": {"tokens": int64(1 << 20), "hidden": int64(65536), "experts_per_rank": int64(4096)},
	} {
		if _, err := Decode(v); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// The published sample is written as NIXL EP's README has it.
func TestNIXLEP(t *testing.T) {
	of := func(values map[string]string) func(string) string { return func(n string) string { return values[n] } }
	options := map[string]string{"ranks": "8", "experts_per_rank": "8", "operation": "cycle"}
	metrics := map[string]float64{"total": 691.81e-3}
	for name, v := range map[string][3]float64{
		"init": {150.23, 148.15, 152.31}, "connect": {245.67, 242.33, 248.91}, "disconnect": {12.45, 11.23, 13.67},
		"reconnect": {198.34, 195.12, 201.56}, "destroy": {85.12, 83.45, 86.79},
	} {
		for i, statistic := range []string{".avg", ".min", ".max"} {
			metrics[name+statistic] = v[i] / 1e3
		}
	}
	metric := func(name string) (float64, bool) { v, ok := metrics[name]; return v, ok }
	line, rule := strings.Repeat("=", 70), strings.Repeat("-", 70)
	want := []string{
		line, "Control Plane: 8 experts/rank x 8 ranks = 64 total", line,
		"Operation       Avg (ms)     Min (ms)     Max (ms)", rule,
		"init            150.23       148.15       152.31",
		"connect         245.67       242.33       248.91",
		"disconnect      12.45        11.23        13.67",
		"reconnect       198.34       195.12       201.56",
		"destroy         85.12        83.45        86.79",
		rule, "TOTAL           691.81", line,
	}
	if got := nixlEP(of(options), metric); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	options["operation"] = "connect"
	want = []string{"CONNECT: 245.67ms avg across 8 ranks (min=242.33ms, max=248.91ms) [8 experts/rank]"}
	if got := nixlEP(of(options), metric); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
