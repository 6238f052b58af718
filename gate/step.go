package gate

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// step compares two neighbouring cases of a trend: the interval of the log ratio of their values, positive
// in the asserted direction.
type step struct {
	from, to   *results.Case
	fromE, toE estimate
	diff       estimate       // log ratio in the asserted direction; see beyond for values that may be 0
	wide       estimate       // diff at the confidence of failing
	linear     bool           // diff is a difference, not a log ratio
	moved      estimate       // then: the second case minus the first
	n          int            // fewer of the two cases
	place      position       // inside: shown; below: refuted
	fragile    results.Reason // outliers that change the position
	modes      results.Reason // too many launches stand out for outliers
	implied    results.Reason // what shows the position, if the interval alone does not
}

// side is one of the two cases of a step.
type side struct {
	c     *results.Case
	ps    []point
	known *noise
}

func (eval *evaluator) newStep(from, to side, by stepScale, a *results.AssertionVerdict, lv levels) step {
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
		if from.known == nil || to.known == nil || paired(x, y) || e.n < 2 { // noise that both cases share cancels
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
	if s.place == crossing && s.allWrong(a, by, x, y, lv) {
		s.place, s.implied = below, results.Because(results.AllMiss, launched(s.n))
		return s
	}
	mx, my := outliersOf(x, y, by, a)
	switch {
	case secondMode(mx) || secondMode(my):
		s.modes = results.Because(results.StandOut, results.Count("count", max(number(mx), number(my)), ""),
			launched(s.n))
		return s
	case !slices.Contains(mx, true) && !slices.Contains(my, true):
		return s
	}
	restX, restY := without(x, mx), without(y, my)
	rest := step{n: s.n, linear: s.linear, diff: ratio(restX, restY, lv.shown), wide: ratio(restX, restY, lv.fail)}
	named := results.Because(results.Outliers, append(outlierValues("", x, mx, a.Unit), outlierValues("", y, my,
		a.Unit)...)...)
	switch place := rest.locate(a); {
	case s.place == crossing && rest.diff.n >= 2 && place == below && sideOfStep(x, y, mx, my, by) == below:
		s.place, s.implied = below, results.Because(results.OutliersWorsen)
	case s.place == crossing && rest.diff.n >= 2 && place == inside && sideOfStep(x, y, mx, my, by) == above:
		s.place, s.diff, s.wide, s.implied = inside, rest.diff, rest.wide, named
	case rest.diff.n < 2 || place != s.place:
		s.fragile = named
	}
	return s
}

// logRatio is the interval of the signed log ratio y/x.
func logRatio(x, y []point, sign, confidence float64) estimate {
	return difference(logs(valuesOf(x)), logs(valuesOf(y)), sign, paired(x, y), confidence)
}

// beyond is the interval of the distance from the tolerated limit, for values that may be 0: y - (1-t)·x
// for an increasing trend, (1+t)·x - y for a decreasing one.
func beyond(x, y []point, sign, tolerance, confidence float64) estimate {
	least := make([]float64, len(x))
	for i, p := range x {
		least[i] = p.value * (1 - sign*tolerance)
	}
	return difference(least, valuesOf(y), sign, paired(x, y), confidence)
}

// difference is the interval of sign·(y-x). Values of the same launches are paired, because common noise
// cancels; others use Welch's interval.
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

// paired reports whether two series come from the same launches.
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

// locate returns the position of the step relative to the least allowed one: with a tolerance, a ratio the
// wrong way by at most that; without one, any movement the right way, so that a level step is refuted.
func (s step) locate(a *results.AssertionVerdict) position {
	if !analysisDue(a.Looks, s.n) {
		return crossing
	}
	least, last := leastStep(a.Trend, 0), leastStep(a.Trend, a.Halo)
	if s.linear {
		least, last = 0, 0 // the difference includes the tolerance
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

// leastStep is the smallest allowed log ratio of a step.
func leastStep(t *assertion.Trend, halo float64) float64 {
	tol := t.Tolerance + halo
	if t.Direction == "decreases" {
		return quantity.Round(-math.Log(1 + tol))
	}
	return quantity.Round(math.Log(max(1-tol, 0)))
}

// open reports whether a step is undecided, with or without its outliers.
func (s step) open() bool { return s.place == crossing || !s.fragile.None() }

// reason is a reason for the trend, with this step.
func (s step) reason(kind results.ReasonKind, a *results.AssertionVerdict, steps int, lv levels) results.Reason {
	values := []results.Value{
		results.Text("subject", formatSubject(a.Subject)), results.Text("direction", a.Trend.Direction),
		results.Text("axis", a.Trend.Axis), results.Count("steps", steps, ""),
		results.Text("from", axisText(s.from, a.Trend)), results.Text("to", axisText(s.to, a.Trend)),
		results.Count("n", s.n, ""), results.Number("confidence", lv.stated, "confidence"),
	}
	if a.Trend.Tolerance > 0 {
		values = append(values, results.Number("tolerance", a.Trend.Tolerance, "share"))
	}
	of := func(name string, e estimate) {
		values = append(values, results.Number(name+"_value", e.center, a.Unit))
		if ci := e.ci(); ci != nil {
			values = append(values, results.Number(name+"_low", ci[0], a.Unit), results.Number(name+"_high", ci[1],
				a.Unit))
		}
	}
	if s.linear {
		s.fromE, s.toE = estimate{center: quantity.Round(s.fromE.center)},
			estimate{center: quantity.Round(s.toE.center)}
	}
	of("from", s.fromE)
	of("to", s.toE)
	change, lo, hi, n, unit := s.change(a)
	values = append(values, results.Number("change", change, unit))
	if n >= 2 {
		values = append(values, results.Number("low", lo, unit), results.Number("high", hi, unit))
	}
	return results.Because(kind, values...)
}

// change is the difference of the second case from the first: a share, or absolute if values may be 0.
func (s step) change(a *results.AssertionVerdict) (center, lo, hi float64, n int, unit string) {
	if s.linear {
		return quantity.Round(s.moved.center), quantity.Round(s.moved.lo), quantity.Round(s.moved.hi), s.moved.n, a.Unit
	}
	lo, hi = s.diff.lo, s.diff.hi
	if a.Trend.Direction == "decreases" {
		lo, hi = -hi, -lo
	}
	return math.Expm1(math.Log(s.toE.center / s.fromE.center)), math.Expm1(lo), math.Expm1(hi), s.diff.n, "share"
}

// observed is the ratio of the second case to the first, or their difference if values may be 0.
func (s step) observed(a *results.AssertionVerdict, lv levels) *results.Observed {
	if s.linear {
		return lv.observed(s.moved, a.Unit)
	}
	lo, hi := s.diff.lo, s.diff.hi
	if a.Trend.Direction == "decreases" {
		lo, hi = -hi, -lo
	}
	o := lv.observed(estimate{center: unlog(math.Log(s.toE.center / s.fromE.center)), n: s.n}, "")
	o.CI = nil
	if s.diff.n >= 2 {
		o.CI = &[2]float64{unlog(lo), unlog(hi)}
	}
	return o
}

func axisText(c *results.Case, t *assertion.Trend) string {
	if v, ok := c.Axes[t.Axis]; ok {
		return option.Text(v)
	}
	return c.Key
}
