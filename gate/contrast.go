package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// power is with which probability a change of the size that is called detectable
// would have been found.
const power = 0.8

// interval is an estimate at a confidence.
type interval = func(confidence float64) estimate

// contrast is the change of one metric of one case, as far as its launches tell.
type contrast struct {
	effect *results.Effect
	claim  claim        // that the change is not beyond the margin
	change *combination // nil where a side has a single launch
	at     interval     // of the change
	rest   interval     // without the outliers; nil where none is marked
	marked string       // the outliers
	modes  string       // that those that stand out are too many for outliers
	margin float64
	// sessions is what sessions add, where the sides are of two and that is known. Where many
	// cases tell it, shift is by how much they moved together and spread what sessions add beside that.
	sessions sessionNoise
	spread   *spread
	shift    *shift
	without  *combination // the outliers
	assumed  bool         // sessions are taken not to differ
	drifting bool         // the sides did not take turns in their session
}

// contrast estimates a change with the means of combine.go: new/base on the log
// scale, or new − base of a metric that may be zero. Launches of one session that
// took turns are compared pair by pair, which takes out what the minutes around
// them did to both; others by Welch's unequal variances.
func (c *comparer) contrast(p couple, m workload.Metric, e *results.Effect) (*contrast, error) {
	leaf := func(s *source) *assertion.Expr {
		return &assertion.Expr{Op: assertion.Metric, Metric: m.Name, Unit: m.Unit, Case: s.key, Baseline: s.c == nil}
	}
	base := &source{key: p.base.Key, launches: byIndex(p.base.Succeeded())}
	now := &source{key: p.now.Key, c: p.now, launches: byIndex(p.now.Succeeded())}
	if c.within {
		base.c = p.base // it may have taken turns
	}
	sides := []*source{now, base}
	cl := claim{
		metrics: c.metrics,
		subject: &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{leaf(now), leaf(base)}},
		levels:  defaultLevels(),
	}
	cl.positive = c.shares && aboveZero(now, m.Name) && aboveZero(base, m.Name)
	if e.Additive = c.metrics.MayBeZero(m.Name) && !cl.positive; e.Additive {
		cl.subject.Op, cl.unit = assertion.Sub, m.Unit
	}
	var err error
	if e.Base, err = c.side(base, leaf(base)); err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	if e.New, err = c.side(now, leaf(now)); err != nil {
		return nil, fmt.Errorf("new: %w", err)
	}
	cl.bounds = margined(e, c.options.Margin)
	x := &contrast{effect: e, claim: cl, margin: c.options.Margin}
	e.Pairs, e.Method = c.pairing(now, base)
	x.drifting = e.Method == noTurns
	if e.Base.N < 2 || e.New.N < 2 {
		return x, x.single()
	}
	if x.change, err = cl.combine(sides); err != nil {
		return nil, err
	}
	rest, marked, modes := x.change.withoutOutliers()
	x.modes = modes
	if len(marked) > 0 {
		x.marked = strings.Join(marked, ", ")
		c, err := cl.combine(rest)
		if err != nil {
			return nil, fmt.Errorf("without the outliers: %w", err)
		}
		x.without = c
	}
	return x, nil
}

// intervals are those of the change and of the change without outliers.
func (x *contrast) intervals() {
	wide := func(c *combination) interval {
		return remembered(func(confidence float64) estimate {
			if x.spread != nil {
				return c.within(x.spread.half(confidence, meanSquare{c.variance, c.df}))
			}
			return (*combinedFloor)(nil).widen(c, x.sessions.add(c), confidence)
		})
	}
	x.at = wide(x.change)
	if x.without != nil {
		x.rest = wide(x.without)
	}
}

// apart is how far the change lies from the shift, on the log scale.
func (x *contrast) apart() float64 { return math.Log(x.change.center) - x.shift.center }

// fromShift is the interval of the change as a ratio to the shift of all cases.
func (x *contrast) fromShift() interval {
	return remembered(func(confidence float64) estimate {
		c := *x.change
		c.center = unlog(x.apart())
		return c.within(x.spread.halfFrom(confidence, x.shift.variance, meanSquare{c.variance, c.df}))
	})
}

// aboveZero says whether a metric is so in all launches.
func aboveZero(s *source, metric string) bool {
	return !slices.ContainsFunc(s.launches, func(l *results.Launch) bool {
		v, ok := l.Metrics.Get(metric)
		return !ok || !(v > 0)
	})
}

// side is the estimate of one side by itself.
func (c *comparer) side(s *source, leaf *assertion.Expr) (*results.Observed, error) {
	v, err := newVariable(c.metrics, 0, s, leaf, positive(c.metrics, leaf))
	if err != nil {
		return nil, err
	}
	e := arithmetic(v.values, results.Confidence)
	if neverNegative(c.metrics, leaf.Metric, leaf.Unit) {
		e = notNegative(e, v.values)
	}
	if positive(c.metrics, leaf) {
		e = logarithmic(v.values, results.Confidence)
	}
	return &results.Observed{Value: e.center, Unit: leaf.Unit, CI: e.ci(), N: e.n}, nil
}

// margined is the band in which a change is no regression: open on the better side,
// and on both where there is none.
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

// pairing says how many launches were compared one to one, and why or why not.
func (c *comparer) pairing(now, base *source) (pairs int, text string) {
	switch {
	case c.within && len(clusters([]*source{now, base})) == 1:
		return turns(now.launches, base.launches)
	case c.within && (spans(now.launches) == nil || spans(base.launches) == nil):
		return 0, "unpaired: the document does not say when launches began"
	case c.within:
		return 0, noTurns
	case !c.out.CrossSession:
		return 0, "unpaired: both documents are of the same session"
	case c.out.SameEnvironment == nil:
		return 0, "unpaired: cross-session, and nothing shows that the environments are alike"
	case !*c.out.SameEnvironment:
		return 0, "unpaired: cross-session and cross-environment"
	}
	return 0, "unpaired: cross-session"
}

// noTurns is how launches of one session are compared that did not take turns.
const noTurns = "unpaired: the launches did not take turns, so that a drift of the machine would look like a change"

// turns counts the pairs of launches that took turns. Where the same side always
// began, what drifts steadily favours one of them by what it does within a pair.
func turns(now, base []*results.Launch) (pairs int, text string) {
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
	text = "paired: the launches took turns"
	switch {
	case first == 0:
		text += ", base always first, so a steady drift counts as a change"
	case first == pairs:
		text += ", new always first, so a steady drift counts as a change"
	}
	return pairs, text
}

// single is the change where a side has one launch: a point that shows no noise.
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

// fill writes the estimate with its interval, the probability of it by chance, and
// what could have been found: a true change of (t₁₋α⸝₂ + t_power) standard errors
// (Bloom, Evaluation Review 19, 1995).
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
		p = quantity.Round(x.spread.chance(x.apart(), x.shift.variance, meanSquare{c.variance, c.df}))
		e.Change.Shift = quantity.Round(unlog(x.shift.center))
	case se > 0:
		t := math.Abs(c.center-null) / se
		if c.log {
			t = math.Abs(math.Log(c.center)) / se
		}
		p = quantity.Round(min(1, 2*tail(v.df, t)))
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

// detectable is what could have been found, if the change has a variance.
func (x *contrast) detectable(variance, df float64) float64 {
	half := func(confidence float64) float64 {
		switch {
		case x.spread != nil:
			return x.spread.half(confidence, meanSquare{variance, df})
		case variance > 0:
			return quantileOf(df, confidence) * math.Sqrt(variance)
		}
		return 0
	}
	d := half(results.Confidence) + half(2*power-1)
	if x.change.log {
		d = math.Expm1(d)
		if x.effect.Better == string(workload.Higher) {
			d /= 1 + d // 1 − e^−d: a rate that falls
		}
	}
	return min(quantity.Round(d), math.MaxFloat64)
}

// tail is the probability of a value beyond t.
func tail(df, t float64) float64 {
	if df <= 0 || math.IsInf(df, 1) {
		return distuv.UnitNormal.CDF(-t)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-t)
}
