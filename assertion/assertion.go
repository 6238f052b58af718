// Package assertion is the lowered form of an assertion: plain data that says
// which value to take from each launch and what it must be. The language
// compiles text to it, plan and result documents carry it, and the gate judges
// it, so that stored results can be judged again without the scenario.
package assertion

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Severity says what an assertion that does not hold means.
type Severity string

// The severities.
const (
	Gate Severity = "gate" // decides the exit code
	Warn Severity = "warn" // shown as a warning
	Info Severity = "info" // shown
)

// Assertion is one judged statement over one case, or over several (Trend).
type Assertion struct {
	Name     string   `json:"name"`
	Text     string   `json:"text" doc:"As the author wrote it."` // as the author wrote it, ${…} resolved
	Lowered  string   `json:"lowered" doc:"As weir understood it, with numeric bounds."`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitzero" schema:"minimum=1"`
	Severity Severity `json:"severity" schema:"enum=gate|warn|info"`
	// Subject is the value judged, taken once per launch. Its bounds are in Unit.
	Subject *Expr  `json:"subject" doc:"Null where the statement is about parts, a transport or a provider."`
	Unit    string `json:"unit"`
	// Written is the unit in which the author wrote the bounds; "" where that is Unit. It decides nothing.
	Written string `json:"written_unit,omitempty" doc:"The unit in which the author wrote the bounds, and in which messages tell values; absent where it is unit."`
	Bounds  Bounds `json:"bounds" doc:"An end that is null is open."`
	// Target is the value that a band is around, as the author gave it; nil where the author
	// gave the ends. It decides nothing.
	Target *float64 `json:"target,omitzero" doc:"The value that the bounds are around; absent where the author gave the bounds."`
	// Trend is set for assertions over several cases; Bounds is then empty.
	Trend *Trend `json:"trend,omitzero"`
	// Quantifier is "all" or "any" where the statement is about Parts, each of
	// which is a band over one case; Subject and Bounds are then empty.
	Quantifier string `json:"quantifier,omitempty" schema:"enum=all|any"`
	Parts      []Part `json:"parts,omitempty" doc:"The bands that a quantified assertion is about." schema:"minItems=1"`
	// Transport is set for a statement about what carried the data of a case, which
	// has no number; Subject and Bounds are then empty.
	Transport *Transport `json:"transport,omitzero" doc:"A statement about what carried the data of each launch; subject and bounds are then empty."`
	// Provider is set for a statement about a fact of the provider of a case's fabric, which
	// has no number either.
	Provider *Provider `json:"provider,omitzero" doc:"A statement about a fact of the provider of each launch; subject and bounds are then empty."`
	// Cases are the keys of the cases of an assertion that belongs to no single
	// case: of a trend in the order of its axis, of all others in plan order.
	Cases []string `json:"cases,omitempty" doc:"Keys of the cases of an assertion over several, of a trend in the order of its axis."`
	// Halo widens the bounds, as a share of them, for failing only: a value outside
	// of the bounds but inside of the halo warns.
	Halo float64 `json:"halo,omitzero" doc:"Share of the bounds by which the value may lie outside and only warn." schema:"minimum=0"`
	// Multiple is "holm" where the assertions that one text makes for several
	// cases are judged as one family, otherwise "".
	Multiple string  `json:"multiple,omitempty" schema:"enum=holm"`
	Decide   *Decide `json:"decide,omitzero"` // nil: the defaults
	XFail    *XFail  `json:"xfail,omitzero"`
	// Reference is set where the statement rests on values that were measured in an
	// environment that is known; in another one it cannot be judged.
	// Noise is what references say of the noise of the metrics that it is about.
	Noise     []Noise    `json:"noise,omitempty" doc:"What references say of the noise of the metrics that it is about."`
	Reference *Reference `json:"reference,omitzero" doc:"set where the statement rests on values that were measured in this environment; in another one it is an error"`
}

// Reference is where the expected values of a statement are from.
type Reference struct {
	Table       string `json:"table"`                            // name
	Environment string `json:"environment" schema:"minLength=1"` // fingerprint: "sha256:…"
}

// Part is one band of a quantified assertion.
type Part struct {
	Subject *Expr  `json:"subject" doc:"Arithmetic over metrics, in base units (bytes, seconds)." schema:"nonnull"`
	Unit    string `json:"unit"`
	Written string `json:"written_unit,omitempty" doc:"The unit in which the author wrote the bounds; absent where it is unit."`
	Bounds  Bounds `json:"bounds" doc:"An end that is null is open."`
	// Target is that of Assertion.
	Target *float64 `json:"target,omitzero" doc:"The value that the bounds are around; absent where the author gave the bounds."`
	Case   string   `json:"case"` // key
}

// Confidence is that of an interval where an assertion asks for none.
const Confidence = 0.96

// Decide overrides how an assertion is decided.
type Decide struct {
	// of the interval, between 0.5 and 1; 0: the default
	Confidence float64 `json:"confidence,omitzero" schema:"exclusiveMinimum=0.5,exclusiveMaximum=1"`
	// OnInconclusive is the verdict that stands in for inconclusive after the last
	// look: "fail", "warn" or "pass"; "inconclusive": it stays so; "": as the session says (Inconclusive).
	OnInconclusive string `json:"on_inconclusive,omitempty" schema:"enum=inconclusive|fail|warn|pass"`
}

// XFail marks an assertion that is known not to hold. Not holding is then
// expected, and holding is reported, until the day has passed.
type XFail struct {
	Reason string `json:"reason"`
	// 2006-01-02; the last day on which it counts
	Until string `json:"until" doc:"The last day on which it counts." schema:"format=date"`
}

// Counts says whether the expectation still counts on the day, in UTC, on which a session
// started. A session without a start has no day on which it counts.
func (x *XFail) Counts(started time.Time) bool {
	return x != nil && !started.IsZero() && started.UTC().Format(time.DateOnly) <= x.Until
}

// Bounds is the band that the subject must lie in; a nil end is open.
type Bounds struct {
	Lower *float64 `json:"lower"`
	Upper *float64 `json:"upper"`
}

// Trend says that the subject moves one way along an axis.
type Trend struct {
	Axis      string  `json:"axis"`
	Direction string  `json:"direction" schema:"enum=increases|decreases"`
	Tolerance float64 `json:"tolerance" doc:"Relative step in the wrong direction that is still allowed." schema:"minimum=0"`
}

// Key is a stable text of everything that the verdict depends on, for digests:
// neither the place in a file nor the author's spelling, and not the name, which is
// the text where the author gives none.
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

		// Absent from the text where they say nothing, as plain assertions are most.
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
		a.Severity, a.Subject, a.Unit, a.Bounds, a.Trend, a.Cases, a.Quantifier, a.Parts, a.Halo, a.Multiple, a.Decide,
		a.XFail, a.Transport, a.Provider, a.Reference, a.Noise,
	})
	if err != nil {
		panic(err) // a NaN bound: the language never makes one
	}
	return string(b)
}

// Mentions are the keys of the cases that the assertion names, each once, sorted. Its own
// case, which it need not name, and cases of a baseline are not among them.
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

// About are the keys of the cases of which the assertion takes a metric, each once; ""
// is its own.
func (a Assertion) About(metric string) []string {
	var keys []string
	a.Takes(func(taken, key string) {
		if taken == metric && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	})
	return keys
}

// Takes tells each metric that the assertion takes, of launches and not of a baseline, and the key
// of the case that it is of; "" is its own.
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
