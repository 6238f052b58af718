package summary

import (
	"cmp"
	"slices"

	"weir/serving"
)

// EnoughWaves is how many waves a load needs for rates of its steady part. A wave is as many requests as are in
// flight together. Those of the last one end when the steady part does or after it and are missing from the rates:
// a part in ten of ten waves, and all of a single one.
const EnoughWaves = 10

// window is the span that rates are of. A load without a steady part, or with too few waves, has the whole.
func window(s Settings, records []*serving.Record) (from, to int64, kind Window) {
	if s.Window == Steady && waves(s, records) >= EnoughWaves {
		steady := openSpan
		if s.Concurrency > 0 {
			steady = func(records []*serving.Record) (int64, int64) { return fullSpan(records, s.Concurrency) }
		}
		if from, to = steady(records); from != serving.Never && to > from {
			return from, to, Steady
		}
	}
	from, to = wholeSpan(records)
	return from, to, Whole
}

// waves is how many a load has. An open load has as many as its span of dues is longer than a request takes.
func waves(s Settings, records []*serving.Record) float64 {
	sent, took := 0, int64(0)
	for _, r := range records {
		if r.Start != serving.Never {
			sent, took = sent+1, took+max(0, ended(r)-r.Start)
		}
	}
	if s.Concurrency > 0 {
		return float64(sent) / float64(s.Concurrency)
	}
	if from, to := openSpan(records); took > 0 {
		return float64(to-from) * float64(sent) / float64(took)
	}
	return EnoughWaves // of requests that take no time, none is in flight at the end
}

// wholeSpan is from the first request to the last token, or to the end of the last request where
// none had a token.
func wholeSpan(records []*serving.Record) (from, to int64) {
	from, to = serving.Never, serving.Never
	end := to
	for _, r := range records {
		if r.Start == serving.Never {
			continue
		}
		if from == serving.Never || r.Start < from {
			from = r.Start
		}
		to, end = max(to, r.Last), max(end, ended(r))
	}
	if to == serving.Never {
		to = end
	}
	return from, to
}

// openSpan is from the first to the last instant at which a request was due.
func openSpan(records []*serving.Record) (from, to int64) {
	from, to = serving.Never, serving.Never
	for _, r := range records {
		if r.Due == serving.Never {
			continue
		}
		if from == serving.Never || r.Due < from {
			from = r.Due
		}
		to = max(to, r.Due)
	}
	return from, to
}

// fullSpan is from when so many requests are in flight for the first time until one of them ends
// after the last time that so many are.
func fullSpan(records []*serving.Record, concurrency int) (from, to int64) {
	from, to = serving.Never, serving.Never
	full, inFlight := false, 0
	for _, c := range changesOf(records) {
		inFlight += c.by
		switch {
		case inFlight >= concurrency && !full:
			full = true
			if from == serving.Never {
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

// changesOf are in the order of time. At one instant requests begin before others end, so that
// a slot that is taken again at once was never free.
func changesOf(records []*serving.Record) []change {
	list := make([]change, 0, 2*len(records))
	for _, r := range records {
		if r.Start != serving.Never {
			list = append(list, change{r.Start, 1}, change{max(r.Start, released(r)), -1})
		}
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), b.by-a.by) })
	return list
}

// released is when the slot of a request was free again.
func released(r *serving.Record) int64 {
	if r.Done != serving.Never {
		return r.Done
	}
	return ended(r)
}
