package dsl

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/option"
)

// Resolved is a run at a point.
type Resolved struct {
	Options option.Values
	Env     map[string]string
}

// At returns all settings of a run at a point, with one value for each of its axes.
func (r *Run) At(point []AxisValue) (Resolved, hcl.Diagnostics) {
	out := Resolved{Options: option.Values{}, Env: map[string]string{}}
	var diags hcl.Diagnostics
	for _, s := range r.Settings() {
		var at []AxisValue
		for _, a := range s.Axes {
			at = append(at, point[a])
		}
		v, d := s.Value(at)
		diags = append(diags, d...)
		if s.Env {
			out.Env[s.Name], _ = v.(string)
		} else {
			out.Options[s.Name] = v
		}
	}
	return out, diags
}

func pointText(r *Run, point []AxisValue) string {
	var parts []string
	for i, a := range r.Axes {
		parts = append(parts, a.Name+"="+point[i].Text)
	}
	return strings.Join(parts, ",")
}
