package gate

import (
	"fmt"
	"math"
	"slices"
)

// Sessions are a level of their own: another day, another allocation, other nodes. Two
// sessions differ by the variance of their launches and by that of sessions, so that
// the variance of a contrast with a stored baseline is
//
//	V = V(launches) + 2·w²·τ²
//
// for a metric of weight w whose sessions have the standard deviation τ, with
// Satterthwaite's degrees of freedom. τ is known by references or history, or it is not
// known at all, and then a pass holds only if sessions do not differ, which it says, and a fail must
// hold with sessions that vary by assumedSessions.
type sessionNoise struct {
	variance, df float64
	unknown      float64 // the variance that sessions add if those that are not known vary by assumedSessions
	text         string
}

// assumedSessions is the standard deviation of sessions, as a share, that a fail must allow for until history or
// references know it.
const assumedSessions = 0.05

// betweenSessions is what sessions add to the variance of a combination.
func (eval *evaluator) betweenSessions(cl claim, c *combination) sessionNoise {
	var out sessionNoise
	welch, stored, unknown := 0., false, false
	for i, v := range c.all {
		s := c.sources[v.source]
		if s.c != nil {
			continue
		}
		stored = true
		n := eval.between(cl.noise, s.key, v.leaf.Metric)
		if n == nil || !c.log {
			sd := assumedSessions * c.weights[i]
			if !c.log {
				sd *= v.mean
			}
			out.unknown += 2 * sd * sd
			unknown = true
			continue
		}
		part := 2 * c.weights[i] * c.weights[i] * n.Session * n.Session
		out.variance += part
		if n.SessionDF > 0 {
			welch += part * part / n.SessionDF
		}
		out.text = "; sessions vary by " + percent(n.Session) + " by " + n.From
	}
	if out.variance > 0 && welch > 0 {
		out.df = out.variance * out.variance / welch
	}
	if stored && unknown {
		out.text = "; assumes that sessions do not differ"
	}
	return out
}

// add is the variance of a combination with that of sessions, and its degrees of freedom, 0
// where nothing was estimated.
func (s sessionNoise) add(c *combination) meanSquare {
	return meanSquare{c.variance, c.df}.plus(meanSquare{s.variance, s.df})
}

// widest is add with what sessions add that nobody knows.
func (s sessionNoise) widest(c *combination) meanSquare {
	sum := s.add(c)
	wide := meanSquare{value: sum.value + s.unknown}
	if sum.df > 0 {
		wide.df = wide.value * wide.value / (sum.value * sum.value / sum.df)
	}
	return wide
}

// unknownSessions are the intervals of what rests on sessions of which nothing is known, if these vary by
// assumedSessions: by the launches that there are, and by any number of them.
type unknownSessions struct{ now, atBest interval }

func (s sessionNoise) unknownSessions(c *combination, floor *combinedFloor) *unknownSessions {
	if s.unknown == 0 {
		return nil
	}
	return &unknownSessions{
		now: remembered(func(confidence float64) estimate { return floor.widen(c, s.widest(c), confidence) }),
		atBest: func(confidence float64) estimate {
			return c.within(quantileOf(0, confidence) * math.Sqrt(s.variance+s.unknown))
		},
	}
}

// forbid says whether a value outside of the band may not fail, since sessions may be what led it there, and
// whether more launches may change that.
func (u *unknownSessions) forbid(cl claim, where place) (forbidden, more bool) {
	if u == nil || where != below && where != above || cl.locate(u.now) == where {
		return false, false
	}
	return true, cl.locate(u.atBest) == where
}

// allowing is why such a value does not fail, and what would tell.
func (u *unknownSessions) allowing(cl claim) string {
	return fmt.Sprintf("; nothing is known of how sessions differ, and with sessions that vary by %s it is %s: %s",
		percent(assumedSessions), cl.printed(u.now(cl.shown), ""), tellsSessions)
}

// tellsSessions is what to do where nothing is known of how sessions differ.
const tellsSessions = "give earlier sessions of the scenario by --noise-from, or run old and new in turns in one session" +
	" (variants, or two runs that an assertion compares)"

// combinedFloor is what is known of the noise of the cases of a combination: the least
// variance that it can have.
type combinedFloor struct {
	variance, df float64
	stored       float64 // the part of variance that is of baselines
	text         string
}

// floorOf is the floor of a combination, nil where the noise of one of its cases is not
// known or contradicted. Launches that took turns have their noise in common, which cancels: the floor
// of such cases is that of nothing.
func (eval *evaluator) floorOf(cl claim, c *combination, look int) *combinedFloor {
	if !c.log {
		return nil
	}
	out := &combinedFloor{}
	paired := map[int]bool{}
	for _, cluster := range clusters(c.sources) {
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
		var texts []string
		for j, v := range c.all {
			if v.source != i {
				continue
			}
			leaf := *v.leaf
			leaf.Case, leaf.Baseline = "", false
			n := eval.noiseOf(cl.noise, owner, &leaf, leaf.Unit, look)
			if n == nil || s.c != nil && n.contradicted(logs(v.values)) {
				return nil
			}
			texts = append(texts, n.String())
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
		if s.c != nil && out.text == "" {
			slices.Sort(texts)
			if len(texts) > 0 {
				out.text = texts[0]
			}
		}
	}
	return out
}

// widen is the estimate of a combination whose variance is that of its launches and sessions,
// at least as wide as the floor makes it.
func (f *combinedFloor) widen(c *combination, v meanSquare, confidence float64) estimate {
	e := c.at(confidence)
	if c.n < 2 {
		return e
	}
	half := 0.
	if v.value > 0 {
		half = quantileOf(v.df, confidence) * math.Sqrt(v.value)
	}
	if f != nil {
		least := f.variance + v.value - c.variance // what sessions add is in both
		half = max(half, quantileOf(f.df, confidence)*math.Sqrt(max(0, least)))
	}
	if half == 0 {
		return e
	}
	return c.within(half)
}
