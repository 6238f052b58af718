package move

import "weir/results"

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

// Add takes another initiator's stage in: the mean is that of all stamps, the
// percentile the largest.
func (s *Stage) Add(o Stage) {
	if o.Stamps == 0 {
		return
	}
	all := s.Stamps + o.Stamps
	s.Mean += (o.Mean - s.Mean) * float64(o.Stamps) / float64(all)
	s.P99 = max(s.P99, o.P99)
	s.Stamps = all
}

// Completed interpolates how many bytes a rank had completed at a time.
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

// ClockBound is by how much an instant of one rank may be wrong to that of another.
func ClockBound(ranks []*Part) float64 {
	first, second := 0., 0.
	for _, r := range ranks {
		b := r.Clock.Bound
		first, second = max(first, b), max(second, min(first, b))
	}
	return first + second
}
