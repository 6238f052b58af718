package summary

import (
	"math"
	"slices"

	"weir/results"
	"weir/serving"
)

// Series is the course of a load: one value for each bin of time.
type Series struct {
	Start, Width int64     // ns: of the first bin, of each
	Throughput   []float64 // output tokens per second that arrived
	InFlight     []float64 // requests, on average
	TTFT         []float64 // the median of requests that were sent then, in s; NaN: none had a token
}

// Over is the course of the measured requests in so many bins, from the first to the end.
func Over(records []serving.Record, bins int) Series {
	var measured []*serving.Record
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range records {
		if r := &records[i]; r.Phase == serving.Measured && r.Start != serving.Never {
			measured = append(measured, r)
			from, to = min(from, r.Start), max(to, ended(r))
		}
	}
	if len(measured) == 0 || bins < 1 {
		return Series{}
	}
	s := Series{Start: from, Width: (to-from)/int64(bins) + 1}
	s.Throughput, s.InFlight, s.TTFT = make([]float64, bins), make([]float64, bins), make([]float64, bins)
	bin := func(at int64) int { return int(min(max(at-from, 0)/s.Width, int64(bins)-1)) }
	first := make([]distribution, bins)
	for _, r := range measured {
		credit(r, func(at int64, tokens float64) { s.Throughput[bin(at)] += tokens / (float64(s.Width) * ns) })
		for b := bin(r.Start); b <= bin(ended(r)); b++ {
			low := from + int64(b)*s.Width
			s.InFlight[b] += float64(max(0, min(ended(r), low+s.Width)-max(r.Start, low))) / float64(s.Width)
		}
		if took, ok := ttft(r); ok {
			d := &first[bin(r.Start)]
			d.values = append(d.values, took*ns)
		}
	}
	for b, d := range first {
		slices.Sort(d.values)
		v, ok := d.quantile(results.P50)
		if s.TTFT[b] = v; !ok {
			s.TTFT[b] = math.NaN()
		}
	}
	return s
}
