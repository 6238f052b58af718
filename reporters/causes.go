package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/results"
)

// causes merges cases that ended with the same error.
type causes struct {
	doc *results.Document
	at  map[string]int // index of the finding with a cause
}

// ended is the prefix of such a case's reason.
const ended = "the case ended with an error: "

// numbers are those by which log lines of one cause differ: times, process IDs, addresses, sizes.
var numbers = lazyregexp.New(`0x[0-9a-fA-F]+|[0-9]+`)

// origin is the launch and rank at the beginning of a reason.
var origin = lazyregexp.New(`launch [0-9]+: |rank [0-9]+ on `)

// commonCause returns what is equal in cases that ended by one cause: the text without its case, launch and rank, and
// log lines without numbers.
func commonCause(cause string, log []string) string {
	if i := strings.LastIndex(cause, " in case "); i >= 0 { // of the launch, which has others
		cause = cause[:i]
	}
	return origin().ReplaceAllString(cause, "") + "\n" + numbers().ReplaceAllString(strings.Join(log, "\n"), "#")
}

// add adds a case that ended with an error to the findings, or to that of its cause.
func (cs *causes) add(out []finding, c *results.Case) []finding {
	cause, log := splitLines(reason(c))
	own := false
	if log == nil {
		log = lastLog(c)
		own = len(log) > 0
	}
	key := commonCause(cause, log)
	if i, known := cs.at[key]; known {
		out[i].sameCases = append(out[i].sameCases, c)
		return out
	}
	if !own && reason(c) == ended+cs.doc.Session.Reason && len(out) > 0 && out[0].where == "session" {
		cs.at[key] = 0 // same as the session's cause
		out[0].sameCases = append(out[0].sameCases, c)
		return out
	}
	cs.at[key] = len(out)
	return append(out, finding{standing: "error", where: plain(c.Key), message: cause, log: log, of: c})
}

// failedChecks is the session's text about failed checks, "" if none failed.
func failedChecks(doc *results.Document) string {
	var all []string
	for _, c := range doc.Checks {
		if c.FailsSession() {
			all = append(all, c.Failed())
		}
	}
	return strings.Join(all, "; ")
}

// reportedByCases reports whether an assertion is an error because all its cases are, which have findings
// of their own.
func reportedByCases(doc *results.Document, a *results.AssertionVerdict) bool {
	for _, key := range a.Cases {
		if c := doc.Case(key); c == nil || standing(c) != "error" || reason(c) == "" {
			return false
		}
	}
	return len(a.Cases) > 0
}

// cannotLaunch reports whether a case could not be launched because something is missing, so that
// repeating it does not help.
func cannotLaunch(c *results.Case) bool {
	return c.Status == results.Error && len(c.Launches) == 0 && strings.HasPrefix(c.Reason, "missing: ")
}

// name sets how many cases a finding covers.
func (cs *causes) name(out []finding) {
	for i, f := range out {
		switch n := len(f.sameCases); {
		case n == 0:
		case f.of == nil:
			out[i].message += "; it ended " + plural(n, "case")
		default:
			out[i].where = fmt.Sprintf("%s and %d more", f.where, n)
		}
	}
}

// mostOfACause is how many cases with a common cause are named.
const mostOfACause = 4

// causeOf is the reason why an assertion was not decided or judged, if others may share it.
func causeOf(f finding) results.ReasonKind {
	a := f.assertion
	if a == nil || !open(a) && a.Verdict != results.ErrorVerdict {
		return ""
	}
	for _, r := range a.Reasons {
		if results.ReasonOf(r.Kind).Cause {
			return r.Kind
		}
	}
	return ""
}

// joinCauses merges assertions with the same kind of cause: cause and remedy once, the cases, and the
// message of the first.
func joinCauses(all []finding) (out []finding) {
	of := map[results.ReasonKind][]finding{}
	for _, f := range all {
		if kind := causeOf(f); kind != "" {
			of[kind] = append(of[kind], f)
		}
	}
	for _, f := range all {
		kind := causeOf(f)
		switch list := of[kind]; {
		case kind == "" || len(list) == 1:
			out = append(out, f)
		case list != nil:
			out = append(out, joinedFinding(list, results.ReasonOf(kind)))
			of[kind] = nil
		}
	}
	return slices.Clip(out)
}

// joinedFinding merges several findings with a common cause.
func joinedFinding(list []finding, cause results.ReasonMeaning) finding {
	f := list[0]
	var cases []*results.Case
	var places []string
	seen := map[*results.Case]bool{}
	assertions := 0
	for _, other := range list {
		assertions += 1 + len(other.sameCases)
		if other.of == nil {
			places = append(places, other.where)
			continue
		}
		for _, c := range append([]*results.Case{other.of}, other.sameCases...) {
			if !seen[c] {
				seen[c] = true
				cases = append(cases, c)
				places = append(places, plain(c.Key))
			}
		}
	}
	f.where = strings.Join(places[:min(len(places), mostOfACause)], ", ")
	if more := len(places) - mostOfACause; more > 0 {
		f.where += fmt.Sprintf(" and %d more", more)
	}
	of := "case"
	if len(cases) < len(places) { // some are of the session
		of = "place"
	}
	f.message = fmt.Sprintf("%s of %s: %s The first, %s: %s", plural(assertions, "assertion"),
		plural(len(places), of), lowerFirst(sentence(" ", cause.Meaning, cause.Remedy)), f.name, f.message)
	f.name, f.reasons = plural(assertions, "assertion"), nil
	if f.sameCases = nil; f.of != nil {
		f.sameCases = slices.DeleteFunc(cases, func(c *results.Case) bool { return c == f.of })
	}
	return f
}

// lowerFirst is a sentence within another one.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
