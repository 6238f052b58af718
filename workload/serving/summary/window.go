package summary

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/workload/serving/load"
)

// EnoughWaves is the number of waves that a load needs for rates of its steady part. A wave is the requests in flight
// together. Those of the last wave end after the steady part, with fewer others in flight than in it, so that the share
// of their time in it is not quite the share of their work: with ten waves they are at most one request in ten.
const EnoughWaves = 10

// span is an interval of time with both ends.
type span struct{ from, to int64 }

func (s span) contains(at int64) bool { return at != load.Never && s.from <= at && at <= s.to }

// overlap returns the part of an interval in the span, in ns.
func (s span) overlap(from, to int64) int64 { return max(0, min(s.to, to)-max(s.from, from)) }

// share returns the part of an interval in the span, from 0 to 1; an interval of no length is in it or not.
func (s span) share(from, to int64) float64 {
	switch {
	case from == load.Never || to == load.Never:
		return 0
	case to > from:
		return float64(s.overlap(from, to)) / float64(to-from)
	}
	return one(s.contains(to))
}

// window returns the window of rates. A load without a steady part, or with too few waves, has the whole.
func window(s Settings, records []*load.Record) (from, to int64, kind Window) {
	if s.Window == Steady && waves(s, records) >= EnoughWaves {
		steady := openSpan
		if s.Concurrency > 0 {
			steady = func(records []*load.Record) (int64, int64) { return fullSpan(records, s.Concurrency) }
		}
		if from, to = steady(records); from != load.Never && to > from {
			return from, to, Steady
		}
	}
	from, to = wholeSpan(records)
	return from, to, Whole
}

// waves returns the number of waves of a load; for an open load its scheduled span divided by the time of a request.
func waves(s Settings, records []*load.Record) float64 {
	sent, took := 0, int64(0)
	for _, r := range records {
		if r.Start != load.Never {
			sent, took = sent+1, took+max(0, ended(r)-r.Start)
		}
	}
	if s.Concurrency > 0 {
		return float64(sent) / float64(s.Concurrency)
	}
	if from, to := openSpan(records); took > 0 {
		return float64(to-from) * float64(sent) / float64(took)
	}
	return EnoughWaves // if requests take no time, none is in flight at the end
}

// wholeSpan is from the first request to the last token, or to the end of the last request if there is no token.
func wholeSpan(records []*load.Record) (from, to int64) {
	from, to = load.Never, load.Never
	end := to
	for _, r := range records {
		if r.Start == load.Never {
			continue
		}
		if from == load.Never || r.Start < from {
			from = r.Start
		}
		to, end = max(to, r.Last), max(end, ended(r))
	}
	if to == load.Never {
		to = end
	}
	return from, to
}

// openSpan is from the first to the last scheduled time.
func openSpan(records []*load.Record) (from, to int64) {
	from, to = load.Never, load.Never
	for _, r := range records {
		if r.Due == load.Never {
			continue
		}
		if from == load.Never || r.Due < from {
			from = r.Due
		}
		to = max(to, r.Due)
	}
	return from, to
}

// fullSpan is from the first time with n requests in flight until one of them ends after the last such time.
func fullSpan(records []*load.Record, concurrency int) (from, to int64) {
	from, to = load.Never, load.Never
	full, inFlight := false, 0
	for _, c := range changesOf(records) {
		inFlight += c.by
		switch {
		case inFlight >= concurrency && !full:
			full = true
			if from == load.Never {
				from = c.at
			}
		case inFlight < concurrency && full:
			full, to = false, c.at
		}
	}
	return from, to
}

// change is a request that begins (1) or ends (-1).
type change struct {
	at int64
	by int
}

// changesOf returns the changes in the order of time. At one instant requests begin before others end, so that a slot
// that is reused at once was never free.
func changesOf(records []*load.Record) []change {
	list := make([]change, 0, 2*len(records))
	for _, r := range records {
		if r.Start != load.Never {
			list = append(list, change{r.Start, 1}, change{max(r.Start, released(r)), -1})
		}
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), b.by-a.by) })
	return list
}

// released returns when the slot of a request was free again.
func released(r *load.Record) int64 {
	if r.Done != load.Never {
		return r.Done
	}
	return ended(r)
}
