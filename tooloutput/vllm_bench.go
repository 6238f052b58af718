package tooloutput

import "slices"

// The file of vllm bench serve --save-result is made by vllm/benchmarks/serve.py (benchmark
// and calculate_metrics; read as of 009e6d4a1, 2026-08). vllm cannot be installed here:
// the outputs in testdata were written by that source.
var vllmBench = Format{
	Name: "vllm-bench",
	Doc: "the file of vllm bench serve --save-result, also with results behind each other (--append-result), " +
		"of which each is a row. " +
		"A time of 0 is what it writes where it has none, as ttft without streaming: it is absent. " +
		"Quantiles are interpolated; which there are depends on --percentile-metrics and --metric-percentiles",
	File: true,
	Keys: []string{"concurrency", "rate"},
	Metrics: slices.Concat(
		spreadMetrics("ttft", "ttft: from the start of a request to its first event with choices, of chat "+
			"that which has the role only", false, vllmParts...),
		spreadMetrics("itl", "tpot: of each request, (latency - ttft) / (output tokens - 1). What vllm calls "+
			"itl is chunk_gap", false, vllmParts...),
		spreadMetrics("chunk_gap", "itl: between events that follow each other, of all requests together", false,
			vllmParts...),
		spreadMetrics("latency", "e2el: from the start of a request to its last event with choices", false,
			vllmParts...),
		[]Metric{
			{Name: "request_rate", Unit: "1/s", Better: Higher,
				Doc: "request_throughput: requests that succeeded, divided by duration"},
			{Name: "output_throughput", Unit: "1/s", Better: Higher,
				Doc: "output_throughput: output tokens (as the server counts them, else the tokenizer, else 1 " +
					"for each request), divided by duration"},
			{Name: "total_throughput", Unit: "1/s", Better: Higher,
				Doc: "total_token_throughput: input and output tokens, divided by duration"},
			{Name: "goodput", Unit: "1/s", Better: Higher, MayBeZero: true,
				Doc: "request_goodput: requests that kept all objectives (--goodput), divided by duration"},
			{Name: "error_rate", Better: Lower, MayBeZero: true,
				Doc: "requests that failed as a share of all: failed / (completed + failed); older versions " +
					"do not say it"},
			{Name: "requests", Better: Neither, Doc: "completed: requests that succeeded"},
			{Name: "duration", Unit: "s", Better: Neither,
				Doc: "duration: from the first start to the last response"},
		}),
	Read: readVLLMBench,
}

var vllmParts = []string{"avg", "p50", "p90", "p95", "p99", "p999"}

func vllmMembers() []member {
	all := []member{
		{metric: "request_rate", path: "request_throughput", unit: same},
		{metric: "output_throughput", path: "output_throughput", unit: same},
		{metric: "total_throughput", path: "total_token_throughput", unit: same},
		{metric: "goodput", path: "request_goodput", unit: same},
		{metric: "requests", path: "completed", unit: same},
		{metric: "duration", path: "duration", unit: same},
	}
	parts := map[string]string{
		"avg": "mean", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p99.9",
	}
	times := map[string]string{"ttft": "ttft", "itl": "tpot", "chunk_gap": "itl", "latency": "e2el"}
	for metric, name := range times {
		for part, word := range parts {
			all = append(all, member{metric: metric + "." + part, path: word + "_" + name + "_ms",
				unit: milliseconds, noZero: true})
		}
	}
	return all
}

func readVLLMBench(output []byte) ([]Row, error) {
	all, err := documents(output)
	if err != nil {
		return nil, err
	}
	var found rows
	for _, root := range all {
		row, err := vllmRow(root)
		if err == nil {
			err = found.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return found.list, nil
}

func vllmRow(root *node) (Row, error) {
	row := Row{At: map[string]string{}, Values: map[string]float64{}, Line: root.line}
	for key, name := range map[string]string{"concurrency": "max_concurrency", "rate": "request_rate"} {
		if n := root.get(name); n != nil {
			row.At[key] = n.text
		}
	}
	completed, rate := root.get("completed"), root.get("request_throughput")
	if completed == nil || rate == nil {
		return Row{}, nothing("line %d: this is no result of vllm bench serve (completed, request_throughput)",
			root.line)
	}
	if completed.text == "0" { // and all of its times 0
		return Row{}, at(completed.line, "no request succeeded")
	}
	if err := row.read(root, vllmMembers()); err != nil {
		return Row{}, err
	}
	if n := root.get("failed"); n != nil {
		rate, err := share(n, completed)
		if err != nil {
			return Row{}, err
		}
		row.Values["error_rate"] = rate
	}
	return row, nil
}
