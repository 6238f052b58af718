package tooloutput

import "slices"

// benchmarks.json of guidellm is its GenerativeBenchmarksReport (benchmark/schemas/report.py,
// metrics.py and schemas/base/statistics.py of 0.8.1). guidellm run needs torch, which is
// not here: the outputs in testdata were written by these schemas.
var guidellm = Format{
	Name: "guidellm",
	Doc: "benchmarks.json of guidellm: a row for each benchmark, whose numbers are of the requests that succeeded. " +
		"One of which none did is an error",
	File: true,
	Keys: []string{"strategy", "concurrency", "rate"},
	Metrics: slices.Concat(
		spreadMetrics("ttft", "time_to_first_token_ms: from the start of a request to its first token", true,
			guidellmParts...),
		spreadMetrics("ttfo", "time_to_first_output_token_ms: the same to the first token that is no "+
			"reasoning", true, guidellmParts...),
		spreadMetrics("itl", "inter_token_latency_ms: of each request, (last token - first token) / (output "+
			"tokens - 1)", true, guidellmParts...),
		spreadMetrics("latency", "request_latency: from the start of a request to its end", false, guidellmParts...),
		spreadMetrics("time_per_token", "time_per_output_token_ms: latency / output tokens, the first and its "+
			"wait among them, which is no itl", true, guidellmParts...),
		spreadMetrics("scheduled.latency", "request_scheduled_latency: latency from when a request was due, "+
			"of strategies with a schedule", false, guidellmParts...),
		spreadMetrics("dispatch_delay", "request_dispatch_delay: from when a request was due to its start", true,
			guidellmParts...),
		[]Metric{
			{Name: "request_rate", Unit: "1/s", Better: Higher,
				Doc: "requests_per_second: mean over the measured time, without warm-up and cool-down"},
			{Name: "output_throughput", Unit: "1/s", Better: Higher,
				Doc: "output_tokens_per_second: mean over the measured time"},
			{Name: "total_throughput", Unit: "1/s", Better: Higher,
				Doc: "tokens_per_second: input and output tokens, mean over the measured time"},
			{Name: "concurrency.effective", Better: Neither,
				Doc: "request_concurrency: mean of requests in flight over the measured time"},
			{Name: "error_rate", Better: Lower, MayBeZero: true,
				Doc: "request_totals: errored / (successful + errored); requests that the end of the " +
					"benchmark cut off are in neither"},
			{Name: "requests", Better: Neither, Doc: "request_totals.successful"},
		}),
	Read: readGuidellm,
}

var guidellmParts = []string{"avg", "min", "p50", "p90", "p95", "p99", "p999", "max"}

// guidellmTimes are the distributions, by metric.
var guidellmTimes = map[string]struct {
	name   string
	unit   scale
	signed bool
}{
	"ttft":              {"time_to_first_token_ms", milliseconds, false},
	"ttfo":              {"time_to_first_output_token_ms", milliseconds, false},
	"itl":               {"inter_token_latency_ms", milliseconds, false},
	"time_per_token":    {"time_per_output_token_ms", milliseconds, false},
	"latency":           {"request_latency", same, false},
	"scheduled.latency": {"request_scheduled_latency", same, false},
	"dispatch_delay":    {"request_dispatch_delay", same, true}, // a request may start early
}

// guidellmMembers are where the metrics stand in those of one benchmark.
func guidellmMembers(metrics *node) []member {
	all := []member{
		{metric: "request_rate", path: "requests_per_second/successful/mean", unit: same},
		{metric: "output_throughput", path: "output_tokens_per_second/successful/mean", unit: same},
		{metric: "total_throughput", path: "tokens_per_second/successful/mean", unit: same},
		{metric: "concurrency.effective", path: "request_concurrency/successful/mean", unit: same},
		{metric: "requests", path: "request_totals/successful", unit: same},
	}
	for metric, of := range guidellmTimes {
		if count := metrics.get(of.name, "successful", "count"); count == nil || count.text == "0" {
			continue // all of it is 0 then
		}
		for _, part := range guidellmParts {
			path, ok := map[string]string{"avg": "mean", "min": "min", "max": "max"}[part]
			if !ok {
				path = "percentiles/" + part
			}
			all = append(all, member{metric: metric + "." + part, path: of.name + "/successful/" + path,
				unit: of.unit, signed: of.signed})
		}
	}
	return all
}

// guidellmKeys are members of a strategy, of which each kind has some.
var guidellmKeys = map[string][]string{
	"strategy": {"type_"}, "concurrency": {"streams", "max_concurrency"}, "rate": {"rate"},
}

func readGuidellm(output []byte) ([]Row, error) {
	root, err := document(output)
	if err != nil {
		return nil, err
	}
	list := root.get("benchmarks")
	if list == nil {
		return nil, nothing("this is no benchmarks.json: it has no member benchmarks")
	}
	items, err := list.list()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, at(list.line, "guidellm completed no benchmark")
	}
	var found rows
	for i, n := range items {
		row, err := guidellmRow(n, i)
		if err == nil {
			err = found.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return found.list, nil
}

func guidellmRow(n *node, i int) (Row, error) {
	row := Row{At: map[string]string{}, Values: map[string]float64{}, Line: n.line}
	strategy := n.get("config", "strategy")
	for key, names := range guidellmKeys {
		for _, name := range names {
			if value := strategy.get(name); value != nil && row.At[key] == "" {
				row.At[key] = value.text
			}
		}
	}
	metrics := n.get("metrics")
	good := metrics.get("request_totals", "successful")
	if good == nil {
		return Row{}, at(n.line, "benchmark %d has no metrics.request_totals.successful", i+1)
	}
	if good.text == "0" { // and all of its times 0
		return Row{}, at(good.line, "benchmark %d: no request succeeded", i+1)
	}
	if err := row.read(metrics, guidellmMembers(metrics)); err != nil {
		return Row{}, err
	}
	if bad := metrics.get("request_totals", "errored"); bad != nil {
		rate, err := share(bad, good)
		if err != nil {
			return Row{}, err
		}
		row.Values["error_rate"] = rate
	}
	if _, ok := row.Values["request_rate"]; !ok {
		return Row{}, at(n.line, "benchmark %d has no metrics.requests_per_second.successful", i+1)
	}
	return row, nil
}
