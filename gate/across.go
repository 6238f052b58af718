package gate

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// The variance between sessions comes from references or history. Without them it is estimated from the
// changes themselves, if there are enough: changes of unchanged cases differ only by sessions and launches
// (shift.go, spread.go). With fewer changes it is unknown: a change is found, and is a regression, if it is one
// also for sessions that vary by assumedSessions, as an assertion on a baseline fails (between.go).

// acrossSessions sets the variance between sessions for each change of two sessions.
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
			x.sessions = sessionNoise{variance: v, df: n.SessionDF, said: []results.Reason{sessionsVary(n)}}
			continue
		}
		x.assumed, x.sessions.unknown = true, assumedVariance(x)
		x.sessions.said = []results.Reason{results.Because(results.SessionsAlike)}
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
		x.method = append(x.method, x.sessions.said...)
		x.effect.Method = wording.Message(x.method)
	}
}

// assumedVariance is what sessions that vary by assumedSessions add to the variance of a change: the rule of
// betweenSessions for baselines.
func assumedVariance(x *contrast) float64 {
	sd := assumedSessions
	if !x.change.log {
		sd *= x.effect.Base.Value
	}
	return 2 * sd * sd
}

// knownSessions returns the known variance between sessions of a metric of a case: from the two documents,
// or from the sessions given with CompareOptions.Noise.
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

// betweenChanges estimates the variance between sessions from the changes of one metric in many cases.
func betweenChanges(xs []*contrast) {
	changes := make([]float64, len(xs))
	for i, x := range xs {
		changes[i] = math.Log(x.change.center)
	}
	s := shiftOf(changes)
	for _, x := range xs {
		x.shift = s
	}
	said := []results.Reason{spreadAround(xs)}
	for _, x := range xs {
		x.assumed, x.sessions.said = false, said
	}
}

// spreadAround sets for each change the spread that it is compared with, and says how much sessions vary by it.
func spreadAround(xs []*contrast) results.Reason {
	all := make([]deviation, len(xs))
	for i, x := range xs {
		all[i] = deviation{x.fromShiftLog(), x.change.variance}
	}
	below, above := spreads(all, xs[0].shift.scale)
	for i, x := range xs {
		x.spread = above
		if all[i].x < 0 {
			x.spread = below
		}
	}
	vary := func(name string, share float64) results.Value {
		return results.Number(name, math.Sqrt((below.quantile(share)+above.quantile(share))/4), "share")
	}
	return results.Because(results.ChangesVary, results.Count("cases", len(xs), "case"), vary("half", 0.5),
		vary("most", 0.9))
}

// withoutFound recomputes the intervals of changes that are not found without those that are: real changes
// are not variance between sessions, and must not widen the other intervals.
func withoutFound(xs []*contrast) {
	rest := slices.DeleteFunc(slices.Clone(xs), func(x *contrast) bool { return x.effect.Change.Found })
	xs[0].shift.together = len(rest)
	if len(rest) == len(xs) || len(rest) < leastNear {
		return
	}
	said := spreadAround(rest)
	for _, x := range xs {
		x.method[slices.IndexFunc(x.method, func(r results.Reason) bool { return r.Kind == said.Kind })] = said
		x.effect.Method = wording.Message(x.method)
	}
	for _, x := range rest {
		x.intervals()
		x.effect.Change.CI = x.at(results.Confidence).ci()
		x.effect.Change.Detectable = new(x.detectable(x.change.variance, x.change.df))
	}
}

// fill completes the effects, and removes those that cannot be computed.
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
			x.effect.Verdict = results.EffectError
			x.addReasons(reasonOf(err))
		}
		return err != nil
	})
}
