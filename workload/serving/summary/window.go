package summary

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/workload/serving/load"
)

// EnoughWaves is the number of waves that a load needs for rates of its steady part. A wave is the requests in flight
// together. The first wave is before the steady part, so that of a single wave nothing is in it.
const EnoughWaves = 10

// span is the time of rates. after says that what happens at from does not count.
type span struct {
	from, to int64
	after    bool
}

func (s span) contains(at int64) bool {
	return at != load.Never && (s.from < at || s.from == at && !s.after) && at <= s.to
}

// window returns the window of rates. A load without a steady part, or with too few waves, has the whole.
//
// The steady part is cut to begin and end with the ends of requests: then it has as many of them as its length has
// times between two ends (a renewal count), whatever the server does with requests at once, and whether slots are in
// step or not. Requests in flight at its beginning count, and those at its end do not.
func window(s Settings, records []*load.Record) (span, Window) {
	if s.Window == Steady && waves(s, records) >= EnoughWaves {
		busy := openSpan
		if s.Concurrency > 0 {
			busy = func(records []*load.Record) (int64, int64) { return fullSpan(records, s.Concurrency) }
		}
		if from, to := busy(records); from != load.Never {
			if from, to = betweenEnds(records, from, to); to > from {
				return span{from, to, true}, Steady
			}
		}
	}
	from, to := wholeSpan(records)
	return span{from: from, to: to}, Whole
}

// betweenEnds returns the first and the last end of a request in a time.
func betweenEnds(records []*load.Record, from, to int64) (first, last int64) {
	first, last = load.Never, load.Never
	for _, r := range records {
		if at := ended(r); r.Start != load.Never && attempted(r) && from <= at && at <= to {
			if first == load.Never || at < first {
				first = at
			}
			last = max(last, at)
		}
	}
	return first, last
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

// fullSpan is from the first time with n slots taken until one of them is free for good. A slot is taken from the first
// to the last turn of a conversation, while its user thinks, too.
func fullSpan(records []*load.Record, concurrency int) (from, to int64) {
	from, to = load.Never, load.Never
	full, taken := false, 0
	for _, c := range changesOf(records) {
		taken += c.by
		switch {
		case taken >= concurrency && !full:
			full = true
			if from == load.Never {
				from = c.at
			}
		case taken < concurrency && full:
			full, to = false, c.at
		}
	}
	return from, to
}

// change is a conversation that begins (1) or ends (-1).
type change struct {
	at int64
	by int
}

// changesOf returns the changes in the order of time. At one instant conversations begin before others end, so that a
// slot that is reused at once was never free.
func changesOf(records []*load.Record) []change {
	type conversation struct{ from, to int64 }
	sessions := map[int]*conversation{}
	for _, r := range records {
		if r.Start == load.Never {
			continue
		}
		c := sessions[r.Session]
		if c == nil {
			c = &conversation{r.Start, r.Start}
			sessions[r.Session] = c
		}
		c.from, c.to = min(c.from, r.Start), max(c.to, released(r))
	}
	list := make([]change, 0, 2*len(sessions))
	for _, c := range sessions {
		list = append(list, change{c.from, 1}, change{c.to, -1})
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
