// Package assertion is the compiled form of an assertion: plain data with the expression to evaluate in
// each launch and its bounds. The language compiles to it, plans and result documents contain it, and the
// gate judges it, so that stored results can be judged again without the scenario.
package assertion

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Severity is the consequence of an assertion that does not hold.
type Severity string

// The severities.
const (
	Gate Severity = "gate" // decides the exit code
	Warn Severity = "warn" // shown as a warning
	Info Severity = "info" // shown
)

// Assertion is one statement to judge, over one case or several (Trend).
type Assertion struct {
	Name     string   `json:"name"`
	Text     string   `json:"text" doc:"As the author wrote it."` // with ${…} resolved
	Lowered  string   `json:"lowered" doc:"As weir understood it, with numeric bounds."`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitzero" schema:"minimum=1"`
	Severity Severity `json:"severity" schema:"enum=gate|warn|info"`
	// Subject is evaluated once per launch. Its bounds are in Unit.
	Subject *Expr  `json:"subject" doc:"Null where the statement is about parts, a transport or a provider."`
	Unit    string `json:"unit"`
	// Written is the unit in which the author wrote the bounds; "" if it is Unit. It has no effect on
	// verdicts.
	Written string `json:"written_unit,omitempty" doc:"The unit in which the author wrote the bounds, and in which messages tell values; absent where it is unit."`
	Bounds  Bounds `json:"bounds" doc:"An end that is null is open."`
	// Compared says that Subject is the quotient of two measured sides of a comparison. If the right side is not above
	// zero, their difference is judged.
	Compared bool `json:"compared,omitzero" doc:"The subject is the quotient of two measured sides that the author compares: their difference is judged if the right side is not above zero."`
	// Target is the centre of the bounds as the author gave it; nil if the author gave the bounds. It has no
	// effect on verdicts.
	Target *float64 `json:"target,omitzero" doc:"The value that the bounds are around; absent where the author gave the bounds."`
	// Trend is set for assertions over several cases; Bounds is then empty.
	Trend *Trend `json:"trend,omitzero"`
	// Quantifier is "all" or "any" for an assertion over Parts, with bounds over one case each; Subject and
	// Bounds are then empty.
	Quantifier string `json:"quantifier,omitempty" schema:"enum=all|any"`
	Parts      []Part `json:"parts,omitempty" doc:"The bands that a quantified assertion is about." schema:"minItems=1"`
	// Transport is set for an assertion on the transports that carried data; Subject and Bounds are then
	// empty.
	Transport *Transport `json:"transport,omitzero" doc:"A statement about what carried the data of each launch; subject and bounds are then empty."`
	// Provider is set for an assertion on a fact of the fabric's provider; Subject and Bounds are then empty.
	Provider *Provider `json:"provider,omitzero" doc:"A statement about a fact of the provider of each launch; subject and bounds are then empty."`
	// Cases are the keys of the cases of an assertion over several: of a trend in the order of its axis, of
	// others in plan order.
	Cases []string `json:"cases,omitempty" doc:"Keys of the cases of an assertion over several, of a trend in the order of its axis."`
	// Halo is a share of the bounds: a value outside of them by no more than that warns instead of
	// failing.
	Halo float64 `json:"halo,omitzero" doc:"Share of the bounds by which the value may lie outside and only warn." schema:"minimum=0"`
	// Multiple is "holm" if the assertions made from one text for several cases are judged as one family,
	// otherwise "".
	Multiple string  `json:"multiple,omitempty" schema:"enum=holm"`
	Decide   *Decide `json:"decide,omitzero"` // nil: the defaults
	XFail    *XFail  `json:"xfail,omitzero"`
	// Reference is set if expected values come from a reference table: the assertion cannot be judged in
	// another environment. Noise is the noise of its metrics by references.
	Noise     []Noise    `json:"noise,omitempty" doc:"What references say of the noise of the metrics that it is about."`
	Reference *Reference `json:"reference,omitzero" doc:"set where the statement rests on values that were measured in this environment; in another one it is an error"`
}

// Reference is the origin of expected values.
type Reference struct {
	Table       string `json:"table"`                            // name
	Environment string `json:"environment" schema:"minLength=1"` // fingerprint: "sha256:…"
}

// Part is one pair of bounds of an all() or any().
type Part struct {
	Subject *Expr  `json:"subject" doc:"Arithmetic over metrics, in base units (bytes, seconds)." schema:"nonnull"`
	Unit    string `json:"unit"`
	Written string `json:"written_unit,omitempty" doc:"The unit in which the author wrote the bounds; absent where it is unit."`
	Bounds  Bounds `json:"bounds" doc:"An end that is null is open."`
	// Compared and Target are as in Assertion.
	Compared bool     `json:"compared,omitzero" doc:"As for an assertion."`
	Target   *float64 `json:"target,omitzero" doc:"The value that the bounds are around; absent where the author gave the bounds."`
	Case     string   `json:"case"` // key
}

// Confidence is the default confidence of intervals.
const Confidence = 0.96

// Decide overrides how an assertion is decided.
type Decide struct {
	// of the interval, from 0.5 to below 1; 0: the default
	Confidence float64 `json:"confidence,omitzero" schema:"minimum=0.5,exclusiveMaximum=1"`
	// OnInconclusive replaces inconclusive after the last look: "fail", "warn" or "pass"; "inconclusive" keeps
	// it; "" uses the session's policy (Inconclusive).
	OnInconclusive string `json:"on_inconclusive,omitempty" schema:"enum=inconclusive|fail|warn|pass"`
}

// XFail marks an assertion that is expected not to hold. Until its last day, failing is accepted and
// holding is reported.
type XFail struct {
	Reason string `json:"reason"`
	// 2006-01-02; the last day on which it counts
	Until string `json:"until" doc:"The last day on which it counts." schema:"format=date"`
	// Ceiling is how far beyond a bound a value may lie, as a share of the bound; 0: any failure is accepted.
	Ceiling float64 `json:"ceiling,omitzero" doc:"How far beyond the bound is accepted, as a share of it. Absent: as far as it may be."`
	Link    string  `json:"link,omitempty" doc:"Where the failure is tracked."`
}

// Why is the reason with the link.
func (x *XFail) Why() string {
	if x.Link == "" {
		return x.Reason
	}
	return x.Reason + ", " + x.Link
}

// Widened are the bounds with the ceiling of an expected failure.
func (b Bounds) Widened(ceiling float64) Bounds {
	moved := func(bound *float64, by float64) *float64 {
		if bound == nil {
			return nil
		}
		v := *bound + by*math.Abs(*bound)
		return &v
	}
	return Bounds{Lower: moved(b.Lower, -ceiling), Upper: moved(b.Upper, ceiling), Strict: b.Strict}
}

// Counts reports whether the expectation is valid on the day, in UTC, on which a session started; false
// without a start.
func (x *XFail) Counts(started time.Time) bool {
	return x != nil && !started.IsZero() && started.UTC().Format(time.DateOnly) <= x.Until
}

// Bounds are the limits of the subject; a nil bound is open. A bound of strict ones is itself outside.
type Bounds struct {
	Lower  *float64 `json:"lower"`
	Upper  *float64 `json:"upper"`
	Strict bool     `json:"strict,omitzero" doc:"Whether a value that is equal to a bound is outside."`
}

// Trend asserts that the subject moves one way along an axis.
type Trend struct {
	Axis      string  `json:"axis"`
	Direction string  `json:"direction" schema:"enum=increases|decreases"`
	Tolerance float64 `json:"tolerance" doc:"Relative step in the wrong direction that is still allowed." schema:"minimum=0"`
}

// Key is a stable text of everything that the verdict depends on, for digests. It excludes position,
// spelling and name.
func (a Assertion) Key() string {
	a.Parts = slices.Clone(a.Parts)
	for i := range a.Parts {
		a.Parts[i].Target, a.Parts[i].Written = nil, ""
	}
	b, err := json.Marshal(struct {
		Severity Severity
		Subject  *Expr
		Unit     string
		Bounds   Bounds
		Trend    *Trend
		Cases    []string

		// Omitted if empty, as in most assertions.
		Quantifier string     `json:",omitempty"`
		Parts      []Part     `json:",omitempty"`
		Halo       float64    `json:",omitempty"`
		Multiple   string     `json:",omitempty"`
		Decide     *Decide    `json:",omitempty"`
		XFail      *XFail     `json:",omitempty"`
		Transport  *Transport `json:",omitempty"`
		Provider   *Provider  `json:",omitempty"`
		Reference  *Reference `json:",omitempty"`
		Noise      []Noise    `json:",omitempty"`
	}{
		a.Severity, a.Subject, a.Unit, a.Bounds, a.Trend, a.Cases, a.Quantifier, a.Parts, a.Halo, a.Multiple,
		a.Decide,
		a.XFail, a.Transport, a.Provider, a.Reference, a.Noise,
	})
	if err != nil {
		panic(err) // a NaN bound, which the language never produces
	}
	return string(b)
}

// Mentions lists the keys of other cases that the assertion names, sorted and distinct, without those of
// the baseline.
func (a Assertion) Mentions() []string {
	var keys []string
	for _, leaf := range a.Subject.Leaves() {
		if leaf.Case != "" && !leaf.Baseline {
			keys = append(keys, leaf.Case)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// About lists the distinct keys of the cases from which the assertion takes a metric; "" is its own case.
func (a Assertion) About(metric string) []string {
	var keys []string
	a.Takes(func(taken, key string) {
		if taken == metric && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	})
	return keys
}

// MayAskLaunches reports whether the assertion can ask for more launches while it is undecided.
func (a Assertion) MayAskLaunches() bool { return a.Severity != Info }

// ComparesBaseline reports whether the assertion takes a metric from the baseline.
func (a Assertion) ComparesBaseline() bool {
	ofBaseline := func(e *Expr) bool {
		return slices.ContainsFunc(e.Leaves(), func(leaf *Expr) bool { return leaf.Baseline })
	}
	return ofBaseline(a.Subject) || slices.ContainsFunc(a.Parts, func(p Part) bool { return ofBaseline(p.Subject) })
}

// Takes calls tell for each metric of a launch (not of a baseline) that the assertion uses, with the key
// of its case; "" is its own.
func (a Assertion) Takes(tell func(metric, key string)) {
	look := func(e *Expr, own string) {
		for _, leaf := range e.Leaves() {
			if !leaf.Baseline {
				tell(leaf.Metric, cmp.Or(leaf.Case, own))
			}
		}
	}
	look(a.Subject, "")
	for _, p := range a.Parts {
		look(p.Subject, p.Case)
	}
}
