package gate

import (
	"cmp"
	"fmt"
	"slices"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// point is the value of a subject in one launch.
type point struct {
	launch *results.Launch
	value  float64
}

// points are a subject's values in the launches of a case that succeeded, by
// launch index. One launch without a value spoils all: a mean over the launches
// that happen to have one would be a mean over the lucky ones.
func points(d *workload.Definitions, c *results.Case, subject *assertion.Expr, unit string) ([]point, error) {
	return pointsOf(d, c, c.Succeeded(), subject, unit)
}

// pointsOf are those of some launches of a case.
func pointsOf(
	d *workload.Definitions, c *results.Case, launches []*results.Launch, subject *assertion.Expr, unit string,
) ([]point, error) {
	var out []point
	for _, l := range launches {
		v, err := subject.EvalWith(func(leaf *assertion.Expr) (float64, error) {
			if leaf.Baseline || leaf.Case != "" && leaf.Case != c.Key {
				return 0, fmt.Errorf("metric %s is of another case", leaf.Metric)
			}
			return metricOf(l, leaf.Metric)
		}, unit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", results.LaunchName(l.Index), err)
		}
		if v <= 0 && positive(d, subject) {
			return nil, notAboveZero(d, subject, fmt.Sprintf("%s: %s", results.LaunchName(l.Index), shown(subject)), v,
				unit)
		}
		out = append(out, point{l, quantity.Round(v)}) // the way through base units may move it off a bound
	}
	slices.SortStableFunc(out, func(x, y point) int {
		return cmp.Or(cmp.Compare(x.launch.Index, y.launch.Index), cmp.Compare(x.value, y.value))
	})
	return out, nil
}

// metricOf is a metric of a launch. One that is missing or not finite is an
// error: a value that nobody measured must never satisfy a bound.
func metricOf(l *results.Launch, name string) (float64, error) {
	v, ok := l.Metrics.Get(name)
	switch {
	case !ok:
		return 0, fmt.Errorf("metric %s is missing", name)
	case notFinite(v):
		return 0, fmt.Errorf("metric %s is %v", name, v)
	}
	return v, nil
}

// positive says whether a subject is above zero whenever something was measured,
// and so judged on the log scale. A difference is not, and is judged as it is;
// neither is a metric of which 0 is a good value.
func positive(d *workload.Definitions, e *assertion.Expr) bool {
	switch e.Op {
	case assertion.Metric:
		return !d.MayBeZero(e.Metric)
	case assertion.Sub:
		return false
	case assertion.Const:
		return e.Value > 0
	}
	if a, ok := e.Op.Aggregate(); ok && !a.Positive {
		return false
	}
	for _, arg := range e.Args {
		if !positive(d, arg) {
			return false
		}
	}
	return true
}

func valuesOf(ps []point) []float64 {
	out := make([]float64, len(ps))
	for i, p := range ps {
		out[i] = p.value
	}
	return out
}

// estimateOf estimates a subject on the scale that fits it.
func estimateOf(d *workload.Definitions, subject *assertion.Expr, ps []point, confidence float64) estimate {
	if positive(d, subject) {
		return logarithmic(valuesOf(ps), confidence)
	}
	e := arithmetic(valuesOf(ps), confidence)
	if subject.Op == assertion.Metric && neverNegative(d, subject.Metric, subject.Unit) {
		e = notNegative(e, valuesOf(ps))
	}
	return e
}

// neverNegative says whether a metric is an amount: those that weir measures are, and those that a run declares
// with the unit of one.
func neverNegative(d *workload.Definitions, metric, unit string) bool {
	u, known := quantity.UnitOf(unit)
	return !d.Declared(metric) || known && u.Dim != quantity.Number
}

// notNegative is the estimate of an amount: its interval has nothing below zero, where no launch had either.
func notNegative(e estimate, values []float64) estimate {
	if len(values) > 0 && slices.Min(values) >= 0 {
		e.lo = max(e.lo, 0)
	}
	return e
}

// notAboveZero says that a value of a subject cannot be judged as a ratio, and what to do where a run declares
// a metric of it that may be 0.
func notAboveZero(d *workload.Definitions, subject *assertion.Expr, what string, v float64, unit string) error {
	advice := ""
	if v == 0 && slices.ContainsFunc(subject.Metrics(), d.Declared) {
		advice = "; a metric that the run declares and that may be 0 has may_be_zero: true"
	}
	return fmt.Errorf("%s is %s; it is judged as a ratio, so it must be above zero%s", what,
		quantity.Format(v, unit), advice)
}
