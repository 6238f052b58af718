package serving

import (
	"weir/results"
	"weir/serving"
	"weir/workload"
)

// Columns that reports draw: of the measured requests that succeeded, in the order of their starts.
const (
	drawnAt      = "succeeded_at"
	drawnTTFT    = "succeeded_ttft"
	drawnITL     = "succeeded_itl"
	drawnLatency = "succeeded_latency"
)

var times = []workload.RecordColumn{
	{Name: drawnTTFT, Title: "time to first token"}, {Name: drawnITL, Title: "inter-token latency"},
	{Name: drawnLatency, Title: "latency"},
}

// charts are what reports draw of requests.
var charts = []workload.Chart{
	{
		Title: "Throughput and latency", Shows: workload.Pairs, X: "output_throughput", Y: "latency.p50",
		Doc: "A point for each load. Where latency rises and throughput does not, the server is full: the knee.",
	},
	{
		Title: "Throughput and time to first token", Shows: workload.Pairs, X: "output_throughput", Y: "ttft.p50",
		Doc: "A point for each load.",
	},
	{
		Title: "Times of requests", Shows: workload.Distribution, Columns: times,
		Doc: "Of the requests that succeeded, of all clients and launches: a request that failed is in no distribution.",
	},
	{
		Title: "Times over the load", Shows: workload.Course, At: drawnAt, Columns: times,
		Doc: "Of each request that succeeded in a typical launch, over when it was sent: a load that the server does not bear has times that grow.",
	},
}

// drawn are the columns that reports draw. A request of one token has no inter-token latency, which
// is 0 there.
func drawn(records []serving.Record) []results.Column {
	names := []string{drawnAt, drawnTTFT, drawnITL, drawnLatency}
	all := make([]results.Column, len(names))
	for i, name := range names {
		all[i].Name = name
	}
	for i := range records {
		r := &records[i]
		if r.Phase != serving.Measured || r.Outcome != serving.OK || r.First == serving.Never {
			continue
		}
		perToken := int64(0)
		if n := int64(r.Output) - 1; n > 0 {
			perToken = (r.Last - r.First) / n
		}
		for k, v := range []int64{r.Start, r.First - r.Start, perToken, r.Last - r.Start} {
			all[k].Values = append(all[k].Values, v)
		}
	}
	return all
}
