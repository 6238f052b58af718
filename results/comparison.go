package results

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"weir/quantity"
)

// ComparisonSchema is the version of the comparison that this package writes.
const ComparisonSchema = "weir.comparison/v1"

// Comparison holds two sets of cases against each other: those of two documents,
// or of two runs of one.
type Comparison struct {
	Schema     string   `json:"schema"`
	Base       Compared `json:"base"`
	New        Compared `json:"new"`
	Confidence float64  `json:"confidence"` // of all intervals
	Margin     float64  `json:"margin"`     // by how much a metric may be worse, as a share of the base
	// Multiple is "holm" where regressions are judged as one family, otherwise "".
	Multiple string `json:"multiple,omitempty"`
	// CrossSession says that the two sets come from different sessions.
	CrossSession bool `json:"cross_session"`
	// SameEnvironment says that both sessions have the same fingerprint; nil: one of
	// them has none, so that nobody knows.
	SameEnvironment *bool        `json:"same_environment"`
	Simulated       bool         `json:"simulated,omitzero"` // some launch was
	Differences     []Difference `json:"differences"`        // of environment and settings
	Effects         []*Effect    `json:"effects"`
	Shifts          []Shift      `json:"shifts,omitempty"`   // by which the cases of a metric moved together
	Geomeans        []Geomean    `json:"geomeans,omitempty"` // over cases, of metrics that several have
	OnlyBase        []LeftOver   `json:"only_base"`
	OnlyNew         []LeftOver   `json:"only_new"`
	ExitCode        int          `json:"exit_code"`
}

// Compared names one of the two sets.
type Compared struct {
	File     string    `json:"file"`
	Session  string    `json:"session"`
	Scenario string    `json:"scenario"`
	Started  time.Time `json:"started"`
	Weir     string    `json:"weir"` // version
	// Part is what of a document is compared: "run a", "fabric=shm"; "": all of it.
	Part string `json:"part,omitempty"`
}

// Difference is one thing that is not the same on both sides.
type Difference struct {
	What string `json:"what"` // cpu.governor, options.block_size, transport, …
	Base string `json:"base"` // "": not there
	New  string `json:"new"`
	// Of are the nodes or cases that it is found at; none: the session.
	Of []string `json:"of,omitempty" doc:"The nodes or cases that it is found at; none: the session."`
}

// LeftOver is a case that only one side measured.
type LeftOver struct {
	Case   string `json:"case"`
	Reason string `json:"reason"` // why the other side has not
}

// Effect is what became of one metric of one case from the base to the new launches.
type Effect struct {
	Case     string    `json:"case"`                // key
	BaseCase string    `json:"base_case,omitempty"` // where the base's key is another
	Metric   string    `json:"metric"`              // "": the case cannot be used at all
	Unit     string    `json:"unit"`                // of Base and New
	Better   string    `json:"better"`              // higher | lower | none
	Base     *Observed `json:"base"`
	New      *Observed `json:"new"`
	// Change is New as a ratio to Base, or New less Base in Unit where Additive says
	// so: of a metric that may be zero.
	Change   *Change       `json:"change"`
	Additive bool          `json:"additive,omitzero"`
	Pairs    int           `json:"pairs,omitzero"` // launches that were compared one to one; 0: unpaired
	Method   string        `json:"method,omitempty"`
	Verdict  EffectVerdict `json:"verdict"`
	Message  string        `json:"message"`
}

// Change is the estimate of a change, with what the launches could have shown.
type Change struct {
	Value float64     `json:"value"`
	CI    *[2]float64 `json:"ci"` // nil where a side has a single launch
	// P is the probability of a change at least as large if there is none; Q is the
	// least false discovery rate at which the change is found, among all effects of
	// the comparison. Both are nil without an interval.
	P *float64 `json:"p" doc:"Of a change at least as large if there is none."`
	Q *float64 `json:"q" doc:"Least false discovery rate at which the change is found."`
	// Found says that there is a change, however small. Never beside Assumes.
	Found bool `json:"found" doc:"There is a change, however small. Never beside assumes_sessions_alike."`
	// Assumes says that interval, P and Q hold only if sessions do not differ, of which nothing is known.
	Assumes bool `json:"assumes_sessions_alike,omitzero" doc:"Interval, p and q hold only if sessions do not differ, of which nothing is known."`
	// Shift is by how much the cases of the metric moved together, as a ratio, where that
	// is estimated from them: P, Q and Found are of how the case differs from it.
	Shift float64 `json:"shift,omitzero" doc:"By how much the cases of the metric moved together, as a ratio; p, q and found are of the difference from it."`
	// Mirrored says that the change is found because many cases lie as far on its side
	// of the shift, and hardly any on the other.
	Mirrored bool `json:"mirrored,omitzero" doc:"Found because many cases lie as far on this side of the shift and hardly any on the other."`
	// Detectable is the least true change for the worse (of metrics without a
	// direction: upwards) that these launches would have found four times of five: a
	// share of the base, or an amount where the effect is additive. Nil without an
	// interval.
	Detectable *float64 `json:"detectable" doc:"Least change for the worse that would have been found four times of five."`
}

// BeyondLaunches says that the change is one unless sessions differ, of which nothing is known.
func (c *Change) BeyondLaunches() bool {
	return c.Assumes && c.Q != nil && *c.Q <= quantity.Round(1-Confidence)
}

// EffectVerdict is what a comparison says of an effect.
type EffectVerdict string

// The verdicts of a comparison, worst first.
const (
	EffectError  EffectVerdict = "error"
	Regression   EffectVerdict = "regression"   // worse by more than the margin
	Unclear      EffectVerdict = "inconclusive" // the interval crosses the margin
	NoRegression EffectVerdict = "no regression"
	Improved     EffectVerdict = "improved"
	Reported     EffectVerdict = "reported" // the metric has no better direction
)

// Counts says how many effects have each verdict.
func (c *Comparison) Counts() map[EffectVerdict]int {
	n := map[EffectVerdict]int{}
	for _, e := range c.Effects {
		n[e.Verdict]++
	}
	return n
}

// Encode is the comparison as JSON.
func (c *Comparison) Encode() ([]byte, error) {
	text, err := json.Marshal(c, encoding, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encoding the comparison: %w", err)
	}
	return append(text, '\n'), nil
}

// ChangeText writes the change and the ends of its interval with their signs, in
// percent or, of an additive one, in a unit that fits the base: "-6.7%". Without an
// interval the ends are "".
func (e *Effect) ChangeText() (value, low, high string) {
	c := e.Change
	s, none := Percent, 1.
	if e.Additive {
		s, none = ScaleFor(max(math.Abs(e.Base.Value), math.Abs(c.Value)), e.Unit), 0
	}
	var ci *[2]float64
	if c.CI != nil && (e.Additive || !Uninformative(c.CI)) {
		ci = &[2]float64{c.CI[0] - none, c.CI[1] - none}
	}
	return s.signedEstimate(quantity.Round(c.Value-none), ci)
}

// SignedPercent is Estimate of a share that is a gain, or a loss if it is below zero.
func SignedPercent(v float64, ci *[2]float64, bounds ...*float64) (value, low, high string) {
	return Percent.signedEstimate(v, ci, bounds...)
}

// signedEstimate is Estimate with signs and units.
func (s Scale) signedEstimate(v float64, ci *[2]float64, bounds ...*float64) (value, low, high string) {
	value, low, high = s.Estimate(v, ci, bounds...)
	signed := func(text string) string {
		if text != "" && !strings.HasPrefix(text, "-") && strings.Trim(text, "0.") != "" {
			text = "+" + text
		}
		return s.WithUnit(text)
	}
	if low == "" {
		return signed(value), "", ""
	}
	return signed(value), signed(low), signed(high)
}

// DetectableText writes what could have been found, "-" where nobody knows.
func (e *Effect) DetectableText() string {
	switch d := e.Change.Detectable; {
	case d == nil:
		return "-"
	case e.Additive:
		s := ScaleFor(*d, e.Unit)
		return s.WithUnit(quantity.Digits(*d*s.Factor, 2))
	case *d > 10:
		return "over 1000%"
	default:
		return quantity.Digits(*d*100, 2) + "%"
	}
}
