package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"weir/planner"
	"weir/results"
)

// unrun is the reason of a case that was to run and does not, because something
// failed. The gate tells such a case from one that a condition left out.
func unrun(why string) string { return notRun + ": " + why }

// Unloaded is the reason of cases whose background load does not run: what failed
// of it, before what was left out.
func (l *Ledger) Unloaded(load *Group) string {
	c := l.Case(load.Cases[0])
	for _, key := range load.Cases {
		if other := l.Case(key); failedOrUnrun(other) {
			c = other
			break
		}
	}
	return becauseOf(c, fmt.Sprintf("its background load %s does not run: %s", load.ID, cause(c)))
}

// becauseOf is a reason that lies in another case. Only one that was left out on
// purpose leaves others out on purpose.
func becauseOf(c *results.Case, why string) string {
	if failedOrUnrun(c) {
		return unrun(why)
	}
	return why
}

func failedOrUnrun(c *results.Case) bool { return c.Status == results.Error || c.Unreached() }

// cause is a case's reason without the words that say that it was not run.
func cause(c *results.Case) string { return strings.TrimPrefix(c.Reason, unrun("")) }

// unmet says why a case cannot run because of the cases that it needs, "" if it
// can. It names the case where the trouble began, not the chain that led here, and
// one that failed before one that was left out.
func (l *Ledger) unmet(c *planner.Case) string {
	first, others := "", 0
	for _, key := range c.Needs {
		why := ""
		switch c.NeedsOn[key] {
		case "always":
		case "failed":
			why = l.notFailed(key)
		default:
			why = l.unsuccessful(key)
		}
		if why == "" {
			continue
		}
		switch {
		case first == "":
			first = why
			continue
		case strings.HasPrefix(why, unrun("")) && !strings.HasPrefix(first, unrun("")):
			first = why
		}
		others++
	}
	if first == "" {
		return ""
	}
	if others > 0 {
		return fmt.Sprintf("%s (and %d more)", first, others)
	}
	return first
}

// unsuccessful words why a needed case is no success, "" if it is one. Excluded
// cases are not part of what runs and keep nobody from running.
func (l *Ledger) unsuccessful(key string) string {
	c := l.Case(key)
	switch {
	case c == nil:
		return unrun(fmt.Sprintf("needs %s, which is not in the plan", key))
	case c.Status == results.Excluded:
		return ""
	case c.Status == results.Error:
		return unrun(fmt.Sprintf("needs %s, which failed: %s", key, c.Reason))
	case c.Status == results.Skipped:
		if p := l.planned(key); p != nil {
			if why := l.unmet(p); why != "" {
				return why // the root of the chain
			}
		}
		return becauseOf(c, fmt.Sprintf("needs %s, which was skipped: %s", key, cause(c)))
	}
	if c.Excused() { // an error, or a miss, all the same
		return unrun(fmt.Sprintf("needs %s, which failed: %s", key, c.MayFail.Message))
	}
	if why := cmp.Or(c.Invalid, c.Unmeasured()); why != "" {
		return unrun(fmt.Sprintf("needs %s, which measured nothing that can be used: %s", key, why))
	}
	for _, a := range l.Doc.AllAssertions() {
		if failedGate(a) && (slices.Contains(c.Assertions, a) || slices.Contains(a.Cases, key)) {
			return unrun(fmt.Sprintf("needs %s, where %q does not hold", key, a.Name))
		}
	}
	return ""
}

// notFailed words why a needed case did not fail, "" if it did: it is an error,
// or a gate that it is part of does not hold.
func (l *Ledger) notFailed(key string) string {
	c := l.Case(key)
	switch {
	case c == nil:
		return unrun(fmt.Sprintf("needs %s to fail, which is not in the plan", key))
	case c.Status == results.Skipped || c.Status == results.Excluded:
		return becauseOf(c, fmt.Sprintf("needs %s to fail, which did not run: %s", key, cause(c)))
	case c.Unmeasured() != "":
		return unrun(fmt.Sprintf("needs %s to fail, which nobody knows: %s", key, c.Unmeasured()))
	case l.unsuccessful(key) == "":
		return fmt.Sprintf("needs %s to fail, and it did not", key)
	}
	return ""
}

// failedGate says whether an assertion that decides the exit code does not hold.
func failedGate(a *results.AssertionVerdict) bool {
	switch results.Verdict(a.Standing()) {
	case results.Fail, results.XPass, results.ErrorVerdict:
		return true
	}
	return false
}
