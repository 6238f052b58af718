package serving

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/summary"
)

// measured selects the requests of metrics: answered ones of the measured part.
var measured = map[string]int64{"phase": int64(load.Measured), "outcome": int64(load.OK)}

// charts are the charts of loads and their requests in reports.
var charts = []workload.ChartSpec{
	{
		Title: "Time to first token over output throughput", Shows: workload.Pairs,
		X: "output_throughput", Y: "ttft.p50",
		Doc: "A point for each load. At the knee, more load brings no more tokens, but longer times.",
	},
	{
		Title: "Latency over output throughput", Shows: workload.Pairs, X: "output_throughput", Y: "latency.p99",
	},
	{
		Title: "Time to first token", Shows: workload.Distribution, Only: measured,
		Columns: []workload.RecordColumn{{Name: "first", Since: "start"}},
		Doc:     "Of each answered request of the measured part: from its start to its first token.",
	},
	{
		Title: "Inter-token latency", Shows: workload.Distribution, Only: measured,
		Columns: []workload.RecordColumn{{Name: perToken}},
		Doc:     "Of each answered request of the measured part: the mean time between two of its tokens.",
	},
	{
		Title: "Time of a request", Shows: workload.Distribution, Only: measured,
		Columns: []workload.RecordColumn{{Name: "last", Since: "start"}},
		Doc:     "Of each answered request of the measured part: from its start to its last token.",
	},
	{
		Title: "Throughput over time", Shows: workload.Rate, At: "first", Until: "last", Only: measured,
		Columns: []workload.RecordColumn{{Name: "output", Title: "output tokens"}},
		Doc: "Output tokens per second of answered requests of the measured part, each spread evenly from its first" +
			" token to its last.",
	},
	{
		Title: "Requests over time", Shows: workload.Course, At: "start", Only: measured,
		Columns: []workload.RecordColumn{
			{Name: "first", Title: "first token", Since: "start"}, {Name: "last", Title: "last token", Since: "start"},
		},
		Doc: "Start of requests, and the times from it to their first and last token.",
	},
}

// perToken is the column of the mean time between tokens of a request, in ns.
const perToken = "per_token"

// timesPerToken computes that column; a request without a token after its first event has no value.
func timesPerToken(records []load.Record) results.Column {
	c := results.Column{Name: perToken, Values: make([]int64, 0, len(records))}
	for i := range records {
		r, v := &records[i], int64(absent)
		if took, ok := summary.ITL(r); ok {
			v = int64(took)
		}
		c.Values = append(c.Values, v)
	}
	return c
}
