package dsl

import (
	"fmt"
	"regexp"

	"weir/assertion"
	"weir/dsl/grammar"
)

// mayFail reads which errors of a run are known, and why.
func (l *loader) mayFail(p part) *assertion.MayFail {
	x := l.expectation(p, grammar.MayFail, "may_fail", "Errors of this run were")
	if x == nil {
		return nil
	}
	m := &assertion.MayFail{XFail: *x}
	if e := argument(p.BodyContent, "match"); e != nil {
		text, ok := l.text(e, "match")
		if _, err := regexp.Compile(text); err != nil {
			l.error(e.Range(), "Invalid value", fmt.Sprintf("This is no regular expression: %v.", err),
				"The syntax is that of Go (RE2), as in libnixl|ETCD URI.")
		} else if ok && text == "" {
			l.error(e.Range(), "Invalid value", "The expression is empty and matches every error.",
				"Write words of the error, or leave match out.")
		}
		m.Match = text
	}
	if e := argument(p.BodyContent, "strict"); e != nil {
		m.Strict = l.flag(e, "strict")
	}
	return m
}
