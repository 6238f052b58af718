package gate

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// absent reports whether a case was left out on purpose: excluded by its author, or skipped by a
// condition, a selection or a missing fabric. Assertions over several cases then cover the others, and say
// so. Cases that the session did not reach, or skipped after a failure, are not absent: leaving them out
// would bias the verdict.
func (eval *evaluator) absent(c *results.Case) bool {
	switch c.Status {
	case results.Excluded:
		return true
	case results.Skipped:
		return !c.NotReached() && eval.full
	}
	return false
}

// ranToEnd reports whether the session was completed.
func ranToEnd(doc *results.Document) bool {
	switch doc.Session.ExitCode {
	case ExitTerminated, ExitInterrupted, ExitTimeout, ExitInternal:
		return false
	}
	return doc.Session.Reason == ""
}

// withoutAbsent removes absent cases from the aggregates of a subject and records them in gone. It returns
// nil if an aggregate has no operand left.
func (eval *evaluator) withoutAbsent(e *assertion.Expr, gone map[string]bool) *assertion.Expr {
	return pruned(e, eval.absentOperands(e, gone))
}

// pruned removes operands from an expression. It returns nil if an aggregate has none left.
func pruned(e *assertion.Expr, drop map[*assertion.Expr]bool) *assertion.Expr {
	if e == nil || len(e.Args) == 0 || len(drop) == 0 {
		return e
	}
	out := *e
	out.Args = nil
	for _, arg := range e.Args {
		if drop[arg] {
			continue
		}
		kept := pruned(arg, drop)
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

// absentOf returns the key of an absent case that an expression mentions, or "".
func (eval *evaluator) absentOf(e *assertion.Expr) string {
	for _, leaf := range e.Leaves() {
		if leaf.Baseline && eval.missingInBaseline(leaf.Case) {
			return lackingPrefix + leaf.Case
		}
		if c := eval.cases[leaf.Case]; leaf.Case != "" && !leaf.Baseline && c != nil && eval.absent(c) {
			return c.Key
		}
	}
	return ""
}

// lackingPrefix marks keys of cases that the baseline lacks, as opposed to cases that did not run.
const lackingPrefix = "baseline of "

// missingInBaseline reports whether the baseline lacks a case that it is allowed to lack.
func (eval *evaluator) missingInBaseline(key string) bool {
	b := eval.doc.Baseline
	return b != nil && b.Missing == results.SkipMissing && b.Absent == "" &&
		!slices.ContainsFunc(b.Cases, func(c results.BaselineCase) bool { return c.Key == key })
}

// absentReasons returns how many cases an assertion does not cover, and why.
func absentReasons(gone map[string]bool) []results.Reason {
	absent, lacking := 0, 0
	for key := range gone {
		if strings.HasPrefix(key, lackingPrefix) {
			lacking++
		} else {
			absent++
		}
	}
	return []results.Reason{notRun(results.CasesNotRun, absent), notRun(results.CasesNotStored, lacking)}
}

// notRun returns the reason for n cases that do not count, or none if n is 0.
func notRun(kind results.ReasonKind, n int) results.Reason {
	if n == 0 {
		return results.Reason{}
	}
	return results.Because(kind, results.Count("cases", n, "case"))
}
