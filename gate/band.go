package gate

import (
	"cmp"
	"fmt"
	"math"
	"sort"
	"strings"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// claim is the statement that a subject lies in a band.
type claim struct {
	metrics *workload.Definitions
	subject *assertion.Expr
	unit    string
	bounds  assertion.Bounds
	halo    float64
	looks   []int
	own     *results.Case // nil where the statement is about a run
	// positive says that no launch has a subject of zero, although its metrics may be that.
	positive bool
	levels
}

// evidence is what launches say of a claim's subject.
type evidence struct {
	at       func(confidence float64) estimate
	rest     func(confidence float64) estimate // at without the outliers; nil where none is marked
	outliers string
	method   string           // how several cases were combined
	noise    float64          // standard deviation of one launch, on the scale of the interval
	launched []string         // keys of the cases that can be launched again
	looked   int              // launches that looks count, where those are not what the estimate counts
	clear    func(n int) bool // whether so many launches would decide; nil: by noise
	note     string           // for the message
}

// judgeClaim applies the sequential rule: an interval wholly inside the band
// passes, one wholly outside fails, at both ends; else the next look's launches
// are needed, and after the last look it is inconclusive. Outside of the band but
// inside of the halo it warns; so does, after the last look, what is shown to be
// inside of the halo and not on which side of the band's end.
func (eval *evaluator) judgeClaim(cl claim) outcome {
	sources, ev, o, ok := eval.evidenceOf(cl)
	switch {
	case !ok:
		return o
	case cl.bounds.Lower == nil && cl.bounds.Upper == nil:
		return failed("the assertion has no bounds")
	}
	ev.at = remembered(ev.at)
	e := ev.at(cl.shown)
	where := cl.locate(ev.at)
	o = outcome{verdict: results.InconclusiveVerdict, observed: cl.observed(e, cl.unit)}
	o.message = fmt.Sprintf("%s %s %s%s", shown(cl.subject), o.observed, cl.relation(e, where),
		cl.familyNote(ev.at, where))
	if ev.method != "" {
		o.message += "; " + ev.method
	}
	o.message += ev.note
	late := ""
	if !ofLaunches(cl.subject) {
		late = apart(cl.own)
	}
	if late != "" {
		o.message += "; " + late
	}
	if why := undecidable(sources, cl.subject); why != "" {
		o.message += "; " + why
		return o
	}
	stable := true
	if ev.rest != nil {
		o.message += "; outlier: " + ev.outliers
		stable = cl.locate(ev.rest) == where
	}
	n := cmp.Or(ev.looked, e.n)
	next := nextLook(cl.looks, n)
	switch {
	case !atLook(cl.looks, n), where == crossing:
	case !stable:
		o.message += "; the verdict changes without it"
	case where == inside:
		o.verdict = results.Pass
	case where == inHalo, where == grazing && next == 0:
		o.verdict = results.WarnVerdict
	case late != "" && cl.worse(where):
		return o // and no launch more would say more
	case where == below, where == above:
		o.verdict = results.Fail
		if where == below {
			o.message += cl.guilt(e)
		}
	}
	if o.verdict == results.InconclusiveVerdict {
		o.message += "; " + outlook(next, n)
		switch {
		case next > 0:
			o.undecided = ev.launched
		case where == crossing:
			o.message += cl.needed(ev, e)
		}
	}
	if e.n == 1 && o.verdict != results.InconclusiveVerdict {
		o.message += "; one launch cannot show its noise"
	}
	if o.verdict != results.Pass {
		o.message += aside(sources) + operationsFailed(sources)
	}
	if ev.note == "" { // which tells of them
		o.message += retried(sources)
	}
	return o
}

// evidenceOf is what the sources of a claim say, or the outcome that their state forces.
func (eval *evaluator) evidenceOf(cl claim) ([]*source, evidence, outcome, bool) {
	if ofLaunches(cl.subject) {
		return eval.share(cl)
	}
	sources, o, ok := eval.sources(cl)
	if !ok {
		return nil, evidence{}, o, false
	}
	ev, err := cl.evidence(sources)
	if err != nil {
		o := failed(err.Error())
		if len(sources) == 1 && sources[0].c != nil {
			o.spoiled = []*results.Case{sources[0].c}
		}
		return nil, evidence{}, o, false
	}
	return sources, ev, outcome{}, true
}

// relation says how the estimate lies to the bounds, with the margin.
func (cl claim) relation(e estimate, where place) string {
	b := cl.bounds
	s := results.ScaleFor(e.center, cl.unit)
	halo, seen := "", locate(b, e) // as the interval shown has it; families are judged by wider ones
	switch {
	case where == inHalo || where == grazing:
		halo = "; inside of the halo of " + percent(cl.halo)
	case where == crossing && seen != inside && locate(cl.widened(), e) == crossing:
		if seen != crossing { // only its halo is in doubt
			halo = ", which is of the halo of " + percent(cl.halo)
		}
		b, seen = cl.widened(), crossing
	}
	switch seen {
	case below:
		return fmt.Sprintf("< %s; %s below%s%s", s.WithUnit(s.Exact(*b.Lower)), margin(s, e.center, *b.Lower),
			cl.suspicion(workload.Lower), halo)
	case above:
		return fmt.Sprintf("> %s; %s above%s%s", s.WithUnit(s.Exact(*b.Upper)), margin(s, e.center, *b.Upper),
			cl.suspicion(workload.Higher), halo)
	case inside:
		return fmt.Sprintf("%s; %s from the bound", bounds(b, s), margin(s, e.center, nearest(b, e.center)))
	}
	crossed := nearest(b, e.center)
	return fmt.Sprintf("against %s: the interval crosses %s, %s from its centre%s",
		strings.TrimPrefix(bounds(b, s), "in "), s.Exact(crossed), margin(s, e.center, crossed), halo)
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
func (cl claim) suspicion(end workload.Direction) string {
	if cl.bounds.Lower == nil || cl.bounds.Upper == nil || cl.better() != end {
		return ""
	}
	return "; faster than the band: suspicious"
}

// worse says whether a place outside of the band is where slow paths are. What has no
// better side, as the bytes that were moved, is wrong on both.
func (cl claim) worse(where place) bool {
	return where == below && cl.better() == workload.Higher || where == above && cl.better() == workload.Lower
}

// better is the direction in which a subject is better: its metric's, or what
// its dimension says if it is an expression.
func (cl claim) better() workload.Direction {
	if cl.subject.Op == assertion.Metric && cl.own != nil {
		if m, ok := cl.metrics.Metric(cl.own, cl.subject.Metric); ok {
			return m.Better
		}
	}
	u, _ := quantity.UnitOf(cl.unit)
	switch u.Dim {
	case quantity.RateDim, quantity.Frequency:
		return workload.Higher
	case quantity.TimeDim:
		return workload.Lower
	}
	return workload.Neither
}

// searchLimit is where counting launches stops to be advice. Shares need many: for them
// it is what a session may have.
const (
	searchLimit = 100
	shareLimit  = 1000
)

// needed says how many launches would bring the interval clear of the bound
// that it crosses, if the noise stays what it is.
func (cl claim) needed(ev evidence, e estimate) string {
	clear, limit := ev.clear, shareLimit
	if clear == nil {
		limit = searchLimit
		if e.n < 2 {
			return ""
		}
		center, bound := e.center, nearest(cl.bounds, e.center)
		if positive(cl.metrics, cl.subject) {
			if bound <= 0 {
				return ""
			}
			center, bound = math.Log(center), math.Log(bound)
		}
		clear = func(n int) bool {
			return student(float64(n-1), cl.pass)*ev.noise/math.Sqrt(float64(n)) < math.Abs(center-bound)
		}
	}
	n := sort.Search(limit+1, func(n int) bool { return n > e.n && clear(n) }) // the interval only shrinks with n
	if n <= limit {
		return fmt.Sprintf("; at this noise about %d launches would decide", n)
	}
	return fmt.Sprintf("; at this noise not even %d launches would decide: it lies too near the bound", limit)
}
