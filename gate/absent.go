package gate

import (
	"fmt"
	"slices"
	"strings"

	"weir/assertion"
	"weir/results"
)

// absent says that a case is no part of what its session set out to measure here:
// its author excluded it, or a condition, a selection or a missing fabric skipped
// it. A statement about several cases is then about the others, and says so. What
// a session did not get to, and what it did not run because something failed, is no
// such case: without it, the others would be the lucky ones.
func (eval *evaluator) absent(c *results.Case) bool {
	switch c.Status {
	case results.Excluded:
		return true
	case results.Skipped:
		return !c.Unreached() && eval.whole
	}
	return false
}

// whole says whether the session got to its end.
func whole(doc *results.Document) bool {
	switch doc.Session.ExitCode {
	case ExitTerminated, ExitInterrupted, ExitTimeout, ExitInternal:
		return false
	}
	return doc.Session.Reason == ""
}

// present takes absent cases out of the aggregates of a subject, and counts them.
// It is nil if an aggregate has nothing left to be about.
func (eval *evaluator) present(e *assertion.Expr, gone map[string]bool) *assertion.Expr {
	if e == nil || len(e.Args) == 0 {
		return e
	}
	out := *e
	out.Args = nil
	for _, arg := range e.Args {
		if e.Op.Aggregates() {
			if key := eval.absentOf(arg); key != "" {
				gone[key] = true
				continue
			}
		}
		kept := eval.present(arg, gone)
		if kept == nil {
			return nil
		}
		out.Args = append(out.Args, kept)
	}
	if len(out.Args) == 0 {
		return nil
	}
	return &out
}

// absentOf is the key of an absent case that an expression mentions, "" if there is none.
func (eval *evaluator) absentOf(e *assertion.Expr) string {
	for _, leaf := range e.Leaves() {
		if leaf.Baseline && eval.lacking(leaf.Case) {
			return lackingPrefix + leaf.Case
		}
		if c := eval.cases[leaf.Case]; leaf.Case != "" && !leaf.Baseline && c != nil && eval.absent(c) {
			return c.Key
		}
	}
	return ""
}

// lackingPrefix tells a case that the baseline lacks from one that did not run.
const lackingPrefix = "baseline of "

// lacking says whether the baseline may lack a case and does.
func (eval *evaluator) lacking(key string) bool {
	b := eval.doc.Baseline
	return b != nil && b.Missing == results.SkipMissing && b.Absent == "" &&
		!slices.ContainsFunc(b.Cases, func(c results.BaselineCase) bool { return c.Key == key })
}

// absence says how many cases a statement is not about, and why.
func absence(gone map[string]bool) (s string) {
	absent, lacking := 0, 0
	for key := range gone {
		if strings.HasPrefix(key, lackingPrefix) {
			lacking++
		} else {
			absent++
		}
	}
	s = notRun(absent)
	switch {
	case lacking == 1:
		s += "; the baseline lacks 1 case, which does not count"
	case lacking > 1:
		s += fmt.Sprintf("; the baseline lacks %d cases, which do not count", lacking)
	}
	return s
}

// notRun says how many cases did not run.
func notRun(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 case did not run and does not count"
	}
	return fmt.Sprintf("; %d cases did not run and do not count", n)
}

const noneRan = "none of its cases ran"
