package summary

import (
	"math"
	"testing"

	"github.com/weir-bench/weir/workload/serving/load"
)

const ms = 1e6 // ns

// request is a record with events at these times, in ms. Without events it has failed.
func request(index int, start float64, at ...float64) load.Record {
	r := load.Record{
		Index: index, Session: index, Phase: load.Measured, Due: load.Never,
		Slot: int64(start * ms), Start: int64(start * ms),
		Connected: int64(start * ms), Sent: int64(start * ms), Headers: load.Never, First: load.Never,
		FirstContent: load.Never, Last: load.Never, Done: int64((start + 10) * ms),
		Input: load.Unknown, Output: load.Unknown, Cached: load.Unknown, Outcome: load.Connect,
	}
	if len(at) == 0 {
		return r
	}
	for _, t := range at {
		r.Events = append(r.Events, load.Event{At: int64(t * ms), Tokens: load.Unknown})
	}
	r.First, r.Last = r.Events[0].At, r.Events[len(at)-1].At
	r.Outcome, r.Headers, r.FirstContent, r.Done = load.OK, r.First, r.First, r.Last
	r.Input, r.Output, r.Source = 10, len(at), load.ByUsage
	return r
}

// closed is a load of two slots. The events of the last request have 2, 1 and 2 tokens.
func closed() []load.Record {
	list := []load.Record{
		request(0, 0, 100, 200, 300, 400),
		request(1, 0, 200, 250, 300),
		request(2, 300, 500, 600),
		request(3, 400), // fails at 410
		request(4, 410, 500, 510, 700),
	}
	list[4].Output = 5
	for i, tokens := range []int{2, 3, 5} {
		list[4].Events[i].Tokens = int32(tokens)
	}
	return list
}

func holds(t *testing.T, got map[string]float64, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		g, ok := got[name]
		if !ok || math.Abs(g-v) > 1e-9*math.Abs(v) && g != v {
			t.Errorf("%s is %v (%v), not %v", name, g, ok, v)
		}
	}
}

func absent(t *testing.T, got map[string]float64, names ...string) {
	t.Helper()
	for _, name := range names {
		if v, ok := got[name]; ok {
			t.Errorf("%s is %v, and nothing tells", name, v)
		}
	}
}

var inf = math.Inf(1)

func TestAClosedLoad(t *testing.T) {
	s := Of(closed(), Settings{
		Window: Steady, Concurrency: 2, GPUs: 4, SLO: SLO{TTFT: 150 * ms, ITL: 80 * ms, Latency: 350 * ms},
	})
	// Five requests in two slots are too few waves for a steady part.
	if s.From != 0 || s.To != 700*ms || s.Window != Whole || s.Source != load.ByUsage {
		t.Errorf("%+v", s)
	}
	holds(t, s.Values, map[string]float64{
		// 90 100 200 200 and a failure
		"ttft.min": 0.09, "ttft.p50": 0.2, "ttft.p90": inf, "ttft.max": inf, "ttft.avg": (0.09 + 0.1 + 0.2 + 0.2) / 4,
		"ttfo.p50": 0.2, "ttfo.max": inf,
		// 100/2, 200/(5-2), 300/3, 100/1 and a failure
		"itl.min": 0.05, "itl.p50": 0.1, "itl.p95": inf, "itl.avg": (0.05 + 0.2/3 + 0.1 + 0.1) / 4,
		// 290 300 300 400 and a failure
		"latency.min": 0.29, "latency.p50": 0.3, "latency.p99": inf, "latency.avg": (0.29 + 0.3 + 0.3 + 0.4) / 4,
		// 10 50 50 100 100 100 100 190
		"chunk_gap.min": 0.01, "chunk_gap.p50": 0.1, "chunk_gap.p90": 0.19, "chunk_gap.avg": 0.7 / 8, "stall.max": 0.19,
		// 0 10 10 15 20
		"speed.per_user.p50": 10,
		"request_rate":       4 / 0.7, "output_throughput": 14 / 0.7, "output_throughput.per_gpu": 14 / 0.7 / 4,
		"total_throughput": (14 + 4*10) / 0.7,
		// 400 + 300 + 300 + 10 + 290
		"concurrency.effective": 1.3 / 0.7,
		"slo.ttft":              2. / 5, "slo.itl": 2. / 5, "slo.latency": 3. / 5,
		"goodput": 1 / 0.7, "goodput.tokens": 5 / 0.7, // the last
		"error_rate": 1. / 5, "errors.connect": 1, "errors.timeout": 0, "errors.empty": 0, "requests": 5,
		"input.tokens": 10, "output.tokens": (4 + 3 + 2 + 5) / 4., "reuse": 0,
	})
	absent(t, s.Values, "scheduled.ttft.p50", "scheduled.latency.avg", "dispatch_delay.p50", "input.cached",
		"output.short", "cold.ttft")
}

func TestWholeWindow(t *testing.T) {
	s := Of(closed(), Settings{Window: Whole, Concurrency: 2, SLO: SLO{TTFT: 150 * ms, ITL: 80 * ms}})
	if s.From != 0 || s.To != 700*ms || s.Window != Whole {
		t.Errorf("%+v", s)
	}
	holds(t, s.Values, map[string]float64{
		"request_rate": 4 / 0.7, "output_throughput": 14 / 0.7, "total_throughput": (14 + 40) / 0.7,
		"concurrency.effective": (0.4 + 0.3 + 0.3 + 0.01 + 0.29) / 0.7, "goodput": 1 / 0.7, "goodput.tokens": 5 / 0.7,
	})
	absent(t, s.Values, "output_throughput.per_gpu", "slo.latency")
}

func TestAnOpenLoad(t *testing.T) {
	list := []load.Record{
		request(0, 0, 50, 60),
		request(1, 130, 150, 160), // due at 100
		request(2, 200, 250, 330), // due at 200
		request(3, 0),             // never sent
	}
	for i, due := range []int64{0, 100, 200, 300} {
		list[i].Due = due * ms
	}
	list[3].Outcome, list[3].Start, list[3].Connected, list[3].Done = load.Unfinished, load.Never, load.Never,
		load.Never
	s := Of(list, Settings{Window: Steady, SLO: SLO{TTFT: 50 * ms, Latency: 60 * ms}})
	if s.From != 0 || s.To != 330*ms || s.Window != Whole { // 4 times as long as a request
		t.Errorf("%+v", s)
	}
	holds(t, s.Values, map[string]float64{
		"scheduled.ttft.min": 0.05, "scheduled.ttft.p50": 0.05, "scheduled.ttft.p90": inf, // 50 50 50
		"ttft.min":              0.02,                                                                  // 20 50 50
		"scheduled.latency.p50": 0.06, "scheduled.latency.avg": 0.25 / 3, "scheduled.latency.max": inf, // 60 60 130
		"dispatch_delay.min": 0, "dispatch_delay.p50": 0, "dispatch_delay.p90": inf, "dispatch_delay.avg": 0.01,
		"request_rate": 3 / 0.33, "output_throughput": 6 / 0.33, // the last token comes at 330
		"slo.ttft": 3. / 4, "slo.latency": 2. / 4, "goodput": 2 / 0.33, // counted from their scheduled times
		"error_rate": 1. / 4, "errors.timeout": 0, "requests": 4,
	})
}

func TestCancelledRequestsAreNeitherGoodNorBad(t *testing.T) {
	list := append(closed(), request(5, 100, 110, 115))
	list[5].Outcome, list[5].Output, list[5].Source = load.Cancelled, load.Unknown, load.ByNobody
	s := Of(list, Settings{Window: Whole, SLO: SLO{TTFT: 150 * ms}})
	holds(t, s.Values, map[string]float64{
		"requests": 5, "error_rate": 1. / 5, "ttft.min": 0.09, "slo.ttft": 2. / 5, "request_rate": 4 / 0.7,
		"output_throughput": (14 + 2) / 0.7, // its two events
		"chunk_gap.min":     0.005,
	})
	if s.Source != load.ByUsage {
		t.Errorf("tokens are counted by %v", s.Source)
	}
}

func TestUnknownValuesAreAbsent(t *testing.T) {
	list := []load.Record{request(0, 0, 100), request(1, 0, 120, 130)}
	for i := range list {
		list[i].Input = load.Unknown
	}
	list[0].Output, list[1].Output = 1, load.Unknown
	s := Of(list, Settings{Window: Whole, SLO: SLO{ITL: 1e12}})
	// neither has an inter-token latency: one has a single token, the other an unknown number
	absent(t, s.Values, "itl.p50", "itl.avg", "speed.per_user.p50", "total_throughput", "input.tokens", "input.cached")
	holds(t, s.Values, map[string]float64{"slo.itl": 0, "output_throughput": 3 / 0.13, "output.tokens": 1})

	s = Of(nil, Settings{Window: Steady, Concurrency: 1})
	if len(s.Values) != 1 || s.Values["requests"] != 0 {
		t.Errorf("%v of no records", s.Values)
	}
}

func TestALoadThatFailsHasNoTokens(t *testing.T) {
	s := Of([]load.Record{request(0, 0), request(1, 10)}, Settings{Window: Steady, Concurrency: 4})
	if s.Window != Whole || s.To != 20*ms {
		t.Errorf("%+v", s)
	}
	holds(t, s.Values, map[string]float64{
		"request_rate": 0, "output_throughput": 0, "error_rate": 1, "ttft.min": inf, "latency.p50": inf,
		"speed.per_user.p50": 0,
	})
	absent(t, s.Values, "ttft.avg", "output.tokens", "chunk_gap.p50", "stall.max")
}

func TestTokensOfInputAndOutput(t *testing.T) {
	list := closed()
	for i := range list {
		list[i].AskedOutput, list[i].Reused = 4, i > 1
	}
	list[0].Cached, list[1].Cached, list[1].Input = 5, 0, 30
	list[2].Source = load.ByEvents
	s := Of(list, Settings{Window: Whole})
	holds(t, s.Values, map[string]float64{
		"output.short": 2. / 4, "input.cached": 5. / 40, "input.tokens": 60. / 4, "reuse": 3. / 5,
	})
	if s.Source != load.ByEvents {
		t.Errorf("tokens are counted by %v", s.Source)
	}
	list[2].Source = load.ByNobody
	if s := Of(list, Settings{}); s.Source != load.ByNobody {
		t.Errorf("tokens are counted by %v", s.Source)
	}
}

func TestTheColdStartIsTheFirstSuccess(t *testing.T) {
	list := []load.Record{request(0, 0), request(2, 500, 530), request(1, 100, 400), request(0, 700, 710)}
	for i := range 3 {
		list[i].Phase = load.Ready
	}
	holds(t, Of(list, Settings{}).Values, map[string]float64{"cold.ttft": 0.3, "ttft.max": 0.01, "requests": 1})
}

func TestReasoningIsTheFirstTokenAndNotTheFirstContent(t *testing.T) {
	list := []load.Record{request(0, 0, 50, 80, 110), request(1, 0, 60, 70)}
	list[0].FirstContent, list[1].FirstContent = 110*ms, load.Never
	holds(t, Of(list, Settings{}).Values, map[string]float64{"ttft.max": 0.06, "ttfo.min": 0.11, "ttfo.max": 0.11})
}

// The events of several choices interleave: the times between them are not measured.
func TestSeveralChoices(t *testing.T) {
	got := Of(closed(), Settings{Window: Whole, Concurrency: 2, Several: true}).Values
	one := Of(closed(), Settings{Window: Whole, Concurrency: 2}).Values
	absent(t, got, "itl.p50", "itl.avg", "chunk_gap.p50", "stall.max", "speed.per_user.p50")
	for _, name := range []string{"ttft.p50", "latency.avg", "output_throughput", "error_rate"} {
		holds(t, got, map[string]float64{name: one[name]})
	}
}

// The tokens of a single event are all of the answer: nothing shows the time between them, and nobody waited for it.
func TestTokensOfASingleEvent(t *testing.T) {
	list := []load.Record{request(0, 0, 100), request(1, 0, 120, 120), request(2, 0, 100, 120)}
	list[0].Output, list[1].Output, list[2].Output = 10, 10, 11
	s := Of(list, Settings{Window: Whole, SLO: SLO{ITL: 1 * ms}})
	holds(t, s.Values, map[string]float64{"itl.min": 0, "itl.max": 0.002, "itl.avg": 0.001, "slo.itl": 2. / 3})
}
