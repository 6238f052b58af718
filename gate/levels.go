package gate

import (
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// levels are the confidences of the two-sided intervals of an assertion. The pass interval must lie inside
// the bounds, the fail interval outside. They exceed the displayed confidence if several assertions share
// an error budget.
type levels struct {
	shown, pass, fail float64
	stated            float64 // over all interim analyses, as displayed
	looks             int     // interim analyses that share the error budget
	single            float64 // of pass with a single analysis
}

func defaultLevels() levels { return atConfidence(results.Confidence) }

func atConfidence(c float64) levels {
	return levels{shown: c, pass: c, fail: c, stated: c, looks: 1, single: c}
}

func levelsOf(a *results.AssertionVerdict) levels {
	c := results.Confidence
	if a.Decide != nil && a.Decide.Confidence != 0 {
		c = a.Decide.Confidence
	}
	return atConfidence(c)
}

// forFailing divides the error budget of failing by n (Bonferroni).
func (lv levels) forFailing(n int) levels {
	lv.fail = divided(lv.fail, n)
	return lv
}

// forPassing divides the error budget of passing by n.
func (lv levels) forPassing(n int) levels {
	lv.pass = divided(lv.pass, n)
	return lv
}

func divided(confidence float64, n int) float64 {
	if n <= 1 {
		return confidence
	}
	return 1 - (1-confidence)/float64(n)
}

// observed converts an estimate to its form in a verdict.
func (lv levels) observed(e estimate, unit string) *results.Observed {
	o := &results.Observed{Value: e.center, Unit: unit, CI: e.ci(), N: e.n}
	if lv.stated != results.Confidence {
		o.Confidence = lv.stated
	}
	if lv.looks > 1 && o.CI != nil {
		o.Looks = lv.looks
	}
	return o
}

// position is where an interval lies relative to bounds.
type position int

const (
	crossing position = iota // a bound lies inside the interval
	inside
	below
	above
	inHalo       // outside of the bounds, within the halo
	crossingHalo // crossing a bound, within the halo
)

// locate returns the position of an interval; an absent bound is open.
func locate(b assertion.Bounds, e estimate) position {
	switch {
	case b.Lower != nil && (e.hi < *b.Lower || b.Strict && e.hi == *b.Lower):
		return below
	case b.Upper != nil && (e.lo > *b.Upper || b.Strict && e.lo == *b.Upper):
		return above
	case b.Lower != nil && (e.lo < *b.Lower || b.Strict && e.lo == *b.Lower),
		b.Upper != nil && (e.hi > *b.Upper || b.Strict && e.hi == *b.Upper):
		return crossing
	}
	return inside
}

// locate returns the position of the subject. The halo applies to failing only: passing needs the
// bounds themselves.
func (check boundCheck) locate(at func(confidence float64) estimate) position {
	if locate(check.bounds, at(check.pass)) == inside {
		return inside
	}
	e := at(check.fail)
	outer := locate(check.withHalo(), e)
	switch {
	case outer == below, outer == above:
		return outer
	case outer == crossing, check.halo == 0:
		return crossing
	case locate(check.bounds, e) == crossing, locate(check.bounds, e) == inside:
		return crossingHalo
	}
	return inHalo
}

// withHalo returns the bounds widened by the halo.
func (check boundCheck) withHalo() assertion.Bounds {
	if d := check.constant; d != nil { // a share of the author's bounds
		written, _ := check.asWritten(estimate{})
		return d.moved(written.withHalo(), d.subject)
	}
	wide := func(bound *float64, sign float64) *float64 {
		if bound == nil || check.halo == 0 {
			return bound
		}
		v := quantity.Round(*bound + sign*check.halo*max(*bound, -*bound))
		return &v
	}
	b := check.bounds
	b.Lower, b.Upper = wide(b.Lower, -1), wide(b.Upper, 1)
	return b
}

// familyNote returns a reason if the displayed interval would decide but the shared error budget does not
// allow it.
func (check boundCheck) familyNote(at func(confidence float64) estimate, where position) results.Reason {
	if where != crossing && where != crossingHalo {
		return results.Reason{}
	}
	note := func(kind results.ReasonKind, needed float64) results.Reason {
		return results.Because(kind, results.Number("shown", check.shown, "confidence"),
			results.Number("needed", needed, "confidence"))
	}
	e := at(check.shown)
	switch outer := locate(check.withHalo(), e); {
	case locate(check.bounds, e) == inside && check.pass != check.shown:
		return note(results.NeedsToPass, check.pass)
	case (outer == below || outer == above) && check.fail != check.shown:
		return note(results.NeedsToFail, check.fail)
	}
	return results.Reason{}
}

// memoized computes the estimate of each confidence once, because quantiles dominate the cost.
func memoized(at func(confidence float64) estimate) func(confidence float64) estimate {
	type answer struct {
		confidence float64
		estimate
	}
	var known []answer // one to three
	return func(confidence float64) estimate {
		for _, k := range known {
			if k.confidence == confidence {
				return k.estimate
			}
		}
		e := at(confidence)
		known = append(known, answer{confidence, e})
		return e
	}
}
