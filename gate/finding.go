package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// judge finds which changes there are, which of them are regressions, and what the
// comparison ends with.
func (c *comparer) judge() {
	c.find()
	c.tellShifts()
	if c.options.Holm {
		c.shareBudget()
	}
	codes := []int{ExitPassed}
	for _, x := range c.contrasts {
		x.judge()
	}
	for _, e := range c.out.Effects {
		switch e.Verdict {
		case results.EffectError:
			codes = append(codes, ExitExecution)
		case results.Regression:
			codes = append(codes, ExitFailed)
		case results.Unclear:
			codes = append(codes, ExitInconclusive)
		}
	}
	c.out.ExitCode = Worst(codes...)
}

// find finds the changes. Of changes of which it is not known how sessions differ none is found, and they
// do not count among the others.
func (c *comparer) find() {
	var known, assumed []*contrast
	for _, x := range c.contrasts {
		if x.assumed {
			assumed = append(assumed, x)
		} else {
			known = append(known, x)
		}
	}
	discover(known)
	discover(assumed)
	for _, xs := range c.estimated {
		mirrored(xs, len(c.estimated))
		withoutFound(xs)
	}
	for _, x := range c.contrasts {
		if (x.drifting || x.assumed) && x.effect.Change != nil {
			x.effect.Change.Found = false
		}
	}
}

// discover finds the changes among all effects so that the expected share of false
// ones among those found stays below 1 − confidence: the step-up procedure of
// Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995), by
// adjusted probabilities q_(i) = min over j ≥ i of m·p_(j)/j.
func discover(all []*contrast) {
	var sorted []*results.Change
	for _, x := range all {
		if x.effect.Change.P != nil {
			sorted = append(sorted, x.effect.Change)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *results.Change) int { return cmp.Compare(*a.P, *b.P) })
	q := 1.0
	for i := len(sorted) - 1; i >= 0; i-- {
		q = quantity.Round(min(q, *sorted[i].P*float64(len(sorted))/float64(i+1)))
		own := q
		sorted[i].Q = &own
		sorted[i].Found = own <= quantity.Round(1-results.Confidence)
	}
}

// shareBudget divides the error budget of regressions among all that are judged, by
// Holm's procedure as families do (family.go).
func (c *comparer) shareBudget() {
	judged := 0
	var limits []int
	for _, x := range c.contrasts {
		if x.change == nil || x.effect.Better == string(workload.Neither) {
			continue
		}
		judged++
		if x.place(x.at, 1) != results.Regression {
			continue
		}
		limits = append(limits, sort.Search(len(c.contrasts),
			func(i int) bool { return x.place(x.at, i+1) != results.Regression }))
	}
	left := stepDown(limits, judged)
	for _, x := range c.contrasts {
		x.claim.levels = x.claim.forFailing(left)
	}
}

// place is the verdict that an estimate gives by itself if it may use one part in
// share of the error budget of regressions.
func (x *contrast) place(at interval, share int) results.EffectVerdict {
	cl := x.claim
	cl.levels = cl.forFailing(share)
	switch cl.locate(at) {
	case inside:
		return results.NoRegression
	case below, above:
		return results.Regression
	}
	return results.Unclear
}

// judge gives the verdict with its reasons. A regression is a change that is found
// among all effects: of ten thousand comparisons of likes some lie beyond any margin.
// As in the gate, outliers are never left out, but a verdict that hangs on them is none.
func (x *contrast) judge() {
	e := x.effect
	e.Message = x.described()
	switch {
	case e.Better == string(workload.Neither):
		e.Verdict = results.Reported
		e.Message += "; the metric has no better direction"
		return
	case x.change == nil:
		e.Verdict = results.Unclear
		e.Message += "; one launch cannot show its noise: give both sides two or more"
		return
	}
	verdict := x.place(x.at, 1)
	e.Verdict = verdict
	e.Message += x.fromShiftText()
	switch together := x.together(verdict); {
	case together != "":
		e.Verdict = results.Unclear
		e.Message += together
	case verdict == results.Regression && x.assumed:
		e.Verdict = results.Unclear
		e.Message += "; beyond " + x.marginText() + ", but nothing is known of how sessions differ: " + tellsSessions
	case verdict == results.Regression && !e.Change.Found:
		e.Verdict = results.Unclear
		e.Message += "; beyond " + x.marginText() + ", as " + x.byChance()
	case verdict == results.Regression:
		e.Message += "; worse by more than " + x.marginText()
	case verdict == results.Unclear:
		e.Message += "; the interval crosses " + x.marginText() + x.claim.familyNote(x.at, crossing)
	case e.Change.Found && x.forTheBetter():
		e.Verdict = results.Improved
	default:
		e.Message += "; not worse by more than " + x.marginText()
	}
	e.Message += x.modes
	if x.rest == nil {
		return
	}
	e.Message += "; outlier: " + x.marked
	if x.place(x.rest, 1) != verdict {
		e.Verdict = results.Unclear
		e.Message += fragileText
	}
}

// forTheBetter says whether the change is to the better side of none, and of the shift of all cases.
func (x *contrast) forTheBetter() bool {
	up := x.effect.Change.Value > 1
	if x.effect.Additive {
		up = x.effect.Change.Value > 0
	}
	return up == (x.effect.Better == string(workload.Higher)) && (x.shift == nil || up == (x.apart() > 0))
}

// together says why a change is unclear that may be the shift of all cases. A shift is a change or the session, and a
// regression is one in both readings: beyond the margin as it is, and as it differs from the shift. Where the shift is
// itself within the margin the first reading suffices. What is not worse as it is passes, unless all became better
// by more than the margin and it is found to be worse than they.
func (x *contrast) together(verdict results.EffectVerdict) string {
	if x.shift == nil {
		return ""
	}
	e := x.effect
	switch worse, better := x.shift.beyond(e.Better, x.margin); {
	case verdict == results.Regression && worse && x.place(x.fromShift(), 1) != results.Regression:
		return fmt.Sprintf(
			"; beyond %s as the %d cases are that moved together: a change or another session; one pair cannot tell",
			x.marginText(),
			x.shift.together,
		)
	case verdict == results.NoRegression && better && e.Change.Found && x.place(x.fromShift(), 1) == results.Regression:
		return fmt.Sprintf(
			"; not worse than the base, but worse than the %d cases that moved together, by more than %s: a change or another session; one pair cannot tell",
			x.shift.together,
			x.marginText(),
		)
	}
	return ""
}

// fromShiftText is how a case that is found to have moved otherwise than all differs from them.
func (x *contrast) fromShiftText() string {
	if x.shift == nil || !x.shift.shown() || !x.effect.Change.Found {
		return ""
	}
	d := x.fromShift()(results.Confidence)
	other := results.Effect{Change: &results.Change{Value: d.center, CI: d.ci()}}
	value, low, high := other.ChangeText()
	return fmt.Sprintf("; %s (%s to %s) against the shift of all cases", value, low, high)
}

func (x *contrast) marginText() string {
	text := "the margin of " + results.Percent.WithUnit(results.Percent.Exact(x.margin))
	if x.effect.Additive {
		s := results.ScaleFor(x.margin*x.effect.Base.Value, x.effect.Unit)
		text += " of the base, " + s.WithUnit(s.Exact(x.margin*x.effect.Base.Value))
	}
	return text
}

// described is the change in words: "46.1 -> 43.0 GB/s: -6.7% (96% CI -7.9% to
// -5.4%, 8 pairs); paired: the launches took turns".
func (x *contrast) described() string {
	e := x.effect
	s := results.ScaleFor(max(math.Abs(e.Base.Value), math.Abs(e.New.Value)), e.Unit)
	from, _, _ := s.Estimate(e.Base.Value, e.Base.CI)
	to, _, _ := s.Estimate(e.New.Value, e.New.CI)
	text := fmt.Sprintf("%s -> %s: ", from, s.WithUnit(to))
	change, low, high := e.ChangeText()
	text += change
	n := fmt.Sprintf("%d and %s", e.Base.N, launches(e.New.N))
	if e.Pairs > 0 && e.Pairs == e.Base.N && e.Pairs == e.New.N {
		n = counted(e.Pairs, "pair")
	}
	switch {
	case e.Change.CI == nil:
		return text + " (" + n + ")"
	case low == "":
		return text + " (" + n + ", too few for an interval); " + e.Method
	}
	text += fmt.Sprintf(" (%s CI %s to %s, %s)", results.PercentText(results.Confidence), low, high, n)
	if !e.Change.Found {
		text += ", which may be none"
	}
	return text + "; " + e.Method
}

// byChance is what else than a change may lead beyond the margin.
func (x *contrast) byChance() string {
	if x.drifting {
		return "a drift of the machine would be"
	}
	return "some of so many are by chance"
}
