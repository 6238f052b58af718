package summary

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/workload/serving/load"
)

// drawn returns records of an open load with all outcomes.
func drawn(seed uint64, n, events int) []load.Record {
	rng := rand.New(rand.NewPCG(seed, 0))
	list := make([]load.Record, n)
	for i := range list {
		due := float64(i)
		start := due + rng.Float64()
		at := make([]float64, 1+rng.IntN(events))
		now := start + 10*rng.Float64()
		for k := range at {
			at[k] = now
			now += rng.ExpFloat64()
		}
		if rng.IntN(10) == 0 {
			at = nil
		}
		r := request(i, start, at...)
		r.Due, r.AskedOutput, r.Reused = int64(due*ms), events/2, rng.IntN(2) == 0
		switch rng.IntN(12) {
		case 0:
			r.Outcome = load.Cancelled
		case 1:
			r.Outcome = load.Truncated
		case 2:
			r.Output, r.Input, r.Source = load.Unknown, load.Unknown, load.ByNobody
		case 3:
			r.Cached, r.FirstContent = 3, r.Last
		case 4:
			total := 0
			for k := range r.Events {
				total += 1 + rng.IntN(3)
				r.Events[k].Tokens = int32(total)
			}
			r.Output = total
		}
		list[i] = r
	}
	return list
}

var settings = []Settings{
	{Window: Steady, SLO: SLO{TTFT: 6 * ms, ITL: ms, Latency: 30 * ms}},
	{Window: Whole, GPUs: 2},
	{Window: Steady, Concurrency: 5},
}

func TestTheOrderOfRecordsDoesNotMatter(t *testing.T) {
	for seed := range uint64(20) {
		list := drawn(seed, 60, 20)
		for _, s := range settings {
			want := Of(list, s)
			// of three clients, one after the other
			var merged []load.Record
			for client := range 3 {
				for i := client; i < len(list); i += 3 {
					merged = append(merged, list[i])
				}
			}
			rand.New(rand.NewPCG(seed, 1)).Shuffle(20, func(i, j int) { merged[i], merged[j] = merged[j], merged[i] })
			got := Of(merged, s)
			if !maps.Equal(want.Values, got.Values) || want.From != got.From || want.To != got.To ||
				want.Source != got.Source {
				t.Fatalf("seed %d, %+v:\n%v\n%v", seed, s, want, got)
			}
		}
	}
}

// A failure does not improve the time of any user. Delays of the client and gaps of chunks are no such times.
func TestAFailureImprovesNoQuantile(t *testing.T) {
	outcomes := []load.Outcome{
		load.Connect, load.Timeout, load.Status, load.Truncated, load.Malformed, load.Empty,
		load.Unfinished,
	}
	worse := 0
	for seed := range uint64(50) {
		list := drawn(seed, 40, 20)
		failed := request(len(list), 1, 1.001, 1.002, 1.003) // which was fast until it failed
		failed.Due, failed.Outcome = ms, outcomes[seed%uint64(len(outcomes))]
		before, after := Of(list, settings[0]), Of(append(list, failed), settings[0])
		for name, v := range before.Values {
			last := name[strings.LastIndexByte(name, '.')+1:]
			ofUsers := !strings.HasPrefix(name, "dispatch_delay.") && !strings.HasPrefix(name, "chunk_gap.")
			if !ofUsers || !slices.Contains([]string{"min", "p50", "p90", "p95", "p99", "max"}, last) {
				continue
			}
			higher := name == "speed.per_user.p50"
			now := after.Values[name]
			if !higher && now < v || higher && now > v {
				t.Errorf("seed %d: with one more failure %s is %v, and %v without", seed, name, now, v)
			}
			if now != v {
				worse++
			}
		}
		for _, name := range []string{
			"goodput", "goodput.tokens", "slo.ttft", "slo.itl", "slo.latency", "request_rate", "output_throughput",
		} {
			underWay := name == "output_throughput" && failed.Outcome == load.Unfinished // its tokens count
			if !underWay && after.Values[name] > before.Values[name] {
				t.Errorf("seed %d: with one more failure %s rises", seed, name)
			}
		}
		if after.Values["error_rate"] <= before.Values["error_rate"] {
			t.Errorf("seed %d: one more failure, and error_rate is %v", seed, after.Values["error_rate"])
		}
	}
	if worse == 0 {
		t.Error("failures change nothing")
	}
}

func TestQuantilesAreInOrder(t *testing.T) {
	for seed := range uint64(20) {
		v := Of(drawn(seed, 50, 10), settings[0]).Values
		for _, family := range []string{
			"ttft", "ttfo", "itl", "chunk_gap", "latency", "scheduled.ttft", "scheduled.latency", "dispatch_delay",
		} {
			before := 0.
			for _, q := range []string{"min", "p50", "p90", "p95", "p99", "max"} {
				now, ok := v[family+"."+q]
				if !ok || now < before {
					t.Errorf("seed %d: %s.%s is %v (%v) after %v", seed, family, q, now, ok, before)
				}
				before = now
			}
		}
	}
}

// Little's law: over a complete load, the mean of requests in flight is the sum of their times divided by its length;
// its tokens are those of its requests.
func TestLittlesLaw(t *testing.T) {
	list := drawn(5, 200, 20)
	s := Of(list, Settings{Window: Whole})
	tokens, busy := 0., 0.
	for i := range list {
		if r := &list[i]; r.Phase == load.Measured && r.Start != load.Never {
			busy += float64(ended(r)-r.Start) * ns
			credit(r, func(_ int64, n float64) { tokens += n })
		}
	}
	seconds := float64(s.To-s.From) * ns
	if got := s.Values["output_throughput"] * seconds; math.Abs(tokens-got) > 1e-6*got {
		t.Errorf("%v tokens, not %v", got, tokens)
	}
	if got := s.Values["concurrency.effective"] * seconds; math.Abs(busy-got) > 1e-6*got {
		t.Errorf("%v s in flight, not %v", got, busy)
	}
}

// Rates are those of the server, whatever it does with requests at once, how far an open load is above what it can do,
// and whether users think between turns.
func TestRatesOfServers(t *testing.T) {
	served := func(n int, due, took float64, inTurn bool) (list []load.Record) {
		free := 0.
		for i := range n {
			at := due * float64(i)
			begin := at
			if inTurn {
				begin = max(at, free)
			}
			free = begin + took
			r := request(i, at, free)
			r.Due = r.Start
			list = append(list, r)
		}
		return list
	}
	var thinking, serial []load.Record
	for slot := range 8 {
		for turn := range 20 {
			at := float64(slot) + 330*float64(turn)
			r := request(20*slot+turn, at, at+100)
			r.Session, r.Turn = slot, turn
			thinking = append(thinking, r)
		}
	}
	for i := range 100 { // a server of one request at once: each of four slots waits for those of the others
		serial = append(serial, request(i, 100*float64(max(0, i-3)), 100*float64(i+1)))
	}
	for name, c := range map[string]struct {
		list  []load.Record
		slots int
		rate  float64
	}{
		"one at once, too many":   {served(133, 90, 100, true), 0, 10},
		"long answers":            {served(240, 50, 510, false), 0, 20},
		"conversations":           {thinking, 8, 8 / 0.33},
		"one at once, four slots": {serial, 4, 10},
	} {
		s := Of(c.list, Settings{Window: Steady, Concurrency: c.slots})
		if got := s.Values["request_rate"]; s.Window != Steady || math.Abs(got-c.rate) > 0.002*c.rate {
			t.Errorf("%s: %v/s (%s from %d to %d ms), want %v", name, got, s.Window, s.From/ms, s.To/ms, c.rate)
		}
	}
}

// Without a stream the tokens of an answer come at its end, its input tokens too.
func TestRatesOfAnswersWithoutAStream(t *testing.T) {
	var list []load.Record
	for i := range 100 {
		r := request(i, float64(60*(i/10)+i%10), float64(60*(i/10)+i%10)+60)
		r.Events, r.First, r.Output = nil, load.Never, 3
		list = append(list, r)
	}
	s := Of(list, Settings{Window: Steady, Concurrency: 10})
	holds(t, s.Values, map[string]float64{
		"request_rate": 10 / 0.06, "output_throughput": 30 / 0.06, "total_throughput": 130 / 0.06,
	})
}

// A load is full again after its slots were free for a moment: the steady part ends when one is free for good.
func TestTheSteadyPartOfAClosedLoad(t *testing.T) {
	list := []load.Record{
		request(
			0,
			800,
			920,
		), request(1, 840, 910), request(2, 915, 1020), request(3, 921, 1010), request(4, 1011, 1120),
	}
	for i := range 8 {
		at := float64(100 * i)
		list = append(list, request(5+2*i, at, at+100), request(6+2*i, 20+at, 120+at))
	}
	s := Of(list, Settings{Window: Steady, Concurrency: 2})
	if s.From != 100*ms || s.To != 1020*ms || s.Window != Steady {
		t.Errorf("%+v", s)
	}
	holds(t, s.Values, map[string]float64{
		"request_rate":          (15 + 4) / 0.92, // the first ends when the steady part begins, and the last after it
		"concurrency.effective": (0.02 + 1.4 + 0.12 + 0.07 + 0.105 + 0.089 + 0.009) / 0.92,
	})
}

// Rates of few waves are over the whole load: of a single wave the steady part ends with the first request, and has the
// tokens of all. Rates of a steady part are those of requests that never end: of n slots with requests of 60 ms.
func TestRatesOfFewWaves(t *testing.T) {
	for _, c := range []struct {
		slots, requests int
		window          Window
		rate            float64
	}{
		{10, 10, Whole, 10 / 0.069}, {10, 99, Whole, 99 / 0.608}, {10, 100, Steady, 10 / 0.06}, {1, 1, Whole,
			1 / 0.06},
		{1, 10, Steady, 10 / 0.6}, {50, 500, Steady, 50 / 0.06},
	} {
		var list []load.Record
		for i := range c.requests { // slots begin 1 ms after each other
			at := float64(60*(i/c.slots) + i%c.slots)
			list = append(list, request(i, at, at+60))
		}
		s := Of(list, Settings{Window: Steady, Concurrency: c.slots})
		if s.Window != c.window || math.Abs(s.Values["request_rate"]-c.rate) > 1e-6*c.rate {
			t.Errorf("%d requests in %d slots: %s, %v/s, want %s, %v/s", c.requests, c.slots, s.Window,
				s.Values["request_rate"], c.window, c.rate)
		}
		if of := Of(list, Settings{Window: Whole, Concurrency: c.slots}); of.Window != Whole {
			t.Errorf("%d requests in %d slots: %s, where the whole was asked for", c.requests, c.slots, of.Window)
		}
	}
}

// The waves of an open load are its length divided by that of its requests.
func TestRatesOfAnOpenLoadOfFewWaves(t *testing.T) {
	for took, want := range map[float64]struct {
		window Window
		rate   float64
	}{
		10: {Steady, 100},
		49: {Steady, 100},
		50: {Whole, 50 / 0.54}, 490: {Whole, 50 / 0.98},
	} {
		var list []load.Record
		for i := range 50 {
			r := request(i, float64(10*i), float64(10*i)+took)
			r.Due = r.Start
			list = append(list, r)
		}
		s := Of(list, Settings{Window: Steady})
		if s.Window != want.window || math.Abs(s.Values["request_rate"]-want.rate) > 1e-6*want.rate {
			t.Errorf(
				"requests of %v ms: %s, %v/s, want %s, %v/s",
				took,
				s.Window,
				s.Values["request_rate"],
				want.window,
				want.rate,
			)
		}
	}
}

func TestMetricsOfALoad(t *testing.T) {
	var b strings.Builder
	for _, s := range settings {
		of := Of(drawn(9, 300, 30), s)
		fmt.Fprintf(&b, "%s from %d to %d ns, tokens by source %d\n", of.Window, of.From, of.To, of.Source)
		for _, name := range slices.Sorted(maps.Keys(of.Values)) {
			fmt.Fprintf(&b, "  %-28s %.9g\n", name, of.Values[name])
		}
	}
	golden.Equal(t, "testdata/metrics.golden", []byte(b.String()))
}

// nearest is the literal definition of results.NearestRank: the least value with at least this share of the values at
// or below it.
func nearest(values []float64, q results.Quantile) float64 {
	slices.Sort(values)
	for _, v := range values {
		below := 0
		for _, w := range values {
			if w <= v {
				below++
			}
		}
		if int64(below)*int64(results.Maximum) >= int64(q)*int64(len(values)) {
			return v
		}
	}
	return math.NaN()
}

func TestQuantilesAreThoseOfTheirDefinition(t *testing.T) {
	for seed := range uint64(10) {
		list := drawn(seed, 37+int(seed), 10)
		var values []float64
		for i := range list {
			switch r := &list[i]; r.Outcome {
			case load.OK:
				values = append(values, float64(r.First-r.Start)*1e-9)
			case load.Cancelled:
			default:
				values = append(values, inf)
			}
		}
		got := Of(list, Settings{}).Values
		holds(t, got, map[string]float64{
			"ttft.min": nearest(values, results.Minimum), "ttft.p50": nearest(values, results.P50),
			"ttft.p90": nearest(values, results.P90), "ttft.p95": nearest(values, results.P95),
			"ttft.p99": nearest(values, results.P99), "ttft.max": nearest(values, results.Maximum),
		})
	}
}

func BenchmarkSummary(b *testing.B) {
	list := drawn(1, 100_000, 199) // 100 events each on average
	for b.Loop() {
		Of(list, Settings{Window: Steady, SLO: SLO{TTFT: 6 * ms, ITL: ms, Latency: 30 * ms}})
	}
}
