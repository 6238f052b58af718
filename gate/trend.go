package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/quantity"
	"weir/results"
)

// A trend is judged step by step: for each two neighbouring cases, the interval
// of the log ratio of their values, signed so that the asserted direction is
// positive. All steps must be shown for it to pass, one step the wrong way fails
// it.
type step struct {
	from, to   *results.Case
	fromE, toE estimate
	diff       estimate // log ratio in the asserted direction
	n          int      // launches of the case that has fewer
	place      place    // inside: shown; below: refuted
	fragile    string   // outliers without which the place is another
}

func judgeTrend(byKey map[string]*results.Case, a *results.AssertionVerdict) outcome {
	sign := 1.0
	switch a.Trend.Direction {
	case "increases":
	case "decreases":
		sign = -1
	default:
		return failed(fmt.Sprintf("unknown trend direction %q", a.Trend.Direction))
	}
	cases, o, ok := trendCases(byKey, a.Cases)
	if !ok {
		return o
	}
	series := make([][]point, len(cases))
	for i, c := range cases {
		ps, err := points(c, a)
		if err != nil {
			return failed(fmt.Sprintf("%s: %v", c.Key, err))
		}
		for _, p := range ps {
			if p.value <= 0 {
				return failed(fmt.Sprintf("%s: launch %d: %s is %s; the steps of a trend are ratios, so it must be above zero",
					c.Key, p.launch.Index, a.Subject, quantity.Format(p.value, a.Unit)))
			}
		}
		series[i] = ps
	}
	steps := make([]step, len(cases)-1)
	for i := range steps {
		steps[i] = newStep(cases[i], cases[i+1], series[i], series[i+1], sign, a)
	}
	return overSteps(a, steps)
}

// trendCases are the cases that a trend runs over. Those that the author
// excluded are no part of it; one that was skipped this time leaves a hole over
// which nothing can be said.
func trendCases(byKey map[string]*results.Case, keys []string) ([]*results.Case, outcome, bool) {
	var cases []*results.Case
	var waiting, skipped *outcome
	excluded := 0
	for _, k := range keys {
		c := byKey[k]
		if c == nil {
			return nil, failed(fmt.Sprintf("case %s is not in the document", k)), false
		}
		o, bad := unusable(c)
		switch {
		case !bad:
			cases = append(cases, c)
			continue
		case c.Status == results.Excluded:
			excluded++
			continue
		}
		o.message = k + ": " + o.message
		switch {
		case o.undecided:
			waiting = &o
		case o.verdict == results.SkippedVerdict:
			skipped = &o
		default:
			return nil, o, false
		}
	}
	switch {
	case skipped != nil:
		return nil, *skipped, false
	case waiting != nil:
		return nil, *waiting, false
	case len(cases) < 2 && excluded > 0:
		return nil, outcome{verdict: results.SkippedVerdict, message: "fewer than two of its cases were not excluded"}, false
	case len(cases) < 2:
		return nil, failed("a trend needs at least two cases"), false
	}
	return cases, outcome{}, true
}

func newStep(from, to *results.Case, x, y []point, sign float64, a *results.AssertionVerdict) step {
	s := step{from: from, to: to, fromE: logarithmic(valuesOf(x)), toE: logarithmic(valuesOf(y)), n: min(len(x), len(y))}
	s.diff = logRatio(x, y, sign)
	s.place = s.locate(a)
	mx, my := outliers(a.Subject, x), outliers(a.Subject, y)
	if paired(x, y) { // a launch leaves a pair as a whole
		for i := range mx {
			mx[i] = mx[i] || my[i]
		}
		my = mx
	}
	if !slices.Contains(mx, true) && !slices.Contains(my, true) {
		return s
	}
	rest := step{n: s.n, diff: logRatio(without(x, mx), without(y, my), sign)}
	if rest.diff.n < 2 || rest.locate(a) != s.place {
		s.fragile = strings.Trim(describe(x, mx, a.Unit)+", "+describe(y, my, a.Unit), ", ")
	}
	return s
}

// logRatio is the interval of the signed log ratio y/x. Cases that were walked
// by the same launches are paired, because what one launch does to both cancels;
// else the interval is Welch's.
func logRatio(x, y []point, sign float64) estimate {
	lx, ly := logs(valuesOf(x)), logs(valuesOf(y))
	if paired(x, y) {
		d := make([]float64, len(x))
		for i := range d {
			d[i] = sign * (ly[i] - lx[i])
		}
		return linear(d)
	}
	mx, sx := moments(lx)
	my, sy := moments(ly)
	nx, ny := float64(len(lx)), float64(len(ly))
	d := sign * (my - mx)
	if len(lx) < 2 || len(ly) < 2 {
		return estimate{d, d, d, 1}
	}
	n := min(len(lx), len(ly))
	vx, vy := sx*sx/nx, sy*sy/ny
	if vx+vy == 0 {
		return estimate{d, d, d, n}
	}
	df := (vx + vy) * (vx + vy) / (vx*vx/(nx-1) + vy*vy/(ny-1))
	half := student(df) * math.Sqrt(vx+vy)
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
	tol := a.Trend.Tolerance
	least := math.Log(max(1-tol, 0))
	if a.Trend.Direction == "decreases" {
		least = -math.Log(1 + tol)
	}
	lo, hi, least := quantity.Round(s.diff.lo), quantity.Round(s.diff.hi), quantity.Round(least)
	strict := tol == 0
	switch {
	case lo > least, !strict && lo == least:
		return inside
	case hi < least, strict && hi == least:
		return below
	}
	return crossing
}

// overSteps is the verdict over all steps.
func overSteps(a *results.AssertionVerdict, steps []step) outcome {
	worst := steps[0]
	verdict := results.Pass
	n := worst.n
	for _, s := range steps {
		n = min(n, s.n)
		if s.diff.lo < worst.diff.lo {
			worst = s
		}
		if s.place == crossing || s.fragile != "" {
			verdict = results.InconclusiveVerdict
		}
	}
	for _, s := range steps { // a step shown to go the wrong way outweighs those that are open
		if s.place == below && s.fragile == "" {
			verdict, worst = results.Fail, s
			break
		}
	}
	if verdict == results.InconclusiveVerdict && worst.place == inside && worst.fragile == "" {
		worst = steps[slices.IndexFunc(steps, func(s step) bool { return s.place == crossing || s.fragile != "" })]
	}
	o := outcome{verdict: verdict, observed: worst.observed(a)}
	what := fmt.Sprintf("%s %s with %s", a.Subject, a.Trend.Direction, a.Trend.Axis)
	if a.Trend.Tolerance > 0 {
		what += " within " + percent(a.Trend.Tolerance)
	}
	switch verdict {
	case results.Pass:
		o.message = fmt.Sprintf("%s in all %d steps; the nearest is %s", what, len(steps), worst.describe(a))
	case results.Fail:
		o.message = fmt.Sprintf("%s: not from %s", what, worst.describe(a))
	default:
		next := NextLook(a.Looks, n)
		o.undecided = next > 0
		o.message = fmt.Sprintf("%s: not shown from %s", what, worst.describe(a))
		if worst.fragile != "" {
			o.message += "; outlier: " + worst.fragile + "; the verdict changes without it"
		}
		o.message += "; " + outlook(next, n)
	}
	if n == 1 && verdict != results.InconclusiveVerdict {
		o.message += "; one launch cannot show its noise"
	}
	return o
}
