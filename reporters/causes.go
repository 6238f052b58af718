package reporters

import (
	"fmt"
	"strings"

	"weir/results"
)

// causes tells each cause of cases that ended with an error once, with how many it ended.
type causes struct {
	doc *results.Document
	at  map[string]int // the finding that has told a cause
}

// ended is how the reason of such a case begins.
const ended = "the case ended with an error: "

// add adds a case that ended with an error to the findings of errors. A case with a log of its
// own has something of its own to tell.
func (cs *causes) add(out []finding, c *results.Case) []finding {
	cause, lines := parted(reason(c))
	log := lastLog(c)
	if len(log) > 0 && lines == nil {
		return append(out, finding{standing: "error", where: plain(c.Key), message: cause, log: log, of: c})
	}
	key := cause + "\n" + strings.Join(lines, "\n")
	if i, told := cs.at[key]; told {
		out[i].alike = append(out[i].alike, c)
		return out
	}
	if reason(c) == ended+cs.doc.Session.Reason && len(out) > 0 && out[0].where == "session" {
		cs.at[key] = 0 // as the session itself
		out[0].alike = append(out[0].alike, c)
		return out
	}
	cs.at[key] = len(out)
	return append(out, finding{standing: "error", where: plain(c.Key), message: cause, log: lines, of: c})
}

// failedChecks is what a session says that ended because of its checks, "" where none failed.
func failedChecks(doc *results.Document) string {
	var all []string
	for _, c := range doc.Checks {
		if c.Counts() {
			all = append(all, c.Failed())
		}
	}
	return strings.Join(all, "; ")
}

// toldByCases says whether an assertion is an error because all its cases are, each of which is told.
func toldByCases(doc *results.Document, a *results.AssertionVerdict) bool {
	for _, key := range a.Cases {
		if c := doc.Case(key); c == nil || standing(c) != "error" || reason(c) == "" {
			return false
		}
	}
	return len(a.Cases) > 0
}

// lacking says whether a case could not be launched because something is not there, which running it again
// does not bring.
func lacking(c *results.Case) bool {
	return c.Status == results.Error && len(c.Launches) == 0 && strings.HasPrefix(c.Reason, "missing: ")
}

// name says of how many cases a finding is.
func (cs *causes) name(out []finding) {
	for i, f := range out {
		switch n := len(f.alike); {
		case n == 0:
		case f.of == nil:
			out[i].message += "; it ended " + plural(n, "case")
		default:
			out[i].where = fmt.Sprintf("%s and %d more", f.where, n)
		}
	}
}
