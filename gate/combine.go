package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// combination is a subject over several cases, whose launches are not the same,
// so that it has no value in a launch. By the delta method its estimate is
//
//	f(m), with m the mean of each metric over its case's launches,
//
// and what launch i of case k adds to the estimate's error is z_ki/n_k, with
//
//	z_ki = Σ over the metrics x of case k of (∂f/∂x)(m)·(x_i − m_x).
//
// For a positive f all of this is on the log scale, with geometric means and
// log x for x, as for a single case. Metrics of one launch are correlated, which
// z_ki respects: it adds them up before any spread is taken. The derivatives are
// exact (gradient.go). Sources: Casella and Berger, Statistical Inference, 2nd
// ed., 5.5.4. The least and the greatest of many cases that are nearly equal are
// biased outwards by about the error of one case; all() and any() are not.
type combination struct {
	metrics  *workload.Definitions
	center   float64 // in the claim's unit
	log      bool
	n        int // launches of the case of this session that has fewest
	variance float64
	df       float64
	stored   meanSquare // the part of variance that is of baselines
	sources  []*source
	z        [][]float64 // by source and launch
	weights  []float64   // of each variable, on the scale of the interval
	all      []*variable
	first    []*variable // of each source, to show its outliers with
}

// variable is one metric of one source.
type variable struct {
	source int
	leaf   *assertion.Expr
	values []float64 // by launch
	mean   float64   // geometric on the log scale
}

func (eval *evaluator) combined(cl claim, sources []*source, look int) (evidence, error) {
	c, err := cl.combine(sources)
	if err != nil {
		return evidence{}, err
	}
	sessions := eval.betweenSessions(cl, c)
	floor := eval.floorOf(cl, c, look)
	wider := func(c *combination) interval {
		return func(confidence float64) estimate { return floor.widen(c, sessions.add(c), confidence) }
	}
	ev := evidence{
		at: wider(c), method: method(sources) + sessions.text, known: floor != nil,
		unknown: sessions.unknownSessions(c, floor),
		noise:   c.launchNoise(floor), fixed: c.fixedPart(floor, sessions),
	}
	if floor != nil {
		ev.noiseText = floor.text
	}
	for _, s := range sources {
		if s.c != nil {
			ev.launched = append(ev.launched, s.key)
		}
	}
	rest, names, modes := c.withoutOutliers()
	ev.modes = strings.TrimPrefix(modes, "; ")
	if len(names) == 0 {
		return ev, nil
	}
	ev.outliers = strings.Join(names, ", ")
	ev.rest = func(confidence float64) estimate {
		r, err := cl.combine(rest)
		if err != nil { // nothing is left to say without them
			return estimate{lo: math.Inf(-1), hi: math.Inf(1)}
		}
		return wider(r)(confidence)
	}
	return ev, nil
}

func (cl claim) combine(sources []*source) (*combination, error) {
	c := &combination{
		metrics: cl.metrics, log: cl.positive || positive(cl.metrics, cl.subject), sources: sources, n: fewest(sources),
	}
	variables, of, err := cl.variables(sources, c.log)
	if err != nil {
		return nil, err
	}
	mean := func(leaf *assertion.Expr) (float64, error) { return variables[of[leaf]].mean, nil }
	center, err := cl.subject.EvalWith(mean, cl.unit)
	if err != nil {
		return nil, err
	}
	if c.log && center <= 0 {
		return nil, notAboveZero(cl.metrics, cl.subject, shown(cl.subject), center, cl.unit)
	}
	c.center = quantity.Round(center)
	weights, err := gradient(cl.subject, len(variables), mean, func(leaf *assertion.Expr) int { return of[leaf] })
	if err != nil {
		return nil, err
	}
	c.contributions(variables, weights, center, cl.unit)
	c.all, c.weights = variables, weights
	if err := c.spread(variables, weights); err != nil {
		return nil, err
	}
	if notFinite(c.variance) {
		return nil, fmt.Errorf("the spread of %s is %v", shown(cl.subject), c.variance)
	}
	return c, nil
}

// fewest is the number of launches that looks count: a baseline gets no more.
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

// variables are the distinct metrics of a subject, and which of them each leaf is.
func (cl claim) variables(sources []*source, log bool) ([]*variable, map[*assertion.Expr]int, error) {
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
	for _, leaf := range cl.subject.Leaves() {
		i := place[cl.sourceOf(leaf)]
		k := metricKey{i, leaf.Metric, leaf.Unit}
		if _, ok := known[k]; !ok {
			v, err := newVariable(cl.metrics, i, sources[i], leaf, log)
			if err != nil {
				if sources[i].c == nil || sources[i].c != cl.own {
					err = fmt.Errorf("%s: %w", sources[i].name(), err)
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
			return nil, fmt.Errorf("%s: %w", results.LaunchName(l.Index), err)
		}
		if log && x <= 0 {
			of := fmt.Sprintf("%s: metric %s", results.LaunchName(l.Index), leaf.Metric)
			return nil, notAboveZero(d, leaf, of, x, leaf.Unit)
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

// contributions turns the gradient into weights on the scale of the interval and
// adds up what each launch contributes.
func (c *combination) contributions(variables []*variable, weights []float64, center float64, unit string) {
	result, _ := quantity.UnitOf(unit) // EvalWith has refused an unknown one
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

// at is the t-interval of a confidence; a single launch has none.
func (c *combination) at(confidence float64) estimate {
	e := estimate{c.center, c.center, c.center, c.n}
	if c.n < 2 || c.variance == 0 {
		return e
	}
	return c.within(student(c.df, confidence) * math.Sqrt(c.variance))
}

// within is the estimate with an interval of half a width, on its scale.
func (c *combination) within(half float64) estimate {
	e := estimate{c.center, c.center, c.center, c.n}
	if c.log {
		e.lo, e.hi = unlog(math.Log(c.center)-half), unlog(math.Log(c.center)+half)
	} else {
		e.lo, e.hi = quantity.Round(c.center-half), quantity.Round(c.center+half)
	}
	return e
}

// withoutOutliers are the sources without the launches that stand out, and the names of these. Sources that
// took turns are looked at together, by what the launches of one number contribute in sum: each by itself
// may drift. Where they are too many for outliers (secondMode), none is left out, and modes says so.
func (c *combination) withoutOutliers() (rest []*source, names []string, modes string) {
	rest = slices.Clone(c.sources)
	scale := 1.0
	if !c.log {
		scale = math.Abs(c.center)
	}
	for _, cluster := range clusters(c.sources) {
		sums := map[int]float64{}
		for _, i := range cluster {
			for j, l := range c.sources[i].launches {
				sums[l.Index] += c.z[i][j]
			}
		}
		indexes := slices.Sorted(maps.Keys(sums))
		values := make([]float64, len(indexes))
		for k, index := range indexes {
			values[k] = sums[index]
		}
		marked, odd := standingOut(values, scale), map[int]bool{}
		for k, is := range marked {
			odd[indexes[k]] = is
		}
		switch {
		case !slices.Contains(marked, true):
			continue
		case secondMode(marked):
			modes += "; " + c.nameOdd(cluster, odd) + " are a mode of their own"
			continue
		}
		names = append(names, c.nameOdd(cluster, odd))
		for _, i := range cluster {
			less := *c.sources[i]
			less.launches = slices.DeleteFunc(slices.Clone(less.launches),
				func(l *results.Launch) bool { return odd[l.Index] })
			rest[i] = &less
		}
	}
	return rest, names, modes
}

// nameOdd names the launches of a cluster that stand out; those of one case with their values.
func (c *combination) nameOdd(cluster []int, odd map[int]bool) string {
	i := cluster[0]
	s, v := c.sources[i], c.first[i]
	if len(cluster) == 1 && v != nil {
		ps, marked := make([]point, len(s.launches)), make([]bool, len(s.launches))
		for j, l := range s.launches {
			ps[j], marked[j] = point{l, v.values[j]}, odd[l.Index]
		}
		return s.name() + " " + describe(ps, marked, v.leaf.Unit)
	}
	what := "launch %d of all its cases"
	if len(cluster) == 2 {
		what = "the pair of launches %d"
	}
	var names []string
	for _, index := range slices.Sorted(maps.Keys(odd)) {
		if odd[index] {
			names = append(names, fmt.Sprintf(what, index+1))
		}
	}
	return few(names)
}
