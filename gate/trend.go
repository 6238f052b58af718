package gate

import (
	"fmt"
	"slices"

	"weir/quantity"
	"weir/results"
)

// A trend is judged step by step: all steps must be shown for it to pass, one step the wrong way
// fails it. With each step it has one more chance to do so wrongly, so that the error budget of
// failing is divided by their number.
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
	linear := false
	for i, c := range cases {
		ps, err := points(eval.metrics, c, a.Subject, a.Unit)
		if err != nil {
			return spoiled(c, fmt.Sprintf("%s: %v", c.Key, err))
		}
		for _, p := range ps {
			if p.value > 0 {
				continue
			}
			if why := noRatio(eval, a, p.value); why != "" {
				return failed(fmt.Sprintf("%s: %s: %s is %s; %s", c.Key, results.LaunchName(p.launch.Index),
					shown(a.Subject), quantity.Format(p.value, a.Unit), why))
			}
			linear = true
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
			o = eval.trendAt(a, cases, series, look, look == have, way{sign, linear}, lv.forFailing(len(cases)-1))
		}
		if look == have || o.verdict != "" && o.decided() {
			break
		}
	}
	o.message += notRun(len(a.Cases) - len(cases))
	return o
}

// way is how the steps of a trend are compared.
type way struct {
	sign   float64 // -1: it decreases
	linear bool    // by differences, as one of its values is 0
}

// noRatio says why a trend cannot be judged with a value that is not above zero, "" if it can.
func noRatio(eval *evaluator, a *results.AssertionVerdict, v float64) string {
	switch {
	case positive(eval.metrics, a.Subject):
		return "the steps of a trend are ratios, so it must be above zero"
	case v < 0 && a.Trend.Tolerance > 0:
		return "a share of it, as the trend tolerates, needs values that are not below zero"
	case a.Halo > 0:
		return "the steps are differences then, and a halo is a share"
	}
	return ""
}

// trendAt judges a trend by the first launches of each case; at the end by all of them.
func (eval *evaluator) trendAt(
	a *results.AssertionVerdict, cases []*results.Case, series [][]point, look int, end bool, by way, lv levels,
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
		if n != nil && !by.linear && !n.contradicted(logs(valuesOf(now[i]))) {
			known[i] = n
		}
	}
	steps := make([]step, len(cases)-1)
	for i := range steps {
		x := side{cases[i], now[i], known[i]}
		steps[i] = eval.newStep(x, side{cases[i+1], now[i+1], known[i+1]}, by, a, lv)
	}
	return eval.overSteps(a, steps, lv)
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
		if len(steps) == 1 {
			o.message = fmt.Sprintf("%s in its one step: %s", what, worst.describe(a, lv))
		}
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
			o.message += "; outlier: " + worst.fragile + fragileText
		}
		o.message += "; " + outlook(next, n)
	}
	if n == 1 && verdict != results.InconclusiveVerdict {
		o.message += "; one launch cannot show its noise"
	}
	o.message += retriedIn(eval.casesOf(a.Cases))
	return o
}
