package summary

import (
	"cmp"
	"slices"

	"weir/results"
	"weir/serving"
)

// errorNames are the metrics that count outcomes. A request that the end of the load cut off is in
// error_rate only.
var errorNames = map[serving.Outcome]string{
	serving.Connect: "errors.connect", serving.Timeout: "errors.timeout", serving.Status: "errors.status",
	serving.Truncated: "errors.truncated", serving.Malformed: "errors.malformed", serving.Empty: "errors.empty",
}

// Of computes the summary of the records of all clients of a launch, in any order.
func Of(records []serving.Record, s Settings) Summary {
	m := map[string]float64{}
	measured := make([]*serving.Record, 0, len(records))
	for i := range records {
		if records[i].Phase == serving.Measured {
			measured = append(measured, &records[i])
		}
	}
	// sums of fractions depend on their order
	slices.SortFunc(measured, func(a, b *serving.Record) int { return cmp.Compare(a.Index, b.Index) })
	coldStart(m, records)
	out := Summary{Values: m, Source: source(measured)}
	out.From, out.To, out.Window = window(s, measured)
	if counts(m, measured, s.SLO); m["requests"] == 0 {
		return out
	}
	out.Distributions = results.Distributions{}
	times(m, measured, out.Distributions)
	tokens(m, measured)
	if out.To > out.From {
		rates(m, measured, s, out.From, out.To)
	}
	return out
}

// coldStart adds the time to the first token of the first success of phase Ready.
func coldStart(m map[string]float64, records []serving.Record) {
	first := int64(serving.Never)
	for i := range records {
		r := &records[i]
		if took, ok := ttft(r); r.Phase == serving.Ready && succeeded(r) && ok &&
			(first == serving.Never || r.Start < first) {
			first, m["cold.ttft"] = r.Start, took*ns
		}
	}
}

// counts adds how many requests there were, which failed, and which promises they kept.
func counts(m map[string]float64, records []*serving.Record, slo SLO) {
	n, failed, first, perToken, whole := 0., 0., 0., 0., 0.
	errors := map[string]float64{}
	for _, r := range records {
		if !attempted(r) {
			continue
		}
		n++
		if !succeeded(r) {
			failed++
		}
		errors[errorNames[r.Outcome]]++
		t, i, l := slo.kept(r)
		first, perToken, whole = first+one(t), perToken+one(i), whole+one(l)
	}
	if m["requests"] = n; n == 0 {
		return
	}
	m["error_rate"] = failed / n
	for _, name := range errorNames {
		m[name] = errors[name]
	}
	for name, kept := range map[string]struct {
		promise int64
		n       float64
	}{"slo.ttft": {slo.TTFT, first}, "slo.itl": {slo.ITL, perToken}, "slo.latency": {slo.Latency, whole}} {
		if kept.promise > 0 {
			m[name] = kept.n / n
		}
	}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// tokens adds what requests that succeeded were made of, and how often connections were reused.
func tokens(m map[string]float64, records []*serving.Record) {
	var input, output, short, reuse mean
	cached, cachedOf := 0., 0.
	for _, r := range records {
		if r.Connected != serving.Never {
			reuse.add(one(r.Reused))
		}
		if !succeeded(r) {
			continue
		}
		if r.Input != serving.Unknown {
			input.add(float64(r.Input))
		}
		if r.Output != serving.Unknown {
			output.add(float64(r.Output))
			if r.AskedOutput > 0 {
				short.add(one(r.Output < r.AskedOutput))
			}
		}
		if r.Cached != serving.Unknown && r.Input > 0 {
			cached, cachedOf = cached+float64(r.Cached), cachedOf+float64(r.Input)
		}
	}
	input.put(m, "input.tokens")
	output.put(m, "output.tokens")
	short.put(m, "output.short")
	reuse.put(m, "reuse")
	if cachedOf > 0 {
		m["input.cached"] = cached / cachedOf
	}
}

// rates adds what a window had per second. A request counts where it ended, a token where it
// arrived, and the tokens of an input where the first of its output arrived.
func rates(m map[string]float64, records []*serving.Record, s Settings, from, to int64) {
	within := func(at int64) bool { return at != serving.Never && from <= at && at <= to }
	seconds := float64(to-from) * ns
	requests, good, goodTokens, output, input, busy := 0., 0., 0., 0., 0., int64(0)
	inputKnown, outputKnown := true, true
	for _, r := range records {
		if r.Start != serving.Never {
			busy += max(0, min(to, ended(r))-max(from, r.Start))
		}
		credit(r, func(at int64, tokens float64) {
			if within(at) {
				output += tokens
			}
		})
		if succeeded(r) && within(r.First) {
			input += float64(r.Input)
			inputKnown = inputKnown && r.Input != serving.Unknown
		}
		if !succeeded(r) || !within(r.Last) {
			continue
		}
		requests++
		if first, perToken, whole := s.SLO.kept(r); first && perToken && whole {
			good++
			goodTokens += float64(r.Output)
			outputKnown = outputKnown && r.Output != serving.Unknown
		}
	}
	m["concurrency.effective"] = float64(busy) * ns / seconds
	m["request_rate"] = requests / seconds
	m["output_throughput"] = output / seconds
	if s.GPUs > 0 {
		m["output_throughput.per_gpu"] = output / seconds / float64(s.GPUs)
	}
	if inputKnown {
		m["total_throughput"] = (input + output) / seconds
	}
	if s.SLO.any() {
		m["goodput"] = good / seconds
		if outputKnown {
			m["goodput.tokens"] = goodTokens / seconds
		}
	}
}

// source is the least trusted of what counted the tokens of requests that succeeded.
func source(records []*serving.Record) serving.TokenSource {
	worst := serving.ByNobody
	for _, r := range records {
		if !succeeded(r) {
			continue
		}
		if r.Source == serving.ByNobody {
			return serving.ByNobody
		}
		worst = max(worst, r.Source)
	}
	return worst
}
