// Package gate turns what launches measured into estimates and verdicts.
//
// Its stance: a verdict is a statement about launches, never about iterations;
// the band is the contract and noise never widens it, noise buys more launches
// or the answer "inconclusive"; what was not measured, not finite, not verified
// or not possible is an error and can never pass; nothing is dropped. Every
// function is pure: the same document gives the same verdicts on every machine,
// in whatever order its launches are stored.
package gate

import (
	"slices"

	"weir/assertion"
	"weir/results"
)

// Judge fills in everything that follows from the launches of a document: the
// metric estimates and the validity of each case, all verdicts, the summary, and
// the session's status and exit code. Judging again changes nothing.
func Judge(doc *results.Document) {
	byKey := index(doc)
	for _, c := range doc.Cases {
		c.Metrics = estimates(c)
		c.Invalid = ""
		if measured(c) {
			c.Invalid = invalid(c)
		}
		for _, a := range c.Assertions {
			settle(a, judge(byKey, c, a))
		}
	}
	for _, a := range doc.Assertions {
		settle(a, judge(byKey, nil, a))
	}
	doc.Summarize()
	doc.Session.ExitCode = ExitCode(doc)
	doc.Session.Status = status(doc.Session.ExitCode)
}

// Undecided lists, in document order, the keys of the cases that need more
// launches: those of gate and warn assertions that are not decided and have a
// look left. Assertions of severity info never ask for launches.
func Undecided(doc *results.Document) []string {
	byKey := index(doc)
	need := map[string]bool{}
	mark := func(a *results.AssertionVerdict, keys ...string) {
		if a.Severity == assertion.Info {
			return
		}
		for _, k := range keys {
			need[k] = true
		}
	}
	for _, c := range doc.Cases {
		for _, a := range c.Assertions {
			if judge(byKey, c, a).undecided {
				mark(a, c.Key)
			}
		}
	}
	for _, a := range doc.Assertions {
		if judge(byKey, nil, a).undecided {
			mark(a, runnable(byKey, a.Cases)...)
		}
	}
	var keys []string
	for _, c := range doc.Cases {
		if need[c.Key] {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// NextLook is the number of launches after which the gate looks next, 0 if
// there is no look left.
func NextLook(looks []int, have int) int {
	next := 0
	for _, l := range looks {
		if l > have && (next == 0 || l < next) {
			next = l
		}
	}
	return next
}

// outcome is what the rules say of an assertion before its severity counts.
type outcome struct {
	verdict   results.Verdict
	undecided bool // further launches may decide it
	observed  *results.Observed
	message   string
}

func failed(reason string) outcome {
	return outcome{verdict: results.ErrorVerdict, message: reason}
}

func judge(byKey map[string]*results.Case, c *results.Case, a *results.AssertionVerdict) outcome {
	switch err := a.Check(); {
	case err != nil:
		return failed(err.Error())
	case a.Trend != nil:
		return judgeTrend(byKey, a)
	case c == nil:
		return failed("an assertion over several cases must be a trend")
	}
	return judgeBand(c, a)
}

// settle writes an outcome into the document. A warn assertion warns, whether it
// does not hold or could not be shown to hold; its message says which. An info
// assertion keeps the verdict that the rules give and counts for nothing
// (results.AssertionVerdict.Standing).
func settle(a *results.AssertionVerdict, o outcome) {
	a.Verdict, a.Observed, a.Message = o.verdict, o.observed, o.message
	if a.Severity != assertion.Warn {
		return
	}
	switch o.verdict {
	case results.Fail:
		a.Verdict = results.WarnVerdict
	case results.InconclusiveVerdict:
		a.Verdict = results.WarnVerdict
		a.Message = "inconclusive: " + o.message
	}
}

func index(doc *results.Document) map[string]*results.Case {
	m := make(map[string]*results.Case, len(doc.Cases))
	for _, c := range doc.Cases {
		m[c.Key] = c
	}
	return m
}

// runnable are the keys whose cases can still be launched.
func runnable(byKey map[string]*results.Case, keys []string) []string {
	var out []string
	for _, k := range keys {
		if c := byKey[k]; c != nil && measured(c) {
			out = append(out, k)
		}
	}
	return out
}

// atLook says whether n launches are a point at which the gate may decide. The
// confidence is paid for by the planned looks; deciding also between them would
// be more looks. An assertion without looks is judged on what there is.
func atLook(looks []int, n int) bool {
	return len(looks) == 0 || slices.Contains(looks, n) || n > slices.Max(looks)
}
