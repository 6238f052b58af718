package results

import (
	"fmt"
	"math"
)

// Shift is the common change of a metric's cases between two sessions. One pair of sessions cannot tell
// whether it is a real change or the session.
type Shift struct {
	Metric string     `json:"metric"`
	Better string     `json:"better"`
	Value  float64    `json:"value" doc:"New as a ratio to the base."`
	CI     [2]float64 `json:"ci"`
	Cases  int        `json:"cases" doc:"Cases that moved by it."`
	Of     int        `json:"of" doc:"All cases of the metric, with those that were found to have moved otherwise."`
}

// String says what changed together, and what that may mean.
func (s Shift) String() string {
	value, low, high := Percent.signedEstimate(s.Value-1, &[2]float64{s.CI[0] - 1, s.CI[1] - 1})
	cases := fmt.Sprintf("all %d cases", s.Of)
	if s.Cases < s.Of {
		cases = fmt.Sprintf("%d of %d cases", s.Cases, s.Of)
	}
	what := "a real change or the session; one pair of sessions cannot tell"
	if math.Abs(math.Log(s.Value)) > FarthestSessions() {
		what = "more than sessions differ by that vary by " + PercentText(AssumedSessions)
	}
	return fmt.Sprintf("%s: %s moved together by %s (%s CI %s to %s): %s",
		s.Metric, cases, value, PercentText(Confidence), low, high, what)
}
