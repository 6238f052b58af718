package serving

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving/load"
)

type family struct{ name, doc string }

// counts says what the mean of the family is over, and what failed requests are in its quantiles.
func (f family) counts() (mean, failed string) {
	switch f.name {
	case "chunk_gap":
		return ". Mean over the gaps of the successful requests", ""
	case "dispatch_delay":
		return ". Mean over the requests that were sent", "; a request that was never sent counts as infinite"
	}
	return ". Mean over the successful requests", "; a failed request counts as infinite"
}

// families are the distributions of times, in the order of reports, with their definitions.
var families = []family{
	{
		"ttft",
		"time to first token, from handing a request to the transport to the first event with generated output on any channel (content, reasoning, tool call, any other non-empty member of a delta). An event arrives when the client's kernel receives it",
	},
	{"ttfo", "time to first output, as ttft to the first event with content"},
	{"itl", "inter-token latency of a request: (last event - first event) / (tokens - tokens of the first event)"},
	{
		"latency",
		"end-to-end time of a request, from handing it to the transport to its last event with generated output",
	},
	{"chunk_gap", "time between consecutive events with generated output of one request, over all requests together"},
	{"scheduled.ttft", "as ttft, from the scheduled time of the request"},
	{"scheduled.latency", "as latency, from the scheduled time of the request"},
	{
		"dispatch_delay",
		"time from the scheduled time of a request until it is handed to the transport: delay by the client or max_in_flight",
	},
}

// statistics are the metrics of a family. The first one has the definition; others refer to it.
var statistics = []struct{ name, doc string }{
	{"avg", "mean"}, {"min", "minimum"}, {"p50", "median"}, {"p90", "90th percentile"}, {"p95", "95th percentile"},
	{"p99", "99th percentile"}, {"max", "maximum"},
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

// defined are all metrics of the workload.
var defined = metrics()

func metrics() (all []workload.Metric) {
	for _, f := range families {
		mean, failed := f.counts()
		for i, s := range statistics {
			doc := fmt.Sprintf("%s of %s, as %s.%s defines it%s", s.doc, f.name, f.name, statistics[0].name, failed)
			if i == 0 {
				doc = f.doc + mean
			}
			m := workload.Metric{
				Name: f.name + "." + s.name, Unit: "s", Better: workload.Lower, MayBeZero: f.name != "latency",
				Doc: doc, Headline: f.name == "ttft" && s.name == "p50",
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

// countsTokens reports whether a metric depends on numbers of output tokens.
func countsTokens(metric string) bool {
	switch metric {
	case "output_throughput", "output_throughput.per_gpu", "total_throughput", "speed.per_user.p50", "goodput.tokens",
		"slo.itl", "output.tokens", "output.short", "input.tokens", "input.cached":
		return true
	}
	return strings.HasPrefix(metric, "itl.")
}

// Undecidable says why a metric of a launch is inconclusive: tokens were not counted, the run has no such search, or
// the server does not report the value.
func (behaviour) Undecidable(options map[string]any, m workload.MetricValues, metric string) string {
	if axis, ok := strings.CutPrefix(metric, "found."); ok {
		text, _ := options["search"].(string)
		if s, _ := readSearch(text); s == nil || s.Axis != axis { // errors are reported elsewhere
			return fmt.Sprintf("%s needs a search along %s, which the run lacks", metric, axis)
		}
	}
	if _, measured := m.Get("requests"); measured && metric == "input.cached" {
		if _, given := m.Get(metric); !given {
			return "the server does not report cached prompt tokens (usage.prompt_tokens_details); vLLM does with --enable-prompt-tokens-details"
		}
	}
	if failed, _ := m.Get("error_rate"); failed == 1 {
		return "" // nothing was counted, and a failed request has its value
	}
	if by, ok := m.Get("tokens.counted_by"); ok && countsTokens(metric) &&
		by != float64(load.ByUsage) && by != float64(load.ByTokenizer) {
		return fmt.Sprintf(
			"%s: the server sent no plausible usage, so each event counted as a token; let it send usage, or set tokenizer: endpoint if it has /tokenize",
			metric,
		)
	}
	return ""
}

// Limits above which the client is the bottleneck.
const (
	maxCPU      = 0.5
	maxLateness = 0.010 // s, of the 99th percentile of its timers
	// shareOfLatency is the allowed lateness of timers as a share of the median latency.
	shareOfLatency = 0.05
	maxDelay       = 0.010 // s, of the median request of an open load without a limit
)

// Invalid says why a launch measured the client and not the server.
func (behaviour) Invalid(options map[string]any, m workload.MetricValues) string {
	if v, ok := m.Get("client.cpu"); ok && v > maxCPU {
		return fmt.Sprintf(
			"the client was the bottleneck: it used %.0f %% of its processors (limit: %.0f %%); give it more processors, or more ranks",
			100*v,
			100*maxCPU,
		)
	}
	limited := false
	if values, err := Kind.Normalize(options); err == nil {
		n, _ := values["max_in_flight"].(int64)
		limited = n > 0
	}
	if v, ok := m.Get("dispatch_delay.p50"); ok && !limited && v > maxDelay {
		return fmt.Sprintf(
			"the client was the bottleneck: it sent the median request %.1f ms after its scheduled time (limit: %.0f ms)",
			1e3*v,
			1e3*maxDelay,
		)
	}
	return ""
}

// Disturbed reports a busy host by timers of the client that are too late.
func (behaviour) Disturbed(m workload.MetricValues) *results.Disturbance {
	late, ok := m.Get("client.lateness.p99")
	latency, measured := m.Get("latency.p50")
	if !ok || !measured || late <= maxLateness || late <= shareOfLatency*latency {
		return nil
	}
	return &results.Disturbance{Cause: results.Delayed, Share: min(late/latency, 1),
		Text: fmt.Sprintf("the client's timers were %.1f ms late (p99; limit: %.0f ms, or %.0f %% of latency.p50)",
			1e3*late, 1e3*maxLateness, 100*shareOfLatency)}
}
