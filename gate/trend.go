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

// A trend is judged step by step: for each two neighbouring cases, the interval
// of the log ratio of their values, signed so that the asserted direction is
// positive. All steps must be shown for it to pass, one step the wrong way fails
// it: with each step it has one more chance to do so wrongly, so that the error budget of
// failing is divided by their number.
type step struct {
	from, to   *results.Case
	fromE, toE estimate
	diff       estimate // log ratio in the asserted direction
	wide       estimate // the same at the confidence that failing needs
	n          int      // launches of the case that has fewer
	place      place    // inside: shown; below: refuted
	fragile    string   // outliers without which the place is another
}

func (eval *evaluator) judgeTrend(a *results.AssertionVerdict, lv levels) outcome {
	sign := 1.0
	switch a.Trend.Direction {
	case "increases":
	case "decreases":
		sign = -1
	default:
		return failed(fmt.Sprintf("unknown trend direction %q", a.Trend.Direction))
	}
	cases, o, ok := eval.trendCases(a.Cases)
	if !ok {
		return o
	}
	series := make([][]point, len(cases))
	for i, c := range cases {
		ps, err := points(eval.metrics, c, a.Subject, a.Unit)
		if err != nil {
			return spoiled(c, fmt.Sprintf("%s: %v", c.Key, err))
		}
		for _, p := range ps {
			if p.value <= 0 {
				return failed(fmt.Sprintf("%s: %s: %s is %s; the steps of a trend are ratios, so it must be above zero",
					c.Key, results.LaunchName(p.launch.Index), shown(a.Subject), quantity.Format(p.value, a.Unit)))
			}
		}
		series[i] = ps
	}
	have := len(series[0])
	for _, ps := range series {
		have = min(have, len(ps))
	}
	o = outcome{}
	for _, look := range append(slices.Compact(slices.Sorted(slices.Values(a.Looks))), have) {
		if look < have || look == have {
			o = eval.trendAt(a, cases, series, look, look == have, sign, lv.forFailing(len(cases)-1))
		}
		if look == have || o.verdict != "" && o.decided() {
			break
		}
	}
	o.message += notRun(len(a.Cases) - len(cases))
	return o
}

// trendAt judges a trend by the first launches of each case; at the end by all of them.
func (eval *evaluator) trendAt(
	a *results.AssertionVerdict, cases []*results.Case, series [][]point, look int, end bool, sign float64, lv levels,
) outcome {
	lv = lv.at(a.Looks, look)
	known := make([]*noise, len(cases))
	now := make([][]point, len(cases))
	for i, c := range cases {
		now[i] = series[i]
		if !end {
			now[i] = series[i][:look]
		}
		n := eval.noiseOf(a.Noise, c, a.Subject, a.Unit, look)
		if n != nil && !n.contradicted(logs(valuesOf(now[i]))) {
			known[i] = n
		}
	}
	steps := make([]step, len(cases)-1)
	for i := range steps {
		x := side{cases[i], now[i], known[i]}
		steps[i] = eval.newStep(x, side{cases[i+1], now[i+1], known[i+1]}, sign, a, lv)
	}
	return eval.overSteps(a, steps, lv)
}

// side is one of the two cases of a step.
type side struct {
	c     *results.Case
	ps    []point
	known *noise
}

// trendCases are the cases that a trend runs over: those that are not absent.
func (eval *evaluator) trendCases(keys []string) ([]*results.Case, outcome, bool) {
	var cases []*results.Case
	var waiting, skipped *outcome
	excluded := 0
	for _, k := range keys {
		c := eval.cases[k]
		if c == nil {
			return nil, failed(fmt.Sprintf("case %s is not in the document", k)), false
		}
		o, bad := eval.unusable(c)
		switch {
		case !bad:
			cases = append(cases, c)
			continue
		case eval.absent(c):
			excluded++
			continue
		}
		o.message = k + ": " + o.message
		switch {
		case len(o.undecided) > 0:
			o.undecided = eval.runnable(keys)
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
		return nil, outcome{verdict: results.SkippedVerdict, message: "fewer than two of its cases ran"}, false
	case len(cases) < 2:
		return nil, failed("a trend needs at least two cases"), false
	}
	return cases, outcome{}, true
}

func (eval *evaluator) newStep(from, to side, sign float64, a *results.AssertionVerdict, lv levels) step {
	x, y := from.ps, to.ps
	s := step{
		from: from.c, to: to.c, fromE: logarithmic(valuesOf(x), lv.shown), toE: logarithmic(valuesOf(y), lv.shown),
		n: min(len(x), len(y)),
	}
	ratio := func(x, y []point, confidence float64) estimate {
		e := logRatio(x, y, sign, confidence)
		if from.known == nil || to.known == nil || paired(x, y) || e.n < 2 { // what a launch does to both cancels
			return e
		}
		half := math.Hypot(from.known.half(len(x), confidence), to.known.half(len(y), confidence))
		return estimate{e.center, min(e.lo, e.center-half), max(e.hi, e.center+half), e.n}
	}
	s.diff, s.wide = ratio(x, y, lv.shown), ratio(x, y, lv.fail)
	s.place = s.locate(a)
	mx, my := outliers(eval.metrics, a.Subject, x), outliers(eval.metrics, a.Subject, y)
	if paired(x, y) { // a launch leaves a pair as a whole
		for i := range mx {
			mx[i] = mx[i] || my[i]
		}
		my = mx
	}
	if !slices.Contains(mx, true) && !slices.Contains(my, true) {
		return s
	}
	restX, restY := without(x, mx), without(y, my)
	rest := step{n: s.n, diff: ratio(restX, restY, lv.shown), wide: ratio(restX, restY, lv.fail)}
	if rest.diff.n < 2 || rest.locate(a) != s.place {
		s.fragile = strings.Trim(describe(x, mx, a.Unit)+", "+describe(y, my, a.Unit), ", ")
	}
	return s
}

// logRatio is the interval of the signed log ratio y/x. Cases that were walked
// by the same launches are paired, because what one launch does to both cancels;
// else the interval is Welch's.
func logRatio(x, y []point, sign, confidence float64) estimate {
	lx, ly := logs(valuesOf(x)), logs(valuesOf(y))
	if paired(x, y) {
		d := make([]float64, len(x))
		for i := range d {
			d[i] = sign * (ly[i] - lx[i])
		}
		return linear(d, confidence)
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

// overSteps is the verdict over all steps.
func (eval *evaluator) overSteps(a *results.AssertionVerdict, steps []step, lv levels) outcome {
	worst := steps[0]
	verdict := results.Pass
	n := worst.n
	for _, s := range steps {
		n = min(n, s.n)
		if s.diff.lo < worst.diff.lo {
			worst = s
		}
		switch {
		case s.open():
			verdict = results.InconclusiveVerdict
		case s.place == inHalo && verdict == results.Pass:
			verdict = results.WarnVerdict
		}
	}
	for _, s := range steps { // a step shown to go the wrong way outweighs those that are open
		if s.place == below && s.fragile == "" {
			verdict, worst = results.Fail, s
			break
		}
	}
	if verdict == results.InconclusiveVerdict && !worst.open() {
		worst = steps[slices.IndexFunc(steps, step.open)]
	}
	if verdict == results.WarnVerdict && worst.place != inHalo {
		worst = steps[slices.IndexFunc(steps, func(s step) bool { return s.place == inHalo })]
	}
	o := outcome{verdict: verdict, observed: worst.observed(a, lv)}
	what := fmt.Sprintf("%s %s with %s", shown(a.Subject), a.Trend.Direction, a.Trend.Axis)
	if a.Trend.Tolerance > 0 {
		what += " within " + percent(a.Trend.Tolerance)
	}
	switch verdict {
	case results.Pass:
		o.message = fmt.Sprintf("%s in all %d steps; the nearest is %s", what, len(steps), worst.describe(a, lv))
	case results.Fail:
		o.message = fmt.Sprintf("%s: not from %s", what, worst.describe(a, lv))
	case results.WarnVerdict:
		o.message = fmt.Sprintf("%s: not from %s; inside of the halo of %s", what, worst.describe(a, lv),
			percent(a.Halo))
	default:
		next := nextLook(a.Looks, n)
		if next > 0 {
			o.undecided = eval.runnable(a.Cases)
		}
		o.message = fmt.Sprintf("%s: not shown from %s", what, worst.describe(a, lv))
		if worst.fragile != "" {
			o.message += "; outlier: " + worst.fragile + "; the verdict changes without it"
		}
		o.message += "; " + outlook(next, n)
	}
	if n == 1 && verdict != results.InconclusiveVerdict {
		o.message += "; one launch cannot show its noise"
	}
	o.message += retriedIn(eval.casesOf(a.Cases))
	return o
}
