package results

import (
	"math"

	"github.com/weir-bench/weir/internal/quantity"
)

// Gains compares the variants of a run with the one that the scenario names as baseline: a table of
// before, after and gain.
type Gains struct {
	Run      string  `json:"run"`
	Baseline string  `json:"baseline" doc:"The variant that the others are held against."`
	Rows     []*Gain `json:"rows"`
}

// Gain is how much better a metric of a variant's case is than that of the baseline at the same values of
// all other axes.
type Gain struct {
	Variant  string         `json:"variant"`
	Axes     map[string]any `json:"axes" doc:"Values of the other axes."`
	Case     string         `json:"case"`
	BaseCase string         `json:"base_case"`
	Metric   string         `json:"metric,omitempty" doc:"Absent where one of the cases cannot be used."`
	Unit     string         `json:"unit,omitempty" doc:"Of before and after."`
	Better   string         `json:"better,omitempty" schema:"enum=higher|lower"`
	Before   *Observed      `json:"before,omitzero" doc:"Of the baseline."`
	After    *Observed      `json:"after,omitzero" doc:"Of the variant."`
	// Gain is positive where the variant is better.
	Gain     *Change `json:"gain,omitzero" doc:"Positive where the variant is better: a share of before, or an amount in unit where additive is true. Absent where nothing can be said."`
	Additive bool    `json:"additive,omitzero" doc:"0 is a value of the metric as any other and a launch had it, so gain is an amount."`
	Pairs    int     `json:"pairs,omitzero" doc:"Launches that were compared one to one; absent: none."`
	Message  string  `json:"message" doc:"How it was compared, or why it was not."`
}

// GainOf converts the change of an effect to a gain; nil if there is none.
func GainOf(e *Effect) *Change {
	if e.Change == nil {
		return nil
	}
	g := *e.Change
	none, sign := 1., 1.
	if e.Additive {
		none = 0
	}
	if e.Better == "lower" {
		sign = -1
	}
	of := func(v float64) float64 { return quantity.Round(sign * (v - none)) }
	g.Value = of(g.Value)
	if g.CI != nil {
		low, high := of(g.CI[0]), of(g.CI[1])
		g.CI = &[2]float64{min(low, high), max(low, high)}
	}
	return &g
}

// Text formats a gain and its interval with signs, in percent or, if additive, in a unit that fits.
// Without an interval low and high are "".
func (g *Gain) Text() (value, low, high string) {
	s := Percent
	if g.Additive {
		s = ScaleFor(max(math.Abs(g.Before.Value), math.Abs(g.Gain.Value)), g.Unit)
	}
	return s.signedEstimate(g.Gain.Value, g.Gain.CI)
}
