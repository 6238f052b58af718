package expression

import (
	"slices"
	"strings"
	"unicode"
)

// usualNames are names that people and tools give to metrics, without statistic and unit, with those of weir; the first
// that a workload has is meant.
var usualNames = map[string][]string{
	"throughput": {"bandwidth", "output_throughput"}, "bw": {"bandwidth"}, "speed": {"bandwidth"},
	"rate": {"bandwidth", "request_rate"}, "iops": {"message_rate"},
	"tps": {"output_throughput"}, "tokens_per_second": {"output_throughput"},
	"output_token_throughput": {"output_throughput"}, "total_token_throughput": {"total_throughput"},
	"qps": {"request_rate"}, "rps": {"request_rate"}, "request_throughput": {"request_rate"},
	"requests_per_second": {"request_rate"}, "errors": {"error_rate"}, "failed_requests": {"error_rate"},
	"success_rate": {"error_rate"},
	"lat":          {"latency"}, "delay": {"latency"}, "rtt": {"latency"}, "e2e": {"latency"}, "e2el": {"latency"},
	"e2e_latency": {"latency"}, "request_latency": {"latency"}, "end_to_end_latency": {"latency"},
	"tpot": {"itl"}, "time_per_output_token": {"itl"}, "inter_token_latency": {"itl"}, "time_to_first_token": {"ttft"},
	"cache_hit_rate": {"input.cached"},
}

// statistics are the names that people and tools give to statistics, with those of weir.
var statistics = map[string]string{
	"mean": "avg", "average": "avg", "median": "p50", "avg": "avg", "min": "min", "max": "max", "p50": "p50",
	"p90": "p90", "p95": "p95", "p99": "p99", "p999": "p999",
	"50": "p50", "90": "p90", "95": "p95", "99": "p99", "999": "p999",
	"50th": "p50", "90th": "p90", "95th": "p95", "99th": "p99",
}

// usualMetric is the hint for a usual name of a metric, such as p99_ttft_ms, or for the last part of one; "": it is
// neither.
func usualMetric(text string, metrics []string) string {
	if slices.Contains([]string{"s", "sec", "second", "secs"}, text) {
		return "a rate is written as 100/s or 20 GB/s"
	}
	statistic := ""
	var words []string
	lower := strings.ReplaceAll(strings.ToLower(text), "99.9", "999")
	for _, word := range strings.FieldsFunc(lower, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if s, ok := statistics[word]; ok && statistic == "" {
			statistic = s
		} else if word != "ms" {
			words = append(words, word)
		}
	}
	name := strings.Join(words, "_")
	for _, family := range append(slices.Clone(usualNames[name]), name, strings.Join(words, "."), "latency."+text) {
		for _, found := range []string{family + "." + statistic, family, family + ".p50"} {
			if slices.Contains(metrics, found) {
				return "did you mean " + found + "?"
			}
		}
	}
	for _, name := range metrics {
		if strings.HasSuffix(name, "."+text) {
			return "did you mean " + name + "?"
		}
	}
	return ""
}
