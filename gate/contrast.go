package gate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// power is the probability of finding a change of the size reported as detectable.
const power = 0.8

// interval is an estimate at a confidence.
type interval = func(confidence float64) estimate

// contrast is the estimated change of one metric of one case.
type contrast struct {
	effect *results.Effect
	claim  boundCheck       // the change is within the margin
	change *combination     // nil if a side has a single launch
	at     interval         // of the change
	rest   interval         // without outliers; nil if there are none
	apart  interval         // of the change if sessions vary by assumedSessions; nil if how they vary is known
	marked results.Reason   // the outliers
	modes  []results.Reason // too many launches stand out for outliers
	margin float64
	// sessions is the variance between sessions, if it is known. If it is estimated from many cases, shift is
	// their common change and spread the variance around it.
	sessions sessionNoise
	spread   *spread
	shift    *shift
	without  *combination     // without outliers
	assumed  bool             // sessions are assumed not to differ
	method   []results.Reason // how the launches are compared
	drifting bool             // the sides were not interleaved in their session
	among    int              // comparisons of the document
}

// contrast estimates a change as in combine.go: new/base on the log scale, or new − base for a metric that
// may be zero. Interleaved launches of one session are compared in pairs, which cancels slow drift; others
// by Welch's t-interval with unequal variances.
func (c *comparer) contrast(p casePair, m workload.Metric, e *results.Effect) (*contrast, error) {
	leaf := func(s *source) *assertion.Expr {
		return &assertion.Expr{Op: assertion.Metric, Metric: m.Name, Unit: m.Unit, Case: s.key, Baseline: s.c == nil}
	}
	base := &source{key: p.base.Key, launches: byIndex(p.base.Succeeded())}
	now := &source{key: p.now.Key, c: p.now, launches: byIndex(p.now.Succeeded())}
	if c.within {
		base.c = p.base // it may be interleaved
	} else {
		base.donor, now.donor = now.launches, base.launches
	}
	sides := []*source{now, base}
	check := boundCheck{
		metrics: c.metrics.In(p.now),
		subject: &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{leaf(now), leaf(base)}},
		levels:  defaultLevels(),
	}
	check.positive = c.shares && aboveZero(now, m.Name) && aboveZero(base, m.Name)
	if e.Additive = m.MayBeZero && !check.positive; e.Additive {
		check.subject.Op, check.unit = assertion.Sub, m.Unit
	}
	var err error
	if e.Base, err = sideOf(check.metrics, base, leaf(base)); err != nil {
		return nil, onSide("base", err)
	}
	if e.New, err = sideOf(check.metrics, now, leaf(now)); err != nil {
		return nil, onSide("new", err)
	}
	check.bounds = margined(e, c.options.Margin)
	x := &contrast{effect: e, claim: check, margin: c.options.Margin}
	pairs, how := c.pairing(now, base)
	e.Pairs, x.method = pairs, []results.Reason{how}
	e.Method = wording.Message(x.method)
	x.drifting = how.Kind == results.LaunchesNotInterleaved
	if e.Base.N < 2 || e.New.N < 2 {
		return x, x.single()
	}
	if x.change, err = check.combine(sides); err != nil {
		return nil, err
	}
	rest, marked, modes := x.change.withoutOutliers()
	x.modes = modes
	if x.marked = marked; !marked.None() {
		c, err := check.combine(rest)
		if err != nil {
			return nil, fmt.Errorf("without the outliers: %w", err)
		}
		x.without = c
	}
	return x, nil
}

// intervals sets the intervals of the change with and without outliers.
func (x *contrast) intervals() {
	wide := func(c *combination) interval {
		return memoized(func(confidence float64) estimate {
			if x.spread != nil {
				return c.withHalfWidth(x.half(confidence, meanSquare{c.variance, c.df}))
			}
			return (*combinedFloor)(nil).widen(c, x.sessions.known(), confidence)
		})
	}
	x.at = wide(x.change)
	x.apart = nil
	if x.assumed {
		x.apart = memoized(func(confidence float64) estimate {
			return (*combinedFloor)(nil).widen(x.change, x.sessions.assumed(), confidence)
		})
	}
	if x.without != nil {
		x.rest = wide(x.without)
	}
}

// half is the half-width of the interval of one of many changes, given the variance of its launches. A dozen
// cases tell little of how sessions differ, so it is at most that of sessions that vary by assumedSessions,
// unless most changes are further apart.
func (x *contrast) half(confidence float64, launches meanSquare) float64 {
	half := x.spread.half(confidence, launches)
	if x.shift.wide() {
		return half
	}
	v := launches.plus(meanSquare{value: assumedShift * assumedShift})
	return min(half, math.Sqrt(v.value)*quantileOf(v.df, confidence))
}

// chance is the p-value of one of many changes, as it differs from the shift. The one for sessions that vary by
// assumedSessions is multiplied by the number of cases (Bonferroni), because some cases vary by more.
func (x *contrast) chance(launches meanSquare) float64 {
	p := x.spread.chance(x.fromShiftLog(), x.shift.variance, launches)
	if x.shift.wide() {
		return p
	}
	v := launches.plus(meanSquare{value: assumedShift * assumedShift})
	least := min(math.Abs(x.fromShiftLog()), math.Abs(math.Log(x.change.center)))
	return min(p, 2*tail(v.df, least/math.Sqrt(v.value))*float64(x.shift.n))
}

// foundApart reports whether there is a change also if sessions vary by assumedSessions.
func (x *contrast) foundApart() bool {
	if x.apart == nil {
		return false
	}
	null, e := 0., x.apart(results.Confidence)
	if x.change.log {
		null = 1
	}
	return e.lo > null || e.hi < null
}

// fromShiftLog is the distance of the change from the shift on the log scale.
func (x *contrast) fromShiftLog() float64 { return math.Log(x.change.center) - x.shift.center }

// fromShift is the interval of the ratio of the change to the shift of all cases.
func (x *contrast) fromShift() interval {
	return memoized(func(confidence float64) estimate {
		c := *x.change
		c.center = unlog(x.fromShiftLog())
		return c.withHalfWidth(x.spread.halfFrom(confidence, x.shift.variance, meanSquare{c.variance, c.df}))
	})
}

// aboveZero reports whether a metric is above zero in all launches.
func aboveZero(s *source, metric string) bool {
	return !slices.ContainsFunc(s.launches, func(l *results.Launch) bool {
		v, ok := l.Metrics.Get(metric)
		return !ok || !(v > 0)
	})
}

// sideOf estimates one side alone.
func sideOf(d *workload.Definitions, s *source, leaf *assertion.Expr) (*results.Observed, error) {
	v, err := newVariable(d, 0, s, leaf, positive(d, leaf))
	if err != nil {
		return nil, err
	}
	e := arithmetic(v.values, results.Confidence)
	e = notNegative(e, v.values, neverNegative(d, leaf.Case, leaf.Metric, leaf.Unit))
	if positive(d, leaf) {
		e = logarithmic(v.values, results.Confidence)
	}
	return &results.Observed{Value: e.center, Unit: leaf.Unit, CI: e.ci(), N: e.n}, nil
}

// margined returns the bounds of a change without regression: open on the better side, closed on both if
// the metric has none.
func margined(e *results.Effect, margin float64) assertion.Bounds {
	worst := func(sign float64) *float64 {
		v := quantity.Round(1 + sign*margin)
		if e.Additive {
			v = quantity.Round(sign * margin * math.Abs(e.Base.Value))
		}
		return &v
	}
	switch workload.Direction(e.Better) {
	case workload.Higher:
		return assertion.Bounds{Lower: worst(-1)}
	case workload.Lower:
		return assertion.Bounds{Upper: worst(1)}
	}
	return assertion.Bounds{}
}

// pairing returns the number of paired launches, and why they are paired or not.
func (c *comparer) pairing(now, base *source) (pairs int, how results.Reason) {
	switch {
	case c.within && len(clusters([]*source{now, base})) == 1:
		return interleavedPairs(now.launches, base.launches)
	case c.within && (spans(now.launches) == nil || spans(base.launches) == nil):
		return 0, unpaired("the document does not say when launches began")
	case c.within:
		return 0, results.Because(results.LaunchesNotInterleaved)
	case !c.out.CrossSession:
		return 0, unpaired("both documents are of the same session")
	case c.out.SameEnvironment == nil:
		return 0, unpaired("cross-session, and nothing shows that the environments are the same")
	case !*c.out.SameEnvironment:
		return 0, unpaired("cross-session and cross-environment")
	}
	return 0, unpaired("cross-session")
}

func unpaired(text string) results.Reason {
	return results.Because(results.UnpairedLaunches, why(text))
}

// onSide adds the side of a comparison to an error.
func onSide(side string, err error) error {
	r := reasonOf(err)
	r.Place.Side = side
	return reasonError{r}
}

// interleavedPairs counts the pairs of interleaved launches. If the same side always comes first, a steady
// drift within pairs favours one side; the reason says so.
func interleavedPairs(now, base []*results.Launch) (pairs int, how results.Reason) {
	first := 0
	for _, l := range now {
		i := slices.IndexFunc(base, func(o *results.Launch) bool { return o.Index == l.Index })
		if i < 0 {
			continue
		}
		pairs++
		if l.Started.Before(base[i].Started) {
			first++
		}
	}
	always := ""
	switch first {
	case 0:
		always = "base"
	case pairs:
		always = "new"
	}
	return pairs, results.Because(results.PairedLaunches, results.Text("first", always))
}

// single sets the change of sides with one launch each: a point without an interval.
func (x *contrast) single() error {
	e := x.effect
	v := e.New.Value - e.Base.Value
	if !e.Additive {
		v = e.New.Value / e.Base.Value
	}
	if notFinite(v) {
		return fmt.Errorf("the change is %v", v)
	}
	e.Change = &results.Change{Value: quantity.Round(v)}
	return nil
}

// fill sets the estimate with its interval, its p-value, and the detectable change: (t₁₋α⸝₂ + t_power)
// standard errors (Bloom, Evaluation Review 19, 1995).
func (x *contrast) fill() error {
	x.intervals()
	c, e := x.change, x.effect
	v := x.sessions.add(c)
	at := x.at(results.Confidence)
	e.Change = &results.Change{Value: at.center, CI: at.ci()}
	p := 1.0
	se := math.Sqrt(v.value)
	null := 0.0
	if c.log {
		null = 1
	}
	switch {
	case x.spread != nil:
		p = quantity.Round(x.chance(meanSquare{c.variance, c.df}))
		e.Change.Shift = quantity.Round(unlog(x.shift.center))
	case se > 0:
		t := math.Abs(c.center-null) / se
		if c.log {
			t = math.Abs(math.Log(c.center)) / se
		}
		p = 2 * tail(v.df, t)
		if s := x.sessions.known(); s.value > 0 {
			p = max(p, 2*tail(s.df, t*se/math.Sqrt(s.value)))
		}
		p = quantity.Round(min(1, p))
	case c.center != null:
		p = 0
	}
	detectable := x.detectable(v.value, v.df)
	if notFinite(p) || notFinite(detectable) {
		return fmt.Errorf("its spread is %v", v.value)
	}
	e.Change.P, e.Change.Detectable = &p, &detectable
	return nil
}

// detectable is the size of a change that would be found with probability power, given its variance.
func (x *contrast) detectable(variance, df float64) float64 {
	half := func(confidence float64) float64 {
		switch {
		case x.spread != nil:
			return x.half(confidence, meanSquare{variance, df})
		case variance > 0:
			return max(quantileOf(df, confidence)*math.Sqrt(variance), x.sessions.known().half(confidence))
		}
		return 0
	}
	d := half(results.Confidence) + half(2*power-1)
	if x.change.log {
		d = math.Expm1(d)
		if x.effect.Better == string(workload.Higher) {
			d /= 1 + d // 1 − e^−d: decrease of a rate
		}
	}
	return min(quantity.Round(d), math.MaxFloat64)
}

// tail is the two-sided probability of a value beyond t.
func tail(df, t float64) float64 {
	if df <= 0 || math.IsInf(df, 1) {
		return distuv.UnitNormal.CDF(-t)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-t)
}
