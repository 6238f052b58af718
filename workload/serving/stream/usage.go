package stream

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/workload/serving/load"
)

// usage is a server's report of tokens.
type usage struct {
	given                      bool // it has the number of generated tokens
	prompt, completion, cached float64
	prompted, detailed         bool    // prompt and cached are given
	reasoning                  float64 // tokens of completion
}

func (u *usage) read(p *scanner) {
	p.object(func(name []byte) {
		switch string(name) {
		case "prompt_tokens", "input_tokens":
			u.prompt, u.prompted = p.number()
		case "completion_tokens", "output_tokens":
			u.completion, u.given = p.number()
		case "reasoning_tokens": // of SGLang
			u.reasoning, _ = p.number()
		case "completion_tokens_details", "output_tokens_details":
			p.optional(func(name []byte) {
				if string(name) == "reasoning_tokens" {
					u.reasoning, _ = p.number()
					return
				}
				p.skip()
			})
		case "prompt_tokens_details", "input_tokens_details":
			p.optional(func(name []byte) {
				if string(name) == "cached_tokens" {
					u.cached, u.detailed = p.number()
					return
				}
				p.skip()
			})
		default:
			p.skip()
		}
	})
}

// wrong says why it is invalid for any answer.
func (u *usage) wrong() error {
	for _, n := range []float64{u.prompt, u.completion, u.cached} {
		if n < 0 || n != math.Trunc(n) {
			return malformed("usage counts %v tokens", n)
		}
	}
	if u.prompted && u.cached > u.prompt {
		return malformed("usage counts %v cached tokens in a prompt of %v", u.cached, u.prompt)
	}
	return nil
}

// Limits of a plausible usage.
const (
	maxTokens  = 1 << 20 // of an answer without a requested number of tokens
	overshoot  = 64      // tokens beyond twice the requested number
	ofTemplate = 1 << 16 // tokens of a prompt beyond the bytes of the request
)

// doubt says why a usage is implausible for an answer with this many events of output; "" if it is plausible.
func (r *Reader) doubt(u *usage, outputs int) string {
	most := maxTokens
	if asked := r.rec.AskedOutput; asked > 0 {
		most = 2*asked + overshoot
	}
	switch {
	case u.completion == 0 && outputs > 0:
		return "usage has 0 tokens for an answer with output"
	case u.completion < float64(outputs):
		return "usage has fewer tokens than there were events with output"
	case u.completion-max(0, u.reasoning) > float64(most): // some servers do not limit reasoning
		return "usage has far more tokens than requested"
	case r.limits.Prompt > 0 && u.prompt > float64(r.limits.Prompt+ofTemplate):
		return "usage has far more prompt tokens than the prompt has bytes"
	case r.limits.Prompt == 0 && u.prompt > maxTokens:
		return "usage has more prompt tokens than any prompt"
	}
	return ""
}

// sure leaves out events with output in unknown members only, if the usage has no tokens for them. It
// returns the number of events with output.
func (r *Reader) sure(u *usage, outputs int) int {
	sure := slices.DeleteFunc(slices.Clone(r.rec.Events), func(e load.Event) bool { return e.Unsure })
	if n := len(sure); n > 0 && u.completion >= float64(n) {
		r.rec.Events, r.rec.First, r.rec.Last = sure, sure[0].At, sure[n-1].At
		return n
	}
	return outputs
}

// hide counts the reasoning of a usage as tokens of the first event, if no event brought any: the server has kept it to
// itself until then. If an answer has more events than other tokens, its content was the reasoning.
func (r *Reader) hide() {
	rec, hidden := r.rec, int(min(r.usage.reasoning, math.MaxInt32))
	if hidden < 1 || r.reasons || len(rec.Events) == 0 || len(rec.Events)+hidden > rec.Output {
		return
	}
	if first := &rec.Events[0]; first.Tokens == load.Unknown {
		first.Tokens, rec.Hidden = int32(1+hidden), true
	}
}

// count stores the last usage in the record, if it is plausible. Otherwise each event of an answer that ended normally
// counts as a token.
func (r *Reader) count() {
	rec, u := r.rec, &r.usage
	if u.given {
		outputs := len(rec.Events)
		if rec.Last != load.Never { // of a complete answer
			outputs = max(outputs, 1)
		}
		if u.completion < float64(outputs) {
			outputs = r.sure(u, outputs)
		}
		if rec.Doubt = r.doubt(u, outputs); rec.Doubt == "" {
			rec.Output, rec.Source = int(u.completion), load.ByUsage
			if u.prompted && u.prompt > 0 {
				rec.Input = int(u.prompt)
				if u.detailed {
					rec.Cached = int(u.cached)
				}
			}
		}
	}
	if slices.ContainsFunc(rec.Events, func(e load.Event) bool { return int(e.Tokens) > rec.Output }) {
		for i := range rec.Events { // they contradict the last usage
			rec.Events[i].Tokens = load.Unknown
		}
	}
	if rec.Source == load.ByUsage {
		r.hide()
		return
	}
	if !r.ended {
		return
	}
	if rec.Source = load.ByEvents; len(rec.Events) > 0 {
		rec.Output = len(rec.Events)
	}
}
