package summary

import "weir/serving"

// attempted is whether a request was not cancelled on purpose.
func attempted(r *serving.Record) bool { return r.Outcome != serving.Cancelled }

func succeeded(r *serving.Record) bool { return r.Outcome == serving.OK }

// between is the time from one instant to another, in ns, if both came.
func between(from, to int64) (float64, bool) {
	return float64(to - from), from != serving.Never && to != serving.Never
}

func ttft(r *serving.Record) (float64, bool)    { return between(r.Start, r.First) }
func ttfo(r *serving.Record) (float64, bool)    { return between(r.Start, r.FirstContent) }
func latency(r *serving.Record) (float64, bool) { return between(r.Start, r.Last) }

func scheduledTTFT(r *serving.Record) (float64, bool)    { return between(r.Due, r.First) }
func scheduledLatency(r *serving.Record) (float64, bool) { return between(r.Due, r.Last) }
func dispatchDelay(r *serving.Record) (float64, bool)    { return between(r.Due, r.Start) }

// itl is the time of a token after those of the first event: (Last - First) / (N - N1).
func itl(r *serving.Record) (float64, bool) {
	after := r.Output - atFirst(r)
	took, ok := between(r.First, r.Last)
	if !ok || r.Output == serving.Unknown || after < 1 {
		return 0, false
	}
	return took / float64(after), true
}

// atFirst are the tokens of the first event: 1 where nobody said.
func atFirst(r *serving.Record) int {
	if len(r.Events) > 0 && r.Events[0].Tokens > 0 {
		return int(r.Events[0].Tokens)
	}
	return 1
}

// origin is when a user began to wait: when the request was due, or else when it was sent.
func origin(r *serving.Record) int64 {
	if r.Due != serving.Never {
		return r.Due
	}
	return r.Start
}

// keeps is whether a request keeps a promise about a time. One that has no such time does not.
func keeps(r *serving.Record, promise int64, took float64, ok bool) bool {
	return succeeded(r) && ok && took <= float64(promise)
}

// kept says which promises a request keeps; those that nobody made are kept.
func (s SLO) kept(r *serving.Record) (ttft, perToken, latency bool) {
	ttft, perToken, latency = true, true, true
	if s.TTFT > 0 {
		took, ok := between(origin(r), r.First)
		ttft = keeps(r, s.TTFT, took, ok)
	}
	if s.ITL > 0 {
		took, ok := itl(r)
		perToken = keeps(r, s.ITL, took, ok)
	}
	if s.Latency > 0 {
		took, ok := between(origin(r), r.Last)
		latency = keeps(r, s.Latency, took, ok)
	}
	return ttft, perToken, latency
}

// ended is when a request no longer occupied the server, as far as the client knows.
func ended(r *serving.Record) int64 {
	if succeeded(r) && r.Last != serving.Never {
		return r.Last
	}
	if r.Done != serving.Never {
		return r.Done
	}
	return max(r.Last, r.Start)
}

// credit calls give with each instant at which tokens arrived, and how many: as continuous
// usage says, or else an equal part of all for each event. Tokens count whose request succeeded,
// was cancelled, or was under way when the load was over.
func credit(r *serving.Record, give func(at int64, tokens float64)) {
	if !succeeded(r) && attempted(r) && r.Outcome != serving.Unfinished || r.Last == serving.Never {
		return
	}
	total := float64(r.Output)
	if r.Output == serving.Unknown {
		total = float64(len(r.Events))
	}
	if n := len(r.Events); n > 0 && r.Events[n-1].Tokens > 0 {
		before := int32(0)
		for _, e := range r.Events {
			if e.Tokens > before {
				give(e.At, float64(e.Tokens-before))
				before = e.Tokens
			}
		}
		if rest := total - float64(before); rest > 0 && r.Output != serving.Unknown {
			give(r.Last, rest)
		}
		return
	}
	for _, e := range r.Events {
		give(e.At, total/float64(len(r.Events)))
	}
	if len(r.Events) == 0 {
		give(r.Last, max(total, 0))
	}
}
