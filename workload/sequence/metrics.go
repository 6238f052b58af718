package sequence

import (
	"fmt"
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/traffic"
)

// Metrics computes the metrics of one pattern of workload traffic_sequence in one launch, in the units of Kind: in the
// sequence and isolated.
func Metrics(o move.Spec, ranks []*move.Part, d results.Distributions) (map[string]float64, error) {
	alone, err := traffic.Metrics(o, ranks, nil)
	if err != nil {
		return nil, fmt.Errorf("isolated pattern: %w", err)
	}
	movers, err := traffic.Movers(o, ranks)
	if err != nil {
		return nil, err
	}
	steps, err := played(o, movers)
	if err != nil {
		return nil, fmt.Errorf("pattern in its sequence: %w", err)
	}
	copiers, err := traffic.Copiers(o, ranks)
	if err != nil {
		return nil, err
	}
	copying, err := played(o, copiers)
	if err != nil {
		return nil, fmt.Errorf("pattern in its sequence: %w", err)
	}
	latencies, skews, err := traffic.Iterations(steps, copying)
	if err != nil {
		return nil, fmt.Errorf("pattern in its sequence: %w", err)
	}
	total, avg := alone["bytes"], traffic.Mean(latencies)*1e-9
	m := map[string]float64{
		"latency":              avg,
		"isolated_latency":     alone["latency.avg"],
		"isolated_latency.min": alone["latency.min"],
		"isolated_latency.p50": alone["latency.p50"],
		"isolated_latency.max": alone["latency.max"],
		"slowdown":             avg / alone["latency.avg"],
		"bandwidth":            total / avg / 1e9,
		"isolated_bandwidth":   alone["bandwidth"],
		// the larger one: neither may exceed what the path can carry
		"ceiling.best": alone["ceiling.best"] * max(1, alone["latency.avg"]/avg),
	}
	for _, name := range []string{
		"bytes", "bytes.own", "senders", "receivers", "bottleneck.bytes", "ceiling", "ceiling.bandwidth",
		"ceiling.memcpy",
		"prep.alloc", "prep.register", "prep.connect", "clock.resolution", "clock.cost", "clock.bound",
	} {
		if v, ok := alone[name]; ok {
			m[name] = v
		}
	}
	if alone["ceiling.best"] == 0 { // it was not probed
		delete(m, "ceiling.best")
	}
	d.Add("latency", latencies, 0)
	traffic.Quantiles(m, "latency.", latencies, map[string]results.Quantile{
		"min": results.Minimum, "p50": results.P50, "max": results.Maximum,
	})
	m["slowdown.p50"] = m["latency.p50"] / m["isolated_latency.p50"]
	traffic.Skewness(m, skews)
	traffic.Own(m, steps)
	punctuality(m, o, movers)
	return m, traffic.Finite(m)
}

// played returns the parts of a pattern with its spans in the sequence instead of the isolated ones.
func played(o move.Spec, movers []traffic.Mover) ([]traffic.Mover, error) {
	var out []traffic.Mover
	for _, r := range movers {
		if int64(len(r.Steps)) != o.Step.Iterations || len(r.Began) != len(r.Steps) {
			return nil, fmt.Errorf("rank %d has %d of %d iterations", r.Rank, len(r.Steps), o.Step.Iterations)
		}
		in := *r.Part
		in.Iterations = nil
		for i, s := range r.Steps {
			if s.Start == 0 || s.Agreed == 0 {
				return nil, fmt.Errorf("rank %d did not move anything in iteration %d", r.Rank, i)
			}
			in.Iterations = append(in.Iterations, move.Span{Start: s.Start, End: s.End})
		}
		out = append(out, traffic.Mover{Part: &in, Bytes: r.Bytes})
	}
	return out, nil
}

// punctuality adds the delays of starts compared to the agreed time, and to the plan in which only sleeps take time.
// The common clock gives all ranks the same begin of an iteration.
func punctuality(m map[string]float64, o move.Spec, movers []traffic.Mover) {
	late, drift, worst := 0., 0., 0.
	n := len(movers[0].Steps)
	for i := range n {
		first, latest, began := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64)
		for _, r := range movers {
			s := r.Steps[i]
			first, latest, began = min(first, s.Start), max(latest, s.Start-s.Agreed), min(began, r.Began[i])
		}
		late = max(late, float64(latest))
		off := math.Abs(float64(first - began - int64(o.Step.Due)))
		drift += off / float64(n)
		worst = max(worst, off)
	}
	m["late"], m["drift"], m["drift.max"] = late*1e-9, drift*1e-9, worst*1e-9
}

// Timeline returns when a pattern ran in each iteration of its sequence, in seconds from the start of that iteration:
// from the earliest start to the latest end of a rank that moves. nil if the ranks' parts disagree, as they are not
// checked before.
func Timeline(ranks []*move.Part) (spans [][2]float64) {
	for _, r := range ranks {
		if len(r.Steps) == 0 || r.Steps[0].Start == 0 {
			continue
		}
		if spans == nil {
			spans = slices.Repeat([][2]float64{{math.Inf(1), math.Inf(-1)}}, len(r.Steps))
		}
		if len(r.Steps) != len(spans) || len(r.Began) != len(spans) {
			return nil
		}
		for i, s := range r.Steps {
			spans[i][0] = min(spans[i][0], float64(s.Start-r.Began[i])/1e9)
			spans[i][1] = max(spans[i][1], float64(s.End-r.Began[i])/1e9)
		}
	}
	return spans
}
