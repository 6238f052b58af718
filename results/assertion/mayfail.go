package assertion

import (
	"fmt"
	"regexp"
)

// MayFail marks known errors and failing assertions of a run.
type MayFail struct {
	XFail
	// Match is a regular expression of known errors; "": all after the run's programs started.
	Match string `json:"match,omitempty" doc:"Regular expression of the errors that are excused. Absent: all after the run's programs started."`
	// Strict reports a case that works as an unexpected success.
	Strict bool `json:"strict,omitzero" doc:"A case that works is an unexpected success (xpass), and not a pass."`
}

// Check returns an error if the expression does not compile.
func (m *MayFail) Check() error {
	if _, err := regexp.Compile(m.Match); err != nil {
		return fmt.Errorf("match of may_fail: %w", err)
	}
	return nil
}

// Names reports whether an error text is known. An invalid expression matches nothing.
func (m *MayFail) Names(text string) bool {
	re, err := regexp.Compile(m.Match)
	return err == nil && re.MatchString(text)
}

// String is the text for plans.
func (m *MayFail) String() string {
	text := "until " + m.Until + ": " + m.Reason
	if m.Match != "" {
		text += "; errors that match " + m.Match
	}
	if m.Strict {
		text += "; strict"
	}
	return text
}
