package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// standings are those of a case or an assertion, worst first.
var standings = []string{
	"error", "fail", "xpass", "inconclusive", "warn", "info", "xfail", "pass", "skipped", "excluded", "-",
}

// symbols precede the words, so that verdicts are visible without colour.
var symbols = map[string]string{
	"pass": "✓", "passed": "✓", "xfail": "✓", "fail": "✗", "failed": "✗", "xpass": "✗", "error": "!", "aborted": "!",
	"inconclusive": "?", "warn": "~", "info": "i",
}

// labelled is a standing with its symbol.
func labelled(standing string) string {
	return sentence(" ", symbols[standing], standing)
}

// WorstOf is the worst of some verdicts; "" of none.
func WorstOf(verdicts []results.Verdict) results.Verdict {
	for _, s := range standings {
		if slices.Contains(verdicts, results.Verdict(s)) {
			return results.Verdict(s)
		}
	}
	return ""
}

// Label is a verdict with its symbol.
func Label(v results.Verdict) string { return labelled(string(v)) }

// Marks explains the marks of reports.
const Marks = `
Marks: ✓ pass or xfail, ✓1 pass by one launch with unknown noise, ✗ fail or xpass, ! error,
? inconclusive, ~ warn, i info.
A column with (of) shows, after a tail quantile, the number of values behind it in the launch with the
fewest: 5.74 (188).
`

// onePass marks a pass by one launch, with unknown noise.
const onePass = "✓1"

// ofOneLaunch reports whether an assertion passed by a single launch.
func ofOneLaunch(a *results.AssertionVerdict) bool {
	return a != nil && a.Verdict == results.Pass && a.Observed != nil && a.Observed.N == 1 && a.Observed.CI == nil
}

// sign is the symbol of an assertion's standing.
func sign(a *results.AssertionVerdict, standing string) string {
	if ofOneLaunch(a) && standing == string(results.Pass) {
		return onePass
	}
	return symbols[standing]
}

// caseSign is the symbol of a case's standing.
func caseSign(c *results.Case) string {
	s := standing(c)
	if s == string(results.Pass) && slices.ContainsFunc(c.Assertions, ofOneLaunch) {
		return onePass
	}
	return symbols[s]
}

// caseLabel is the standing of a case with its symbol.
func caseLabel(c *results.Case) string {
	return sentence(" ", caseSign(c), standing(c)) + discardedMark(c)
}

// label is the standing of a finding with its symbol.
func (f finding) label() string { return sentence(" ", sign(f.assertion, f.standing), f.standing) }

// marks explains the marks used in a document.
func marks(doc *results.Document) (out []string) {
	if slices.ContainsFunc(doc.AllAssertions(), ofOneLaunch) {
		out = append(out,
			onePass+" is a pass by one launch with unknown noise: give two or more launches for a bounded error rate")
	}
	tables := workload.DefinitionsOf(doc)
	if slices.ContainsFunc(doc.Cases, func(c *results.Case) bool {
		columns := tables.Of(c.Workload, c.Run).Shown()
		return slices.ContainsFunc(columns, func(m results.MetricColumn) bool {
			return m.Percent && beyondCeiling(c, m.Metric)
		})
	}) {
		out = append(out, beyondMark+" is above the probed ceiling by more than noise: "+
			"the probe was disturbed or missed the fastest copy method")
	}
	if slices.ContainsFunc(doc.Cases, func(c *results.Case) bool {
		return slices.ContainsFunc(tables.Of(c.Workload, c.Run).Shown(), func(m results.MetricColumn) bool {
			return tooShort(c, m.Metric)
		})
	}) {
		out = append(out, shortMark+" is shorter than the probed time of the path for these bytes: "+
			"timestamps of short requests overlap with the copy; rely on the bandwidth")
	}
	if slices.ContainsFunc(doc.Cases, (*results.Case).AllDiscarded) {
		use := "no verdict uses it"
		if slices.ContainsFunc(doc.AllAssertions(), usesDiscarded) {
			use = "verdicts use it only where they hold in spite of the disturbance"
		}
		out = append(out, "( ) around a value: the median of discarded launches, in a row without a usable one; "+use)
	}
	return out
}

// beyondMark follows a share of a ceiling above 1.
const beyondMark = "↑"

// mostAlone is the largest plausible share of a ceiling in a single launch with unknown noise.
const mostAlone = 1.1

// leastBeyond is the share of a ceiling above which it is marked: a model without noise has no interval.
const leastBeyond = 1.005

// beyondCeiling reports whether a share of a ceiling exceeds 1 by more than its noise.
func beyondCeiling(c *results.Case, metric string) bool {
	m, ok := c.Metrics.Get(metric)
	switch {
	case !ok:
		return false
	case m.CI == nil || results.Uninformative(m.CI):
		return m.Value > mostAlone
	}
	return m.CI[0] > leastBeyond
}

// standing is the worst of a case's own state and its assertions'; "-" without any.
func standing(c *results.Case) string {
	switch {
	case c.Excused():
		return string(results.XFail)
	case c.Status == results.Error, c.Invalid != "":
		return "error"
	case c.Status == results.Skipped, c.Status == results.Excluded:
		return c.Status
	}
	worst := "-"
	switch {
	case c.Unexpected():
		worst = string(results.XPass)
	case c.Unmeasured() != "":
		worst = string(results.InconclusiveVerdict)
	}
	for _, a := range c.Assertions {
		if s := a.Standing(); rank(s) < rank(worst) {
			worst = s
		}
	}
	return worst
}

func rank(standing string) int {
	for i, s := range standings {
		if s == standing {
			return i
		}
	}
	return 0 // an unknown verdict may be harmful
}

// reason is why a case is in error.
func reason(c *results.Case) string {
	why := c.Invalid
	if c.Status == results.Error {
		why = sentence(": ", "the case ended with an error", c.Reason)
	}
	if why != "" && c.MayFail != nil && c.MayFail.Verdict == "" {
		first, lines, _ := strings.Cut(why, "\n")
		return sentence("\n", sentence("; ", first, c.MayFail.Message), lines)
	}
	return why
}

// leftOut lists cases that were not run, grouped by reason, in document order.
func leftOut(doc *results.Document) []string {
	var order []string
	count := map[string]int{}
	for _, c := range doc.Cases {
		if c.Status != results.Skipped && c.Status != results.Excluded {
			continue
		}
		reason := c.Reason
		if doc.Session.Reason != "" && reason == results.NotRun+": "+doc.Session.Reason {
			reason = results.NotRun // the session has the cause
		}
		k := sentence(": ", c.Status, plain(reason))
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
	}
	for i, k := range order {
		order[i] = plural(count[k], "case") + " " + k
	}
	return order
}

// caseCounts are the counts of a summary in the order of reports.
var caseCounts = []string{
	results.OK, string(results.XPass), results.Error, string(results.InconclusiveVerdict), string(results.XFail),
	results.Skipped, results.Excluded,
}

// replaced counts inconclusive assertions to which a policy gives another verdict.
func replaced(doc *results.Document) (n int) {
	count := func(all []*results.AssertionVerdict) {
		for _, a := range all {
			if a.Open {
				n++
			}
		}
	}
	count(doc.Assertions)
	for _, c := range doc.Cases {
		count(c.Assertions)
	}
	return n
}

// outcome labels the session; "" if it passed because nothing was asserted.
func outcome(doc *results.Document) string {
	if doc.Session.Status == results.Passed && len(doc.AllAssertions()) == 0 {
		return ""
	}
	return plain(labelled(doc.Session.Status))
}

// headline is the session in one line.
func headline(doc *results.Document) string {
	var counts []string
	for _, s := range standings {
		if n := doc.Summary.Assertions[s]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	assertions := "no assertions"
	if outcome(doc) == "" {
		assertions += ": nothing was judged"
	}
	if len(counts) > 0 {
		assertions = "assertions: " + strings.Join(counts, ", ")
	}
	if n := replaced(doc); n > 0 {
		assertions += fmt.Sprintf(" (%d in place of inconclusive)", n)
	}
	counts = nil
	for _, s := range caseCounts {
		if n := doc.Summary.Cases[s]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	cases := "no cases"
	if len(counts) > 0 {
		cases = "cases: " + strings.Join(counts, ", ")
	}
	return sentence("; ", assertions, cases, resumedLaunches(doc), fmt.Sprintf("exit code %d", doc.Session.ExitCode))
}
