package gate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/assertion"
	"weir/quantity"
)

// fixed is the variance of a contrast with a baseline that more launches of the session do not
// reduce: that of sessions, and that of the baseline's own launches.
type fixed struct {
	sessions, stored meanSquare
	launches         int        // of the baseline
	measured         float64    // the part of stored that its launches show themselves
	own              meanSquare // of the mean of the session's launches, which is not fixed
}

// launchNoise is the standard deviation of one launch of the session, at least what is known of it.
func (c *combination) launchNoise(floor *combinedFloor) float64 {
	v := c.variance - c.stored.value
	if floor != nil {
		v = max(v, floor.variance-floor.stored)
	}
	return math.Sqrt(max(0, v) * float64(c.n))
}

func (c *combination) fixedPart(floor *combinedFloor, sessions sessionNoise) fixed {
	noise := c.launchNoise(floor)
	f := fixed{
		sessions: meanSquare{sessions.variance, sessions.df}, stored: c.stored, measured: c.stored.value,
		own: meanSquare{noise * noise / float64(c.n), float64(c.n - 1)},
	}
	for _, s := range c.sources {
		if n := len(s.launches); s.c == nil && (f.launches == 0 || n < f.launches) {
			f.launches = n
		}
	}
	if f.launches == 1 { // whose noise is borrowed from launches that may vary less
		f.measured = 0
	}
	if floor != nil {
		f.own.df = floor.df
		f.stored.value = max(f.stored.value, floor.stored)
	}
	return f
}

// at is the variance beside n launches. What a single launch of a baseline borrows is as well known as they are.
func (f fixed) at(n float64) meanSquare {
	if f.launches == 1 {
		f.stored.df = n - 1
	}
	return f.sessions.plus(f.stored)
}

// usualDistance is how far true values are from their bounds before anything is measured, as the standard
// deviation of a logarithm: bounds are set some percent from what is expected. It keeps a distance that is
// as much chance as truth from promising too much.
const usualDistance = 0.03

// scaled are an estimate's centre and the bounds on the scale of its interval; not ok where they have none.
func (cl claim) scaled(e estimate) (center float64, b assertion.Bounds, log, ok bool) {
	b, log = cl.widened(), cl.positive || positive(cl.metrics, cl.subject)
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

// predicted is the probability that a look after n launches of another session decides, by its interval: of
// the variance of its launches and of what is fixed. Given m launches with the standard deviation s and
// sessions that vary by τ, the mean of n others differs from what is expected by Student's distribution with
// the variance k·(s²/m + τ²) + s²/n + τ²; k is how far the distance that was measured is believed. nil
// where too few launches say anything of it.
func (cl claim) predicted(ev evidence, e estimate) func(n float64) float64 {
	center, b, log, ok := cl.scaled(e)
	if e.n < leastAdvice || ev.noise == 0 && ev.fixed.at(math.Inf(1)).value == 0 || quantity.Endless(e.center) || !ok {
		return nil
	}
	v, have, session := ev.noise*ev.noise, float64(e.n), ev.fixed.sessions
	session.value /= 2 // the baseline's stays the same
	believed := 1.
	if near := nearest(b, center); log {
		before := usualDistance*usualDistance + session.value
		believed = before / (before + v/have + session.value)
		center = near + believed*(center-near)
	}
	return func(n float64) float64 {
		half := root(meanSquare{v / n, n - 1}.plus(ev.fixed.at(n)), cl.single)
		apart := meanSquare{v * (believed/have + 1/n), have - 1}.plus(
			meanSquare{session.value * (1 + believed), session.df})
		below := func(x float64) float64 { // the probability of a centre below x
			if apart.df == 0 {
				return distuv.UnitNormal.CDF((x - center) / math.Sqrt(apart.value))
			}
			return distuv.StudentsT{Sigma: 1, Nu: apart.df}.CDF((x - center) / math.Sqrt(apart.value))
		}
		return decided(b, half, below)
	}
}

// root is half of the interval that a variance makes.
func root(v meanSquare, confidence float64) float64 {
	return quantileOf(v.df, confidence) * math.Sqrt(v.value)
}

// decided is the probability of an interval of half a width that crosses no bound.
func decided(b assertion.Bounds, half float64, below func(float64) float64) float64 {
	p, least, most := 0., 0., 1. // of a centre so low that it is inside of the lower bound
	if b.Lower != nil {
		p += below(*b.Lower - half)
		least = below(*b.Lower + half)
	}
	if b.Upper != nil {
		p += 1 - below(*b.Upper+half)
		most = below(*b.Upper - half)
	}
	return p + max(0, most-least)
}

// crossed says whether what is fixed alone keeps any number of launches from deciding, with the value where it is.
func (cl claim) crossed(ev evidence, e estimate) bool {
	center, b, _, ok := cl.scaled(e)
	half := root(ev.fixed.at(math.Inf(1)), cl.single)
	return ok && half > 0 && decided(b, half, within(center, 0)) == 0
}

// unlikely says whether it makes a decision of another session, of any number of launches, less likely than is
// advised.
func (cl claim) unlikely(ev evidence, e estimate) bool {
	decides := cl.predicted(ev, e)
	return decides != nil && ev.fixed.at(math.Inf(1)).value > 0 && decides(math.Inf(1)) < power
}

// obstacle is the part of what is fixed that keeps launches from deciding, and what to change.
func (cl claim) obstacle(ev evidence, e estimate, keeps func(evidence, estimate) bool) obstacle {
	sessions, stored := ev.fixed, ev.fixed
	sessions.stored, stored.sessions = meanSquare{}, meanSquare{}
	baseline := "the " + launches(ev.fixed.launches) + " of the baseline"
	const widen, turns = "widen the margin", "run old and new in turns"
	for _, part := range []struct {
		of           fixed
		what, change string
	}{
		{sessions, "sessions alone make", widen + ", or " + turns},
		{stored, baseline + " alone make", widen + ", or measure the baseline with more launches"},
		{ev.fixed, "sessions and " + baseline + " alone make", widen + ", or " + turns},
	} {
		alone := ev
		if alone.fixed = part.of; keeps(alone, e) {
			half := root(part.of.at(math.Inf(1)), cl.single)
			return obstacle{fmt.Sprintf("%s ±%s: %s", part.what, cl.width(half), part.change), part.change}
		}
	}
	return obstacle{}
}

// within is the distribution of a centre that lies anywhere in reach of where it was found.
func within(center, reach float64) func(x float64) float64 {
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

// width is half of an interval for a person.
func (cl claim) width(half float64) string {
	if cl.positive || positive(cl.metrics, cl.subject) {
		return percent(half)
	}
	return quantity.Format(quantity.Round(half), cl.unit)
}

// certain is the confidence with which the mean of all further launches of a session lies where those that
// were made say.
const certain = 0.999

// stuck is the obstacle of a claim that no more launches of this session can decide, wherever their mean
// may lie: not by what is fixed alone, were it known as exactly as can be.
func (cl claim) stuck(ev evidence, e estimate) obstacle {
	center, b, _, ok := cl.scaled(e)
	if v := ev.fixed.sessions.value + ev.fixed.measured; ok && v > 0 && e.n > 1 {
		half := root(meanSquare{value: v}, cl.single)
		if decided(b, half, within(center, root(ev.fixed.own, certain))) == 0 {
			return cl.obstacle(ev, e, cl.crossed)
		}
	}
	return obstacle{}
}
