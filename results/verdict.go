package results

import "github.com/weir-bench/weir/results/assertion"

// Verdict is the verdict of an assertion.
type Verdict string

// The verdicts.
const (
	Pass                Verdict = "pass"
	Fail                Verdict = "fail"
	InconclusiveVerdict Verdict = "inconclusive"
	ErrorVerdict        Verdict = "error"
	SkippedVerdict      Verdict = "skipped"
	WarnVerdict         Verdict = "warn"
	XFail               Verdict = "xfail"
	XPass               Verdict = "xpass"
)

// AssertionVerdict is an assertion with the gate's verdict.
type AssertionVerdict struct {
	assertion.Assertion
	Looks    []int     `json:"looks" doc:"Launches after which the gate looks." schema:"minimum=1"`
	Verdict  Verdict   `json:"verdict" schema:"enum=pass|fail|inconclusive|error|skipped|warn|xfail|xpass"`
	Observed *Observed `json:"observed"`
	Message  string    `json:"message" doc:"What the reasons say."`
	Reasons  []Reason  `json:"reasons,omitempty" doc:"Why the verdict is so, the first what was measured; none in documents of older versions."`
	// Deciding is 0 for other verdicts, and if unknown. Change is what decides it if launches do not.
	Change string `json:"change,omitempty" doc:"What to change so that what is inconclusive can be decided, where no number of launches does; absent: launches may, or nobody knows."`
	// Open is false if the verdict itself is inconclusive.
	Open bool `json:"open,omitzero" doc:"The launches left it inconclusive, and the verdict stands in for that."`
	// OpenBefore is used by a policy with a streak only.
	OpenBefore int `json:"open_before,omitzero" doc:"How many sessions before this one, in a row, left it open." schema:"minimum=1"`
	Deciding   int `json:"deciding_launches,omitzero" doc:"How many launches would decide with a probability of 80 % what is inconclusive after the last look, at the noise that was seen." schema:"minimum=1"`
}

// Observed is the estimate behind a verdict, in the assertion's unit. For a trend it is the ratio of the
// step nearest to failing.
type Observed struct {
	Value float64     `json:"value"`
	Unit  string      `json:"unit"`
	CI    *[2]float64 `json:"ci"`
	N     int         `json:"n" schema:"minimum=1"`
	// Confidence of CI, if it is not the default.
	Confidence float64 `json:"confidence,omitzero" doc:"Of ci, where it is not 0.96." schema:"ref=confidence"`
	// Looks is the number of looks that share the error of Confidence; 0: one.
	Looks int `json:"looks,omitzero" doc:"How many looks share the error that the confidence leaves, where there are several: ci is then wider than that of one look." schema:"minimum=2"`
	// Noise says what of the noise was known beforehand, or "".
	Noise string `json:"noise,omitempty" doc:"What was known of the noise beforehand, and where from: ci is at least as wide as this noise makes it. Absent: nothing."`
}

// CaseNoise is the noise of a case that was known before the session.
type CaseNoise struct {
	Case string `json:"case" doc:"Key."`
	// Environment is the fingerprint of its origin; it does not apply to others.
	Environment string            `json:"environment,omitempty" doc:"Fingerprint of where it was found; in another one it says nothing."`
	Metrics     []assertion.Noise `json:"metrics"`
}

// Summary counts.
type Summary struct {
	Cases      map[string]int `json:"cases" doc:"By status; one whose error or miss is expected counts as xfail only, one that works although it is expected not to as xpass only, one without a launch that counts as inconclusive only, one whose measurement cannot be right as error only." schema:"keys=ok|error|skipped|excluded|xfail?|xpass?|inconclusive?"`
	Assertions map[string]int `json:"assertions" doc:"By verdict; an assertion of severity info that does not hold counts as info only." schema:"keys=pass|fail|inconclusive|error|skipped|warn|info|xfail?|xpass?"`
}

// Summarize recomputes the summary from cases and assertions. Failing assertions of severity info count as
// "info", so that "fail" counts only deciding ones.
func (d *Document) Summarize() {
	s := Summary{
		Cases: map[string]int{OK: 0, Error: 0, Skipped: 0, Excluded: 0},
		Assertions: map[string]int{
			"pass": 0, "fail": 0, "inconclusive": 0, "error": 0, "skipped": 0, "warn": 0, "info": 0, "xfail": 0,
			"xpass": 0,
		},
	}
	for _, c := range d.Cases {
		switch {
		case c.Excused(), c.Unexpected():
			s.Cases[string(c.MayFail.Verdict)]++
		case c.Status == OK && c.Invalid != "":
			s.Cases[Error]++
		case c.Unmeasured() != "":
			s.Cases[string(InconclusiveVerdict)]++
		default:
			s.Cases[c.Status]++
		}
	}
	for _, a := range d.AllAssertions() {
		s.Assertions[a.Standing()]++
	}
	d.Summary = s
}

// Standing is the effective verdict: "info" for an assertion of severity info that does not hold, else its
// verdict.
func (a *AssertionVerdict) Standing() string {
	if a.Severity == assertion.Info && a.Verdict != Pass && a.Verdict != SkippedVerdict {
		return string(assertion.Info)
	}
	return string(a.Verdict)
}

// AllAssertions returns those of all cases, in order, then those over several cases.
func (d *Document) AllAssertions() []*AssertionVerdict {
	var all []*AssertionVerdict
	for _, c := range d.Cases {
		all = append(all, c.Assertions...)
	}
	return append(all, d.Assertions...)
}
