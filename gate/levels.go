package gate

import (
	"fmt"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
)

// levels are the confidences of the two-sided intervals that an assertion is
// judged by. An interval of pass must lie inside the band, one of fail outside;
// they are narrower budgets than that of the interval shown where several
// statements share one.
type levels struct {
	shown, pass, fail float64
	stated            float64 // of all looks together, as it is shown
	looks             int     // that share the error of it
	single            float64 // of pass, if there were one look
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

// observed is an estimate as a verdict shows it.
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

// place is where an interval lies relative to a band.
type place int

const (
	crossing place = iota // an end of the band lies inside the interval
	inside
	below
	above
	inHalo  // outside of the band, but inside of its halo
	grazing // crossing the band, but inside of its halo
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

// locate places what is known of a claim's subject. The halo moves only the end
// beyond which it fails: passing needs the band itself.
func (cl claim) locate(at func(confidence float64) estimate) place {
	if locate(cl.bounds, at(cl.pass)) == inside {
		return inside
	}
	e := at(cl.fail)
	outer := locate(cl.widened(), e)
	switch {
	case outer == below, outer == above:
		return outer
	case outer == crossing, cl.halo == 0:
		return crossing
	case locate(cl.bounds, e) == crossing, locate(cl.bounds, e) == inside:
		return grazing
	}
	return inHalo
}

// widened is the band with its halo.
func (cl claim) widened() assertion.Bounds {
	wide := func(bound *float64, sign float64) *float64 {
		if bound == nil || cl.halo == 0 {
			return bound
		}
		v := quantity.Round(*bound + sign*cl.halo*max(*bound, -*bound))
		return &v
	}
	return assertion.Bounds{Lower: wide(cl.bounds.Lower, -1), Upper: wide(cl.bounds.Upper, 1)}
}

// familyNote says why a value that the usual confidence would decide is not
// decided: the statement shares its error budget with others.
func (cl claim) familyNote(at func(confidence float64) estimate, where place) string {
	if where != crossing && where != grazing {
		return ""
	}
	e := at(cl.shown)
	switch outer := locate(cl.widened(), e); {
	case locate(cl.bounds, e) == inside && cl.pass != cl.shown:
		return fmt.Sprintf("; inside at %s, but it needs %s to pass", results.PercentText(cl.shown),
			results.PercentText(cl.pass))
	case (outer == below || outer == above) && cl.fail != cl.shown:
		return fmt.Sprintf("; outside at %s, but it needs %s to fail", results.PercentText(cl.shown),
			results.PercentText(cl.fail))
	}
	return ""
}

// remembered asks for each confidence once: quantiles are what judging costs.
func remembered(at func(confidence float64) estimate) func(confidence float64) estimate {
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
