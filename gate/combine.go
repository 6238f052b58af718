package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// combination estimates a subject over several cases. Their launches differ, so the subject has no value
// per launch. By the delta method the estimate is
//
//	f(m), with m the mean of each metric over its case's launches,
//
// and launch i of case k contributes z_ki/n_k to its error, with
//
//	z_ki = Σ over the metrics x of case k of (∂f/∂x)(m)·(x_i − m_x).
//
// For a positive f this is on the log scale, with geometric means and log x for x, as for a single case.
// Adding up within a launch before computing the spread respects the correlation of its metrics. The
// derivatives are exact (gradient.go). Source: Casella and Berger, Statistical Inference, 2nd ed., 5.5.4.
// The minimum and maximum of cases are estimated from the interval of each (extreme.go).
type combination struct {
	metrics  *workload.Definitions
	center   float64 // in the unit of the check
	log      bool
	n        int // fewest launches of a case of this session
	variance float64
	df       float64
	stored   meanSquare // part of the variance that is from baselines
	sources  []*source
	clusters [][]int     // places of sources that took turns with each other
	z        [][]float64 // contributions by source and launch
	weights  []float64   // weight of each variable on the scale of the interval
	all      []*variable
	first    []*variable // of each source, to name its outliers
	// outlierSide is where the outliers move the subject that withoutOutliers removed; crossing: to both sides.
	outlierSide position
	// under and over are the launches, by source, that move the subject below all others and above them.
	under, over map[int][]int
}

// variable is one metric of one source.
type variable struct {
	source int
	leaf   *assertion.Expr
	values []float64 // by launch
	mean   float64   // geometric on the log scale
}

func (eval *evaluator) combined(check boundCheck, sources []*source, atLaunch int) (subjectEstimate, error) {
	c, err := check.combine(sources)
	if err != nil {
		return subjectEstimate{}, err
	}
	sessions := eval.betweenSessions(check, c)
	floor := eval.floorOf(check, c, atLaunch)
	wider := func(c *combination) interval {
		return func(confidence float64) estimate {
			e := floor.widen(c, sessions.known(), confidence)
			if e.lo < 0 && check.neverNegative(sources) {
				e.lo = 0
			}
			return e
		}
	}
	est := subjectEstimate{
		at: wider(c), known: floor != nil,
		method:  append(append(c.method(), eval.otherOptions(sources)...), sessions.said...),
		unknown: sessions.unknownSessions(c, floor),
		noise:   c.launchNoise(floor), fixed: c.fixedPart(floor, sessions),
	}
	if floor != nil {
		est.noiseReason = floor.said
	}
	for _, s := range sources {
		if s.c != nil {
			est.relaunchable = append(est.relaunchable, s.key)
		}
	}
	rest, names, modes := c.withoutOutliers()
	est.modes, est.outliers, est.outlierSide = modes, names, c.outlierSide
	est.own = func() []float64 { return check.perLaunch(c) }
	est.clamped = check.clampedCombination(c, wider)
	extreme, ofRest := eval.extreme(check, sources, atLaunch)
	if extreme != nil {
		est.at = extreme
	}
	switch {
	case names.None():
		return est, nil
	case extreme != nil:
		est.withoutOutliers, est.outlierSide = ofRest, crossing
		return est, nil
	}
	r, err := check.combine(rest)
	if err != nil { // no launches are left without them
		est.withoutOutliers = func(float64) estimate { return estimate{lo: math.Inf(-1), hi: math.Inf(1)} }
		return est, nil
	}
	est.withoutOutliers, est.unknownWithout = wider(r), sessions.unknownSessions(r, floor)
	return est, nil
}

func (check boundCheck) combine(sources []*source) (*combination, error) {
	c := &combination{
		metrics: check.metrics, log: check.positive || positive(check.metrics, check.subject), sources: sources,
		clusters: clusters(sources), n: fewest(sources), under: map[int][]int{}, over: map[int][]int{},
	}
	variables, of, err := check.variables(sources, c.log)
	if err != nil {
		return nil, err
	}
	mean := func(leaf *assertion.Expr) (float64, error) { return variables[of[leaf]].mean, nil }
	center, err := check.subject.EvalWith(mean, check.unit)
	if err != nil {
		return nil, err
	}
	if c.log && center <= 0 {
		subject := formatSubject(check.subject)
		return nil, reasonError{notAboveZero(check.metrics, check.subject, subject, center, check.unit)}
	}
	c.center = quantity.Round(center)
	weights, err := gradient(check.subject, len(variables), mean, func(leaf *assertion.Expr) int { return of[leaf] })
	if err != nil {
		return nil, err
	}
	c.contributions(variables, weights, center, check.unit)
	c.all, c.weights = variables, weights
	if err := c.spread(variables, weights); err != nil {
		return nil, err
	}
	if notFinite(c.variance) {
		return nil, fmt.Errorf("the spread of %s is %v", formatSubject(check.subject), c.variance)
	}
	return c, nil
}

// fewest returns the number of launches that count for interim analyses; baselines get no further
// launches.
func fewest(sources []*source) int {
	n, stored := 0, 0
	for _, s := range sources {
		switch have := len(s.launches); {
		case s.c == nil && (stored == 0 || have < stored):
			stored = have
		case s.c != nil && (n == 0 || have < n):
			n = have
		}
	}
	if n == 0 {
		return stored
	}
	return n
}

// variables returns the distinct metrics of a subject, and the variable of each leaf.
func (check boundCheck) variables(sources []*source, log bool) ([]*variable, map[*assertion.Expr]int, error) {
	place := map[sourceKey]int{}
	for i, s := range sources {
		place[sourceKey{s.key, s.c == nil}] = i
	}
	type metricKey struct {
		source       int
		metric, unit string
	}
	known := map[metricKey]int{}
	of := map[*assertion.Expr]int{}
	var out []*variable
	for _, leaf := range check.subject.Leaves() {
		i := place[check.sourceOf(leaf)]
		k := metricKey{i, leaf.Metric, leaf.Unit}
		if _, ok := known[k]; !ok {
			v, err := newVariable(check.metrics, i, sources[i], leaf, log)
			if err != nil {
				if sources[i].c == nil || sources[i].c != check.own {
					err = reasonError{sources[i].reason(reasonOf(err))}
				}
				return nil, nil, err
			}
			known[k] = len(out)
			out = append(out, v)
		}
		of[leaf] = known[k]
	}
	return out, of, nil
}

func newVariable(
	d *workload.Definitions, place int, s *source, leaf *assertion.Expr, log bool,
) (*variable, error) {
	v := &variable{source: place, leaf: leaf}
	for _, l := range s.launches {
		x, err := metricOf(l, leaf.Metric)
		if err != nil {
			return nil, inLaunch(err, l.Index)
		}
		if log && x <= 0 {
			return nil, reasonError{notAboveZero(d, leaf, "metric "+leaf.Metric, x, leaf.Unit).At(l.Index)}
		}
		v.values = append(v.values, x)
	}
	switch {
	case slices.Min(v.values) == slices.Max(v.values):
		v.mean = v.values[0]
	case log:
		m, _ := moments(logs(v.values))
		v.mean = math.Exp(m)
	default:
		v.mean, _ = moments(v.values)
	}
	return v, nil
}

// contributions converts the gradient into weights on the scale of the interval, and adds up the
// contributions of each launch.
func (c *combination) contributions(variables []*variable, weights []float64, center float64, unit string) {
	result, _ := quantity.UnitOf(unit) // EvalWith has rejected unknown units
	c.z = make([][]float64, len(c.sources))
	c.first = make([]*variable, len(c.sources))
	for i, s := range c.sources {
		c.z[i] = make([]float64, len(s.launches))
	}
	for i, v := range variables {
		u, _ := quantity.UnitOf(v.leaf.Unit)
		weights[i] *= u.Factor / result.Factor
		if c.log {
			weights[i] *= v.mean / center
		}
		if c.first[v.source] == nil {
			c.first[v.source] = v
		}
		for j, x := range v.values {
			c.z[v.source][j] += weights[i] * v.deviation(x, c.log)
		}
	}
}

func (v *variable) deviation(x float64, log bool) float64 {
	switch {
	case x == v.mean:
		return 0
	case log:
		return math.Log(x) - math.Log(v.mean)
	}
	return x - v.mean
}

// at is the t-interval of a confidence; single launches have none, unless baselines lend them their noise.
func (c *combination) at(confidence float64) estimate {
	e := estimate{c.center, c.center, c.center, c.n}
	if c.variance == 0 {
		return e
	}
	return c.withHalfWidth(student(c.df, confidence) * math.Sqrt(c.variance))
}

// withHalfWidth returns the estimate with an interval of this half-width on its scale.
func (c *combination) withHalfWidth(half float64) estimate {
	e := estimate{c.center, c.center, c.center, c.n}
	if c.log {
		e.lo, e.hi = unlog(math.Log(c.center)-half), unlog(math.Log(c.center)+half)
	} else {
		e.lo, e.hi = quantity.Round(c.center-half), quantity.Round(c.center+half)
	}
	return e
}
