package gate

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/results/assertion"
)

// absentOperands returns the operands of a subject's aggregates that do not count: those of absent cases, and their
// counterparts in its other aggregates. geomean(x) <= 1.2 * geomean(baseline.x) is over the same cases on both sides.
func (eval *evaluator) absentOperands(e *assertion.Expr, gone map[string]bool) map[*assertion.Expr]bool {
	all := aggregatesIn(e)
	drop := map[*assertion.Expr]bool{}
	for _, a := range all {
		for _, arg := range a.Args {
			if key := eval.absentOf(arg); key != "" {
				gone[key], drop[arg] = true, true
			}
		}
	}
	if len(drop) == 0 || len(all) < 2 {
		return drop
	}
	var more []*assertion.Expr
	for i, a := range all {
		for j, b := range all {
			if i == j {
				continue
			}
			of := eval.counterparts(a, b)
			for _, arg := range a.Args {
				if drop[arg] && of[arg] != nil {
					more = append(more, of[arg])
				}
			}
		}
	}
	for _, arg := range more {
		drop[arg] = true
	}
	return drop
}

// aggregatesIn returns the outermost aggregates of an expression.
func aggregatesIn(e *assertion.Expr) (all []*assertion.Expr) {
	if e == nil {
		return nil
	}
	if e.Op.Aggregates() {
		return []*assertion.Expr{e}
	}
	for _, arg := range e.Args {
		all = append(all, aggregatesIn(arg)...)
	}
	return all
}

// counterparts pairs the operands of two aggregates: those of one case, else those of cases with the same values of all
// axes that both have. Operands without exactly one counterpart have none.
func (eval *evaluator) counterparts(a, b *assertion.Expr) map[*assertion.Expr]*assertion.Expr {
	for _, name := range []func(*assertion.Expr) string{operandCase, eval.axesShared(a, b)} {
		if out := matched(a, b, name); len(out) > 0 {
			return out
		}
	}
	return nil
}

// matched pairs operands of the same name, where it is the name of one operand on each side; "" is no name.
func matched(a, b *assertion.Expr, name func(*assertion.Expr) string) map[*assertion.Expr]*assertion.Expr {
	unique := func(args []*assertion.Expr) map[string]*assertion.Expr {
		out := map[string]*assertion.Expr{}
		for _, arg := range args {
			n := name(arg)
			if _, again := out[n]; again || n == "" {
				out[n] = nil
			} else {
				out[n] = arg
			}
		}
		return out
	}
	there := unique(b.Args)
	out := map[*assertion.Expr]*assertion.Expr{}
	for n, arg := range unique(a.Args) {
		if arg != nil && there[n] != nil {
			out[arg] = there[n]
		}
	}
	return out
}

// operandCase is the key of the first case that an expression mentions.
func operandCase(e *assertion.Expr) string {
	for _, leaf := range e.Leaves() {
		if leaf.Case != "" {
			return leaf.Case
		}
	}
	return ""
}

// axesShared names operands by the values of the axes that all cases of both aggregates have; "" if there are none.
func (eval *evaluator) axesShared(a, b *assertion.Expr) func(*assertion.Expr) string {
	count, total := map[string]int{}, 0
	axesOf := func(e *assertion.Expr) map[string]any {
		if c := eval.cases[operandCase(e)]; c != nil {
			return c.Axes
		}
		return nil
	}
	var order []string
	for _, of := range []*assertion.Expr{a, b} {
		for _, arg := range of.Args {
			total++
			for axis := range axesOf(arg) {
				if count[axis]++; count[axis] == 1 {
					order = append(order, axis)
				}
			}
		}
	}
	return func(e *assertion.Expr) string {
		var text strings.Builder
		for _, axis := range order {
			if count[axis] == total {
				fmt.Fprintf(&text, "%s=%v\n", axis, axesOf(e)[axis])
			}
		}
		return text.String()
	}
}
