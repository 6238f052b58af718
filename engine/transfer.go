package engine

import (
	"fmt"
	"math"

	"weir/results"
)

// latencyQuantiles are those of requests.
var latencyQuantiles = map[string]results.Quantile{
	"latency.min": results.Minimum, "latency.p50": results.P50, "latency.p90": results.P90, "latency.p95": results.P95,
	"latency.p99": results.P99, "latency.p999": results.P999, "latency.max": results.Maximum,
}

// TransferMetrics computes the metrics of one transfer case in one launch from
// what its ranks measured, in the units of the workload's registry (GB/s,
// seconds). Package workload has the definitions.
func TransferMetrics(c Case, ranks []*CaseResult) (map[string]float64, error) {
	var initiators []*CaseResult
	var prep Prep
	var clock Clock
	var used Usage
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
	counts := map[int]int64{} // of all: histograms of one layout add up counter by counter
	minRank, memcpy, ceiling, best, perMessage := math.Inf(1), 0., 0., 0., 0.
	var ops, moved uint64
	var prepare float64
	var made, listed, registered, post, transfer Stage
	for _, r := range initiators {
		s := r.Samples
		for i, n := range s.Counts {
			counts[i] += n
		}
		took := float64(s.End-s.Start) / 1e9
		minRank = min(minRank, float64(s.Bytes)/took)
		memcpy += r.Memcpy
		ceiling += r.Ceiling
		best += r.CeilingBest
		ops += s.Ops
		moved += s.Bytes
		prepare = max(prepare, r.Stages.Prepare)
		made.add(r.Stages.Made)
		listed.add(r.Stages.Listed)
		registered.add(r.Stages.Registered)
		post.add(r.Stages.Post)
		transfer.add(r.Stages.Transfer)
		perMessage += r.took() / float64(2*s.Ops) / float64(len(initiators))
	}
	h := results.NewLatencies(counts)
	message := float64(c.Options.BlockSize) * float64(c.Options.Batch)
	avg := h.Mean() * ns
	if c.Options.Mode == "pingpong" {
		message = float64(c.Options.BlockSize)
		avg = perMessage // exact: every message counts, stamped or not
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
		"post.avg":           post.Mean,
		"post.p99":           post.P99,
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
		"clock.bound":        clockBound(ranks),
	}
	for name, q := range latencyQuantiles {
		m[name] = float64(h.Quantile(q)) * ns
	}
	if prepare > 0 { // a ping-pong makes none, but where the fabric does
		m["prep.request"] = prepare
	}
	if made.Stamps > 0 {
		m["prep.request.p99"] = made.P99
	}
	for name, stage := range map[string]Stage{"prep.lists": listed, "prep.reregister": registered} {
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

// What a timed part has at least of stamps if it has as many requests, and of those that
// need a flush.
const fewestStamps, fewestFlushed = 64, 256

// StampedOneIn is the rate at which requests of a size are stamped, of so many that an
// initiator makes; 0: as many as a duration allows. In a ping-pong a request is there
// and back. A clock read and the recorder cost some 15 ns, a second read and the flush that
// shows delivery up to 60: of requests to which that is something only some are stamped,
// which keeps it below 2 % of a copy at the speed of a cache.
//
// Where delivery must be flushed, a stamp may cost a message there and one back, 1 % of a
// stream of 4 KiB as tagged messages. There one in four of the stamps of small requests is
// enough, as long as their tail is still seen.
func StampedOneIn(bytes, requests uint64, flushed bool) int {
	every := uint64(256)
	switch {
	case bytes >= 1<<20:
		every = 1
	case bytes >= 256<<10:
		every = 4
	case bytes >= 64<<10:
		every = 16
	case bytes >= 512:
		every = 64
	}
	for requests > 0 && every > 1 && requests/every < fewestStamps {
		every /= 4
	}
	const sparse = 256
	if flushed && every == 64 && (requests == 0 || requests/sparse >= fewestFlushed) {
		every = sparse
	}
	return int(every)
}

// add takes another initiator's stage in: the mean is that of all stamps, the
// percentile the largest.
func (s *Stage) add(o Stage) {
	if o.Stamps == 0 {
		return
	}
	all := s.Stamps + o.Stamps
	s.Mean += (o.Mean - s.Mean) * float64(o.Stamps) / float64(all)
	s.P99 = max(s.P99, o.P99)
	s.Stamps = all
}

// together is what initiators did while all of them moved.
type together struct {
	bytes        float64 // completed
	time         float64 // s
	share        float64 // of the time from the first start to the last end
	starts, ends float64 // s from the first to the last
}

// overlap is the time in which all initiators were in their timed part. What one moved
// before the others began or after they ended is a solo run and no part of the aggregate.
func overlap(initiators []*CaseResult) (together, error) {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	first, last := to, from
	for _, r := range initiators {
		start, end := r.timed()
		from, to = max(from, start), min(to, end)
		first, last = min(first, r.Samples.Start), max(last, r.Samples.End)
	}
	if to <= from {
		return together{}, fmt.Errorf("the timed parts of the initiators do not overlap: use more iterations, or no more ranks and threads than processors")
	}
	const ns = 1e-9
	t := together{time: float64(to-from) * ns, share: float64(to-from) / float64(last-first), starts: float64(from-first) * ns, ends: float64(last-to) * ns}
	for _, r := range initiators {
		t.bytes += completed(r.Samples, to) - completed(r.Samples, from)
	}
	return t, nil
}

// completed interpolates how many bytes a rank had completed at a time.
func completed(s *results.Samples, at int64) float64 {
	p := results.Progress{Time: s.Start}
	if at <= s.Start {
		return 0
	}
	if at >= s.End {
		return float64(s.Bytes)
	}
	for _, q := range append(s.Progress, results.Progress{Time: s.End, Bytes: s.Bytes}) {
		if q.Time >= at && q.Time > p.Time {
			share := float64(at-p.Time) / float64(q.Time-p.Time)
			return float64(p.Bytes) + share*float64(q.Bytes-p.Bytes)
		}
		p = q
	}
	return float64(p.Bytes)
}
