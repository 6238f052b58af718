package gate

import (
	"cmp"
	"fmt"
	"slices"

	"weir/assertion"
	"weir/results"
)

// spoiled is an error whose cause is a case.
func spoiled(c *results.Case, reason string) outcome {
	o := failed(reason)
	o.spoiled = []*results.Case{c}
	return o
}

// excuse says of each case that may fail whether its error is expected, or whether it works
// although it is expected not to; assertions whose error has no other cause are expected to
// be errors with it. So it says of assertions that do not hold and are of nothing but cases that may
// fail. Launches that were taken out of the document are no error of a case.
func (eval *evaluator) excuse(all []matter, outcomes []outcome) {
	missed := eval.missed(all, outcomes)
	errors := map[*results.Case]string{}
	for _, c := range eval.doc.Cases {
		if c.Status == results.OK {
			errors[c] = c.Invalid
		}
	}
	for i, m := range all {
		o := outcomes[i]
		if m.c != nil && o.verdict == results.ErrorVerdict && slices.Contains(o.spoiled, m.c) && errors[m.c] == "" {
			errors[m.c] = o.message
		}
	}
	for _, c := range eval.doc.Cases {
		if x := c.MayFail; x != nil {
			x.Verdict, x.Message = eval.expectedOf(c, errors[c], missed)
		}
	}
	for i := range outcomes {
		o := &outcomes[i]
		unexcused := func(c *results.Case) bool { return !c.Excused() }
		if o.verdict == results.ErrorVerdict && len(o.spoiled) > 0 && !slices.ContainsFunc(o.spoiled, unexcused) {
			o.verdict, o.message = results.XFail, expectation(o.spoiled[0].MayFail)+": "+o.message
		}
		if by := missed.by[i]; by != nil {
			o.verdict, o.message = results.XFail, expectation(by.MayFail)+": "+o.message
		}
	}
}

// misses are what assertions make of cases that may fail.
type misses struct {
	by   map[int]*results.Case    // the case that excuses an assertion, by its number
	of   map[*results.Case]string // what the assertions of a case itself say that it misses
	open map[*results.Case]bool   // not all that is asserted of the case holds
}

// missed finds the assertions that do not hold. One with an expectation of its own that still counts has its
// excuse; one of severity info excuses nothing and speaks against nothing.
func (eval *evaluator) missed(all []matter, outcomes []outcome) misses {
	out := misses{map[int]*results.Case{}, map[*results.Case]string{}, map[*results.Case]bool{}}
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
		if m.c != nil && out.of[m.c] == "" {
			out.of[m.c] = fmt.Sprintf("%s does not hold: %s", cmp.Or(m.a.Name, m.a.Text), o.message)
		}
	}
	return out
}

// expectedOf is what the expectation of a case makes of its error, or of the error of what it measured, or of
// what it misses, "" if there is none. It works as long as all that is asserted of it holds.
func (eval *evaluator) expectedOf(c *results.Case, err string, missed misses) (results.Verdict, string) {
	x := c.MayFail
	why := expectation(x)
	counts := x.Counts(eval.doc.Session.Started)
	ended := c.Status == results.Error
	excused := x.Names(err)
	if ended {
		err, excused = because("the case ended with an error", c.Reason), eval.doc.ExcusesError(c)
	}
	switch {
	case err == "" && !counts, counts && gap(c) != "":
		return "", ""
	case !counts:
		return "", fmt.Sprintf("may_fail expired on %s (%s)", x.Until, x.Reason)
	case err != "" && !excused:
		return "", unexcused(x)
	case err != "":
		return results.XFail, why + ": " + err
	case missed.of[c] != "":
		return results.XFail, why + ": " + missed.of[c]
	case x.Strict && eval.whole && !missed.open[c] && works(c):
		return results.XPass, why + ", but it works"
	}
	return "", ""
}

// unexcused is why an error is none of those that a case may end in.
func unexcused(x *results.MayFail) string {
	if x.Match != "" {
		return fmt.Sprintf("may_fail (%s) does not excuse it: it does not match %s", x.Reason, x.Match)
	}
	return fmt.Sprintf("may_fail (%s) does not excuse it: the run's programs did not start, and no match names the error",
		x.Reason)
}

func expectation(x *results.MayFail) string {
	return fmt.Sprintf("expected to fail until %s (%s)", x.Until, x.Reason)
}

// works says whether all launches of a case that count succeeded.
func works(c *results.Case) bool {
	return measured(c) && len(counting(c)) > 0 && len(counting(c)) == len(c.Succeeded())
}
