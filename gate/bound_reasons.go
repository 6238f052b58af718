package gate

import (
	"math"
	"slices"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// Reasons of a check of bounds: the estimate, where it lies, and what qualifies it.

// observedAsWritten is the estimate of the subject as the author wrote it; nil of a gain without a value in percent.
func (check boundCheck) observedAsWritten(e estimate) *results.Observed {
	if check.gainByDifference {
		return nil
	}
	_, e = check.asWritten(e)
	return check.observed(e, check.unit)
}

// estimated returns a reason with the estimate and its bounds.
func (check boundCheck) estimated(kind results.ReasonKind, e estimate, more ...results.Value) results.Reason {
	check, e = check.asWritten(e)
	o := check.observed(e, check.unit)
	values := make([]results.Value, 0, 12+len(more))
	add := func(name string, v *float64, unit string) {
		if v != nil {
			values = append(values, results.Number(name, *v, unit))
		}
	}
	values = append(values, results.Text("subject", formatSubject(check.subject)),
		results.Number("value", o.Value, check.unit))
	if o.CI != nil {
		add("low", &o.CI[0], check.unit)
		add("high", &o.CI[1], check.unit)
	}
	values = append(values, results.Count("n", o.N, ""))
	if o.Confidence != 0 {
		values = append(values, results.Number("confidence", o.Confidence, "confidence"))
	}
	if o.Looks > 0 {
		values = append(values, results.Count("looks", o.Looks, ""))
	}
	add("lower", check.bounds.Lower, check.unit)
	add("upper", check.bounds.Upper, check.unit)
	values = append(values, results.Text("written", check.written))
	if check.bounds.Strict {
		values = append(values, results.Text("strict", "yes"))
	}
	return results.Because(kind, append(values, more...)...)
}

// withContext appends the reasons that qualify the estimate, which is the last of said.
func (check boundCheck) withContext(said []results.Reason, est *subjectEstimate, where position) []results.Reason {
	if estimated := said[len(said)-1]; estimated.Text("gain") == "" {
		said = append(said, check.suspiciouslyFast(estimated.Kind))
		if where == inHalo || where == crossingHalo {
			margin := results.Number("halo", check.halo, "share")
			said = append(said, results.Because(results.InHalo, margin))
		}
	}
	said = append(said, check.familyNote(est.at, where))
	return append(append(said, est.method...), est.failures)
}

// ofVerdict leaves out what a verdict does not depend on: a pass assumes that sessions do not differ, and a failure
// allows for how those differ that are kept beside the baseline.
func ofVerdict(said []results.Reason, v results.Verdict) []results.Reason {
	of := func(kind results.ReasonKind) func(results.Reason) bool {
		return func(r results.Reason) bool { return r.Kind == kind }
	}
	switch {
	case !slices.ContainsFunc(said, of(results.SessionsKept)):
		return said
	case v == results.Fail:
		return slices.DeleteFunc(said, of(results.SessionsAlike))
	case v == results.Pass:
		return slices.DeleteFunc(said, of(results.SessionsKept))
	}
	return said
}

// slowModeReason says why a value inside the bounds does not pass yet: the cost of a slow mode that no launch met would
// move it out of them. Launches that all equal the bound may be rounded to it, so all looks are needed.
func (check boundCheck) slowModeReason(est subjectEstimate, n int) results.Reason {
	better, most := check.better(), enough(check.looks)
	e := est.at(check.pass)
	equal := e.n > 1 && e.lo == e.hi
	atBound := equal && check.atOneBound(e.center)
	if atBound {
		most = slices.Max(check.looks)
	}
	switch {
	case n >= most, better == workload.Neither, isAvailability(check.subject), check.fixed():
		return results.Reason{}
	case !atBound && equal && check.unit == "" && e.center == math.Trunc(e.center):
		return results.Reason{} // the same count in all launches, which is no speed
	}
	cost := math.Expm1(hidden(n, est.known)) * math.Abs(e.center)
	if better == workload.Higher {
		cost = math.Expm1(-hidden(n, est.known)) * math.Abs(e.center)
	}
	slower := e.center + cost
	if !atBound && locate(check.bounds, estimate{slower, slower, slower, n}) == inside {
		return results.Reason{}
	}
	kind := results.ModeNoiseUnknown
	if est.known {
		kind = results.ModeNoiseKnown
	}
	cost = math.Abs(math.Expm1(-hidden(n, est.known)))
	return results.Because(kind, results.Number("cost", cost, "share"), launched(most))
}

// atOneBound reports whether a value other than 0 is one of two different bounds, or the only one.
func (check boundCheck) atOneBound(v float64) bool {
	low, high := check.bounds.Lower, check.bounds.Upper
	atLow, atHigh := low != nil && *low == v, high != nil && *high == v
	return v != 0 && atLow != atHigh && len(check.looks) > 0
}

// fixed reports whether the subject is a metric that does not vary by chance.
func (check boundCheck) fixed() bool {
	if check.subject.Op != assertion.Metric || check.own == nil {
		return false
	}
	m, _ := check.metrics.Metric(check.own, check.subject.Metric)
	return m.Fixed
}

// relation returns a reason for where the estimate lies relative to the bounds. implied: it misses the bound of where,
// whatever its interval.
func (check boundCheck) relation(e estimate, where position, implied bool) results.Reason {
	reversed := check.constant != nil && check.constant.reversed
	check, e = check.asWritten(e)
	b := check.bounds
	seen := locate(b, e) // by the displayed interval; families are judged by wider ones
	switch {
	case implied && reversed:
		seen = map[position]position{below: above, above: below}[where]
	case implied:
		seen = where
	}
	var more []results.Value
	if metric, ok := check.gainOf(); ok {
		more = append(more, results.Text("gain", metric))
		if where == crossing {
			more = append(more, results.Number("crossed", wording.Nearest(b, e.center), ""))
		}
	} else if where == crossing && seen != inside && locate(check.withHalo(), e) == crossing {
		b, seen = check.withHalo(), crossing // perhaps only the halo is undecided
		if check.halo != 0 {
			more = append(more, results.Number("of_halo", check.halo, "share"))
			for _, end := range []struct {
				name  string
				bound *float64
			}{{"widened_lower", b.Lower}, {"widened_upper", b.Upper}} {
				if end.bound != nil {
					more = append(more, results.Number(end.name, *end.bound, check.unit))
				}
			}
		}
	}
	switch seen {
	case below:
		return check.estimated(results.BelowBound, e, append(more, check.missDistance(*b.Lower))...)
	case above:
		return check.estimated(results.AboveBound, e, append(more, check.missDistance(*b.Upper))...)
	case inside:
		return check.estimated(results.InsideBounds, e, more...)
	}
	if ci := e.ci(); ci != nil && results.Uninformative(ci) {
		return check.estimated(results.CannotTell, e, more...)
	}
	return check.estimated(results.CrossesBound, e, more...)
}

// suspiciouslyFast returns a reason if a value is better than the good end of two-sided bounds: a wrong
// size, a skipped transfer, a cached buffer or a missing completion is more likely than a faster path.
func (check boundCheck) suspiciouslyFast(where results.ReasonKind) results.Reason {
	end := map[results.ReasonKind]workload.Direction{
		results.BelowBound: workload.Lower, results.AboveBound: workload.Higher,
	}[where]
	if end == "" || check.bounds.Lower == nil || check.bounds.Upper == nil || check.better() != end {
		return results.Reason{}
	}
	return results.Because(results.TooFast)
}
