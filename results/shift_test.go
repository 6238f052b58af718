package results

import (
	"strings"
	"testing"
)

// A common change that sessions do not explain is not said to be theirs.
func TestShiftsOfSessions(t *testing.T) {
	for value, says := range map[float64]string{
		0.95: "a real change or the session", 1.1: "a real change or the session",
		0.5: "more than sessions differ by that vary by 5%", 1.3: "more than sessions differ by that vary by 5%",
	} {
		s := Shift{Metric: "bandwidth", Value: value, CI: [2]float64{value * 0.99, value * 1.01}, Cases: 10, Of: 10}
		if got := s.String(); !strings.Contains(got, says) {
			t.Errorf("%v: %s", value, got)
		}
	}
}
