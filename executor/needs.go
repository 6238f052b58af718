package executor

import (
	"fmt"
	"slices"

	"weir/planner"
	"weir/results"
)

// unmet says why a case cannot run because of the cases that it needs, "" if it
// can. It names the case where the trouble began, not the chain that led here.
func (s *session) unmet(c *planner.Case) string {
	first, others := "", 0
	for _, key := range c.Needs {
		why := ""
		switch c.NeedsOn[key] {
		case "always":
		case "failed":
			why = s.notFailed(key)
		default:
			why = s.unsuccessful(key)
		}
		if why == "" {
			continue
		}
		if first == "" {
			first = why
		} else {
			others++
		}
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
func (s *session) unsuccessful(key string) string {
	c := s.caseOf(key)
	switch {
	case c == nil:
		return fmt.Sprintf("needs %s, which is not in the plan", key)
	case c.Status == results.Excluded:
		return ""
	case c.Status == results.Error:
		return fmt.Sprintf("needs %s, which failed: %s", key, c.Reason)
	case c.Status == results.Skipped:
		if p := s.plannedCase(key); p != nil {
			if why := s.unmet(p); why != "" {
				return why // the root of the chain
			}
		}
		return fmt.Sprintf("needs %s, which was skipped: %s", key, c.Reason)
	}
	for _, a := range s.doc.AllAssertions() {
		if failedGate(a) && (slices.Contains(c.Assertions, a) || slices.Contains(a.Cases, key)) {
			return fmt.Sprintf("needs %s, where %q does not hold", key, a.Name)
		}
	}
	return ""
}

// notFailed words why a needed case did not fail, "" if it did: it is an error,
// or a gate that it is part of does not hold.
func (s *session) notFailed(key string) string {
	c := s.caseOf(key)
	switch {
	case c == nil:
		return fmt.Sprintf("needs %s to fail, which is not in the plan", key)
	case c.Status == results.Skipped || c.Status == results.Excluded:
		return fmt.Sprintf("needs %s to fail, which did not run: %s", key, c.Reason)
	case s.unsuccessful(key) == "":
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
