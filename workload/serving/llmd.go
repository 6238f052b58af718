package serving

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/results"
)

// llmdTimes maps names of llm-d's report to families of metrics and their units there.
var llmdTimes = []struct{ name, family, units string }{
	{"request_latency", "latency", "s"}, {"time_to_first_token", "ttft", "s"},
	{"time_per_output_token", "itl", "s/token"}, {"inter_token_latency", "chunk_gap", "s/token"},
}

// llmdRates maps names of llm-d's report to metrics and their units there.
var llmdRates = []struct{ name, metric, units string }{
	{"output_token_rate", "output_throughput", "tokens/s"}, {"total_token_rate", "total_throughput", "tokens/s"},
	{"request_rate", "request_rate", "queries/s"},
}

// llmd formats a case as a standard report of llm-d-benchmark (version 0.2), null if nothing was measured. It leaves
// out distributions without a mean, which the format demands.
func llmd(option func(string) string, metric func(string) (float64, bool)) []string {
	latency, rates, requests := map[string]any{}, map[string]any{}, map[string]any{}
	for _, t := range llmdTimes {
		times := map[string]any{"units": t.units}
		for _, s := range statistics {
			name := s.name
			if name == "avg" {
				name = "mean"
			}
			if v, ok := metric(t.family + "." + s.name); ok && v < results.Unbounded {
				times[name] = v
			}
		}
		if times["mean"] != nil {
			latency[t.name] = times
		}
	}
	for _, r := range llmdRates {
		if v, ok := metric(r.metric); ok {
			rates[r.name] = map[string]any{"units": r.units, "mean": v}
		}
	}
	if n, ok := metric("requests"); ok {
		requests["total"] = math.Round(n)
		if rate, ok := metric("error_rate"); ok {
			requests["failures"] = math.Round(n * rate)
		}
	}
	for name, m := range map[string]string{"input_length": "input.tokens", "output_length": "output.tokens"} {
		if v, ok := metric(m); ok {
			requests[name] = map[string]any{"units": "count", "mean": v}
		}
	}
	if len(latency)+len(rates) == 0 { // the format demands one
		return []string{"null"}
	}
	aggregate := map[string]any{"latency": latency, "throughput": rates}
	if requests["total"] != nil {
		aggregate["requests"] = requests
	}
	text, err := json.MarshalIndent(map[string]any{
		"version":  "0.2",
		"run":      map[string]any{},
		"scenario": map[string]any{"load": llmdLoad(option, metric)},
		"results":  map[string]any{"request_performance": map[string]any{"aggregate": aggregate}},
	}, "", "  ")
	if err != nil { // NaN or infinity, which metrics are not
		return []string{"{}"}
	}
	return strings.Split(string(text), "\n")
}

// llmdLoad describes the load of a case.
func llmdLoad(option func(string) string, metric func(string) (float64, bool)) map[string]any {
	length := 1.0 // the least that the format allows
	if v, ok := metric("input.tokens"); ok {
		length = max(1, v)
	}
	load := map[string]any{
		"tool": "weir", "tool_version": "", "source": "random", "stage": 0,
		"input_seq_len": map[string]any{"distribution": "other", "value": length},
	}
	if n, err := strconv.Atoi(option("concurrency")); err == nil && n > 0 {
		load["concurrency"] = n
	}
	if v, err := strconv.ParseFloat(strings.TrimSuffix(option("rate"), "/s"), 64); err == nil && v > 0 {
		load["rate_qps"] = v
	}
	return map[string]any{
		"metadata": map[string]any{"schema_version": "0.0.1"}, "standardized": load,
		"native": map[string]any{"config": map[string]any{"model": option("model"), "url": option("url")}},
	}
}
