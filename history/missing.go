package history

import (
	"fmt"
	"strings"
)

// MissingError says that no session has a value of the metric, and lists what exists.
type MissingError struct {
	Case, Metric   string
	CaseKnown      bool
	Cases, Metrics []string // of the sessions without the case, and of the case
}

// Error implements error.
func (e *MissingError) Error() string {
	switch {
	case e.CaseKnown && e.Metric == "":
		return "a metric is missing after case " + e.Case
	case e.Case == "":
		return "a case and its metric are missing"
	case e.CaseKnown:
		return fmt.Sprintf("no session has metric %q of case %q", e.Metric, e.Case)
	}
	return fmt.Sprintf("no session has case %q", e.Case)
}

// Wanted returns the missing name, and the existing ones.
func (e *MissingError) Wanted() (name string, there []string) {
	if e.CaseKnown {
		return e.Metric, e.Metrics
	}
	return e.Case, e.Cases
}

// AmbiguousError says that several scenarios have the case.
type AmbiguousError struct {
	Case      string
	Scenarios []string
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("case %q is in several scenarios: %s; choose one with --scenario", e.Case,
		strings.Join(e.Scenarios, ", "))
}
