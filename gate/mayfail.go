package gate

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// errorOf is an error caused by a case.
func errorOf(c *results.Case, reason results.Reason) outcome {
	o := failed(reason)
	o.causes = []*results.Case{c}
	return o
}

// applyMayFail decides for each case with may_fail whether its error is expected, or whether it
// unexpectedly works. Assertions with no other cause of error, and failed assertions about such cases
// only, become expected too. Launches missing from the document are never excused.
func (eval *evaluator) applyMayFail(all []item, outcomes []outcome) {
	missed := eval.missed(all, outcomes)
	errors := map[*results.Case][]results.Reason{}
	for _, c := range eval.doc.Cases {
		if c.Status == results.OK {
			errors[c] = c.Reasons
		}
	}
	for i, m := range all {
		o := outcomes[i]
		if m.c != nil && o.verdict == results.ErrorVerdict && slices.Contains(o.causes, m.c) && len(errors[m.c]) == 0 {
			errors[m.c] = o.reasons
		}
	}
	for _, c := range eval.doc.Cases {
		if x := c.MayFail; x != nil {
			x.Verdict, x.Reasons = eval.expectedOf(c, errors[c], missed)
			x.Message = wording.Message(x.Reasons)
		}
	}
	for i := range outcomes {
		o := &outcomes[i]
		unexcused := func(c *results.Case) bool { return !c.Excused() }
		if o.verdict == results.ErrorVerdict && len(o.causes) > 0 && !slices.ContainsFunc(o.causes, unexcused) {
			o.verdict = results.XFail
			o.prependReason(expectation(results.ExpectedToFail, o.causes[0].MayFail))
		}
		if c := all[i].c; o.verdict == results.Fail && eval.expired(c) {
			o.addReasons(expectation(results.MayFailExpired, c.MayFail))
		}
		if by := missed.by[i]; by != nil {
			o.verdict = results.XFail
			o.prependReason(expectation(results.ExpectedToFail, by.MayFail))
		}
	}
}

// expired reports whether a case has a may_fail that counts no more.
func (eval *evaluator) expired(c *results.Case) bool {
	return c != nil && c.MayFail != nil && !c.MayBeError(eval.doc.Session.Started)
}

// misses are failed assertions about cases with may_fail.
type misses struct {
	by   map[int]*results.Case              // excusing case, by index of the assertion
	of   map[*results.Case][]results.Reason // failed assertions of a case itself
	open map[*results.Case]bool             // cases with an undecided assertion
}

// missed finds assertions that do not hold. Assertions with a valid xfail have their own excuse; those of
// severity info are ignored.
func (eval *evaluator) missed(all []item, outcomes []outcome) misses {
	out := misses{map[int]*results.Case{}, map[*results.Case][]results.Reason{}, map[*results.Case]bool{}}
	started := eval.doc.Session.Started
	for i, m := range all {
		o := outcomes[i]
		if m.a.Severity == assertion.Info || o.verdict == results.Pass || o.verdict == results.SkippedVerdict {
			continue
		}
		cases := []*results.Case{m.c}
		if m.c == nil {
			cases = eval.casesOf(m.a.Cases)
		}
		for _, c := range cases {
			out.open[c] = true
		}
		unexcused := func(c *results.Case) bool { return !c.MayBeError(started) }
		if o.verdict != results.Fail || m.a.XFail != nil && m.a.XFail.Counts(started) || len(cases) == 0 ||
			m.c == nil && len(cases) < len(m.a.Cases) || slices.ContainsFunc(cases, unexcused) {
			continue
		}
		out.by[i] = cases[0]
		if m.c != nil && len(out.of[m.c]) == 0 {
			o.prependReason(results.Because(results.DoesNotHold, results.Text("name", cmp.Or(m.a.Name, m.a.Text))))
			out.of[m.c] = o.reasons
		}
	}
	return out
}

// expectedOf returns the expectation that applies to a case's error, invalid values or failed assertions,
// if any. A case works if all its assertions hold; may_fail is then no longer needed.
func (eval *evaluator) expectedOf(
	c *results.Case, err []results.Reason, missed misses,
) (results.Verdict, []results.Reason) {
	x := c.MayFail
	counts := x.Counts(eval.doc.Session.Started)
	ended := c.Status == results.Error
	excused := x.Names(wording.Message(err))
	if ended {
		err = []results.Reason{results.Because(results.CaseError, why(c.Reason))}
		excused = eval.doc.ExcusesError(c)
	}
	says := func(kind results.ReasonKind, more ...results.Reason) []results.Reason {
		return append([]results.Reason{expectation(kind, x)}, more...)
	}
	worked := len(err) == 0 && eval.full && !missed.open[c] && works(c) && missingLaunches(c).None()
	switch {
	case !counts && worked && c.Retried() == 0:
		return "", says(results.MayFailUnneeded)
	case len(err) == 0 && !counts, counts && !missingLaunches(c).None():
		return "", nil
	case !counts:
		return "", says(results.MayFailExpired)
	case len(err) > 0 && !excused && x.Match != "":
		return "", says(results.MayFailNoMatch)
	case len(err) > 0 && !excused:
		return "", says(results.MayFailNotStarted)
	case len(err) > 0:
		return results.XFail, says(results.ExpectedToFail, err...)
	case len(missed.of[c]) > 0:
		return results.XFail, says(results.ExpectedToFail, missed.of[c]...)
	case worked && x.Strict:
		return results.XPass, says(results.WorksUnexpectedly)
	case worked && c.Retried() == 0:
		return "", says(results.MayFailUnneeded)
	}
	return "", nil
}

// expectation is the reason for a case with may_fail.
func expectation(kind results.ReasonKind, x *results.MayFail) results.Reason {
	return results.Because(kind, results.Text("until", x.Until), why(x.Reason), results.Text("match", x.Match))
}

// works reports whether all usable launches of a case succeeded.
func works(c *results.Case) bool {
	return measured(c) && len(usable(c)) > 0 && len(usable(c)) == len(c.Succeeded())
}
