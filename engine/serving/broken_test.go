package serving

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/load"
)

// asksWell reports whether a request only polls the endpoint.
func asksWell(a *testserver.Answer) bool { return a.Body["max_tokens"] == 1. }

const (
	firstOfTruth = 40 * time.Millisecond
	gapOfTruth   = 10 * time.Millisecond
)

// truth sends tokens on schedule: the first after firstOfTruth, the others gapOfTruth apart.
func truth(a *testserver.Answer, n int, event func(i int) string) {
	a.Stream()
	at := time.Now().Add(firstOfTruth)
	for i := range n {
		time.Sleep(time.Until(at.Add(time.Duration(i) * gapOfTruth)))
		a.Event(event(i))
	}
}

func content(i int) string { return fmt.Sprintf(`{"choices":[{"delta":{"content":" w%d"}}]}`, i) }

// brokenBy answers readiness requests normally, and otherwise sends four of ten tokens, a piece and a normal end.
// good end.
func brokenBy(piece string) func(*testserver.Answer) {
	return func(a *testserver.Answer) {
		if asksWell(a) {
			a.Steady(1, 0, 0)
			return
		}
		truth(a, 4, content)
		a.Raw(piece)
		a.Event("[DONE]")
	}
}

// metricsOf returns the metrics of a load of some requests for ten tokens, with the client's notes.
func metricsOf(t *testing.T, script func(*testserver.Answer),
	more map[string]string) (map[string]float64, serving.Facts) {
	t.Helper()
	options := map[string]string{
		"api": "chat", "concurrency": "4", "requests": "8", "output": `{"tokens":"10","exact":"true"}`,
		"slo": `{"latency":"10s"}`, "warmup": `{"waves":"0"}`, "window": "whole",
	}
	for name, text := range more {
		options[name] = text
	}
	spec := specOf(t, testserver.New(t, script).URL, options)
	parts, err := launch(t, spec, &engine.Control{})
	if err != nil {
		t.Fatal(err)
	}
	records, facts := measured(t, parts)
	return serving.Summarize(spec, records), facts
}

func has(causes []string, text string) bool {
	return strings.Contains(strings.Join(causes, "\n"), text)
}

func textsOf(facts serving.Facts) (errors, notes []string) {
	for _, c := range facts.Errors {
		errors = append(errors, fmt.Sprintf("%d × %s", c.Count, c.Text))
	}
	for _, c := range facts.Notes {
		notes = append(notes, fmt.Sprintf("%d × %s", c.Count, c.Text))
	}
	return errors, notes
}

// An answer that breaks off with status 200 counts in no latency, rate, token or goodput.
func TestBrokenAnswersDoNotCount(t *testing.T) {
	for name, c := range map[string]struct{ piece, metric, cause string }{
		"an event of its own": {
			"event: error\ndata: {\"code\":500,\"message\":\"worker lost\"}\n\n", "errors.status",
			"8 × the endpoint says: worker lost",
		},
		"detail": {
			"data: {\"detail\":\"Internal Server Error\"}\n\n", "errors.status", "says: Internal Server Error",
		},
		"abort": {
			`data: {"choices":[{"delta":{},"finish_reason":"abort"}],"usage":{"prompt_tokens":9,"completion_tokens":4}}` +
				"\n\n", "errors.truncated", `8 × the server broke the answer off: finish_reason "abort"`,
		},
		"another object": {"data: {\"status\":\"failed\"}\n\n", "errors.malformed", "neither choices nor usage"},
	} {
		t.Run(name, func(t *testing.T) {
			m, facts := metricsOf(t, brokenBy(c.piece), nil)
			errors, _ := textsOf(facts)
			if m["error_rate"] != 1 || m[c.metric] != 8 || !has(errors, c.cause) {
				t.Errorf("%v, %v", m, errors)
			}
			if m["request_rate"] != 0 || m["goodput"] != 0 || m["output_throughput"] != 0 || m["slo.latency"] != 0 {
				t.Errorf("%v", m)
			}
			_, counted := m["output.tokens"]
			if _, timed := m["latency.avg"]; timed || counted || m["latency.p50"] != results.Unbounded {
				t.Errorf("%v", m)
			}
		})
	}
}

// Half of the answers break off: the metrics are of the others.
func TestHalfOfTheAnswersBreakOff(t *testing.T) {
	var n int
	script := brokenBy("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"abort\"}]}\n\n")
	m, _ := metricsOf(t, func(a *testserver.Answer) {
		if n++; n%2 == 0 || asksWell(a) {
			a.Steady(10, firstOfTruth, gapOfTruth)
			return
		}
		script(a)
	}, map[string]string{"concurrency": "1"})
	if m["error_rate"] != 0.5 || m["output.tokens"] != 10 || m["latency.min"] < 0.13 {
		t.Errorf("%v", m)
	}
}

// An implausible usage is ignored with a note, and events are counted.
func TestImplausibleUsage(t *testing.T) {
	for usage, c := range map[string]struct {
		by   load.TokenSource
		note string
	}{
		`{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}`: {
			load.ByEvents, "8 × usage has 0 tokens for an answer with output: it is ignored",
		},
		`{"prompt_tokens":9,"completion_tokens":1000000}`: {
			load.ByEvents, "8 × usage has far more tokens than requested: it is ignored",
		},
		`{}`: {load.ByEvents, ""},
		`{"prompt_tokens":9.0,"completion_tokens":10.0,"total_tokens":19.0}`: {load.ByUsage, ""},
	} {
		m, facts := metricsOf(t, func(a *testserver.Answer) {
			if asksWell(a) {
				a.Steady(1, 0, 0)
				return
			}
			truth(a, 10, content)
			a.Event(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
			a.Event(`{"choices":[],"usage":` + usage + `}`)
			a.Event("[DONE]")
		}, nil)
		_, notes := textsOf(facts)
		_, timed := m["itl.p50"] // how long it was depends on the machine
		if m["error_rate"] != 0 || m["output.tokens"] != 10 || m["tokens.counted_by"] != float64(c.by) || !timed ||
			c.note != "" && !has(notes, c.note) || c.note == "" && len(notes) > 0 {
			t.Errorf("%s: %v, %v", usage, m, notes)
		}
		b := serving.Kind.Behaviour.(workload.AlwaysInconclusive)
		why := b.Undecidable(nil, results.ValuesOf(m), "output_throughput")
		if (why != "") != (c.by == load.ByEvents) {
			t.Errorf("%s: %q", usage, why)
		}
	}
}

// Output in unknown members affects neither times nor counts.
func TestOutputInUnknownMembers(t *testing.T) {
	for _, thought := range []string{
		`"reasoning_details":[{"type":"reasoning.text","text":"t"}],"content":""`, `"thinking":"t"`,
		`"not_known":["t"]`,
	} {
		m, facts := metricsOf(t, func(a *testserver.Answer) {
			if asksWell(a) {
				a.Steady(1, 0, 0)
				return
			}
			truth(a, 10, func(i int) string {
				if i < 5 {
					return `{"choices":[{"delta":{` + thought + `}}]}`
				}
				return content(i)
			})
			a.Finish(9, 10)
		}, nil)
		first, gap := firstOfTruth.Seconds(), gapOfTruth.Seconds()
		if m["ttft.min"] < first || m["ttft.min"] > first+4*gap || m["ttfo.min"] < first+5*gap ||
			math.Abs(m["itl.p50"]-gap) > 0.005 || len(facts.Notes) > 0 {
			t.Errorf("%s: %v, %v", thought, m, facts.Notes)
		}
	}
}

// Peculiarities of successful requests are noted.
func TestOddRequestsAreNoted(t *testing.T) {
	_, facts := metricsOf(t, func(a *testserver.Answer) {
		a.Stream()
		a.Event(`{"choices":[{"delta":{"content":""}}]}`)
		a.Event(content(1))
		a.Finish(9, 2)
	}, nil)
	if _, notes := textsOf(facts); !has(notes, "8 × empty events came before the first with output") ||
		!has(notes, "8 × the answer is shorter than output: {exact: true} asks for") {
		t.Errorf("%v", notes)
	}
}

// The environment's proxy is used on request, and noted either way.
func TestProxiesAreNoted(t *testing.T) {
	proxy := testserver.New(t, func(a *testserver.Answer) { a.Steady(10, 0, 0) })
	for _, name := range []string{"HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"} {
		t.Setenv(name, "")
	}
	t.Setenv("http_proxy", proxy.URL)
	through := specOf(t, "http://model.invalid", map[string]string{"requests": "4", "proxy": "environment"})
	parts, err := launch(t, through, &engine.Control{})
	if err != nil {
		t.Fatal(err)
	}
	records, facts := measured(t, parts)
	if _, notes := textsOf(facts); len(records) != 4 ||
		!has(notes, "4 × requests went through the proxy "+proxy.URL+" of http_proxy") {
		t.Errorf("%v", notes)
	}
	beside := specOf(t, "http://model.invalid", map[string]string{"requests": "4", "ready": `{"timeout":"100ms"}`})
	if _, err := launch(t, beside, &engine.Control{}); err == nil ||
		!strings.Contains(err.Error(), "of http_proxy was not used; proxy: environment uses it") {
		t.Error(err)
	}
}

// A launch has a note of tokens that came at once, and of more tokens than were asked for.
func TestNotesOfTokens(t *testing.T) {
	for name, c := range map[string]struct {
		events, tokens int
		note           string
	}{
		"in one event": {1, 10, "8 × all tokens of the answer came at once"},
		"in a burst":   {10, 10, "8 × all tokens of the answer came at once"},
		"too many":     {2, 11, "8 × the answer has more tokens than were asked for"},
	} {
		m, facts := metricsOf(t, func(a *testserver.Answer) {
			a.Stream()
			var burst strings.Builder
			for i := range c.events {
				if event := "data: " + content(i) + "\n\n"; c.events == 2 {
					a.Raw(event)
					time.Sleep(gapOfTruth)
				} else {
					burst.WriteString(event)
				}
			}
			a.Raw(burst.String())
			a.Finish(9, c.tokens)
		}, nil)
		_, timed := m["itl.p50"]
		if _, notes := textsOf(facts); !has(notes, c.note) || len(notes) != 1 || timed != (c.events > 1) {
			t.Errorf("%s: %v, %v", name, m, notes)
		}
	}
}
