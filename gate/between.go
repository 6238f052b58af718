package gate

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// sessionNoise is the variance between sessions: another day, allocation or set of nodes. The variance of
// a contrast with a stored baseline is
//
//	V = V(launches) + 2·w²·τ²
//
// for a metric of weight w and a standard deviation τ of sessions, with Satterthwaite's degrees of
// freedom. τ comes from references or history. If it is unknown, a pass assumes τ = 0 and says so; a fail
// must hold for τ = assumedSessions, or for the τ of sessions that are kept beside the baseline: for the one of
// the two that is decided sooner, and for the latter alone if it is above assumedSessions.
type sessionNoise struct {
	variance, df float64
	unknown      float64     // added variance of metrics with unknown τ, for τ = assumedSessions
	kept         *meanSquare // the same for τ of the kept sessions; nil: not known of all these metrics
	said         []results.Reason
}

// assumedSessions is the standard deviation of sessions, as a share, that a fail must tolerate if history
// and references give none.
const assumedSessions = results.AssumedSessions

// betweenSessions returns the variance between sessions of a combination.
func (eval *evaluator) betweenSessions(check boundCheck, c *combination) sessionNoise {
	var out sessionNoise
	welch, stored, unknown := 0., false, false
	kept, keptAll := meanSquare{}, true
	var keptSaid results.Reason
	for i, v := range c.all {
		s := c.sources[v.source]
		if s.c != nil {
			continue
		}
		stored = true
		n := eval.between(check.noise, s.key, v.leaf.Metric)
		scale := c.weights[i] // of a share of the value
		if !c.log {
			scale *= v.mean
		}
		if n == nil {
			sd := assumedSessions * scale
			out.unknown += 2 * sd * sd
			unknown = true
			if k := eval.keptSessions(s.key, v.leaf.Metric); k == nil {
				keptAll = false
			} else {
				kept = kept.plus(meanSquare{2 * scale * scale * k.Session * k.Session, k.SessionDF})
				keptSaid = results.Because(results.SessionsKept, results.Number("sd", k.Session, "share"),
					results.Text("from", k.From))
			}
			continue
		}
		part := 2 * scale * scale * n.Session * n.Session
		out.variance += part
		if n.SessionDF > 0 {
			welch += part * part / n.SessionDF
		}
		out.said = []results.Reason{sessionsVary(n)}
	}
	if out.variance > 0 && welch > 0 {
		out.df = out.variance * out.variance / welch
	}
	if stored && unknown {
		out.said = []results.Reason{results.Because(results.SessionsAlike)}
		if keptAll {
			out.kept, out.said = &kept, append(out.said, keptSaid)
		}
	}
	return out
}

// keptSessions returns how a metric of a case varies between the sessions that are kept beside the baseline; nil if
// they do not tell, or are of another environment.
func (eval *evaluator) keptSessions(key, metric string) *assertion.Noise {
	if eval.doc.Baseline == nil {
		return nil
	}
	for _, n := range eval.doc.Baseline.Sessions {
		if n.Case != key || n.Environment != eval.doc.Environment.Fingerprint {
			continue
		}
		if i := slices.IndexFunc(n.Metrics, func(m assertion.Noise) bool { return m.Metric == metric }); i >= 0 {
			return &n.Metrics[i]
		}
	}
	return nil
}

// known is the variance between sessions that is known.
func (s sessionNoise) known() meanSquare { return meanSquare{s.variance, s.df} }

// add returns the variance of a combination plus the known one of sessions. The degrees of freedom are 0 if nothing was
// estimated.
func (s sessionNoise) add(c *combination) meanSquare {
	return meanSquare{c.variance, c.df}.plus(s.known())
}

// assumed is the known variance plus that which is assumed of unknown sessions.
func (s sessionNoise) assumed() meanSquare { return s.known().plus(meanSquare{value: s.unknown}) }

// allowances are the variances that a fail must hold for where τ is not known of all metrics.
func (s sessionNoise) allowances() []meanSquare {
	switch {
	case s.kept == nil:
		return []meanSquare{{value: s.unknown}}
	case s.kept.value > s.unknown:
		return []meanSquare{*s.kept}
	}
	return []meanSquare{{value: s.unknown}, *s.kept}
}

// unknownSessions are intervals that include the assumed variance of unknown sessions: with the present
// launches, and with any number of them.
type unknownSessions struct {
	now, atBest interval
	kept        *meanSquare
}

func (s sessionNoise) unknownSessions(c *combination, floor *combinedFloor) *unknownSessions {
	if s.unknown == 0 {
		return nil
	}
	narrowest := func(of func(m meanSquare, confidence float64) estimate) interval {
		return func(confidence float64) estimate {
			var out estimate
			for i, m := range s.allowances() {
				if e := of(m, confidence); i == 0 || e.hi-e.lo < out.hi-out.lo {
					out = e
				}
			}
			return out
		}
	}
	return &unknownSessions{
		now: memoized(narrowest(func(m meanSquare, confidence float64) estimate {
			return floor.widen(c, s.known().plus(m), confidence)
		})),
		atBest: narrowest(func(m meanSquare, confidence float64) estimate {
			return c.withHalfWidth(s.known().plus(m).half(confidence))
		}),
		kept: s.kept,
	}
}

// mayExplainMiss reports whether a difference between sessions may explain a value outside the bounds, and
// whether more launches may rule that out.
func (u *unknownSessions) mayExplainMiss(check boundCheck, where position) (forbidden, more bool) {
	if u == nil || where != below && where != above || check.locate(u.now) == where {
		return false, false
	}
	return true, check.locate(u.atBest) == where
}

// reason says why such a value does not fail, and what would tell.
func (u *unknownSessions) reason(check boundCheck) results.Reason {
	if u.kept != nil {
		return check.estimated(results.SessionsFew, u.now(check.shown))
	}
	return check.estimated(results.SessionsUnknown, u.now(check.shown),
		results.Number("assumed", assumedSessions, "share"))
}

// obstacle says that no number of launches makes such a value fail, and what would.
func (u *unknownSessions) obstacle(check boundCheck) obstacle {
	change := "keep three sessions beside the baseline, give earlier ones by --noise-from"
	if u.kept != nil {
		change = "keep more sessions beside the baseline"
	}
	change += ", or interleave old and new in one session"
	return obstacle{[]results.Reason{u.reason(check)}, change}
}

func sessionsVary(n *assertion.Noise) results.Reason {
	return results.Because(results.SessionsVary, results.Number("sd", n.Session, "share"), results.Text("from", n.From))
}

// combinedFloor is the least variance of a combination, by the noise known of its cases.
type combinedFloor struct {
	variance, df float64
	stored       float64 // the part of variance from baselines
	said         results.Reason
}

// floorOf returns the floor of a combination, or nil if the noise of one of its cases is unknown or
// contradicted. Interleaved launches share noise, which cancels: such cases have no floor.
func (eval *evaluator) floorOf(check boundCheck, c *combination, atLaunch int) *combinedFloor {
	if !c.log {
		return nil
	}
	out := &combinedFloor{}
	paired := map[int]bool{}
	for _, cluster := range c.clusters {
		for _, i := range cluster {
			paired[i] = len(cluster) > 1
		}
	}
	for i, s := range c.sources {
		owner := s.c
		if owner == nil {
			if owner = eval.cases[s.key]; owner == nil {
				return nil
			}
		}
		var said []*noise
		for j, v := range c.all {
			if v.source != i {
				continue
			}
			leaf := *v.leaf
			leaf.Case, leaf.Baseline = "", false
			n := eval.noiseOf(check.noise, owner, &leaf, leaf.Unit, atLaunch)
			if n == nil || s.c != nil && n.contradicted(logs(v.values)) {
				return nil
			}
			if !paired[i] {
				said = append(said, n)
			}
			if part := c.weights[j] * c.weights[j] * n.sd * n.sd / float64(len(s.launches)); !paired[i] {
				out.variance += part
				if s.c == nil {
					out.stored += part
				}
			}
			if n.df > 0 && (out.df == 0 || n.df < out.df) {
				out.df = n.df
			}
		}
		if s.c != nil && out.said.None() && len(said) > 0 {
			first := slices.MinFunc(said, func(a, b *noise) int { return cmp.Compare(a.String(), b.String()) })
			out.said = first.reason()
		}
	}
	return out
}

// widen returns the estimate of a combination with the variance of its launches, or of the floor where that is larger,
// and of sessions. The degrees of freedom of the sum may make its interval narrower than that of few sessions alone,
// which launches cannot do.
func (f *combinedFloor) widen(c *combination, sessions meanSquare, confidence float64) estimate {
	e := c.at(confidence)
	half := max(meanSquare{c.variance, c.df}.plus(sessions).half(confidence), sessions.half(confidence))
	if f != nil {
		half = max(half, meanSquare{f.variance, f.df}.plus(sessions).half(confidence))
	}
	if half == 0 {
		return e
	}
	return c.withHalfWidth(half)
}
