package move

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results"
)

// maxPoints limits the points of progress, and maxStamps the first and last stamps, that are kept for all threads of
// a rank together.
const (
	maxPoints = 1024
	maxStamps = 4096
)

// Together merges the results of a rank's threads. Sequential work adds up; of parallel work the longest time counts;
// values of the process are the first thread's.
func Together(threads []*Part) *Part {
	if len(threads) == 1 {
		return threads[0]
	}
	all := *threads[0]
	all.Transport = fmt.Sprintf("%s, by each of %d threads", all.Transport, len(threads))
	for _, t := range threads[1:] {
		all.Verified = all.Verified && t.Verified
		all.Transports = append(slices.Clone(all.Transports), t.Transports...)
		all.Provider = append(slices.Clone(all.Provider), t.Provider...)
		all.MemoryNodes = append(slices.Clone(all.MemoryNodes), t.MemoryNodes...)
		all.Prep.Alloc += t.Prep.Alloc
		all.Prep.Register += t.Prep.Register
		all.Prep.Connect = max(all.Prep.Connect, t.Prep.Connect)
		all.Usage.Timed = longer(all.Usage.Timed, t.Usage.Timed)
		all.Usage.Probed = longer(all.Usage.Probed, t.Usage.Probed)
		all.Memcpy += t.Memcpy
		all.Ceiling += t.Ceiling
		all.CeilingBest += t.CeilingBest
		all.Clock.Resolution = max(all.Clock.Resolution, t.Clock.Resolution)
		all.Clock.Cost = max(all.Clock.Cost, t.Clock.Cost)
		all.Clock.Bound = max(all.Clock.Bound, t.Clock.Bound)
		all.Stages.Prepare = max(all.Stages.Prepare, t.Stages.Prepare)
		all.Stages.Made.Add(t.Stages.Made)
		all.Stages.Listed.Add(t.Stages.Listed)
		all.Stages.Registered.Add(t.Stages.Registered)
		all.Stages.Post.Add(t.Stages.Post)
		all.Stages.Transfer.Add(t.Stages.Transfer)
	}
	all.Transports = results.MergeTransports(all.Transports)
	all.Provider = results.MergeProviderFacts(all.Provider)
	slices.Sort(all.MemoryNodes)
	all.MemoryNodes = slices.Compact(all.MemoryNodes)
	if !all.Initiator {
		all.Transport = threads[0].Transport // targets do not know it
		return &all
	}
	all.Threads = &Threads{From: threads[0].Samples.Start, To: threads[0].Samples.End}
	for _, t := range threads {
		all.Threads.From = max(all.Threads.From, t.Samples.Start)
		all.Threads.To = min(all.Threads.To, t.Samples.End)
		all.Threads.Took += float64(t.Samples.End-t.Samples.Start) / 1e9
	}
	all.Samples = samplesOf(threads)
	return &all
}

// samplesOf merges the samples of all threads, from the first start to the last end.
func samplesOf(threads []*Part) *results.Samples {
	s := *threads[0].Samples
	s.Ops, s.Bytes, s.Counts, s.First, s.Last = 0, 0, map[int]int64{}, nil, nil
	each := maxStamps / len(threads)
	for _, t := range threads {
		o := t.Samples
		s.Ops += o.Ops
		s.Bytes += o.Bytes
		s.Start, s.End = min(s.Start, o.Start), max(s.End, o.End)
		s.ClockNS = max(s.ClockNS, o.ClockNS)
		for i, n := range o.Counts {
			s.Counts[i] += n
		}
		s.First = append(s.First, o.First[:min(each, len(o.First))]...)
		s.Last = append(s.Last, o.Last[max(0, len(o.Last)-each):]...)
	}
	s.Progress = progressOf(threads)
	return &s
}

// progressOf adds the courses of threads up, at the times of their points and at
// their starts and ends, or at evenly chosen ones of these if there are too many.
func progressOf(threads []*Part) []results.Progress {
	var times []int64
	for _, t := range threads {
		times = append(times, t.Samples.Start, t.Samples.End)
		for _, p := range t.Samples.Progress {
			times = append(times, p.Time)
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	n := min(len(times), maxPoints)
	points := make([]results.Progress, n)
	for i := range points {
		at := times[i*(len(times)-1)/max(1, n-1)]
		points[i].Time = at
		sum := 0.
		for _, t := range threads {
			sum += Completed(t.Samples, at)
		}
		points[i].Bytes = uint64(sum)
	}
	return points
}

// Timed returns the time in which all threads of a rank were in their timed parts.
func (r *Part) Timed() (from, to int64) {
	if r.Threads != nil {
		return r.Threads.From, r.Threads.To
	}
	return r.Samples.Start, r.Samples.End
}

// Took returns the sum of the timed parts of a rank's threads, in seconds.
func (r *Part) Took() float64 {
	if r.Threads != nil {
		return r.Threads.Took
	}
	return float64(r.Samples.End-r.Samples.Start) / 1e9
}
