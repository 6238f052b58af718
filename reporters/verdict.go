package reporters

import (
	"fmt"
	"slices"
	"strings"

	"weir/results"
	"weir/workload"
)

// Standings of a case or an assertion, worst first.
var standings = []string{
	"error", "fail", "xpass", "inconclusive", "warn", "info", "xfail", "pass", "skipped", "excluded", "-",
}

// symbols stand before the word, so that a verdict can be found at a glance
// without colour.
var symbols = map[string]string{
	"pass": "✓", "passed": "✓", "xfail": "✓", "fail": "✗", "failed": "✗", "xpass": "✗", "error": "!", "aborted": "!",
	"inconclusive": "?", "warn": "~", "info": "i",
}

// labelled is a standing with its symbol.
func labelled(standing string) string {
	return sentence(" ", symbols[standing], standing)
}

// Marks explains the marks of reports.
const Marks = `
Marks: ✓ pass or xfail, ✓1 pass by one launch, whose noise nobody knows, ✗ fail or xpass, ! error,
? inconclusive, ~ warn, i info.
In a column with (of) stands behind a tail quantile of how many values of a launch it is, in the launch
that has fewest: 5.74 (188).
`

// onePass stands before a pass that one launch decided, of whose noise nothing is known.
const onePass = "✓1"

// ofOneLaunch says whether an assertion passed by a single launch.
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
func caseLabel(c *results.Case) string { return sentence(" ", caseSign(c), standing(c)) + voidMark(c) }

// label is the standing of a finding with its symbol.
func (f finding) label() string { return sentence(" ", sign(f.assertion, f.standing), f.standing) }

// marks explains the marks that a document needs beside the words.
func marks(doc *results.Document) (out []string) {
	if slices.ContainsFunc(doc.AllAssertions(), ofOneLaunch) {
		out = append(out,
			onePass+" is a pass by one launch, whose noise nobody knows: two or more have an error that is bounded")
	}
	tables := workload.DefinitionsOf(doc)
	if slices.ContainsFunc(doc.Cases, func(c *results.Case) bool {
		columns := tables.Of(c.Workload, c.Run).Shown()
		return slices.ContainsFunc(columns, func(m results.MetricColumn) bool {
			return m.Percent && beyondCeiling(c, m.Metric)
		})
	}) {
		out = append(out, beyondMark+" is more than the path was found to carry, by more than noise explains: "+
			"the launches' own probe of it was disturbed, or missed the fastest way")
	}
	if slices.ContainsFunc(doc.Cases, func(c *results.Case) bool {
		return slices.ContainsFunc(tables.Of(c.Workload, c.Run).Shown(), func(m results.MetricColumn) bool {
			return tooShort(c, m.Metric)
		})
	}) {
		out = append(out, shortMark+" is a shorter time than the path was found to need for the bytes: "+
			"stamps of so short a request overlap with its copy; bandwidth is the fact")
	}
	return out
}

// beyondMark is behind a share of a ceiling that is beyond it.
const beyondMark = "↑"

// mostAlone is the share of a ceiling that is believed where one launch says nothing of noise.
const mostAlone = 1.1

// leastBeyond is the share of a ceiling above which it is said: a model without noise has no interval.
const leastBeyond = 1.005

// beyondCeiling says whether a share of a ceiling is above 1 by more than its noise.
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

// standing is the worst of a case's own state and its assertions'; "-" if
// nothing is asserted of it.
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
	return 0 // a verdict that is not known is not known to be harmless
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

// finding is one thing that a reader should know, with where it comes from.
type finding struct {
	standing string
	where    string // a case key, or what a trend runs over
	name     string // of the assertion
	message  string
	place    string // file:line
	log      []string

	since     []string                  // what its metrics were the last time
	alike     []*results.Case           // further cases of which it is true
	assertion *results.AssertionVerdict // nil: none
	of        *results.Case             // nil: of none, or of several
}

// logLines is how much of a failing rank's log a report repeats.
const logLines = 5

// findings are all assertions and errors of one standing, in document order. A
// case in error is one finding: its assertions are in error for the same reason.
func findings(doc *results.Document, want string) []finding {
	var out []finding
	changes := sinces(doc)
	if want == "error" {
		out = sessionErrors(doc)
	}
	causes := &causes{doc: doc, at: map[string]int{}}
	for _, c := range doc.Cases {
		broken := reason(c) != "" && standing(c) == "error" // the dearer question last
		if broken && want == "error" {
			out = causes.add(out, c)
		}
		if x := c.MayFail; x != nil && string(x.Verdict) == want {
			out = append(out, finding{
				standing: want, where: plain(c.Key), message: plain(x.Message), log: lastLog(c), of: c,
			})
		}
		if why := untold(c); why != "" && want == string(results.InconclusiveVerdict) {
			out = append(out, finding{standing: want, where: plain(c.Key), message: why, of: c})
		}
		for _, a := range c.Assertions {
			told := broken && a.Verdict == results.ErrorVerdict || c.Excused() && unjudged(a)
			if a.Standing() == want && !told {
				f := found(a, c.Key)
				f.of = c
				f.since = lastTime(changes, f)
				out = append(out, f)
			}
		}
	}
	causes.name(out)
	for _, a := range doc.Assertions {
		if a.Standing() == want && !(want == "error" && toldByCases(doc, a)) {
			f := found(a, over(doc, a))
			f.since = lastTime(changes, f)
			out = append(out, f)
		}
	}
	return out
}

// unjudged says whether an assertion could not be judged because of an error of a case that
// is expected.
func unjudged(a *results.AssertionVerdict) bool {
	return a.Verdict == results.XFail &&
		(a.XFail == nil || a.Observed == nil && a.Transport == nil && a.Provider == nil)
}

// ofWhat counts findings as what they are of.
func ofWhat(fs []finding) string {
	cases, assertions := 0, 0
	for _, f := range fs {
		if f.assertion == nil {
			cases += 1 + len(f.alike)
		} else {
			assertions++
		}
	}
	if cases == 0 {
		return plural(assertions, "assertion")
	}
	if assertions == 0 {
		return plural(cases, "case")
	}
	return plural(cases, "case") + " and " + plural(assertions, "assertion")
}

// sessionErrors are those that belong to no case: what counts in the exit code.
func sessionErrors(doc *results.Document) []finding {
	var out []finding
	why := doc.Session.Reason
	if why == "" && doc.Session.Status == results.Aborted {
		why = "aborted"
	}
	if why != "" && why != failedChecks(doc) { // each check tells its own part
		out = append(out, finding{standing: "error", where: "session", message: plain(why)})
	}
	for _, c := range doc.Checks {
		if c.Counts() {
			out = append(out, finding{
				standing: "error", where: plain("check " + c.Name + " on " + c.Node),
				message: plain(sentence(": ", "failed", c.Why())),
			})
		}
	}
	for _, a := range doc.Artifacts {
		if a.Counts() {
			out = append(out, finding{
				standing: "error", where: plain("artifact " + a.Name + " of " + a.Node),
				message: plain(sentence(": ", "required, and "+a.Status, a.Reason)),
			})
		}
	}
	for _, c := range doc.Commands {
		if doc.CommandCounts(c) {
			out = append(out, finding{
				standing: "error", where: plain(commandName(c)), message: plain(sentence(": ", "failed", c.Reason)),
				log: lastLines(c.Log),
			})
		}
	}
	if len(out) == 0 && !doc.Ran() {
		out = append(out, finding{standing: "error", where: "session", message: "nothing was run"})
	}
	return out
}

// commandName says which command it was, of what and where.
func commandName(c results.Command) string {
	return sentence(" ", c.Stage, c.Name, "of the "+c.Scope, c.Of) + " on " + c.Node
}

func found(a *results.AssertionVerdict, where string) finding {
	f := finding{
		standing: a.Standing(), where: plain(where), name: plain(title(a)), message: plain(a.Message), assertion: a,
	}
	if a.File != "" {
		f.place = plain(a.File)
		if a.Line > 0 {
			f.place = fmt.Sprintf("%s:%d", f.place, a.Line)
		}
	}
	return f
}

// title is the assertion's name, or its text if it has none.
func title(a *results.AssertionVerdict) string {
	if a.Name != "" {
		return a.Name
	}
	return a.Text
}

// over names the cases of an assertion over several: those of a trend by the key
// that they share, others by their runs.
func over(doc *results.Document, a *results.AssertionVerdict) string {
	if len(a.Cases) == 0 {
		return "all cases"
	}
	if a.Trend == nil {
		return plural(len(a.Cases), "case") + " of " + strings.Join(runsOf(doc, a.Cases), ", ")
	}
	key := a.Cases[0]
	if c := doc.Case(key); c != nil {
		if v, ok := c.Axes[a.Trend.Axis]; ok {
			return strings.Replace(key, a.Trend.Axis+"="+valueText(v), a.Trend.Axis+"=*", 1)
		}
	}
	return key
}

// lastLog is the end of the log of the rank that failed first and for good.
func lastLog(c *results.Case) []string {
	for _, l := range c.Launches {
		if f := l.Failure; f != nil && !l.Retried {
			if _, lines := parted(f.Cause); lines != nil {
				return nil // which has them
			}
			return lastLines(slices.DeleteFunc(slices.Clone(f.Log), func(line string) bool {
				text, own := strings.CutPrefix(line, "weir rank: ")
				return own && text != "" && strings.Contains(f.Cause, text)
			}))
		}
	}
	return nil
}

// evidenceOf are the lines that a case in error shows: those of its reason, else of its log.
func evidenceOf(c *results.Case) []string {
	if _, lines := parted(reason(c)); lines != nil {
		return lines
	}
	return lastLog(c)
}

func lastLines(log []string) []string {
	var out []string
	for _, line := range log[max(len(log)-logLines, 0):] {
		out = append(out, plain(line))
	}
	return out
}

// leftOut are the cases that were not run, grouped by why, in document order.
func leftOut(doc *results.Document) []string {
	var order []string
	count := map[string]int{}
	for _, c := range doc.Cases {
		if c.Status != results.Skipped && c.Status != results.Excluded {
			continue
		}
		reason := c.Reason
		if doc.Session.Reason != "" && reason == results.NotRun+": "+doc.Session.Reason {
			reason = results.NotRun // why stands with the session
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

// caseCounts are what a summary counts cases by, in the order in which reports tell it.
var caseCounts = []string{
	results.OK, string(results.XPass), results.Error, string(results.InconclusiveVerdict), string(results.XFail),
	results.Skipped, results.Excluded,
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
	if len(counts) > 0 {
		assertions = "assertions: " + strings.Join(counts, ", ")
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
	return sentence("; ", assertions, cases, takenOver(doc), fmt.Sprintf("exit code %d", doc.Session.ExitCode))
}
