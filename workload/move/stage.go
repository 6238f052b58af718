package move

import "github.com/weir-bench/weir/results"

// Minimum numbers of stamps of a timed part with as many requests: in general, and of requests with a flush.
const fewestStamps, fewestFlushed = 128, 256

// Stamped returns which requests of this size in bytes are stamped, given the number of an initiator's requests (0:
// limited by a duration): count of them, evenly spread, and the first. every is their distance rounded down, and the
// distance itself if count is 0. More requests never have fewer stamps. In a ping-pong a request is a round trip.
//
// A clock read with its record takes some 15 ns, a second read and the flush that shows delivery up to 60 ns. The rate
// of many requests keeps this below 2 % of a copy at the speed of a cache. A flush may also cost a message there and
// one back, 1 % of a stream of 4 KiB as tagged messages: then one in four of the stamps of small requests suffices.
func Stamped(bytes, requests uint64, flushed bool) (every int, count uint64) {
	const sparse = 256
	dense := uint64(sparse)
	switch {
	case bytes >= 1<<20:
		dense = 1
	case bytes >= 256<<10:
		dense = 4
	case bytes >= 64<<10:
		dense = 16
	case bytes >= 512:
		dense = 64
	}
	sparser := flushed && dense == 64
	if requests == 0 {
		if sparser {
			dense = sparse
		}
		return int(dense), 0
	}
	count = requests / dense
	if sparser {
		count = max(requests/sparse, min(count, fewestFlushed))
	}
	count = min(max(count, fewestStamps), requests)
	return int(requests / count), count
}

// Add merges another initiator's stage: the mean over all stamps, and the larger percentile.
func (s *Stage) Add(o Stage) {
	if o.Stamps == 0 {
		return
	}
	all := s.Stamps + o.Stamps
	s.Mean += (o.Mean - s.Mean) * float64(o.Stamps) / float64(all)
	s.P99 = max(s.P99, o.P99)
	s.Stamps = all
}

// Completed interpolates the bytes that a rank had completed at a time.
func Completed(s *results.Samples, at int64) float64 {
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

// ClockBound returns the largest error between timestamps of two ranks.
func ClockBound(ranks []*Part) float64 {
	first, second := 0., 0.
	for _, r := range ranks {
		b := r.Clock.Bound
		first, second = max(first, b), max(second, min(first, b))
	}
	return first + second
}
