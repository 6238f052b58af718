package serving

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/weir-bench/weir/results"
)

// aiperfTimes maps names of aiperf to families of metrics.
var aiperfTimes = []struct{ name, family string }{
	{"request_latency", "latency"}, {"time_to_first_token", "ttft"}, {"time_to_first_output_token", "ttfo"},
	{"inter_token_latency", "itl"}, {"inter_chunk_latency", "chunk_gap"},
}

// aiperfNumbers maps names of aiperf to a metric, its unit there, and the factor of weir's value.
var aiperfNumbers = []struct {
	name, metric, unit string
	factor             float64
}{
	{"request_throughput", "request_rate", "requests/sec", 1},
	{"output_token_throughput", "output_throughput", "tokens/sec", 1},
	{"total_token_throughput", "total_throughput", "tokens/sec", 1},
	{"goodput", "goodput", "requests/sec", 1},
	{"request_error_rate", "error_rate", "%", 100},
	{"effective_concurrency", "concurrency.effective", "requests", 1},
	{"output_sequence_length", "output.tokens", "tokens", 1},
	{"input_sequence_length", "input.tokens", "tokens", 1},
}

// aiperf formats a case with the names of aiperf's profile_export_aiperf.json (schema 1.4). It leaves out unbounded
// times, which failed requests cause.
func aiperf(option func(string) string, metric func(string) (float64, bool)) []string {
	all := map[string]any{
		"schema_version": "1.4",
		"was_cancelled":  false,
		"is_complete":    true,
		"error_summary":  []any{},
	}
	for _, t := range aiperfTimes {
		times := map[string]any{"unit": "ms"}
		for _, s := range statistics {
			if v, ok := metric(t.family + "." + s.name); ok && v < results.Unbounded {
				times[s.name] = v * 1e3
			}
		}
		if len(times) > 1 {
			all[t.name] = times
		}
	}
	for _, n := range aiperfNumbers {
		if v, ok := metric(n.metric); ok {
			all[n.name] = map[string]any{"unit": n.unit, "avg": v * n.factor}
		}
	}
	if n, ok := metric("requests"); ok { // aiperf counts those that succeeded
		rate, _ := metric("error_rate")
		failed := math.Round(n * rate)
		for name, count := range map[string]float64{"request_count": n - failed, "error_request_count": failed} {
			all[name] = map[string]any{"unit": "requests", "avg": count}
		}
	}
	if v, ok := metric("speed.per_user.p50"); ok {
		all["output_token_throughput_per_user"] = map[string]any{"unit": "tokens/sec/user", "p50": v}
	}
	all["input_config"] = map[string]any{
		"models": map[string]any{"items": []any{map[string]any{"name": option("model")}}},
		"endpoint": map[string]any{
			"urls": []string{option("url")}, "type": option("api"), "streaming": option("stream") == "true",
		},
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil { // NaN or infinity, which metrics are not
		return []string{"{}"}
	}
	return strings.Split(string(text), "\n")
}
