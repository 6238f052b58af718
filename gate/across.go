package gate

import (
	"fmt"
	"math"
	"slices"

	"weir/assertion"
	"weir/results"
)

// The variance that sessions add to the changes of a comparison is known by references or
// history; otherwise it is estimated from the changes themselves, where there are many: those of cases
// that did not change differ by twice the variance of sessions, and by what launches
// explain. Cases that did change are left out, as far as they stand out: those more than
// clip standard deviations from the middle of the shortest interval that holds half of the
// changes, anew until none is. A shift that all cases have in common is not seen: it
// cannot be told from a change.
const (
	leastChanges = 8
	clip         = 2.5
	clipped      = 0.911 // the variance of normal values within clip standard deviations
)

// acrossSessions puts down what sessions add to each change of two sessions.
func (c *comparer) acrossSessions() {
	if c.within || !c.out.CrossSession {
		return
	}
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
		byMetric[x.effect.Metric] = append(byMetric[x.effect.Metric], x)
	}
	for _, xs := range byMetric {
		n, ok := betweenChanges(xs)
		for _, x := range xs {
			x.sessions = n
			x.assumed = !ok || !x.change.log
			if x.assumed {
				x.sessions = sessionNoise{text: "assumes that sessions do not differ"}
			}
		}
	}
	for _, x := range c.contrasts {
		if x.sessions.text != "" {
			x.effect.Method += "; " + x.sessions.text
		}
	}
}

// knownSessions is what the documents say of how sessions differ in a metric of a case.
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
	}
	return nil
}

// betweenChanges estimates what sessions add to the changes of many cases.
func betweenChanges(xs []*contrast) (sessionNoise, bool) {
	var changes, variances []float64
	for _, x := range xs {
		if x.change.log {
			changes, variances = append(changes, math.Log(x.change.center)), append(variances, x.change.variance)
		}
	}
	if len(changes) < leastChanges {
		return sessionNoise{}, false
	}
	kept, variance := unmoved(changes)
	v := max(0, variance-median(variances))
	return sessionNoise{
		variance: v, df: float64(kept - 1),
		text: fmt.Sprintf("sessions vary by %s as the changes of %d cases do", percent(math.Sqrt(v/2)), kept),
	}, true
}

// unmoved is how many changes are like most others, and their variance.
func unmoved(changes []float64) (kept int, variance float64) {
	x := slices.Sorted(slices.Values(changes))
	half := (len(x) + 2) / 2
	center, sd := 0., math.Inf(1)
	for i := 0; i+half <= len(x); i++ {
		if wide := (x[i+half-1] - x[i]) / (2 * 0.6745); wide < sd {
			center, sd = (x[i]+x[i+half-1])/2, wide
		}
	}
	for range 20 {
		var in []float64
		for _, v := range x {
			if math.Abs(v-center) <= clip*sd {
				in = append(in, v)
			}
		}
		if len(in) == kept || len(in) < half {
			break
		}
		var own float64
		center, own = moments(in)
		kept, sd = len(in), own/math.Sqrt(clipped)
	}
	return max(kept, 2), sd * sd
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
