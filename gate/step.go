package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
)

// step is what two neighbouring cases of a trend say: the interval of the log ratio of their values, signed
// so that the asserted direction is positive.
type step struct {
	from, to   *results.Case
	fromE, toE estimate
	diff       estimate // log ratio in the asserted direction; where one may be 0, see beyond
	wide       estimate // the same at the confidence that failing needs
	linear     bool     // diff is no log ratio but a difference
	moved      estimate // then: of the second case to the first
	n          int      // launches of the case that has fewer
	place      place    // inside: shown; below: refuted
	fragile    string   // outliers without which the place is another
	modes      string   // that the launches that stand out are too many for outliers
}

// side is one of the two cases of a step.
type side struct {
	c     *results.Case
	ps    []point
	known *noise
}

func (eval *evaluator) newStep(from, to side, by way, a *results.AssertionVerdict, lv levels) step {
	x, y := from.ps, to.ps
	center := logarithmic
	if by.linear {
		center = linear
	}
	s := step{
		from: from.c, to: to.c, fromE: center(valuesOf(x), lv.shown), toE: center(valuesOf(y), lv.shown),
		n: min(len(x), len(y)), linear: by.linear,
	}
	ratio := func(x, y []point, confidence float64) estimate {
		if by.linear {
			return beyond(x, y, by.sign, a.Trend.Tolerance, confidence)
		}
		e := logRatio(x, y, by.sign, confidence)
		if from.known == nil || to.known == nil || paired(x, y) || e.n < 2 { // what a launch does to both cancels
			return e
		}
		half := math.Hypot(from.known.half(len(x), confidence), to.known.half(len(y), confidence))
		return estimate{e.center, min(e.lo, e.center-half), max(e.hi, e.center+half), e.n}
	}
	if by.linear {
		s.moved = beyond(x, y, 1, 0, lv.shown)
	}
	s.diff, s.wide = ratio(x, y, lv.shown), ratio(x, y, lv.fail)
	s.place = s.locate(a)
	mx, my := eval.outliersOf(x, y, by, a)
	switch {
	case secondMode(mx) || secondMode(my):
		s.modes = fmt.Sprintf("; two modes: %d of %s stand out", max(number(mx), number(my)), launches(s.n))
		return s
	case !slices.Contains(mx, true) && !slices.Contains(my, true):
		return s
	}
	restX, restY := without(x, mx), without(y, my)
	rest := step{n: s.n, linear: s.linear, diff: ratio(restX, restY, lv.shown), wide: ratio(restX, restY, lv.fail)}
	if rest.diff.n < 2 || rest.locate(a) != s.place {
		s.fragile = strings.Trim(describe(x, mx, a.Unit)+", "+describe(y, my, a.Unit), ", ")
	}
	return s
}

// outliersOf marks the launches of both cases of a step that stand out: of launches that are paired those
// whose difference does, because what slows both cases of a launch cancels in it.
func (eval *evaluator) outliersOf(x, y []point, by way, a *results.AssertionVerdict) (mx, my []bool) {
	if !paired(x, y) {
		return outliers(eval.metrics, a.Subject, x), outliers(eval.metrics, a.Subject, y)
	}
	differences, scale := make([]float64, len(x)), 1.0
	for i := range x {
		if by.linear {
			differences[i] = y[i].value - x[i].value
			scale = max(scale, math.Abs(x[i].value), math.Abs(y[i].value))
		} else {
			differences[i] = math.Log(y[i].value) - math.Log(x[i].value)
		}
	}
	marked := standingOut(differences, scale)
	return marked, marked
}

// logRatio is the interval of the signed log ratio y/x.
func logRatio(x, y []point, sign, confidence float64) estimate {
	return difference(logs(valuesOf(x)), logs(valuesOf(y)), sign, paired(x, y), confidence)
}

// beyond is the interval of how far a step is on the right side of what is tolerated, where
// values may be 0: y - (1-t)·x of a trend that increases, (1+t)·x - y of one that decreases.
func beyond(x, y []point, sign, tolerance, confidence float64) estimate {
	least := make([]float64, len(x))
	for i, p := range x {
		least[i] = p.value * (1 - sign*tolerance)
	}
	return difference(least, valuesOf(y), sign, paired(x, y), confidence)
}

// difference is the interval of sign·(y-x). Cases that were walked by the same launches are
// paired, because what one launch does to both cancels; else the interval is Welch's.
func difference(x, y []float64, sign float64, paired bool, confidence float64) estimate {
	if paired {
		d := make([]float64, len(x))
		for i := range d {
			d[i] = sign * (y[i] - x[i])
		}
		return linear(d, confidence)
	}
	mx, sx := moments(x)
	my, sy := moments(y)
	nx, ny := float64(len(x)), float64(len(y))
	d := sign * (my - mx)
	if len(x) < 2 || len(y) < 2 {
		return estimate{d, d, d, 1}
	}
	n := min(len(x), len(y))
	vx, vy := sx*sx/nx, sy*sy/ny
	if vx+vy == 0 {
		return estimate{d, d, d, n}
	}
	df := (vx + vy) * (vx + vy) / (vx*vx/(nx-1) + vy*vy/(ny-1))
	half := student(df, confidence) * math.Sqrt(vx+vy)
	return estimate{d, d - half, d + half, n}
}

// paired says whether two series come from the same launches.
func paired(x, y []point) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].launch.Index != y[i].launch.Index || i > 0 && x[i].launch.Index == x[i-1].launch.Index {
			return false
		}
	}
	return true
}

// locate places the step against the least that is allowed: with a tolerance, a
// ratio of so much the wrong way; without one, any movement the right way, so
// that a step that is shown to be level is refuted.
func (s step) locate(a *results.AssertionVerdict) place {
	if !atLook(a.Looks, s.n) {
		return crossing
	}
	least, last := leastStep(a.Trend, 0), leastStep(a.Trend, a.Halo)
	if s.linear {
		least, last = 0, 0 // the tolerance is in the difference
	}
	lo, hi := quantity.Round(s.diff.lo), quantity.Round(s.wide.hi)
	refuted := func(least float64, strict bool) bool { return hi < least || strict && hi == least }
	strict := a.Trend.Tolerance == 0
	switch {
	case lo > least, !strict && lo == least:
		return inside
	case refuted(last, strict && a.Halo == 0):
		return below
	case a.Halo > 0 && quantity.Round(s.wide.lo) >= last && refuted(least, strict):
		return inHalo
	}
	return crossing
}

// leastStep is the log ratio that a step must at least have.
func leastStep(t *assertion.Trend, halo float64) float64 {
	tol := t.Tolerance + halo
	if t.Direction == "decreases" {
		return quantity.Round(-math.Log(1 + tol))
	}
	return quantity.Round(math.Log(max(1-tol, 0)))
}

// open says that nothing can be said of a step, or nothing without its outliers.
func (s step) open() bool { return s.place == crossing || s.fragile != "" }
