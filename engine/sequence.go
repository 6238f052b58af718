package engine

import (
	"fmt"
	"math"
	"slices"

	"weir/results"
)

// SequenceMetrics computes the metrics of one pattern of workload traffic_sequence in
// one launch, in the units of its registry: what it took among the others, and alone.
func SequenceMetrics(c Case, ranks []*CaseResult) (map[string]float64, error) {
	alone, err := TrafficMetrics(c, ranks)
	if err != nil {
		return nil, fmt.Errorf("of the pattern alone: %w", err)
	}
	movers, err := moversOf(c.Options, ranks)
	if err != nil {
		return nil, err
	}
	steps, err := played(c, movers)
	if err != nil {
		return nil, fmt.Errorf("of the pattern in its sequence: %w", err)
	}
	copiers, err := copiersOf(c.Options, ranks)
	if err != nil {
		return nil, err
	}
	copying, err := played(c, copiers)
	if err != nil {
		return nil, fmt.Errorf("of the pattern in its sequence: %w", err)
	}
	latencies, skews, err := iterations(steps, copying)
	if err != nil {
		return nil, fmt.Errorf("of the pattern in its sequence: %w", err)
	}
	total, avg := alone["bytes"], mean(latencies)*ns
	m := map[string]float64{
		"latency":              avg,
		"isolated_latency":     alone["latency.avg"],
		"isolated_latency.min": alone["latency.min"],
		"isolated_latency.p50": alone["latency.p50"],
		"isolated_latency.max": alone["latency.max"],
		"slowdown":             avg / alone["latency.avg"],
		"bandwidth":            total / avg / 1e9,
		"isolated_bandwidth":   alone["bandwidth"],
		// of whichever was faster: neither may be more than the path can carry
		"ceiling.best": alone["ceiling.best"] * max(1, alone["latency.avg"]/avg),
	}
	for _, name := range []string{
		"bytes", "bytes.own", "senders", "receivers", "bottleneck.bytes", "ceiling", "ceiling.bandwidth", "ceiling.memcpy",
		"prep.alloc", "prep.register", "prep.connect", "clock.resolution", "clock.cost", "clock.bound",
	} {
		if v, ok := alone[name]; ok {
			m[name] = v
		}
	}
	if alone["ceiling.best"] == 0 { // it was not probed
		delete(m, "ceiling.best")
	}
	quantiles(m, "latency.", latencies, map[string]results.Quantile{"min": results.Minimum, "p50": results.P50, "max": results.Maximum})
	skewness(m, skews)
	own(m, steps)
	punctuality(m, c, movers)
	return m, finite(m)
}

// played has the spans in the sequence for those of the pattern alone.
func played(c Case, movers []mover) ([]mover, error) {
	var out []mover
	for _, r := range movers {
		if int64(len(r.Steps)) != c.Options.Step.Iterations || len(r.Began) != len(r.Steps) {
			return nil, fmt.Errorf("rank %d has %d of %d iterations", r.Rank, len(r.Steps), c.Options.Step.Iterations)
		}
		in := *r.CaseResult
		in.Iterations = nil
		for i, s := range r.Steps {
			if s.Start == 0 || s.Agreed == 0 {
				return nil, fmt.Errorf("rank %d did not move anything in iteration %d", r.Rank, i)
			}
			in.Iterations = append(in.Iterations, Span{Start: s.Start, End: s.End})
		}
		out = append(out, mover{&in, r.bytes})
	}
	return out, nil
}

// punctuality adds how well the starts kept to what was agreed, and to the plan in
// which only sleeps take time. The common clock has one value for who began an
// iteration first, so that the ranks agree on where its plan begins.
func punctuality(m map[string]float64, c Case, movers []mover) {
	late, drift, worst := 0., 0., 0.
	n := len(movers[0].Steps)
	for i := range n {
		first, latest, began := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64)
		for _, r := range movers {
			s := r.Steps[i]
			first, latest, began = min(first, s.Start), max(latest, s.Start-s.Agreed), min(began, r.Began[i])
		}
		late = max(late, float64(latest))
		off := math.Abs(float64(first - began - int64(c.Options.Step.Due)))
		drift += off / float64(n)
		worst = max(worst, off)
	}
	m["late"], m["drift"], m["drift.max"] = late*ns, drift*ns, worst*ns
}

// Timeline is when a pattern was played in each iteration of its sequence, in seconds
// from the start of that iteration: from the earliest start of a rank that moves to the
// latest end of one. It is nil where ranks do not agree on what was played: what they
// say is not checked before.
func Timeline(ranks []*CaseResult) (spans [][2]float64) {
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
