package gate

import (
	"fmt"
	"math"
	"slices"
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
	written string // the author's unit of the bounds; "" where it is unit
	bounds  assertion.Bounds
	target  *float64 // that the bounds are around; nil where the author gave them
	halo    float64
	looks   []int
	own     *results.Case // nil where the statement is about a run
	noise   []assertion.Noise
	// positive says that no launch has a subject of zero, although its metrics may be that.
	positive bool
	levels
}

// evidence is what launches say of a claim's subject.
type evidence struct {
	at   func(confidence float64) estimate
	rest func(confidence float64) estimate // at without the outliers; nil where none is marked
	// moderated is at by a variance that other cases moderated; nil where none is known. Only passing may rest on it.
	moderated func(confidence float64) estimate
	outliers  string
	method    string   // how several cases were combined
	noise     float64  // standard deviation of one launch, on the scale of the interval
	fixed     fixed    // what more launches do not reduce
	launched  []string // keys of the cases that can be launched again
	counted   *counts  // how many launches succeeded, where that is what is claimed
	note      string   // for the message
	known     bool     // something was known of the noise, and nothing contradicts it
	// noiseText says what was known of the noise, or that the launches contradict it.
	noiseText string
	modes     string // that the launches fall into two groups
	alike     string // that launches that follow each other are alike
	unknown   *unknownSessions
}

// judgeCounted applies the sequential rule to the launches that count: an interval wholly inside the band
// passes, one wholly outside fails, at both ends; else the next look's launches
// are needed, and after the last look it is inconclusive. Outside of the band but
// inside of the halo it warns; so does, after the last look, what is shown to be
// inside of the halo and not on which side of the band's end.
//
// The first look that decides decides for good: launches that were made later, because
// another assertion wanted them, change nothing.
func (eval *evaluator) judgeCounted(cl claim) outcome {
	sources, o, ok := eval.sourcesOf(cl)
	switch {
	case !ok:
		return o
	case cl.bounds.Lower == nil && cl.bounds.Upper == nil:
		return failed("the assertion has no bounds")
	}
	have := cl.have(sources)
	final := eval.lookAt(cl, sources, have)
	if final.verdict == results.ErrorVerdict || !atLook(cl.looks, have) {
		return final // what one launch lacks spoils all, whenever it was made
	}
	for _, look := range slices.Compact(slices.Sorted(slices.Values(cl.looks))) {
		if look >= have {
			break
		}
		if o := eval.lookAt(cl, upTo(sources, look, ofLaunches(cl.subject)), look); o.decided() {
			return o
		}
	}
	return final
}

// decided says whether an outcome is one that further launches do not change.
func (o outcome) decided() bool {
	return o.verdict != results.InconclusiveVerdict && o.verdict != results.ErrorVerdict
}

// have is how many launches looks count.
func (cl claim) have(sources []*source) int {
	if ofLaunches(cl.subject) {
		return len(counting(sources[0].c))
	}
	return fewest(sources)
}

// upTo are the sources as they were at a look: with the first launches of this session's
// cases, and where all that were made count, with those that failed among them.
func upTo(sources []*source, look int, all bool) []*source {
	var out []*source
	for _, s := range sources {
		less := *s
		switch {
		case s.c == nil:
			less.donor = s.donor[:min(look, len(s.donor))]
		case all:
			count := 0
			for i, l := range less.launches {
				if l.Counts() {
					count++
				}
				if count == look {
					less.launches = less.launches[:i+1]
					break
				}
			}
		default:
			less.launches = s.launches[:min(look, len(s.launches))]
		}
		out = append(out, &less)
	}
	return out
}

// lookAt judges a claim by the launches of a look.
func (eval *evaluator) lookAt(cl claim, sources []*source, n int) outcome {
	cl.levels = cl.levels.at(cl.looks, n)
	if why := untold(sources, cl.subject); why != "" {
		return outcome{verdict: results.InconclusiveVerdict, message: why}
	}
	ev, o, ok := eval.evidenceOf(cl, sources, n)
	if !ok {
		return o
	}
	ev.at = remembered(ev.at)
	where := cl.locate(ev.at)
	if ev.moderated != nil && where == crossing && cl.locate(ev.moderated) == inside {
		ev.at, where = ev.moderated, inside
		ev.noiseText += ", its variance moderated by the other cases of its run"
	}
	e := ev.at(cl.shown)
	o = outcome{verdict: results.InconclusiveVerdict, observed: cl.observed(e, cl.unit)}
	o.observed.Noise = ev.noiseText
	o.message = cl.both(sources, e) + cl.described(e, ev, where) + cl.spelled(sources, e) + cl.carries(sources, where)
	late := ""
	if !ofLaunches(cl.subject) {
		late = apart(cl.own)
	}
	if late != "" {
		o.message += "; " + late
	}
	if why := unknowable(sources, cl.subject); why != "" {
		o.message += "; " + why
		return o
	}
	few, more := tooFewValues(cl.metrics, sources, cl.subject, slices.Max(append([]int{n}, cl.looks...)))
	if few.why != "" {
		if miss := eval.missedAnyway(cl, sources, n, where); miss != "" && late == "" {
			o.verdict = results.Fail
			o.message += miss
			return o
		}
		o.message, o.obstacle = o.message+"; "+few.why, few
		if next := nextLook(cl.looks, n); more && next > 0 {
			o.message += "; " + outlook(next, n)
			o.undecided = ev.launched
		}
		return o
	}
	stable := true
	if ev.rest != nil {
		o.message += "; outlier: " + ev.outliers
		stable = cl.locate(ev.rest) == where
	}
	if ev.modes != "" {
		o.message += "; " + ev.modes
	}
	if ev.alike != "" {
		o.message += "; " + ev.alike
	}
	next := nextLook(cl.looks, n)
	wants := ""
	forbidden, more := ev.unknown.forbid(cl, where)
	switch {
	case !atLook(cl.looks, n), where == crossing:
	case !stable:
		o.message += fragileText
	case where == inside:
		if wants = cl.tooFew(ev, n); wants == "" {
			o.verdict = results.Pass
		}
	case where == inHalo, where == grazing && next == 0:
		o.verdict = results.WarnVerdict
	case late != "" && cl.worse(where):
		return o // and no launch more would say more
	case forbidden:
		o.message += ev.unknown.allowing(cl)
		if !more {
			return o
		}
	case where == below, where == above:
		o.verdict = results.Fail
		if where == below {
			o.message += cl.guilt(e)
		}
	}
	if ev.noiseText != "" && e.n > 1 {
		o.message += "; " + ev.noiseText
	}
	if o.verdict == results.InconclusiveVerdict {
		o.message += wants
		cl.outlook(&o, ev, n, e, where)
	}
	switch {
	case o.verdict == results.InconclusiveVerdict || ofLaunches(cl.subject):
	case e.n == 1:
		o.message += "; one launch cannot show its noise"
	case o.verdict == results.Pass && cl.better() != workload.Neither:
		o.message += "; " + unseenText(e.n)
	}
	if o.verdict != results.Pass {
		o.message += aside(sources) + operationsFailed(sources)
	}
	if ev.note == "" { // which tells of them
		o.message += retried(sources)
	}
	if o.verdict != results.Pass {
		o.message += voided(sources)
	}
	return o
}

// described is the estimate and how it lies to the bounds.
func (cl claim) described(e estimate, ev evidence, where place) string {
	text := ""
	if metric, ok := cl.gainOf(); ok {
		text = cl.gainText(metric, e, where)
	} else {
		text = fmt.Sprintf("%s %s %s", shown(cl.subject), cl.printed(e, ev.noiseText), cl.relation(e, where))
	}
	text += cl.familyNote(ev.at, where)
	if ev.method != "" {
		text += "; " + ev.method
	}
	return text + ev.note
}

// printed is the estimate with so many digits that its interval lies on the same sides of
// the bounds as it does in truth.
func (cl claim) printed(e estimate, noise string) string {
	o := cl.observed(e, cl.unit)
	o.Noise = noise
	return o.Beside(cl.scale(e.center), cl.bounds.Lower, cl.bounds.Upper)
}

// unseenText says what so many launches cannot have shown.
func unseenText(n int) string {
	return fmt.Sprintf("%s: a slow mode in up to %s of launches may be unseen", launches(n),
		quantity.Digits(unseen(n)*100, 2)+"%")
}

// tooFew says why a value that lies inside of the band does not pass yet: what a slow mode may
// cost that no launch met leads out of the band.
func (cl claim) tooFew(ev evidence, n int) string {
	better := cl.better()
	if n >= enough(cl.looks) || better == workload.Neither || ofLaunches(cl.subject) {
		return ""
	}
	e := ev.at(cl.pass)
	cost := math.Expm1(hidden(n, ev.known)) * math.Abs(e.center)
	if better == workload.Higher {
		cost = math.Expm1(-hidden(n, ev.known)) * math.Abs(e.center)
	}
	slower := e.center + cost
	if locate(cl.bounds, estimate{slower, slower, slower, n}) == inside {
		return ""
	}
	why := "nothing is known of its noise"
	if ev.known {
		why = "the noise known is that of one mode"
	}
	return fmt.Sprintf("; %s, and a slow mode that no launch met may cost %s: so near to its bound it passes from %d launches on",
		why, percent(math.Abs(math.Expm1(-hidden(n, ev.known)))), enough(cl.looks))
}

// sourcesOf are the sources of a claim, or the outcome that their state forces.
func (eval *evaluator) sourcesOf(cl claim) ([]*source, outcome, bool) {
	if ofLaunches(cl.subject) {
		return eval.counted(cl)
	}
	return eval.sources(cl)
}

// evidenceOf is what the launches of a look say.
func (eval *evaluator) evidenceOf(cl claim, sources []*source, look int) (evidence, outcome, bool) {
	if ofLaunches(cl.subject) {
		return share(cl, sources[0]), outcome{}, true
	}
	ev, err := eval.evidence(cl, sources, look)
	if err != nil {
		o := failed(err.Error())
		if len(sources) == 1 && sources[0].c != nil {
			o.spoiled = []*results.Case{sources[0].c}
		}
		return evidence{}, o, false
	}
	return ev, outcome{}, true
}

// relation says how the estimate lies to the bounds, with the margin.
func (cl claim) relation(e estimate, where place) string {
	b := cl.bounds
	s := cl.scale(e.center)
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
		return fmt.Sprintf("< %s%s%s%s", cl.boundText(s, *b.Lower), cl.miss(e, s, *b.Lower, "below"),
			cl.suspicion(workload.Lower), halo)
	case above:
		return fmt.Sprintf("> %s%s%s%s", cl.boundText(s, *b.Upper), cl.miss(e, s, *b.Upper, "above"),
			cl.suspicion(workload.Higher), halo)
	case inside:
		return bounds(b, s) + distance("; ", margin(s, e.center, nearest(b, e.center)), " from the bound")
	}
	crossed := nearest(b, e.center)
	if ci := e.ci(); ci != nil && results.Uninformative(ci) {
		return fmt.Sprintf("against %s: %s cannot tell%s", strings.TrimPrefix(bounds(b, s), "in "), launches(e.n), halo)
	}
	return fmt.Sprintf("against %s: the interval crosses %s%s%s", strings.TrimPrefix(bounds(b, s), "in "),
		s.Exact(crossed), distance(", ", margin(s, e.center, crossed), " from its centre"), halo)
}

// bounds writes bounds as a relation.
func bounds(b assertion.Bounds, s results.Scale) string {
	switch {
	case b.Upper == nil:
		return ">= " + boundIn(s, *b.Lower)
	case b.Lower == nil:
		return "<= " + boundIn(s, *b.Upper)
	}
	return "in " + s.WithUnit("["+s.Exact(*b.Lower)+", "+s.Exact(*b.Upper)+"]")
}

// boundIn is a bound in the unit of the value, or in a larger one where it is very many of that.
func boundIn(s results.Scale, bound float64) string {
	if v := bound * s.Factor; math.Abs(v) >= 1e5 {
		larger := results.ScaleFor(v, s.Unit)
		return larger.WithUnit(larger.Exact(v))
	}
	return s.WithUnit(s.Exact(bound))
}

// nearest is the bound that a value is closer to.
func nearest(b assertion.Bounds, v float64) float64 {
	if b.Upper == nil || b.Lower != nil && math.Abs(v-*b.Lower) < math.Abs(v-*b.Upper) {
		return *b.Lower
	}
	return *b.Upper
}

// distance puts words around a margin, where there is one.
func distance(before, margin, after string) string {
	if margin == "" {
		return ""
	}
	return before + margin + after
}

// margin is the distance from a bound in percent of it; "" of a value that has no end.
func margin(s results.Scale, v, bound float64) string {
	if quantity.Endless(v) {
		return ""
	}
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
