package summary

import "github.com/weir-bench/weir/workload/serving/load"

// attempted reports whether a request was not cancelled on purpose.
func attempted(r *load.Record) bool { return r.Outcome != load.Cancelled }

func succeeded(r *load.Record) bool { return r.Outcome == load.OK }

// between returns the time between two timestamps in ns, if both exist.
func between(from, to int64) (float64, bool) {
	return float64(to - from), from != load.Never && to != load.Never
}

func ttft(r *load.Record) (float64, bool)    { return between(r.Start, r.First) }
func ttfo(r *load.Record) (float64, bool)    { return between(r.Start, r.FirstContent) }
func latency(r *load.Record) (float64, bool) { return between(r.Start, r.Last) }

func scheduledTTFT(r *load.Record) (float64, bool)    { return between(r.Due, r.First) }
func scheduledLatency(r *load.Record) (float64, bool) { return between(r.Due, r.Last) }
func dispatchDelay(r *load.Record) (float64, bool)    { return between(r.Due, r.Start) }

// ITL returns the time of a token after the first event in ns: (Last - First) / (N - N1).
func ITL(r *load.Record) (float64, bool) {
	after := r.Output - atFirst(r)
	took, ok := between(r.First, r.Last)
	if !ok || r.Output == load.Unknown || after < 1 {
		return 0, false
	}
	return took / float64(after), true
}

// atFirst returns the tokens of the first event: all of them if there is no other, else 1 if unknown.
func atFirst(r *load.Record) int {
	switch {
	case len(r.Events) == 1:
		return r.Output
	case len(r.Events) > 0 && r.Events[0].Tokens > 0:
		return int(r.Events[0].Tokens)
	}
	return 1
}

// AtOnce reports whether several tokens came together, so that nobody waited between them.
func AtOnce(r *load.Record) bool { return r.First != load.Never && r.First == r.Last && r.Output > 1 }

// origin returns when the user began to wait: the scheduled time, or else when the request was sent.
func origin(r *load.Record) int64 {
	if r.Due != load.Never {
		return r.Due
	}
	return r.Start
}

// keeps reports whether a request meets an objective for a time. A request without such a time does not.
func keeps(r *load.Record, promise int64, took float64, ok bool) bool {
	return succeeded(r) && ok && took <= float64(promise)
}

// kept reports which objectives a request meets; absent objectives are met.
func (s SLO) kept(r *load.Record) (ttft, perToken, latency bool) {
	ttft, perToken, latency = true, true, true
	if s.TTFT > 0 {
		took, ok := between(origin(r), r.First)
		ttft = keeps(r, s.TTFT, took, ok)
	}
	if s.ITL > 0 {
		took, ok := ITL(r)
		perToken = keeps(r, s.ITL, took, ok || AtOnce(r))
	}
	if s.Latency > 0 {
		took, ok := between(origin(r), r.Last)
		latency = keeps(r, s.Latency, took, ok)
	}
	return ttft, perToken, latency
}

// ended returns when a request no longer occupied the server, as far as the client knows.
func ended(r *load.Record) int64 {
	if succeeded(r) && r.Last != load.Never {
		return r.Last
	}
	if r.Done != load.Never {
		return r.Done
	}
	return max(r.Last, r.Start)
}

// firstOutput returns when the first output arrived: the end of an answer without a stream.
func firstOutput(r *load.Record) int64 {
	if r.First != load.Never {
		return r.First
	}
	return r.Last
}

// credit calls give for each arrival of tokens with their number: by continuous usage, or else an equal share for each
// event. Tokens count of requests that succeeded, were cancelled, or were in flight when the load ended.
func credit(r *load.Record, give func(at int64, tokens float64)) {
	if !succeeded(r) && attempted(r) && r.Outcome != load.Unfinished || r.Last == load.Never {
		return
	}
	total := float64(r.Output)
	if r.Output == load.Unknown {
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
		if rest := total - float64(before); rest > 0 && r.Output != load.Unknown {
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
