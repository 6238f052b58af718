package assertion

import (
	"fmt"
	"regexp"
)

// MayFail says that errors of a run, and assertions of it that do not hold, are known.
type MayFail struct {
	XFail
	// Match is an expression of errors that are known; "": all that come after the run's programs started.
	Match string `json:"match,omitempty" doc:"Regular expression of the errors that are excused. Absent: all after the run's programs started."`
	// Strict says that a case that works is told as an unexpected success.
	Strict bool `json:"strict,omitzero" doc:"A case that works is an unexpected success (xpass), and not a pass."`
}

// Check says whether the expression compiles.
func (m *MayFail) Check() error {
	if _, err := regexp.Compile(m.Match); err != nil {
		return fmt.Errorf("match of may_fail: %w", err)
	}
	return nil
}

// Names says whether the text of an error is one that is known. An expression that does not compile
// names none.
func (m *MayFail) Names(text string) bool {
	re, err := regexp.Compile(m.Match)
	return err == nil && re.MatchString(text)
}

// String is what a plan says of it.
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
