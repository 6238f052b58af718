package gate

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// judgeTrend judges a trend step by step: it passes if all steps are shown, and fails if one goes the
// wrong way. The error budget of failing is divided by the number of steps.
func (eval *evaluator) judgeTrend(a *results.AssertionVerdict, lv levels) outcome {
	sign := 1.0
	switch a.Trend.Direction {
	case "increases":
	case "decreases":
		sign = -1
	default:
		return invalidAssertion(fmt.Sprintf("unknown trend direction %q", a.Trend.Direction))
	}
	cases, o, ok := eval.trendCases(a.Cases)
	if !ok {
		return o
	}
	series := make([][]point, len(cases))
	linear := false
	for i, c := range cases {
		ps, err := points(eval.metrics.In(c), c, a.Subject, a.Unit)
		if err != nil {
			return errorOf(c, reasonOf(err).In(c.Key))
		}
		for _, p := range ps {
			if p.value > 0 {
				continue
			}
			if text := noRatio(eval.metrics.In(c), a, p.value); text != "" {
				return failed(results.Because(results.TrendNoRatio, results.Text("subject", formatSubject(a.Subject)),
					results.Number("value", p.value, a.Unit), why(text)).In(c.Key).At(p.launch.Index))
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
	for _, atLaunch := range append(slices.Compact(slices.Sorted(slices.Values(a.Looks))), have) {
		if atLaunch < have || atLaunch == have {
			scale := stepScale{sign, linear, eval.metrics.In(cases[0])}
			o = eval.trendAt(a, cases, series, atLaunch, atLaunch == have, scale, lv.forFailing(len(cases)-1))
		}
		if atLaunch == have || o.verdict != "" && o.decided() {
			break
		}
	}
	o.addReasons(notRun(results.CasesNotRun, len(a.Cases)-len(cases)))
	return o
}

// stepScale is how the steps of a trend are compared.
type stepScale struct {
	sign   float64 // -1: decreasing
	linear bool    // by differences, because a value is 0

	metrics *workload.Definitions
}

// noRatio says why a trend cannot be judged with a value that is not above zero; "": it can.
func noRatio(d *workload.Definitions, a *results.AssertionVerdict, v float64) string {
	switch {
	case positive(d, a.Subject):
		return "the steps of a trend are ratios, so values must be above zero"
	case v < 0 && a.Trend.Tolerance > 0:
		return "the tolerance is a share, so values must not be negative"
	case a.Halo > 0:
		return "a halo is a share, so values must be above zero"
	}
	return ""
}

// trendAt judges a trend by the first launches of each case; finally by all of them.
func (eval *evaluator) trendAt(
	a *results.AssertionVerdict, cases []*results.Case, series [][]point, atLaunch int, end bool, by stepScale,
	lv levels,
) outcome {
	lv = lv.at(a.Looks, atLaunch)
	known := make([]*noise, len(cases))
	now := make([][]point, len(cases))
	for i, c := range cases {
		now[i] = series[i]
		if !end {
			now[i] = series[i][:atLaunch]
		}
		n := eval.noiseOf(a.Noise, c, a.Subject, a.Unit, atLaunch)
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

// trendCases returns the cases of a trend, without absent ones.
func (eval *evaluator) trendCases(keys []string) ([]*results.Case, outcome, bool) {
	var cases []*results.Case
	var waiting, skipped *outcome
	excluded := 0
	for _, k := range keys {
		c := eval.cases[k]
		if c == nil {
			return nil, failed(results.Because(results.NotInDocument, results.Text("key", k))), false
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
		o = o.atSource(sourceKey{key: k})
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
		return nil, passedOver(results.Because(results.FewRan)), false
	case len(cases) < 2:
		return nil, invalidAssertion("a trend needs at least two cases"), false
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
	for _, s := range steps { // a refuted step outranks open ones
		if s.place == below && s.fragile.None() {
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
	kind := results.TrendOpen
	switch verdict {
	case results.Pass:
		kind = results.TrendHolds
	case results.Fail, results.WarnVerdict:
		kind = results.TrendBroken
	}
	o.addReasons(worst.reason(kind, a, len(steps), lv), worst.implied, worst.modes)
	switch verdict {
	case results.WarnVerdict:
		o.addReasons(results.Because(results.InHalo, results.Number("halo", a.Halo, "share")))
	case results.InconclusiveVerdict:
		next := nextAnalysis(a.Looks, n)
		if next > 0 {
			o.undecided = eval.runnable(a.Cases)
		}
		if !worst.fragile.None() {
			o.addReasons(worst.fragile, results.Because(results.OutliersDecide))
		}
		o.addReasons(pendingReason(next, n))
	}
	if n == 1 && verdict != results.InconclusiveVerdict {
		o.addReasons(results.Because(results.OneLaunch))
	}
	o.addReasons(retriedIn(eval.casesOf(a.Cases)))
	return o
}
