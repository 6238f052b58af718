package gate

import (
	"fmt"
	"math"
	"slices"

	"weir/assertion"
	"weir/results"
)

// What sessions add to the changes of a comparison is known by references or history; otherwise it is
// estimated from the changes themselves, where there are many: those of cases that did not change
// differ by what sessions add, and by what launches explain (shift.go, spread.go). Of fewer changes nothing
// is known, and none of them is found.

// acrossSessions puts down what sessions add to each change of two sessions.
func (c *comparer) acrossSessions() {
	if c.within || !c.out.CrossSession {
		return
	}
	var order []string
	byMetric := map[string][]*contrast{}
	for _, x := range c.contrasts {
		if x.change == nil {
			continue
		}
		if n := c.knownSessions(x.effect); n != nil && x.change.log {
			v := 2 * n.Session * n.Session
			text := "sessions vary by " + percent(n.Session) + " by " + n.From
			x.sessions = sessionNoise{variance: v, df: n.SessionDF, text: text}
			continue
		}
		x.assumed = true
		x.sessions.text = "assumes that sessions do not differ"
		if !x.change.log {
			continue
		}
		if byMetric[x.effect.Metric] == nil {
			order = append(order, x.effect.Metric)
		}
		byMetric[x.effect.Metric] = append(byMetric[x.effect.Metric], x)
	}
	for _, metric := range order {
		if xs := byMetric[metric]; len(xs) >= leastChanges {
			betweenChanges(xs)
			c.estimated = append(c.estimated, xs)
		}
	}
	for _, x := range c.contrasts {
		if x.sessions.text != "" {
			x.effect.Method += "; " + x.sessions.text
		}
	}
}

// knownSessions is what the documents say of how sessions differ in a metric of a case, or the sessions
// that were given to say it.
func (c *comparer) knownSessions(e *results.Effect) *assertion.Noise {
	for i := len(c.documents) - 1; i >= 0; i-- {
		d := c.documents[i]
		eval := evaluator{doc: d}
		if cs := d.Case(e.Case); cs != nil {
			for _, a := range cs.Assertions {
				if n := eval.between(a.Noise, e.Case, e.Metric); n != nil {
					return n
				}
			}
		}
		if n := eval.between(nil, e.Case, e.Metric); n != nil {
			return n
		}
		given := evaluator{doc: &results.Document{Noise: c.options.Noise, Environment: d.Environment}}
		if n := given.between(nil, e.Case, e.Metric); n != nil {
			return n
		}
	}
	return nil
}

// betweenChanges estimates what sessions add to the changes of one metric of many cases.
func betweenChanges(xs []*contrast) {
	changes := make([]float64, len(xs))
	for i, x := range xs {
		changes[i] = math.Log(x.change.center)
	}
	s := shiftOf(changes)
	for _, x := range xs {
		x.shift = s
	}
	below, above := spreadAround(xs)
	vary := func(share float64) string {
		return percent(math.Sqrt((below.quantile(share) + above.quantile(share)) / 4))
	}
	text := fmt.Sprintf(
		"as the changes of %d cases do, sessions vary by %s in half of the cases and by up to %s in nine of ten",
		len(xs),
		vary(0.5),
		vary(0.9),
	)
	for _, x := range xs {
		x.assumed, x.sessions.text = false, text
	}
}

// spreadAround gives each of some changes what it is held against.
func spreadAround(xs []*contrast) (below, above *spread) {
	all := make([]deviation, len(xs))
	for i, x := range xs {
		all[i] = deviation{x.apart(), x.change.variance}
	}
	below, above = spreads(all)
	for i, x := range xs {
		x.spread = above
		if all[i].x < 0 {
			x.spread = below
		}
	}
	return below, above
}

// withoutFound makes the intervals of changes that are not found anew: those that are found are not what sessions
// add, and must not make the others unclear.
func withoutFound(xs []*contrast) {
	rest := slices.DeleteFunc(slices.Clone(xs), func(x *contrast) bool { return x.effect.Change.Found })
	xs[0].shift.together = len(rest)
	if len(rest) == len(xs) || len(rest) < leastChanges {
		return
	}
	spreadAround(rest)
	for _, x := range rest {
		x.intervals()
		x.effect.Change.CI = x.at(results.Confidence).ci()
		x.effect.Change.Detectable = new(x.detectable(x.change.variance, x.change.df))
	}
}

// fill completes the effects, and takes out those that cannot be.
func (c *comparer) fill() {
	c.acrossSessions()
	c.contrasts = slices.DeleteFunc(c.contrasts, func(x *contrast) bool {
		if x.change == nil {
			return false
		}
		err := x.fill()
		if err == nil {
			x.effect.Change.Assumes = x.assumed
		}
		if err != nil {
			x.effect.Verdict, x.effect.Message = results.EffectError, err.Error()
		}
		return err != nil
	})
}
