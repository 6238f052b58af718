package gate

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// missDistance is the reference of a miss: the target at the centre of the bounds, else the missed bound.
// None if both values of a ratio are displayed.
func (check boundCheck) missDistance(end float64) results.Value {
	switch _, _, both := check.metricRatio(); {
	case both:
		return results.Value{}
	case check.target != nil:
		return results.Number("target", *check.target, check.unit)
	}
	return results.Number("missed", end, check.unit)
}

// metricRatio recognises a subject that is one metric divided by another.
func (check boundCheck) metricRatio() (metric, by *assertion.Expr, ok bool) {
	e := check.subject
	if e.Op != assertion.Div || len(e.Args) != 2 || e.Args[0] == nil || e.Args[1] == nil ||
		e.Args[0].Op != assertion.Metric || e.Args[1].Op != assertion.Metric {
		return nil, nil, false
	}
	return e.Args[0], e.Args[1], true
}

// ratioValues is the reason with both values of a ratio of metrics; none for other subjects.
func (check boundCheck) ratioValues(sources []*source, ratio estimate) results.Reason {
	metric, by, ok := check.metricRatio()
	if !ok || check.constant != nil {
		return results.Reason{}
	}
	value, known := check.valueOf(sources, metric)
	of, also := check.valueOf(sources, by)
	if !known || !also {
		return results.Reason{}
	}
	name := by.String()
	if by.Baseline && by.Metric == metric.Metric {
		name = "baseline"
	}
	r := results.Because(results.RatioOf, results.Text("metric", metric.String()),
		results.Number("value", value, metric.Unit), results.Text("by", name), results.Number("of", of, by.Unit))
	if metric.Unit == by.Unit && check.nearOne() {
		r.Values = append(r.Values, results.Number("ratio", ratio.center, ""))
	}
	return r
}

// nearOne reports whether the bounds of a ratio are close to 1, so that it is read as a difference in
// percent; p99 <= 5*p50 is not.
func (check boundCheck) nearOne() bool {
	for _, b := range []*float64{check.bounds.Lower, check.bounds.Upper} {
		if b != nil && (*b < 0.5 || *b > 2) {
			return false
		}
	}
	return true
}

// valueOf is the mean of a metric over the launches of its source, on the scale of a ratio.
func (check boundCheck) valueOf(sources []*source, leaf *assertion.Expr) (float64, bool) {
	return check.meanOf(sources, leaf, true)
}

// meanOf is the mean of a metric over the launches of its source, geometric if log.
func (check boundCheck) meanOf(sources []*source, leaf *assertion.Expr, log bool) (float64, bool) {
	k := check.sourceOf(leaf)
	for _, s := range sources {
		if s.key != k.key || (s.c == nil) != k.baseline || len(s.launches) == 0 {
			continue
		}
		v, err := newVariable(check.metrics, 0, s, leaf, log)
		if err != nil {
			return 0, false
		}
		return v.mean, true
	}
	return 0, false
}

// mostSpelled is how many launches a message lists one by one.
const mostSpelled = 3

// launchValues lists the value of each launch, if these are too few and too different for a useful
// interval.
func (check boundCheck) launchValues(sources []*source, e estimate) results.Reason {
	ci := e.ci()
	if ci == nil || !results.Uninformative(ci) || e.n > mostSpelled || check.subject.Op != assertion.Metric {
		return results.Reason{}
	}
	r := results.Because(results.LaunchesGave, results.Number("value", e.center, check.unit),
		results.Text("written", check.written))
	given := false
	for _, src := range sources {
		if k := check.sourceOf(check.subject); src.key != k.key || (src.c == nil) != k.baseline {
			continue
		}
		for _, l := range src.launches {
			if v, ok := l.Metrics.Get(check.subject.Metric); ok {
				r.Values, given = append(r.Values, results.Number("launch", v, check.unit)), true
			}
		}
	}
	if !given {
		return results.Reason{}
	}
	return r
}

// ceilingReason gives the probed ceiling for a bandwidth that misses its bound, and whether the bound is
// reachable: a probe is noisy, so only bounds clearly above it are not.
func (check boundCheck) ceilingReason(sources []*source, where position) results.Reason {
	if check.own == nil || check.subject.Op != assertion.Metric || check.bounds.Lower == nil ||
		check.subject.Case != "" && check.subject.Case != check.own.Key || where == inside || where == above {
		return results.Reason{}
	}
	path, ok := workload.As[workload.PathUser](check.own.Workload)
	if !ok {
		return results.Reason{}
	}
	var all []float64
	for _, l := range sources[0].launches {
		if v, ok := path.Carries(check.subject.Metric, l.Metrics); ok && v > 0 {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return results.Reason{}
	}
	carried := logarithmic(all, results.Confidence).center
	kind := results.PathCarries
	if *check.bounds.Lower > aboveCeiling*carried {
		kind = results.Unreachable
	}
	return results.Because(kind, results.Number("value", carried, check.unit), results.Text("written", check.written))
}
