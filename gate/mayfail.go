package gate

import (
	"fmt"
	"slices"

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
// be errors with it. Launches that were taken out of the document are no error of a case.
func (eval *evaluator) excuse(all []matter, outcomes []outcome) {
	errors := map[*results.Case]string{}
	for _, c := range eval.doc.Cases {
		if c.Status == results.Error {
			errors[c] = because("the case ended with an error", c.Reason)
		} else if c.Invalid != "" {
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
			x.Verdict, x.Message = eval.expectedOf(c, errors[c])
		}
	}
	for i := range outcomes {
		o := &outcomes[i]
		unexcused := func(c *results.Case) bool { return !c.Excused() }
		if o.verdict == results.ErrorVerdict && len(o.spoiled) > 0 && !slices.ContainsFunc(o.spoiled, unexcused) {
			o.verdict, o.message = results.XFail, expectation(o.spoiled[0].MayFail)+": "+o.message
		}
	}
}

// expectedOf is what the expectation of a case makes of its error, "" if it has none.
func (eval *evaluator) expectedOf(c *results.Case, err string) (results.Verdict, string) {
	x := c.MayFail
	why := expectation(x)
	switch {
	case !x.Counts(eval.doc.Session.Started):
		if err == "" {
			return "", ""
		}
		return "", fmt.Sprintf("may_fail expired on %s (%s)", x.Until, x.Reason)
	case gap(c) != "":
		return "", ""
	case err != "":
		return results.XFail, why + ": " + err
	case eval.whole && works(c):
		return results.XPass, why + ", but it works"
	}
	return "", ""
}

func expectation(x *results.MayFail) string {
	return fmt.Sprintf("expected to fail until %s (%s)", x.Until, x.Reason)
}

// works says whether all launches of a case that count succeeded.
func works(c *results.Case) bool {
	return measured(c) && len(counting(c)) > 0 && len(counting(c)) == len(c.Succeeded())
}
