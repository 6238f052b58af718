package serving

import (
	"fmt"
	"strings"

	"weir/results"
	"weir/serving"
	"weir/workload"
)

// families are the distributions of times, in the order of reports, with what they are of.
var families = []struct{ name, of string }{
	{
		"ttft",
		"time to first token: from handing a request to the transport to the first event with generated output on any channel (content, reasoning, tool call, any other member of a delta that says something), which arrives when the client's kernel receives it",
	},
	{"ttfo", "time to first output: as ttft, to the first event with content"},
	{"itl", "inter-token latency of a request: (last event - first event) / (tokens - tokens of the first event)"},
	{
		"latency",
		"end-to-end time of a request: from handing it to the transport to its last event with generated output",
	},
	{"chunk_gap", "time between two events with generated output of one request, over all requests together"},
	{"scheduled.ttft", "as ttft, from when the request was due"},
	{"scheduled.latency", "as latency, from when the request was due"},
	{
		"dispatch_delay",
		"from when a request was due until it was handed to the transport: what the client or max_in_flight made it wait",
	},
}

var statistics = []struct{ name, doc string }{
	{"avg", "mean over the requests that succeeded"}, {"min", "least"}, {"p50", "median"}, {"p90", "90th percentile"},
	{"p95", "95th percentile"}, {"p99", "99th percentile"}, {"max", "most"},
}

// plain are the other metrics; docs.md has their texts.
var plain = []workload.Metric{
	{Name: "stall.max", Unit: "s", Better: workload.Lower, MayBeZero: true},
	{Name: "request_rate", Unit: "1/s", Better: workload.Higher, MayBeZero: true},
	{Name: "output_throughput", Unit: "1/s", Better: workload.Higher, Headline: true, MayBeZero: true},
	{Name: "output_throughput.per_gpu", Unit: "1/s", Better: workload.Higher, MayBeZero: true},
	{Name: "total_throughput", Unit: "1/s", Better: workload.Higher, MayBeZero: true},
	{Name: "speed.per_user.p50", Unit: "1/s", Better: workload.Higher, CountedBy: "requests", MayBeZero: true},
	{Name: "goodput", Unit: "1/s", Better: workload.Higher, MayBeZero: true},
	{Name: "goodput.tokens", Unit: "1/s", Better: workload.Higher, MayBeZero: true},
	{Name: "slo.ttft", Better: workload.Higher, MayBeZero: true},
	{Name: "slo.itl", Better: workload.Higher, MayBeZero: true},
	{Name: "slo.latency", Better: workload.Higher, MayBeZero: true},
	{Name: "error_rate", Better: workload.Lower, MayBeZero: true},
	{Name: "errors.connect", Better: workload.Lower, MayBeZero: true},
	{Name: "errors.timeout", Better: workload.Lower, MayBeZero: true},
	{Name: "errors.status", Better: workload.Lower, MayBeZero: true},
	{Name: "errors.truncated", Better: workload.Lower, MayBeZero: true},
	{Name: "errors.malformed", Better: workload.Lower, MayBeZero: true},
	{Name: "errors.empty", Better: workload.Lower, MayBeZero: true},
	{Name: "concurrency.effective", Better: workload.Neither, MayBeZero: true},
	{Name: "requests", Better: workload.Neither, Fixed: true},
	{Name: "input.tokens", Better: workload.Neither},
	{Name: "output.tokens", Better: workload.Neither, MayBeZero: true},
	{Name: "output.short", Better: workload.Lower, MayBeZero: true},
	{Name: "input.cached", Better: workload.Neither, MayBeZero: true},
	{Name: "found.concurrency", Better: workload.Higher, MayBeZero: true},
	{Name: "found.rate", Unit: "1/s", Better: workload.Higher, MayBeZero: true},
	{Name: "cold.ttft", Unit: "s", Better: workload.Lower},
	{Name: "ready.time", Unit: "s", Better: workload.Lower, MayBeZero: true},
	{Name: "client.cpu", Better: workload.Lower, MayBeZero: true},
	{Name: "client.lateness.p50", Unit: "s", Better: workload.Lower, MayBeZero: true},
	{Name: "client.lateness.p99", Unit: "s", Better: workload.Lower, MayBeZero: true},
	{Name: "client.floor.ttft", Unit: "s", Better: workload.Neither},
	{Name: "reuse", Better: workload.Higher, MayBeZero: true},
	{Name: "tokens.counted_by", Better: workload.Neither, MayBeZero: true},
}

// defined are all metrics.
var defined = metrics()

func metrics() (all []workload.Metric) {
	for _, f := range families {
		for _, s := range statistics {
			m := workload.Metric{
				Name: f.name + "." + s.name, Unit: "s", Better: workload.Lower, MayBeZero: f.name != "latency",
				Doc: fmt.Sprintf("%s: %s", s.doc, f.of), Headline: f.name == "ttft" && s.name == "p50",
			}
			if strings.HasPrefix(s.name, "p") {
				m.Quantile = s.name
			}
			if m.Quantile != "" && f.name != "chunk_gap" && f.name != "client" {
				m.CountedBy = "requests"
			}
			all = append(all, m)
		}
	}
	return append(all, plain...)
}

// countsTokens says whether a metric is made of numbers of output tokens.
func countsTokens(metric string) bool {
	switch metric {
	case "output_throughput", "output_throughput.per_gpu", "total_throughput", "speed.per_user.p50", "goodput.tokens",
		"slo.itl", "output.tokens", "output.short", "input.tokens", "input.cached":
		return true
	}
	return strings.HasPrefix(metric, "itl.")
}

// undecidable says why a metric of a launch decides nothing: tokens that nobody counted, what no search
// looks for, or what the server does not tell.
func undecidable(options map[string]any, m workload.MetricValues, metric string) string {
	if axis, ok := strings.CutPrefix(metric, "found."); ok {
		text, _ := options["search"].(string)
		if s, _, _ := readSearch(text); s == nil || s.Axis != axis { // its errors are told where it is read
			return fmt.Sprintf("%s is what a search along %s finds, and the run has none", metric, axis)
		}
	}
	if _, measured := m.Get("requests"); measured && metric == "input.cached" {
		if _, told := m.Get(metric); !told {
			return "the server does not tell how many tokens of prompts it had cached (usage.prompt_tokens_details); of vLLM: --enable-prompt-tokens-details"
		}
	}
	if by, ok := m.Get("tokens.counted_by"); ok && countsTokens(metric) &&
		by != float64(serving.ByUsage) && by != float64(serving.ByTokenizer) {
		return fmt.Sprintf(
			"%s: the server told no usage that can be true, so an event was taken for a token; tokenizer: endpoint asks its /tokenize",
			metric,
		)
	}
	return ""
}

// Limits of a client whose measurement is of the server.
const (
	mostCPU      = 0.5
	mostLateness = 0.010 // s, of the 99th percentile of its timers
	// shareOfLatency is by how much of the median latency timers may be late all the same.
	shareOfLatency = 0.05
	mostDelay      = 0.010 // s, of the median request of an open load without a limit
)

// invalid says why what a launch measured is of the client and not of the server.
func invalid(options map[string]any, m workload.MetricValues) string {
	if v, ok := m.Get("client.cpu"); ok && v > mostCPU {
		return fmt.Sprintf(
			"the client was the bottleneck: it used %.0f %% of its processors, where %.0f %% is the most; give it more of them, or more ranks",
			100*v,
			100*mostCPU,
		)
	}
	limited := false
	if values, err := Kind.Normalize(options); err == nil {
		n, _ := values["max_in_flight"].(int64)
		limited = n > 0
	}
	if v, ok := m.Get("dispatch_delay.p50"); ok && !limited && v > mostDelay {
		return fmt.Sprintf(
			"the client was the bottleneck: it sent the median request %.1f ms after it was due, where %.0f ms is the most",
			1e3*v,
			1e3*mostDelay,
		)
	}
	return ""
}

// disturbed says that the client's timers were late by more than its measurement bears: its host is busy.
func disturbed(m workload.MetricValues) *results.Disturbance {
	late, ok := m.Get("client.lateness.p99")
	latency, measured := m.Get("latency.p50")
	if !ok || !measured || late <= mostLateness || late <= shareOfLatency*latency {
		return nil
	}
	return &results.Disturbance{Cause: results.Delayed, Share: min(late/latency, 1),
		Text: fmt.Sprintf("the client did not keep time: its timers were %.1f ms late (p99), where %.0f ms, or %.0f %% of latency.p50, is the most",
			1e3*late, 1e3*mostLateness, 100*shareOfLatency)}
}
