package summary

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving/load"
)

// errorNames are the metrics that count outcomes. Requests cut off by the end of the load count only in error_rate.
var errorNames = map[load.Outcome]string{
	load.Connect: "errors.connect", load.Timeout: "errors.timeout", load.Status: "errors.status",
	load.Truncated: "errors.truncated", load.Malformed: "errors.malformed", load.Empty: "errors.empty",
}

// Of computes the summary of the records of all clients of a launch, in any order.
func Of(records []load.Record, s Settings) Summary {
	m := map[string]float64{}
	measured := make([]*load.Record, 0, len(records))
	for i := range records {
		if records[i].Phase == load.Measured {
			measured = append(measured, &records[i])
		}
	}
	// sums of floats depend on their order
	slices.SortFunc(measured, func(a, b *load.Record) int { return cmp.Compare(a.Index, b.Index) })
	coldStart(m, records)
	out := Summary{Values: m, Source: source(measured)}
	w, kind := window(s, measured)
	out.From, out.To, out.Window = w.from, w.to, kind
	if counts(m, measured, s.SLO); m["requests"] == 0 {
		return out
	}
	out.Distributions = results.Distributions{}
	times(m, measured, out.Distributions, s.Several)
	tokens(m, measured)
	if out.To > out.From {
		rates(m, measured, s, w)
	}
	return out
}

// coldStart adds the time to the first token of the first successful request of phase Ready.
func coldStart(m map[string]float64, records []load.Record) {
	first := int64(load.Never)
	for i := range records {
		r := &records[i]
		if took, ok := ttft(r); r.Phase == load.Ready && succeeded(r) && ok &&
			(first == load.Never || r.Start < first) {
			first, m["cold.ttft"] = r.Start, took*ns
		}
	}
}

// counts adds the numbers of requests, of failed ones, and of those that met their objectives.
func counts(m map[string]float64, records []*load.Record, slo SLO) {
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

// tokens adds the tokens of successful requests, and the share of reused connections.
func tokens(m map[string]float64, records []*load.Record) {
	var input, output, short, reuse mean
	cached, cachedOf := 0., 0.
	for _, r := range records {
		if r.Connected != load.Never {
			reuse.add(one(r.Reused))
		}
		if !succeeded(r) {
			continue
		}
		if r.Input != load.Unknown {
			input.add(float64(r.Input))
		}
		if r.Output != load.Unknown {
			output.add(float64(r.Output))
			if r.AskedOutput > 0 {
				short.add(one(r.Output < r.AskedOutput))
			}
		}
		if r.Cached != load.Unknown && r.Input > 0 {
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

// rates adds the rates over the window. A request counts when it ended, a token when its event arrived, or as its
// request does if there are no events, and input tokens count at the first output.
func rates(m map[string]float64, records []*load.Record, s Settings, w span) {
	seconds := float64(w.to-w.from) * ns
	requests, good, goodTokens, output, input, busy := 0., 0., 0., 0., 0., int64(0)
	inputKnown, outputKnown := true, true
	for _, r := range records {
		if r.Start != load.Never {
			busy += max(0, min(w.to, ended(r))-max(w.from, r.Start))
		}
		credit(r, func(at int64, tokens float64) {
			if w.contains(at) {
				output += tokens
			}
		})
		if !succeeded(r) {
			continue
		}
		if w.contains(firstOutput(r)) {
			input += float64(r.Input)
			inputKnown = inputKnown && r.Input != load.Unknown
		}
		if !w.contains(r.Last) {
			continue
		}
		requests++
		if first, perToken, whole := s.SLO.kept(r); first && perToken && whole {
			good++
			goodTokens += float64(r.Output)
			outputKnown = outputKnown && r.Output != load.Unknown
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

// source returns the least trusted token count over successful requests.
func source(records []*load.Record) load.TokenSource {
	worst := load.ByNobody
	for _, r := range records {
		if !succeeded(r) {
			continue
		}
		if r.Source == load.ByNobody {
			return load.ByNobody
		}
		worst = max(worst, r.Source)
	}
	return worst
}
