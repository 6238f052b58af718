package gate

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// place is where an interval lies relative to a band.
type place int

const (
	crossing place = iota // an end of the band lies inside the interval
	inside
	below
	above
)

// locate places an interval; the ends of a band belong to it, an absent end is open.
func locate(b assertion.Bounds, e estimate) place {
	switch {
	case b.Lower != nil && e.hi < *b.Lower:
		return below
	case b.Upper != nil && e.lo > *b.Upper:
		return above
	case (b.Lower == nil || e.lo >= *b.Lower) && (b.Upper == nil || e.hi <= *b.Upper):
		return inside
	}
	return crossing
}

// judgeBand applies the sequential rule to one case: an interval wholly inside
// the band passes, one wholly outside fails, at both ends; else the next look's
// launches are needed, and after the last look it is inconclusive.
func judgeBand(c *results.Case, a *results.AssertionVerdict) outcome {
	if o, ok := unusable(c); ok {
		return o
	}
	if a.Bounds.Lower == nil && a.Bounds.Upper == nil {
		return failed("the assertion has no bounds")
	}
	ps, err := points(c, a)
	if err != nil {
		return failed(err.Error())
	}
	e := estimateOf(a.Subject, ps)
	o := outcome{
		verdict:  results.InconclusiveVerdict,
		observed: &results.Observed{Value: e.center, Unit: a.Unit, CI: e.ci(), N: e.n},
	}
	where := locate(a.Bounds, e)
	o.message = fmt.Sprintf("%s %s %s", a.Subject, o.observed, relation(c, a, e, where))

	marked := outliers(a.Subject, ps)
	stable := true
	if slices.Contains(marked, true) {
		o.message += "; outlier: " + describe(ps, marked, a.Unit)
		stable = locate(a.Bounds, estimateOf(a.Subject, without(ps, marked))) == where
	}
	switch {
	case !atLook(a.Looks, e.n):
	case where == crossing:
	case !stable:
		o.message += "; the verdict changes without it"
	case where == inside:
		o.verdict = results.Pass
	default:
		o.verdict = results.Fail
	}
	if o.verdict == results.InconclusiveVerdict {
		next := NextLook(a.Looks, e.n)
		o.undecided = next > 0
		o.message += "; " + outlook(next, e.n)
		if next == 0 && where == crossing {
			o.message += needed(a, ps, e)
		}
	}
	if e.n == 1 && o.verdict != results.InconclusiveVerdict {
		o.message += "; one launch cannot show its noise"
	}
	return o
}

// relation says how the estimate lies to the bounds, with the margin.
func relation(c *results.Case, a *results.AssertionVerdict, e estimate, where place) string {
	b := a.Bounds
	s := results.ScaleFor(e.center, a.Unit)
	switch where {
	case below:
		return fmt.Sprintf("< %s; %s below%s", s.WithUnit(s.Exact(*b.Lower)), margin(s, e.center, *b.Lower), suspicion(c, a, workload.Lower))
	case above:
		return fmt.Sprintf("> %s; %s above%s", s.WithUnit(s.Exact(*b.Upper)), margin(s, e.center, *b.Upper), suspicion(c, a, workload.Higher))
	case inside:
		return fmt.Sprintf("%s; %s from the bound", bounds(b, s), margin(s, e.center, nearest(b, e.center)))
	}
	crossed := nearest(b, e.center)
	return fmt.Sprintf("against %s: the interval crosses %s, %s from its centre",
		strings.TrimPrefix(bounds(b, s), "in "), s.Exact(crossed), margin(s, e.center, crossed))
}

// bounds writes bounds as a relation.
func bounds(b assertion.Bounds, s results.Scale) string {
	switch {
	case b.Upper == nil:
		return ">= " + s.WithUnit(s.Exact(*b.Lower))
	case b.Lower == nil:
		return "<= " + s.WithUnit(s.Exact(*b.Upper))
	}
	return "in " + s.WithUnit("["+s.Exact(*b.Lower)+", "+s.Exact(*b.Upper)+"]")
}

// nearest is the bound that a value is closer to.
func nearest(b assertion.Bounds, v float64) float64 {
	if b.Upper == nil || b.Lower != nil && math.Abs(v-*b.Lower) < math.Abs(v-*b.Upper) {
		return *b.Lower
	}
	return *b.Upper
}

// margin is the distance from a bound in percent of it.
func margin(s results.Scale, v, bound float64) string {
	if bound == 0 {
		return s.WithUnit(quantity.Digits(math.Abs(v)*s.Factor, 2))
	}
	return percent(math.Abs(v/bound - 1))
}

// suspicion is what to say of a value beyond the end of a two-sided band that
// its author cannot have hoped for: wrong size, skipped transfer, cached buffer
// or missing completion are likelier than a path that became faster.
func suspicion(c *results.Case, a *results.AssertionVerdict, end workload.Direction) string {
	if a.Bounds.Lower == nil || a.Bounds.Upper == nil || better(c.Workload, a) != end {
		return ""
	}
	return "; faster than the band: suspicious"
}

// better is the direction in which a subject is better: its metric's, or what
// its dimension says if it is an expression.
func better(kind string, a *results.AssertionVerdict) workload.Direction {
	if a.Subject.Op == assertion.Metric {
		if m, ok := workload.FindMetric(kind, a.Subject.Metric); ok {
			return m.Better
		}
	}
	u, _ := quantity.UnitOf(a.Unit)
	switch u.Dim {
	case quantity.RateDim, quantity.Frequency:
		return workload.Higher
	case quantity.TimeDim:
		return workload.Lower
	}
	return workload.Neither
}

// searchLimit is where counting launches stops to be advice.
const searchLimit = 100

// needed says how many launches would bring the interval clear of the bound
// that it crosses, if the noise stays what it is.
func needed(a *results.AssertionVerdict, ps []point, e estimate) string {
	if e.n < 2 {
		return ""
	}
	vs, center, bound := valuesOf(ps), e.center, nearest(a.Bounds, e.center)
	if positive(a.Subject) {
		if bound <= 0 {
			return ""
		}
		vs, center, bound = logs(vs), math.Log(center), math.Log(bound)
	}
	_, sd := moments(vs)
	n := sort.Search(searchLimit+1, func(n int) bool { // the interval only shrinks with n
		return n > e.n && student(float64(n-1))*sd/math.Sqrt(float64(n)) < math.Abs(center-bound)
	})
	if n <= searchLimit {
		return fmt.Sprintf("; at this noise about %d launches would decide", n)
	}
	return fmt.Sprintf("; at this noise not even %d launches would decide: it lies too near the bound", searchLimit)
}
