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
		why := s.unsuccessful(key)
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
	c := s.doc.Case(key)
	switch {
	case c == nil:
		return fmt.Sprintf("needs %s, which is not in the plan", key)
	case c.Status == results.Excluded:
		return ""
	case c.Status == results.Error:
		return fmt.Sprintf("needs %s, which failed: %s", key, c.Reason)
	case c.Status == results.Skipped:
		if p := s.plan.Case(key); p != nil {
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

// failedGate says whether an assertion that decides the exit code does not hold.
func failedGate(a *results.AssertionVerdict) bool {
	switch results.Verdict(a.Standing()) {
	case results.Fail, results.XPass, results.ErrorVerdict:
		return true
	}
	return false
}
