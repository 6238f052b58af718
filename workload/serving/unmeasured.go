package serving

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload/serving/schedule"
)

// Unmeasured says why a case lacks a metric.
func (behaviour) Unmeasured(v option.Values, metric string) string {
	get := Kind.Get(v)
	text := func(option string) string {
		s, _ := get(option).(string)
		return s
	}
	streams, _ := get("stream").(bool)
	promised := sloOf(text("slo"))
	search, _ := readSearch(text("search")) // validated as an option
	family, _, _ := strings.Cut(metric, ".")
	needsStream := ofEvents(metric)
	switch {
	case needsStream && !streams:
		return "with stream: false tokens have no times"
	case several(text("body")) && betweenTokens(metric):
		return "n in body asks for several choices, whose events interleave, and usage counts their tokens together"
	case family == "goodput" && promised == SLO{}:
		return "it counts requests that meet the objectives of option slo, which has none"
	case family == "goodput" && !streams && (promised.TTFT > 0 || promised.ITL > 0):
		return "with stream: false no request meets the ttft or itl of option slo"
	case metric == "slo.ttft" && promised.TTFT == 0, metric == "slo.itl" && promised.ITL == 0,
		metric == "slo.latency" && promised.Latency == 0:
		return fmt.Sprintf("option slo has no %s", strings.TrimPrefix(metric, "slo."))
	case family == "found" && (search == nil || "found."+search.Axis != metric):
		return fmt.Sprintf("it needs option search with axis: %s, which the run lacks",
			strings.TrimPrefix(metric, "found."))
	case metric == "output_throughput.per_gpu" && get("gpus") == int64(0):
		return "it needs option gpus, the number of GPUs of the server"
	case (family == "scheduled" || family == "dispatch_delay") && !due(get, search):
		return "only requests of an open load (rate, ramp, trace, or search along rate) have scheduled times"
	}
	return ""
}

// ofEvents reports whether a metric depends on the arrival times of events.
func ofEvents(metric string) bool {
	for _, prefix := range []string{"ttft.", "ttfo.", "itl.", "chunk_gap.", "scheduled.ttft."} {
		if strings.HasPrefix(metric, prefix) {
			return true
		}
	}
	switch metric {
	case "stall.max", "speed.per_user.p50", "slo.ttft", "slo.itl", "cold.ttft":
		return true
	}
	return false
}

// betweenTokens reports whether a metric is of the times between tokens or events of one choice.
func betweenTokens(metric string) bool {
	switch metric {
	case "stall.max", "speed.per_user.p50", "slo.itl":
		return true
	}
	return strings.HasPrefix(metric, "itl.") || strings.HasPrefix(metric, "chunk_gap.")
}

// due reports whether requests of a load have scheduled times.
func due(get option.Getter, search *Search) bool {
	if search != nil {
		return search.Axis == ByRate
	}
	rate, _ := option.Number(get("rate"))
	ramp, _ := get("ramp").(string)
	trace, _ := get("trace_rows").(string)
	arrivals, _ := get("arrivals").(string)
	a, err := schedule.ParseArrivals(arrivals)
	atOnce := err == nil && a.Kind == schedule.Burst && a.Size == 0 && get("concurrency") == int64(0)
	return rate > 0 || ramp != "" || trace != "" || atOnce
}

// measurable rejects a search with a condition on metrics that its levels lack.
func measurable(search *Search, v option.Values) error {
	if search == nil {
		return nil
	}
	for _, b := range search.Promise {
		why := behaviour{}.Unmeasured(v, b.Metric)
		if strings.HasPrefix(b.Metric, "found.") {
			why = "the search finds it"
		}
		if why != "" {
			return fmt.Errorf("search: a promise about %s cannot be kept: %s", b.Metric, why)
		}
	}
	return nil
}
