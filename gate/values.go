package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// point is the value of a subject in one launch.
type point struct {
	launch *results.Launch
	value  float64
}

// points returns a subject's values in the successful launches of a case, by launch index. A launch
// without a value is an error: the mean over the others would be biased.
func points(d *workload.Definitions, c *results.Case, subject *assertion.Expr, unit string) ([]point, error) {
	return pointsOf(d, c, c.Succeeded(), subject, unit)
}

// pointsOf is points for given launches of a case.
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
			return nil, inLaunch(err, l.Index)
		}
		if v <= 0 && positive(d, subject) {
			return nil, reasonError{notAboveZero(d, subject, formatSubject(subject), v, unit).At(l.Index)}
		}
		out = append(out, point{l, quantity.Round(v)}) // conversion to base units may have moved it off a bound
	}
	slices.SortStableFunc(out, func(x, y point) int {
		return cmp.Or(cmp.Compare(x.launch.Index, y.launch.Index), cmp.Compare(x.value, y.value))
	})
	return out, nil
}

// metricOf is a metric of a launch. A missing or infinite one is an error: it must never satisfy a bound.
func metricOf(l *results.Launch, name string) (float64, error) {
	v, ok := l.Metrics.Get(name)
	switch {
	case !ok:
		return 0, refuse(results.MetricMissing, results.Text("metric", name))
	case notFinite(v):
		return 0, refuse(results.MetricNotFinite, results.Text("metric", name), notANumber(v))
	}
	return v, nil
}

// positive reports whether a subject is above zero whenever it was measured, and so judged on the log
// scale. Differences and metrics that may be 0 are not.
func positive(d *workload.Definitions, e *assertion.Expr) bool {
	switch e.Op {
	case assertion.Metric:
		return !d.MayBeZero(e.Case, e.Metric)
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

// estimateOf estimates a subject on its scale.
func estimateOf(d *workload.Definitions, subject *assertion.Expr, ps []point, confidence float64) estimate {
	if positive(d, subject) {
		return logarithmic(valuesOf(ps), confidence)
	}
	e := arithmetic(valuesOf(ps), confidence)
	if subject.Op == assertion.Metric {
		e = notNegative(e, valuesOf(ps), neverNegative(d, subject.Case, subject.Metric, subject.Unit))
	}
	return e
}

// neverNegative reports whether a metric is an amount: weir's own metrics are, and declared ones with such
// a unit.
func neverNegative(d *workload.Definitions, key, metric, unit string) bool {
	u, known := quantity.UnitOf(unit)
	return !d.Declared(key, metric) || known && u.Dim != quantity.Number
}

// notNegative clips the interval of an amount at zero.
func notNegative(e estimate, values []float64, amount bool) estimate {
	if isAmount(values, amount) {
		e.lo = max(e.lo, 0)
	}
	return e
}

// isAmount reports whether values are of an amount: none is negative, and the metric cannot be, or all are whole
// numbers, or most are exactly 0, which values around 0 never are.
func isAmount(values []float64, amount bool) bool {
	zeros, whole := 0, true
	for _, v := range values {
		if !(v >= 0) {
			return false
		}
		if v == 0 {
			zeros++
		}
		whole = whole && v == math.Trunc(v)
	}
	return len(values) > 0 && (amount || whole || 2*zeros > len(values))
}

// notANumber is a non-finite value in Go's spelling.
func notANumber(v float64) results.Value { return results.Text("value", fmt.Sprint(v)) }

// notAboveZero says that a value cannot be judged as a ratio, and how to declare that a metric may be 0 or below.
func notAboveZero(d *workload.Definitions, subject *assertion.Expr, what string, v float64,
	unit string) results.Reason {
	advice := ""
	if slices.ContainsFunc(subject.Leaves(), func(leaf *assertion.Expr) bool {
		return d.Declared(leaf.Case, leaf.Metric) && !d.MayBeZero(leaf.Case, leaf.Metric)
	}) {
		advice = "declare may_be_zero: true if 0 and values below are valid"
	}
	return results.Because(results.NotAboveZero, results.Text("subject", what), results.Number("value", v, unit),
		results.Text("declare", advice))
}

// longSubject is the length beyond which a subject is abbreviated.
const longSubject = 160

// formatSubject is a subject as text in messages.
func formatSubject(e *assertion.Expr) string {
	if text := e.String(); len(text) <= longSubject {
		return text
	}
	return fmt.Sprintf("its value over %s", wording.Counted(len(e.Cases()), "case"))
}
