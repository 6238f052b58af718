package gate

import (
	"github.com/weir-bench/weir/results"
)

// fillClaims sets what was found beside each claim. Claims have no effect on verdicts.
func fillClaims(doc *results.Document, eval *evaluator) {
	for _, c := range doc.Claims {
		if c.Gain() {
			c.Judge(foundGain(doc, eval, c))
		} else {
			c.Judge(foundValue(eval, c, c.Case))
		}
	}
}

// foundValue is the estimate of a metric of a case, or why there is none.
func foundValue(eval *evaluator, claim *results.Claim, key string) (*results.Observed, string) {
	c := eval.cases[key]
	switch {
	case c == nil:
		return nil, results.NotRun
	case c.Invalid != "":
		return nil, c.Invalid
	}
	m, ok := c.Metrics.Get(claim.Metric)
	if !ok || !measured(c) {
		if c.Reason != "" {
			return nil, c.Reason
		}
		return nil, "no launch gave a value"
	}
	return &results.Observed{Value: m.Value, Unit: m.Unit, CI: m.CI, N: m.N, Confidence: m.Confidence}, ""
}

// foundGain is the gain of a case over another.
func foundGain(doc *results.Document, eval *evaluator, claim *results.Claim) (*results.Observed, string) {
	for _, key := range []string{claim.BaseCase, claim.Case} {
		if o, why := foundValue(eval, claim, key); o == nil {
			return nil, why
		}
	}
	all := comparerWithin(doc, claim.BaseCase, claim.Case, CompareOptions{Metrics: []string{claim.Metric}})
	all.shares = true
	c, err := all.compare([]casePair{{eval.cases[claim.BaseCase].Undisturbed(), eval.cases[claim.Case].Undisturbed()}})
	if err != nil {
		return nil, err.Error()
	}
	for _, e := range c.Effects {
		if g := results.GainOf(e); g != nil && e.Metric == claim.Metric && !e.Additive && e.New != nil {
			return &results.Observed{Value: g.Value, CI: g.CI, N: e.New.N}, ""
		}
	}
	return nil, "the two cases cannot be compared"
}
