package stream

import (
	"math"
	"slices"

	"weir/serving"
)

// usage is what a server says of tokens.
type usage struct {
	given                      bool // it says how many were generated
	prompt, completion, cached float64
	prompted, detailed         bool // prompt and cached are given
}

func (u *usage) read(p *scanner) {
	p.object(func(name []byte) {
		switch string(name) {
		case "prompt_tokens":
			u.prompt, u.prompted = p.number()
		case "completion_tokens":
			u.completion, u.given = p.number()
		case "prompt_tokens_details":
			if p.null() {
				return
			}
			p.object(func(name []byte) {
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

// wrong says why it is no usage of any answer.
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

// Bounds of what is believed of a usage.
const (
	mostTokens = 1 << 20 // of an answer whose number of tokens nobody asked for
	overshoot  = 64      // tokens more than twice as many as were asked for
	ofTemplate = 1 << 16 // tokens of a prompt beside those of the request, whose tokens have a byte each
)

// doubt says why a usage is not that of an answer with so many events of output; "": it may be.
func (r *Reader) doubt(u *usage, outputs int) string {
	most := mostTokens
	if asked := r.rec.AskedOutput; asked > 0 {
		most = 2*asked + overshoot
	}
	switch {
	case u.completion == 0 && outputs > 0:
		return "usage says 0 tokens of an answer that has some"
	case u.completion < float64(outputs):
		return "usage says fewer tokens than there were events with output"
	case u.completion > float64(most):
		return "usage says far more tokens than were asked for"
	case r.limits.Prompt > 0 && u.prompt > float64(r.limits.Prompt+ofTemplate):
		return "usage says far more tokens of the prompt than it has bytes"
	case r.limits.Prompt == 0 && u.prompt > mostTokens:
		return "usage says more tokens of the prompt than any has"
	}
	return ""
}

// count puts into the record what the last usage says, if it can be true. Otherwise each event of an answer
// that ended well is taken for a token.
func (r *Reader) count() {
	rec, u := r.rec, &r.usage
	if u.given {
		outputs := len(rec.Events)
		if rec.Last != serving.Never { // of a whole answer
			outputs = max(outputs, 1)
		}
		if rec.Doubt = r.doubt(u, outputs); rec.Doubt == "" {
			rec.Output, rec.Source = int(u.completion), serving.ByUsage
			if u.prompted && u.prompt > 0 {
				rec.Input = int(u.prompt)
				if u.detailed {
					rec.Cached = int(u.cached)
				}
			}
		}
	}
	if slices.ContainsFunc(rec.Events, func(e serving.Event) bool { return int(e.Tokens) > rec.Output }) {
		for i := range rec.Events { // what the last usage does not bear out
			rec.Events[i].Tokens = serving.Unknown
		}
	}
	if rec.Source == serving.ByUsage || !r.ended {
		return
	}
	if rec.Source = serving.ByEvents; len(rec.Events) > 0 {
		rec.Output = len(rec.Events)
	}
}
