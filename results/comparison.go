package results

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weir-bench/weir/internal/quantity"
)

// ComparisonSchema is the version of the comparison that this package writes.
const ComparisonSchema = "weir.comparison/v1"

// Comparison compares two sets of cases: those of two documents, or of two runs of one.
type Comparison struct {
	Schema     string   `json:"schema"`
	Base       Compared `json:"base"`
	New        Compared `json:"new"`
	Confidence float64  `json:"confidence"` // of all intervals
	Margin     float64  `json:"margin"`     // accepted worsening, as a share of the base
	// Multiple is "holm" if regressions are judged as one family, otherwise "".
	Multiple string `json:"multiple,omitempty"`
	// CrossSession says that the two sets come from different sessions.
	CrossSession bool `json:"cross_session"`
	// SameEnvironment says that both sessions have the same fingerprint; nil: one of them has none.
	SameEnvironment *bool        `json:"same_environment"`
	Simulated       bool         `json:"simulated,omitzero"` // a launch was simulated
	Differences     []Difference `json:"differences"`        // of environment and settings
	Effects         []*Effect    `json:"effects"`
	Shifts          []Shift      `json:"shifts,omitempty"`   // common changes of the cases of a metric
	Geomeans        []Geomean    `json:"geomeans,omitempty"` // over cases, for metrics of several cases
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
	// Part is the compared part of a document: "run a", "fabric=shm"; "": all of it.
	Part string `json:"part,omitempty"`
}

// Difference is one property that differs between the sides.
type Difference struct {
	What string `json:"what"` // cpu.governor, options.block_size, transport, …
	Base string `json:"base"` // "": absent
	New  string `json:"new"`
	// Of lists the nodes or cases with the difference; none: the session.
	Of []string `json:"of,omitempty" doc:"The nodes or cases that it is found at; none: the session."`
}

// LeftOver is a case that only one side measured.
type LeftOver struct {
	Case   string `json:"case"`
	Reason string `json:"reason"` // why the other side has not
}

// Effect is the change of one metric of one case from the base to the new launches.
type Effect struct {
	Case     string    `json:"case"`                // key
	BaseCase string    `json:"base_case,omitempty"` // if it differs from Case
	Metric   string    `json:"metric"`              // "": the case is unusable
	Unit     string    `json:"unit"`                // of Base and New
	Better   string    `json:"better"`              // higher | lower | none
	Base     *Observed `json:"base"`
	New      *Observed `json:"new"`
	// Change is New as a ratio to Base, or New less Base in Unit if Additive: of a metric that may be zero.
	Change   *Change       `json:"change"`
	Additive bool          `json:"additive,omitzero"`
	Pairs    int           `json:"pairs,omitzero"` // launches compared pairwise; 0: unpaired
	Method   string        `json:"method,omitempty"`
	Verdict  EffectVerdict `json:"verdict"`
	Message  string        `json:"message"`
	Reasons  []Reason      `json:"reasons,omitempty" doc:"Of the message; none in documents of older versions."`
}

// Change is the estimate of a change, with its p-value and power.
type Change struct {
	Value float64     `json:"value"`
	CI    *[2]float64 `json:"ci"` // nil if a side has a single launch
	// P is the p-value of the change; Q is the lowest false discovery rate at which it is found among all
	// effects of the comparison. Both are nil without an interval.
	P *float64 `json:"p" doc:"Of a change at least as large if there is none."`
	Q *float64 `json:"q" doc:"Least false discovery rate at which the change is found."`
	// Found says that there is a change of any size. With Assumes there is one also if sessions vary by 5 %.
	Found bool `json:"found" doc:"There is a change, however small; beside assumes_sessions_alike, also if sessions vary by 5 %."`
	// Assumes says that interval, P and Q hold only if sessions do not differ, which is unknown.
	Assumes bool `json:"assumes_sessions_alike,omitzero" doc:"Interval, p and q hold only if sessions do not differ, of which nothing is known."`
	// Shift is the common change of the metric's cases as a ratio, if it is estimated from them: P, Q and
	// Found then refer to the difference from it.
	Shift float64 `json:"shift,omitzero" doc:"By how much the cases of the metric moved together, as a ratio; p, q and found are of the difference from it."`
	// Mirrored says that the change is found because many cases lie as far on its side of the shift and hardly
	// any on the other.
	Mirrored bool `json:"mirrored,omitzero" doc:"Found because many cases lie as far on this side of the shift and hardly any on the other."`
	// Detectable is the smallest true change for the worse (upwards for metrics without a direction) that
	// these launches would find with a probability of 80 %: a share of the base, or an amount if the effect is
	// additive. Nil without an interval.
	Detectable *float64 `json:"detectable" doc:"Least change for the worse that would have been found four times of five."`
}

// AssumedSessions is the standard deviation of sessions, as a share, that a change must exceed to be found if
// nothing tells how sessions differ.
const AssumedSessions = 0.05

// BeyondLaunches reports a change that is significant unless sessions differ, which is unknown.
func (c *Change) BeyondLaunches() bool {
	return c.Assumes && !c.Found && c.Q != nil && *c.Q <= quantity.Round(1-Confidence)
}

// EffectVerdict is the verdict of a comparison on an effect.
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

// CountByVerdict returns the number of effects by verdict.
func (c *Comparison) CountByVerdict() map[EffectVerdict]int {
	n := map[EffectVerdict]int{}
	for _, e := range c.Effects {
		n[e.Verdict]++
	}
	return n
}

// Encode returns the comparison as JSON.
func (c *Comparison) Encode() ([]byte, error) {
	text, err := json.Marshal(c, encoding, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encoding the comparison: %w", err)
	}
	return append(text, '\n'), nil
}

// Comparisons compares several documents with the same base.
type Comparisons struct {
	Schema      string        `json:"schema"`
	Comparisons []*Comparison `json:"comparisons"`
	ExitCode    int           `json:"exit_code"` // the worst of the comparisons
}

// ComparisonsSchema is the version of the comparisons that this package writes.
const ComparisonsSchema = "weir.comparisons/v1"

// Encode returns the comparisons as JSON.
func (c *Comparisons) Encode() ([]byte, error) {
	text, err := json.Marshal(c, encoding, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encoding the comparisons: %w", err)
	}
	return append(text, '\n'), nil
}

// ChangeText formats the change and its interval with signs, in percent or, if additive, in a unit that
// fits the base: "-6.7%". Without an interval, or with one that tells nothing, low and high are "".
func (e *Effect) ChangeText() (value, low, high string) {
	c := e.Change
	s, none := Percent, 1.
	if e.Additive {
		s, none = ScaleFor(max(math.Abs(e.Base.Value), math.Abs(c.Value)), e.Unit), 0
	}
	var ci *[2]float64
	if c.CI != nil {
		ci = &[2]float64{c.CI[0] - none, c.CI[1] - none}
	}
	if ci != nil && !e.Additive && UninformativeGain(ci) {
		ci = nil
	}
	return s.signedEstimate(quantity.Round(c.Value-none), ci)
}

// SignedPercent is Estimate for a share that is a gain, or a loss if negative.
func SignedPercent(v float64, ci *[2]float64, bounds ...*float64) (value, low, high string) {
	return Percent.signedEstimate(v, ci, bounds...)
}

// signedEstimate is Estimate with signs and units, and with two digits without an interval and bounds. A large gain in
// percent is formatted as a multiple: "×43".
func (s Scale) signedEstimate(v float64, ci *[2]float64, bounds ...*float64) (value, low, high string) {
	if s == Percent && v+1 >= manyTimes {
		return multiple(v, ci, bounds)
	}
	value, low, high = s.Estimate(v, ci, bounds...)
	if ci == nil && len(bounds) == 0 {
		value = s.twoDigits(v * s.Factor)
	}
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

// multiple formats a gain and its interval as ratios.
func multiple(gain float64, ci *[2]float64, bounds []*float64) (value, low, high string) {
	if ci != nil {
		ci = &[2]float64{1 + ci[0], 1 + ci[1]}
	}
	var ratios []*float64
	for _, b := range bounds {
		if b != nil {
			ratio := 1 + *b
			ratios = append(ratios, &ratio)
		}
	}
	s := Scale{"", 1}
	value, low, high = s.Estimate(1+gain, ci, ratios...)
	if ci == nil && len(bounds) == 0 {
		value = s.twoDigits(1 + gain)
	}
	if low != "" {
		low, high = "×"+low, "×"+high
	}
	return "×" + value, low, high
}

// DetectableText formats the detectable change, "-" if unknown.
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
