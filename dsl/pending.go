package dsl

import (
	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/dsl/expression"
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

func (a *Assert) Reach() expression.Reach { return a.compiled.Reach() }
func (a *Assert) OverAxes() []string      { return a.compiled.OverAxes() }
func (a *Assert) Uses() Uses              { return a.compiled.Uses() }
func (a *Assert) LowerOver(s []Scope) (assertion.Assertion, hcl.Diagnostics) {
	panic("pending")
}
func (a *Assert) Where() *Condition { return a.compiled.Where() }
