package serving

import (
	"fmt"
	"strings"

	"weir/serving/schedule"
	"weir/workload"
)

// unmeasured says which option rules a metric out.
func unmeasured(v workload.Values, metric string) string {
	get := Kind.Get(v)
	text := func(option string) string {
		s, _ := get(option).(string)
		return s
	}
	streams, _ := get("stream").(bool)
	promised, _, _ := readSLO(text("slo")) // which was checked as an option, as search was
	search, _, _ := readSearch(text("search"))
	family, _, _ := strings.Cut(metric, ".")
	needsStream := ofEvents(metric)
	switch {
	case needsStream && !streams:
		return "with stream: false an answer comes in one piece, and its tokens have no times"
	case family == "goodput" && promised == SLO{}:
		return "it counts requests that keep the promises of option slo, which has none"
	case family == "goodput" && !streams && (promised.TTFT > 0 || promised.ITL > 0):
		return "with stream: false no request keeps the ttft or itl of option slo"
	case metric == "slo.ttft" && promised.TTFT == 0, metric == "slo.itl" && promised.ITL == 0,
		metric == "slo.latency" && promised.Latency == 0:
		return fmt.Sprintf("option slo has no promise about %s", strings.TrimPrefix(metric, "slo."))
	case family == "found" && (search == nil || "found."+search.Axis != metric):
		return fmt.Sprintf("it is what option search finds along axis: %s, and the run has no such search",
			strings.TrimPrefix(metric, "found."))
	case metric == "output_throughput.per_gpu" && get("gpus") == int64(0):
		return "option gpus does not say how many GPUs the server has"
	case (family == "scheduled" || family == "dispatch_delay") && !due(get, search):
		return "requests are due at times only in an open load (rate, ramp, trace, or search along rate)"
	}
	return ""
}

// ofEvents says whether a metric is made of when the events of a stream came.
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

// due says whether requests of a load are due at times.
func due(get workload.Getter, search *Search) bool {
	if search != nil {
		return search.Axis == ByRate
	}
	rate, _ := workload.Number(get("rate"))
	ramp, _ := get("ramp").(string)
	trace, _ := get("trace_rows").(string)
	arrivals, _ := get("arrivals").(string)
	a, err := schedule.ParseArrivals(arrivals)
	atOnce := err == nil && a.Kind == schedule.Burst && a.Size == 0 && get("concurrency") == int64(0)
	return rate > 0 || ramp != "" || trace != "" || atOnce
}

// measurable says what is wrong with a promise about metrics that levels of the search have not.
func measurable(search *Search, v workload.Values) error {
	if search == nil {
		return nil
	}
	for _, b := range search.Promise {
		why := unmeasured(v, b.Metric)
		if strings.HasPrefix(b.Metric, "found.") {
			why = "it is what the search finds"
		}
		if why != "" {
			return fmt.Errorf("search: nothing keeps a promise about %s: %s", b.Metric, why)
		}
	}
	return nil
}
