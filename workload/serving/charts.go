package serving

import (
	"weir/serving"
	"weir/workload"
)

// measured are the requests that metrics are of: answered ones of the measured part.
var measured = map[string]int64{"phase": int64(serving.Measured), "outcome": int64(serving.OK)}

// charts are what reports draw of loads and their requests.
var charts = []workload.Chart{
	{
		Title: "Time to first token over output throughput", Shows: workload.Pairs, X: "output_throughput", Y: "ttft.p50",
		Doc: "A point for each load: where more load brings no more tokens, only longer times, is the knee.",
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
		Title: "Time of a request", Shows: workload.Distribution, Only: measured,
		Columns: []workload.RecordColumn{{Name: "done", Since: "start"}},
		Doc:     "Of each answered request of the measured part: from its start to its end.",
	},
	{
		Title: "Requests over time", Shows: workload.Course, At: "start", Only: measured,
		Columns: []workload.RecordColumn{
			{Name: "first", Title: "first token", Since: "start"}, {Name: "done", Title: "end", Since: "start"},
		},
		Doc: "When requests began, and how long after it their first token and their end came.",
	},
}
