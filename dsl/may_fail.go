// Known errors of a run.

package dsl

import (
	"fmt"
	"regexp"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/results/assertion"
)

// mayFail reads which errors of a run are expected, and why.
func (l *loader) mayFail(p part) *assertion.MayFail {
	m, before := &assertion.MayFail{}, len(l.diags)
	l.fill(p, grammar.MayFail, m)
	if !l.complete(p, grammar.MayFail, "may_fail") {
		return nil
	}
	l.checkExpectation(p, &m.XFail, "may_fail", "Errors of this run were", len(l.diags) == before)
	if e := argument(p.BodyContent, "match"); e != nil {
		if _, err := regexp.Compile(m.Match); err != nil {
			l.error(e.Range(), "Invalid value", fmt.Sprintf("Invalid regular expression: %v.", err),
				"Use Go's syntax (RE2), as in libnixl|ETCD URI.")
		} else if m.Match == "" && len(l.diags) == before {
			l.error(e.Range(), "Invalid value", "The expression is empty: it would match every error.",
				"Write a part of the message, or leave match out.")
		}
	}
	return m
}
