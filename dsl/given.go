package dsl

import "github.com/hashicorp/hcl/v2"

// Given is the place where the run itself, by its options or an axis, sets an
// option. Defaults do not count: they are for whichever run can use them.
func (r *Run) Given(option string) (hcl.Range, bool) {
	if a := r.axis(option); a != nil {
		return a.Range, true
	}
	for _, s := range r.options {
		if s.own && s.name == option {
			return s.expr.Range(), true
		}
	}
	return hcl.Range{}, false
}
