package sim

import (
	"math"
	"math/bits"
	"sync"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

const (
	detailed = 256 // iterations that are drawn one by one
	kept     = 64  // first and last stamps that are drawn individually
	pieces   = 16  // of a course, each with a point of progress
)

// course is the work of an initiator in the timed part of a case.
type course struct {
	start      int64   // ns on the virtual clock
	interval   float64 // ns
	latency    float64 // ns
	jitter     float64 // coefficient of variation
	iterations uint64
	bytes      uint64 // of an iteration
}

// record draws the samples of a course.
func (c course) record(r stream) *results.Samples {
	every, stamps := move.Stamped(c.bytes, c.iterations, false)
	s := &results.Samples{
		Role: "initiator", Ops: c.iterations, Bytes: c.iterations * c.bytes, Start: c.start,
		Every:  every,
		Counts: make(map[int]int64, min(c.iterations, 2*detailed)),
	}
	if c.iterations <= detailed {
		c.recordEach(s, r, stamps)
	} else {
		c.recordMany(s, r, stamps)
	}
	return s
}

// recordEach draws every iteration.
func (c course) recordEach(s *results.Samples, r stream, stamps uint64) {
	sd := sigma(c.jitter)
	at := float64(0)
	piece := (c.iterations + pieces - 1) / pieces
	for i := range c.iterations {
		f := factor(sd, r.NormFloat64())
		at += c.interval * f
		if stamped := uint64(len(s.First)); i == stamped*c.iterations/stamps {
			ns := nanoseconds(c.latency * f)
			s.Counts[histogramIndex(ns)]++
			s.First = append(s.First, ns)
		}
		if (i+1)%piece == 0 || i+1 == c.iterations {
			c.progress(s, at, i+1)
		}
	}
	s.Last = s.First
}

// recordMany draws the pieces of the course, and the first and last stamps; the other stamps follow the distribution.
func (c course) recordMany(s *results.Samples, r stream, left uint64) {
	at := float64(0)
	done := uint64(0)
	for i := range uint64(pieces) {
		n := c.iterations/pieces*(i+1) + c.iterations%pieces*(i+1)/pieces - done
		at += c.interval * math.Max(float64(n)+c.jitter*math.Sqrt(float64(n))*r.NormFloat64(), 1)
		done += n
		c.progress(s, at, done)
	}
	sd := sigma(c.jitter)
	draw := func() (list []int64) {
		for range min(left, kept) {
			ns := nanoseconds(c.latency * factor(sd, r.NormFloat64()))
			s.Counts[histogramIndex(ns)]++
			list = append(list, ns)
		}
		left -= uint64(len(list))
		return list
	}
	s.First, s.Last = draw(), draw()
	c.strata(s, sd, left, r.Float64())
}

// strata adds n latencies to the histogram in the proportions of their distribution. offset (0 to 1) decides the
// rounding of fractions.
func (c course) strata(s *results.Samples, sd float64, n uint64, offset float64) {
	put := uint64(0)
	for _, q := range quantiles() {
		upTo := min(n, uint64(float64(n)*q.upTo+offset))
		if upTo > put {
			s.Counts[histogramIndex(nanoseconds(c.latency*factor(sd, q.z)))] += int64(upTo - put)
			put = upTo
		}
	}
}

// progress adds a point: n iterations were complete this many ns after the start.
func (c course) progress(s *results.Samples, at float64, n uint64) {
	t := max(c.start+nanoseconds(at), s.End)
	s.End = t
	s.Progress = append(s.Progress, results.Progress{Time: t, Bytes: n * c.bytes})
}

// factor is a lognormal factor of mean 1.
func factor(sd, z float64) float64 { return math.Exp(sd*z - sd*sd/2) }

// nanoseconds rounds to an integer of at least one, the resolution of the clock.
func nanoseconds(v float64) int64 {
	return int64(math.Min(math.Max(math.Round(v), 1), results.HistogramHighest))
}

// histogramIndex returns the counter of a value in the layout of package results: 2048 sub-buckets, each further bucket
// of twice the width.
func histogramIndex(ns int64) int {
	const halfBits = 10
	bucket := bits.Len64(uint64(ns)|(1<<(halfBits+1)-1)) - 1 - halfBits
	return bucket<<halfBits + int(ns>>bucket)
}

// quantile is a stratum of the standard normal distribution: its middle, and the cumulative share at its end.
type quantile struct{ z, upTo float64 }

// quantiles are 127 strata of 1/128 each and, for the upper tail, strata of half the share of the one before, as rare
// values decide the tail latencies.
var quantiles = sync.OnceValue(func() []quantile {
	const strata, tails = 128, 33
	var all []quantile
	upTo := 0.
	add := func(share float64) {
		all = append(all, quantile{math.Sqrt2 * math.Erfinv(2*(upTo+share/2)-1), upTo + share})
		upTo += share
	}
	for range strata - 1 {
		add(1. / strata)
	}
	share := 1. / strata
	for range tails {
		share /= 2
		add(share)
	}
	all[len(all)-1].upTo = 1
	return all
})
