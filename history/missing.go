package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/results"
)

// MissingError is that no session has a value of the metric, with what there is.
type MissingError struct {
	Case, Metric   string
	CaseKnown      bool
	Cases, Metrics []string // of the sessions without it, and of the case
}

// Error implements error.
func (e *MissingError) Error() string {
	if e.CaseKnown {
		return fmt.Sprintf("no session has metric %q of case %q", e.Metric, e.Case)
	}
	return fmt.Sprintf("no session has case %q", e.Case)
}

// Wanted is the name that nothing has, and those that could have been meant.
func (e *MissingError) Wanted() (name string, there []string) {
	if e.CaseKnown {
		return e.Metric, e.Metrics
	}
	return e.Case, e.Cases
}

// AmbiguousError is that several scenarios have the case.
type AmbiguousError struct {
	Case      string
	Scenarios []string
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("case %q is of several scenarios: %s; name one with --scenario", e.Case, strings.Join(e.Scenarios, ", "))
}

// seenNames gathers what could have been asked for.
type seenNames struct{ c, m map[string]bool }

func (s *seenNames) cases(doc *results.Document) {
	if s.c == nil {
		s.c = map[string]bool{}
	}
	for _, c := range doc.Cases {
		s.c[c.Key] = true
	}
}

func (s *seenNames) metrics(c *results.Case) {
	if s.m == nil {
		s.m = map[string]bool{}
	}
	for m := range c.Metrics {
		s.m[m] = true
	}
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
