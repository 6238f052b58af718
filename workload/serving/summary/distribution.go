package summary

import (
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving/load"
)

// quantiles are the quantiles of a distribution of times, by the suffix of their metrics.
var quantiles = []struct {
	name string
	of   results.Quantile
}{
	{"min", results.Minimum}, {"p50", results.P50}, {"p90", results.P90}, {"p95", results.P95}, {"p99", results.P99},
	{"max", results.Maximum},
}

// distribution are times in ns of successful requests, and the number of failed ones.
type distribution struct {
	values []float64
	failed int
}

// add adds avg, min, p50, p90, p95, p99 and max of a family to the metrics, in s.
func (d distribution) add(m map[string]float64, family string) {
	if n := len(d.values); n > 0 {
		slices.Sort(d.values)
		sum := 0. // of sorted values, so that rounding does not depend on the order of records
		for _, v := range d.values {
			sum += v
		}
		m[family+".avg"] = sum / float64(n) * ns
	}
	for _, q := range quantiles {
		if v, ok := d.quantile(q.of); ok {
			m[family+"."+q.name] = v * ns
		}
	}
}

// quantile returns a quantile of sorted values, with the failed ones as infinite.
func (d distribution) quantile(q results.Quantile) (float64, bool) {
	n := len(d.values) + d.failed
	if n == 0 {
		return 0, false
	}
	if rank := int(results.NearestRank(int64(n), q)); rank <= len(d.values) {
		return d.values[rank-1], true
	}
	return unbounded, true
}

// of collects a time of all attempted requests.
func of(records []*load.Record, value func(*load.Record) (float64, bool)) (d distribution) {
	d.values = make([]float64, 0, len(records))
	for _, r := range records {
		if !attempted(r) {
			continue
		}
		if !succeeded(r) {
			d.failed++
		} else if v, ok := value(r); ok {
			d.values = append(d.values, v)
		}
	}
	return d
}

// families are the times of requests in every load.
var families = []struct {
	name  string
	value func(*load.Record) (float64, bool)
}{{"ttft", ttft}, {"ttfo", ttfo}, {"itl", ITL}, {"latency", latency}}

// times adds the distributions of times, and keeps those of requests in whole. Those between tokens are of answers with
// one choice.
func times(m map[string]float64, records []*load.Record, whole results.Distributions, several bool) {
	keep := func(d distribution, family string) {
		d.add(m, family)
		whole.Add(family, d.values, d.failed)
	}
	for _, f := range families {
		if several && f.name == "itl" {
			continue
		}
		keep(of(records, f.value), f.name)
	}
	due := slices.DeleteFunc(slices.Clone(records), func(r *load.Record) bool { return r.Due == load.Never })
	keep(of(due, scheduledTTFT), "scheduled.ttft")
	keep(of(due, scheduledLatency), "scheduled.latency")
	var delays distribution // of the client, whatever the outcome of a request after it was sent
	for _, r := range due {
		if v, ok := dispatchDelay(r); ok {
			delays.values = append(delays.values, v)
		} else if attempted(r) {
			delays.failed++
		}
	}
	delays.add(m, "dispatch_delay")
	if several {
		return
	}
	chunks(m, records)
	var speeds []float64 // tokens per second of each user; failed requests have none
	for _, r := range records {
		if v, ok := ITL(r); succeeded(r) && ok && v > 0 {
			speeds = append(speeds, 1/(v*ns))
		} else if attempted(r) && !succeeded(r) {
			speeds = append(speeds, 0)
		}
	}
	if slices.Sort(speeds); len(speeds) > 0 {
		m["speed.per_user.p50"] = speeds[results.NearestRank(int64(len(speeds)), results.P50)-1]
	}
}

// chunks adds the gaps between events, over all requests that did not fail, and the longest of all. Gaps of a failed
// request are ignored, because it ended early.
func chunks(m map[string]float64, records []*load.Record) {
	n := 0
	for _, r := range records {
		if succeeded(r) || !attempted(r) {
			n += max(0, len(r.Events)-1)
		}
	}
	if n == 0 {
		return
	}
	gaps := distribution{values: make([]float64, 0, n)}
	for _, r := range records {
		if !succeeded(r) && attempted(r) {
			continue
		}
		for i := 1; i < len(r.Events); i++ {
			gaps.values = append(gaps.values, float64(r.Events[i].At-r.Events[i-1].At))
		}
	}
	gaps.add(m, "chunk_gap")
	m["stall.max"] = m["chunk_gap.max"]
}

// mean returns the mean of values; absent values are left out.
type mean struct{ sum, n float64 }

func (a *mean) add(v float64) { a.sum, a.n = a.sum+v, a.n+1 }

func (a mean) put(m map[string]float64, name string) {
	if a.n > 0 {
		m[name] = a.sum / a.n
	}
}
