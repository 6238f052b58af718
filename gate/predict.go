package gate

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// fixedVariance is the part of a contrast's variance that more launches of the session do not reduce:
// sessions, and the baseline's own launches.
type fixedVariance struct {
	sessions, stored meanSquare
	launches         int        // of the baseline
	measured         float64    // part of stored that is estimated from its launches
	own              meanSquare // of the mean of the session's launches; not fixed
	// unknown are the variances that a fail must allow for beside these; the least decides. None: how sessions differ
	// is known.
	unknown []meanSquare
}

// launchNoise is the standard deviation of one launch of the session, at least the known one.
func (c *combination) launchNoise(floor *combinedFloor) float64 {
	v := c.variance - c.stored.value
	if floor != nil {
		v = max(v, floor.variance-floor.stored)
	}
	return math.Sqrt(max(0, v) * float64(c.n))
}

func (c *combination) fixedPart(floor *combinedFloor, sessions sessionNoise) fixedVariance {
	noise := c.launchNoise(floor)
	f := fixedVariance{
		sessions: meanSquare{sessions.variance, sessions.df}, stored: c.stored, measured: c.stored.value,
		own: meanSquare{noise * noise / float64(c.n), float64(c.n - 1)},
	}
	if sessions.unknown > 0 {
		f.unknown = sessions.allowances()
	}
	for _, s := range c.sources {
		if n := len(s.launches); s.c == nil && (f.launches == 0 || n < f.launches) {
			f.launches = n
		}
	}
	if f.launches == 1 { // borrowed from launches that may vary less
		f.measured = 0
	}
	if floor != nil {
		f.own.df = floor.df
		f.stored.value = max(f.stored.value, floor.stored)
	}
	return f
}

// at is the fixed variance given n launches: a single baseline launch borrows its variance from them.
func (f fixedVariance) at(n float64) meanSquare {
	if f.launches == 1 {
		f.stored.df = n - 1
	}
	return f.sessions.plus(f.stored)
}

// halves are the half-widths for passing and for failing that a variance and that of unknown sessions make.
func (f fixedVariance) halves(v meanSquare, confidence float64) (pass, fail float64) {
	pass = root(v, confidence)
	fail = pass
	for i, m := range f.unknown {
		if half := root(v.plus(m), confidence); i == 0 || half < fail {
			fail = half
		}
	}
	return pass, fail
}

// usualDistance is the least prior standard deviation of the distance from value to bound, on the log scale: bounds are
// set some percent away. A larger distance is its own. The prior shrinks distances that are mostly chance.
const usualDistance = 0.03

// scaled converts an estimate's centre and bounds to the scale of its interval; ok is false if there is
// none.
func (check boundCheck) scaled(e estimate) (center float64, b assertion.Bounds, log, ok bool) {
	b, log = check.withHalo(), check.positive || positive(check.metrics, check.subject)
	if !log {
		return e.center, b, false, true
	}
	if b.Upper != nil && *b.Upper <= 0 || e.center <= 0 {
		return 0, b, true, false
	}
	if b.Lower != nil && *b.Lower <= 0 {
		b.Lower = nil
	}
	for _, end := range []**float64{&b.Lower, &b.Upper} {
		if *end != nil {
			v := math.Log(**end)
			*end = &v
		}
	}
	return math.Log(e.center), b, true, b.Lower != nil || b.Upper != nil
}

// decisionProbability is the probability that an analysis after n launches of another session decides.
// Given m launches with standard deviation s and sessions with standard deviation τ, the mean of n others
// is distributed as Student's t with variance k·(s²/m + τ²) + s²/n + τ²; k is the shrinkage of the
// measured distance. nil if there are too few launches.
func (check boundCheck) decisionProbability(est subjectEstimate, e estimate) func(n float64) float64 {
	center, b, log, ok := check.scaled(e)
	exact := est.noise == 0 && est.fixed.at(math.Inf(1)).value == 0
	if e.n < leastAdvice || exact || quantity.Endless(e.center) || !ok {
		return nil
	}
	v, have, session := est.noise*est.noise, float64(e.n), est.fixed.sessions
	session.value /= 2 // the baseline stays the same
	believed := 1.
	if near := wording.Nearest(b, center); log {
		prior := max(usualDistance, math.Abs(center-near))
		before := prior*prior + session.value
		believed = before / (before + v/have + session.value)
		center = near + believed*(center-near)
	}
	return func(n float64) float64 {
		pass, fail := est.fixed.halves(meanSquare{v / n, n - 1}.plus(est.fixed.at(n)), check.single)
		apart := meanSquare{v * (believed/have + 1/n), have - 1}.plus(
			meanSquare{session.value * (1 + believed), session.df})
		below := func(x float64) float64 { // probability of a centre below x
			if apart.df == 0 {
				return distuv.UnitNormal.CDF((x - center) / math.Sqrt(apart.value))
			}
			return distuv.StudentsT{Sigma: 1, Nu: apart.df}.CDF((x - center) / math.Sqrt(apart.value))
		}
		return probabilityOfDecision(b, pass, fail, below)
	}
}

// root is the half-width of the interval of a variance.
func root(v meanSquare, confidence float64) float64 {
	return quantileOf(v.df, confidence) * math.Sqrt(v.value)
}

// probabilityOfDecision is the probability that an interval of one half-width lies inside the bounds, or one of the
// other outside.
func probabilityOfDecision(b assertion.Bounds, pass, fail float64, below func(float64) float64) float64 {
	p, least, most := 0., 0., 1. // p: probability of a centre below the lower bound
	if b.Lower != nil {
		p += below(*b.Lower - fail)
		least = below(*b.Lower + pass)
	}
	if b.Upper != nil {
		p += 1 - below(*b.Upper+fail)
		most = below(*b.Upper - pass)
	}
	return p + max(0, most-least)
}

// blockedByFixedVariance reports whether the fixed variance alone makes the interval cross a bound at the
// present value.
func (check boundCheck) blockedByFixedVariance(est subjectEstimate, e estimate) bool {
	center, b, _, ok := check.scaled(e)
	pass, fail := est.fixed.halves(est.fixed.at(math.Inf(1)), check.single)
	return ok && fail > 0 && probabilityOfDecision(b, pass, fail, truncatedBy(center, 0)) == 0
}

// decisionUnlikely reports whether another session, with any number of launches, decides with less than
// the advised probability.
func (check boundCheck) decisionUnlikely(est subjectEstimate, e estimate) bool {
	decides := check.decisionProbability(est, e)
	_, fail := est.fixed.halves(est.fixed.at(math.Inf(1)), check.single)
	return decides != nil && fail > 0 && decides(math.Inf(1)) < power
}

// obstacle is the part of the fixed variance that keeps launches from deciding, and what to change.
func (check boundCheck) obstacle(est subjectEstimate, e estimate, keeps func(subjectEstimate, estimate) bool) obstacle {
	sessions, unknown, stored, known := est.fixed, est.fixed, est.fixed, est.fixed
	sessions.stored, sessions.unknown = meanSquare{}, nil
	unknown.stored, unknown.sessions = meanSquare{}, meanSquare{}
	stored.sessions, stored.unknown, known.unknown = meanSquare{}, nil, nil
	const widen, turns = "widen the margin", "interleave old and new in one session"
	for _, part := range []struct {
		of     fixedVariance
		kind   results.ReasonKind
		change string
	}{
		{sessions, results.SessionsAlone, widen + ", or " + turns},
		{unknown, results.SessionsUnknown, ""},
		{stored, results.BaselineAlone, widen + ", or measure the baseline with more launches"},
		{known, results.SessionsBaseline, widen + ", or " + turns},
		{est.fixed, results.SessionsUnknown, ""},
	} {
		alone := est
		if alone.fixed = part.of; !keeps(alone, e) {
			continue
		}
		if part.kind == results.SessionsUnknown {
			return est.unknown.obstacle(check)
		}
		half := root(part.of.at(math.Inf(1)), check.single)
		return obstacle{[]results.Reason{results.Because(part.kind, launched(est.fixed.launches), check.width(half),
			results.Text("change", part.change))}, part.change}
	}
	return obstacle{}
}

// truncatedBy is the distribution function of a centre that is uniform within reach of its estimate.
func truncatedBy(center, reach float64) func(x float64) float64 {
	return func(x float64) float64 {
		switch {
		case x < center-reach:
			return 0
		case x >= center+reach:
			return 1
		}
		return (x - center + reach) / (2 * reach)
	}
}

// width is the half-width of an interval as a value of a reason.
func (check boundCheck) width(half float64) results.Value {
	if check.positive || positive(check.metrics, check.subject) {
		return results.Number("width", half, "share")
	}
	return results.Number("width", quantity.Round(half), check.unit)
}

// certain is the confidence of the range in which the mean of this session's further launches is
// predicted.
const certain = 0.999

// cannotDecide is the obstacle of a check that no further launch of this session can decide, wherever
// their mean lies: the fixed variance alone prevents it.
func (check boundCheck) cannotDecide(est subjectEstimate, e estimate) obstacle {
	center, b, _, ok := check.scaled(e)
	pass, fail := est.fixed.halves(meanSquare{value: est.fixed.sessions.value + est.fixed.measured}, check.single)
	if ok && fail > 0 && e.n > 1 {
		if probabilityOfDecision(b, pass, fail, truncatedBy(center, root(est.fixed.own, certain))) == 0 {
			return check.obstacle(est, e, check.blockedByFixedVariance)
		}
	}
	return obstacle{}
}
