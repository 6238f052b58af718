package transfer

import (
	"fmt"
	"math"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// latencyQuantiles are the quantiles of request latencies.
var latencyQuantiles = map[string]results.Quantile{
	"latency.min": results.Minimum, "latency.p50": results.P50, "latency.p90": results.P90, "latency.p95": results.P95,
	"latency.p99": results.P99, "latency.p999": results.P999, "latency.max": results.Maximum,
}

// Metrics computes the metrics of a transfer case in one launch from its ranks' parts, in the units of Kind.
func Metrics(o move.Spec, ranks []*move.Part) (map[string]float64, error) {
	var initiators []*move.Part
	var prep move.Prep
	var clock move.Clock
	var used move.Usage
	for _, r := range ranks {
		prep.Alloc = max(prep.Alloc, r.Prep.Alloc)
		prep.Register = max(prep.Register, r.Prep.Register)
		prep.Connect = max(prep.Connect, r.Prep.Connect)
		clock.Resolution = max(clock.Resolution, r.Clock.Resolution)
		clock.Cost = max(clock.Cost, r.Clock.Cost)
		used.CPU += r.Usage.CPU
		used.Switches += r.Usage.Switches
		if r.Initiator {
			if r.Samples == nil || r.Samples.Ops == 0 {
				return nil, fmt.Errorf("rank %d has no samples", r.Rank)
			}
			initiators = append(initiators, r)
		}
	}
	if len(initiators) == 0 {
		return nil, fmt.Errorf("no rank has samples")
	}
	all, err := overlap(initiators)
	if err != nil {
		return nil, err
	}
	minRank, memcpy, ceiling, best, perMessage := math.Inf(1), 0., 0., 0., 0.
	var ops, moved uint64
	var prepare float64
	var made, listed, registered, post, transfer move.Stage
	for _, r := range initiators {
		s := r.Samples
		took := float64(s.End-s.Start) / 1e9
		minRank = min(minRank, float64(s.Bytes)/took)
		memcpy += r.Memcpy
		ceiling += r.Ceiling
		best += r.CeilingBest
		ops += s.Ops
		moved += s.Bytes
		prepare = max(prepare, r.Stages.Prepare)
		made.Add(r.Stages.Made)
		listed.Add(r.Stages.Listed)
		registered.Add(r.Stages.Registered)
		post.Add(r.Stages.Post)
		transfer.Add(r.Stages.Transfer)
		perMessage += r.Took() / float64(2*s.Ops) / float64(len(initiators))
	}
	h := latencies(ranks)
	message := float64(o.BlockSize) * float64(o.Batch)
	avg := h.Mean() * 1e-9
	if o.Mode == "pingpong" {
		message = float64(o.BlockSize)
		avg = perMessage // over all messages, stamped or not
	}
	bandwidth := all.bytes / all.time
	m := map[string]float64{
		"bandwidth":          bandwidth / 1e9,
		"bandwidth.min_rank": minRank / 1e9,
		"latency.avg":        avg,
		"message_rate":       bandwidth / message,
		"prep.alloc":         prep.Alloc,
		"prep.register":      prep.Register,
		"prep.connect":       prep.Connect,
		"transfer.avg":       transfer.Mean,
		"transfer.p99":       transfer.P99,
		"requests":           float64(ops),
		"requests.stamped":   float64(h.Count()),
		"overlap":            all.share,
		"skew":               all.starts,
		"skew.end":           all.ends,
		"cpu_time_per_gb":    used.CPU / (float64(moved) / 1e9),
		"context_switches":   float64(used.Switches),
		"clock.resolution":   clock.Resolution,
		"clock.cost":         clock.Cost,
		"clock.bound":        move.ClockBound(ranks),
	}
	for name, q := range latencyQuantiles {
		m[name] = float64(h.Quantile(q)) * 1e-9
	}
	if o.PostsNothing() == "" {
		m["post.avg"], m["post.p99"] = post.Mean, post.P99
	}
	if prepare > 0 { // a ping-pong makes requests only over some fabrics
		m["prep.request"] = prepare
	}
	if made.Stamps > 0 {
		m["prep.request.p99"] = made.P99
	}
	for name, stage := range map[string]move.Stage{"prep.lists": listed, "prep.reregister": registered} {
		if stage.Stamps > 0 {
			m[name], m[name+".p99"] = stage.Mean, stage.P99
		}
	}
	if ceiling > 0 {
		m["ceiling"] = bandwidth / ceiling
		m["ceiling.bandwidth"] = ceiling / 1e9
	}
	if best > 0 {
		m["ceiling.best"] = bandwidth / best
	}
	if memcpy > 0 {
		m["ceiling.memcpy"] = memcpy / 1e9
	}
	return m, nil
}

// commonPart is the time in which all initiators were in their timed part.
type commonPart struct {
	bytes        float64 // completed
	time         float64 // s
	share        float64 // of the time from the first start to the last end
	starts, ends float64 // skew of starts and of ends, in s
}

// overlap computes the common part. The bytes of an initiator that runs before the others start or after they end do
// not count in the aggregate.
func overlap(initiators []*move.Part) (commonPart, error) {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	first, last := to, from
	for _, r := range initiators {
		start, end := r.Timed()
		from, to = max(from, start), min(to, end)
		first, last = min(first, r.Samples.Start), max(last, r.Samples.End)
	}
	if to <= from {
		return commonPart{}, fmt.Errorf("the timed parts of the initiators do not overlap: use more iterations, or no more ranks and threads than processors")
	}
	const ns = 1e-9
	t := commonPart{
		time: float64(to-from) * ns, share: float64(to-from) / float64(last-first), starts: float64(from-first) * ns,
		ends: float64(last-to) * ns,
	}
	for _, r := range initiators {
		t.bytes += move.Completed(r.Samples, to) - move.Completed(r.Samples, from)
	}
	return t, nil
}
