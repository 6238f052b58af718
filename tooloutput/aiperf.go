package tooloutput

import "slices"

// profile_export_aiperf.json of aiperf; the output in testdata is of 0.13.0 (its
// schema_version 1.4). Each metric says its own unit, which is looked at.
var aiperf = Format{
	Name: "aiperf",
	Doc: "profile_export_aiperf.json of aiperf. A run that was cancelled or is not complete is an error; " +
		"requests that failed are error_rate. " +
		"Times are of the requests that succeeded; quantiles are interpolated. The aiperf.json that weir writes of a " +
		"session with several loads is read too: a row is a case that has values",
	File: true,
	Keys: []string{loadOfWeir},
	Metrics: slices.Concat(
		spreadMetrics("ttft", "time_to_first_token: from the start of a request to its first content or "+
			"reasoning", true, servingParts...),
		spreadMetrics("ttfo", "time_to_first_output_token: the same to the first content that is no reasoning", true,
			servingParts...),
		spreadMetrics("itl", "inter_token_latency: of each request, (latency - ttft) / (output tokens - 1)", true,
			servingParts...),
		spreadMetrics("chunk_gap", "inter_chunk_latency: between chunks that follow each other, of all "+
			"requests together", true, servingParts...),
		spreadMetrics("latency", "request_latency: from the start of a request to its last content", false,
			servingParts...),
		[]Metric{
			{Name: "request_rate", Unit: "1/s", Better: Higher,
				Doc: "request_throughput: requests that succeeded, divided by the time from the first start " +
					"to the last response"},
			{Name: "output_throughput", Unit: "1/s", Better: Higher,
				Doc: "output_token_throughput: output tokens divided by that time"},
			{Name: "total_throughput", Unit: "1/s", Better: Higher,
				Doc: "total_token_throughput: input and output tokens divided by that time"},
			{Name: "goodput", Unit: "1/s", Better: Higher, MayBeZero: true,
				Doc: "goodput: requests that kept all objectives (--goodput), divided by that time"},
			{Name: "concurrency.effective", Better: Neither,
				Doc: "effective_concurrency, mean: requests in flight over that time"},
			{Name: "error_rate", Better: Lower, MayBeZero: true,
				Doc: "request_error_rate: requests that failed as a share of all (a ratio, not percent)"},
			{Name: "requests", Better: Neither, Doc: "request_count: requests that succeeded"},
		}),
	Read: readAiperf,
}

// servingParts are those of times of requests.
var servingParts = []string{"avg", "min", "p50", "p90", "p95", "p99", "max"}

// aiperfMetric is where a metric stands and in what it may be printed.
type aiperfMetric struct {
	metric, name string
	units        map[string]scale
	spread       bool
}

var aiperfMetrics = func() []aiperfMetric {
	times := map[string]scale{"ns": nanoseconds, "us": microseconds, "ms": milliseconds, "s": same, "sec": same}
	rates := map[string]scale{"requests/sec": same, "tokens/sec": same}
	return []aiperfMetric{
		{"ttft", "time_to_first_token", times, true},
		{"ttfo", "time_to_first_output_token", times, true},
		{"itl", "inter_token_latency", times, true},
		{"chunk_gap", "inter_chunk_latency", times, true},
		{"latency", "request_latency", times, true},
		{"request_rate", "request_throughput", rates, false},
		{"output_throughput", "output_token_throughput", rates, false},
		{"total_throughput", "total_token_throughput", rates, false},
		{"goodput", "goodput", rates, false},
		{"concurrency.effective", "effective_concurrency", map[string]scale{"requests": same}, false},
		{"error_rate", "request_error_rate", map[string]scale{"%": percent}, false},
		{"requests", "request_count", map[string]scale{"requests": same}, false},
	}
}()

// loadOfWeir is the key of a load of the file that weir writes of a session with several.
const loadOfWeir = "case"

func readAiperf(output []byte) ([]Row, error) {
	root, err := document(output)
	if err != nil {
		return nil, err
	}
	loads := root.get("weir_loads")
	if loads == nil {
		row, err := readAiperfLoad(root)
		if err != nil {
			return nil, err
		}
		return []Row{*row}, nil
	}
	list, err := loads.list()
	if err != nil {
		return nil, err
	}
	return readLoadsOfWeir(list)
}

// readLoadsOfWeir reads the loads of a session; one that no launch measured has nothing to read.
func readLoadsOfWeir(list []*node) (rows []Row, err error) {
	for _, load := range list {
		of := load.get("weir_case")
		if of == nil || of.kind != text {
			return nil, at(load.line, "a load of weir_loads has no weir_case")
		}
		if load.get("request_throughput") == nil {
			continue
		}
		row, err := readAiperfLoad(load)
		if err != nil {
			return nil, err
		}
		row.At[loadOfWeir] = of.text
		rows = append(rows, *row)
	}
	if len(rows) == 0 {
		return nil, nothing("no load of weir_loads has a result")
	}
	return rows, nil
}

func readAiperfLoad(root *node) (*Row, error) {
	if root.get("aiperf_version") == nil && root.get("request_throughput") == nil {
		return nil, nothing("this is no profile_export_aiperf.json")
	}
	if n := root.get("was_cancelled"); n != nil && n.text != "false" {
		return nil, at(n.line, "aiperf says that the run was cancelled")
	}
	if n := root.get("is_complete"); n != nil && n.text != "true" {
		return nil, at(n.line, "aiperf says that the run is not complete")
	}
	row := Row{At: map[string]string{}, Values: map[string]float64{}, Line: root.line}
	for _, m := range aiperfMetrics {
		n := root.get(m.name)
		if n == nil {
			continue
		}
		unit := n.get("unit")
		if unit == nil {
			return nil, at(n.line, "%s has no unit", m.name)
		}
		s, ok := m.units[unit.text]
		if !ok {
			return nil, at(unit.line, "%s has the unknown unit %s", m.name, quote(unit.text))
		}
		members := []member{{metric: m.metric, path: "avg", unit: s}}
		if m.spread {
			members = nil
			for _, part := range servingParts {
				members = append(members, member{metric: m.metric + "." + part, path: part, unit: s})
			}
		}
		if err := row.read(n, members); err != nil {
			return nil, err
		}
	}
	if _, ok := row.Values["request_rate"]; !ok {
		return nil, at(root.line, "the document has no request_throughput: no request succeeded")
	}
	return &row, nil
}
