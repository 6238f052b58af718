package history

import (
	"fmt"
	"strings"
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
	return fmt.Sprintf("case %q is of several scenarios: %s; name one with --scenario", e.Case,
		strings.Join(e.Scenarios, ", "))
}
