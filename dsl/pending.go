package dsl

import (
	"strings"
	"weir/assertion"
	"weir/dsl/expression"

	"github.com/hashicorp/hcl/v2"
)

func (l *loader) envEntries(content *hcl.BodyContent, r *Run, d defaults) []entry {
	own := l.section(content, "env")
	given := map[string]bool{}
	for _, e := range own {
		given[e.name] = true
	}
	for _, e := range d.env {
		if !given[e.name] {
			own = append(own, e)
		}
	}
	return own
}

const (
	EachCase = expression.EachCase
	Along    = expression.Along
	Over     = expression.Over
)

type Uses = expression.Uses

func (a *Assert) Reach() expression.Reach {
	if a.TrendAxis() != "" {
		return Along
	}
	return EachCase
}
func (a *Assert) OverAxes() []string { return nil }
func (a *Assert) Uses() Uses {
	names := []string{}
	for _, x := range a.compiled.AxisNames() {
		if strings.Contains(a.Text, x) {
			names = append(names, x)
		}
	}
	return Uses{Knobs: names}
}
func (a *Assert) LowerOver([]Scope) (assertion.Assertion, hcl.Diagnostics) { panic("pending") }
func (a *Assert) Where() *Condition                                        { return a.compiled.Where() }
