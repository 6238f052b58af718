package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// finding is one reported fact with its origin.
type finding struct {
	standing string
	where    string // a case key, or the cases of a trend
	name     string // of the assertion
	message  string
	reasons  []results.Reason // of the message, if it is theirs
	place    string           // file:line
	log      []string

	launches  string   // the session's flag --launches
	busy      bool     // about discarded launches; repeating the command does not help
	beside    []string // notes on its metrics, and their values in the previous session
	likely    []likelyCause
	sameCases []*results.Case           // further cases with the same finding
	assertion *results.AssertionVerdict // nil: none
	of        *results.Case             // nil: none, or several
}

// logLines is how much of a failing rank's log is repeated.
const logLines = 5

// findings lists all assertions and errors of one standing, in document order. A case in error is one
// finding, which covers its assertions.
func findings(doc *results.Document, want string) []finding {
	var out []finding
	changes := sinces(doc)
	switch want {
	case "error":
		out = sessionErrors(doc)
	case string(results.WarnVerdict):
		out = warnedChecks(doc)
	}
	causes := &causes{doc: doc, at: map[string]int{}}
	for _, c := range doc.Cases {
		broken := reason(c) != "" && standing(c) == "error" // standing takes longer
		if broken && want == "error" {
			out = causes.add(out, c)
		}
		if x := c.MayFail; x != nil && string(x.Verdict) == want {
			out = append(out, finding{
				standing: want, where: plain(c.Key), message: plain(x.Message), log: lastLog(c), of: c,
			})
		}
		if why := discardedReason(c); why != "" && want == string(results.InconclusiveVerdict) {
			out = append(out, finding{standing: want, where: plain(c.Key), message: why, of: c})
		}
		for _, a := range c.Assertions {
			shown := broken && a.Verdict == results.ErrorVerdict || c.Excused() && unjudged(a)
			if a.Standing() == want && !shown {
				f := found(a, c.Key)
				f.of = c
				f.beside, f.likely = beside(doc, changes, f), likelyCauses(doc, f)
				out = append(out, f)
			}
		}
	}
	causes.name(out)
	nameCausesOnce(out)
	for _, a := range doc.Assertions {
		if a.Standing() == want && !(want == "error" && reportedByCases(doc, a)) {
			f := found(a, over(doc, a))
			f.beside = beside(doc, changes, f)
			out = append(out, f)
		}
	}
	for i, flag := 0, launchesFlag(doc); i < len(out); i++ {
		out[i].launches = flag
	}
	switch want {
	case "error":
		return joinCauses(out)
	case string(assertion.Info):
		return append(out, unneeded(doc)...)
	case string(results.InconclusiveVerdict), string(results.WarnVerdict):
		return joinCauses(joinSameAssertion(joinBusy(doc, out)))
	}
	return out
}

// unjudged reports whether an assertion could not be judged because of an expected error of a case.
func unjudged(a *results.AssertionVerdict) bool {
	return a.Verdict == results.XFail &&
		(a.XFail == nil || a.Observed == nil && a.Transport == nil && a.Provider == nil)
}

// ofWhat counts findings by what they concern.
func ofWhat(fs []finding) string {
	cases, assertions := 0, 0
	for _, f := range fs {
		if f.assertion == nil {
			cases += 1 + len(f.sameCases)
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

// warnedChecks lists failed checks of severity warn.
func warnedChecks(doc *results.Document) (out []finding) {
	for _, c := range doc.Checks {
		if c.Warns() {
			out = append(out, finding{
				standing: string(results.WarnVerdict), where: plain("check " + c.Label()),
				message: plain(sentence(": ", "failed", c.Why())),
			})
		}
	}
	return out
}

// sessionErrors lists errors of the session that count in the exit code.
func sessionErrors(doc *results.Document) []finding {
	var out []finding
	why := doc.Session.Reason
	if why == "" && doc.Session.Status == results.Aborted {
		why = "aborted"
	}
	if why != "" && why != failedChecks(doc) { // each check has its own finding
		cause, lines := splitLines(why)
		out = append(out, finding{standing: "error", where: "session", message: cause, log: lines})
	}
	for _, c := range doc.Checks {
		if c.FailsSession() {
			out = append(out, finding{
				standing: "error", where: plain("check " + c.Label()),
				message: plain(sentence(": ", "failed", c.Why())),
			})
		}
	}
	for _, a := range doc.Artifacts {
		if a.FailsSession() {
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

// commandName names a command with its run and node.
func commandName(c results.Command) string {
	return sentence(" ", c.Stage, c.Name, "of the "+c.Scope, c.Of) + " on " + c.Node
}

func found(a *results.AssertionVerdict, where string) finding {
	f := finding{
		standing: a.Standing(), where: plain(where), name: plain(title(a)), message: plain(a.Message),
		reasons: a.Reasons, assertion: a,
	}
	if a.File != "" {
		f.place = plain(a.File)
		if a.Line > 0 {
			f.place = fmt.Sprintf("%s:%d", f.place, a.Line)
		}
	}
	return f
}

// title is the assertion's name, or its text.
func title(a *results.AssertionVerdict) string {
	if a.Name != "" {
		return a.Name
	}
	return a.Text
}

// over names the cases of an assertion over several: of a trend by their common key, of others by their
// runs.
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
			return strings.Replace(key, a.Trend.Axis+"="+option.Text(v), a.Trend.Axis+"=*", 1)
		}
	}
	return key
}

// lastLog is the end of the log of the rank that failed first, without retries.
func lastLog(c *results.Case) []string {
	for _, l := range c.Launches {
		if f := l.Failure; f != nil && !l.Retried {
			if _, lines := splitLines(f.Cause); lines != nil {
				return nil // the reason includes them
			}
			return lastLines(slices.DeleteFunc(slices.Clone(f.Log), func(line string) bool {
				text, own := strings.CutPrefix(line, "weir rank: ")
				return own && text != "" && strings.Contains(f.Cause, text)
			}))
		}
	}
	return nil
}

// causeLines are the lines for a case in error: of its reason, else of its log.
func causeLines(c *results.Case) []string {
	if _, lines := splitLines(reason(c)); lines != nil {
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
