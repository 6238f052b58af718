package dsl

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/workload"
)

// Resolved is a run at a point.
type Resolved struct {
	Options workload.Values // every option of the workload that has a value
	Env     map[string]string
}

// At evaluates the run's options and environment at a point: one value for each
// axis of r.Axes, in that order. An axis named like an option sets that option,
// and one named env.NAME that variable. Diagnostics point at the source of the
// value that is wrong.
func (r *Run) At(point []AxisValue) (Resolved, hcl.Diagnostics) {
	if len(point) != len(r.Axes) {
		panic(fmt.Sprintf("dsl: a point of %d values for %d axes of run %s", len(point), len(r.Axes), r.Name))
	}
	out := Resolved{Options: workload.Values{}, Env: map[string]string{}}
	for _, o := range r.Workload.Options {
		if o.Default != nil {
			out.Options[o.Name] = o.Default
		}
	}
	axes := map[string]cty.Value{}
	for i, a := range r.Axes {
		axes[a.Name] = ctyOf(point[i].Value)
	}
	var diags hcl.Diagnostics
	value := func(s *setting) any {
		if !s.onPoint {
			return s.value
		}
		v, d := s.evaluate(r.eval, axes)
		for _, e := range d {
			e.Detail += " At " + pointText(r, point) + "."
		}
		diags = append(diags, d...)
		return v
	}
	for _, s := range r.options {
		out.Options[s.name] = value(s)
	}
	for _, s := range r.env {
		if text, ok := value(s).(string); ok {
			out.Env[s.name] = text
		}
	}
	for i, a := range r.Axes {
		if name, ok := strings.CutPrefix(a.Name, "env."); ok {
			out.Env[name] = point[i].Text
		} else if _, ok := r.Workload.Option(a.Name); ok {
			out.Options[a.Name] = point[i].Value
		}
	}
	if diags.HasErrors() {
		return Resolved{}, diags
	}
	return out, nil
}

func pointText(r *Run, point []AxisValue) string {
	var parts []string
	for i, a := range r.Axes {
		parts = append(parts, a.Name+"="+point[i].Text)
	}
	return strings.Join(parts, ",")
}

// evaluate computes a setting as the Go type of its option, or as text.
func (s *setting) evaluate(e *evaluator, axes map[string]cty.Value) (any, hcl.Diagnostics) {
	v, diags := s.expr.Value(e.context(s.expr, axes))
	if diags.HasErrors() {
		return nil, explain(diags)
	}
	if !v.IsWhollyKnown() {
		return nil, nil // a variable that failed, which has been reported
	}
	text, problem := scalarText(v)
	if problem != "" {
		hint := ""
		if s.isEnv && v.IsNull() {
			hint = `Write "" for an empty text.`
		}
		return nil, hcl.Diagnostics{diagnostic(s.expr.Range(), "Invalid value", s.name+" "+problem+".", hint)}
	}
	if s.isEnv {
		if strings.ContainsRune(text, 0) {
			return nil, hcl.Diagnostics{diagnostic(s.expr.Range(), "Invalid value", s.name+" contains a NUL character, which no environment can hold.", "")}
		}
		return text, nil
	}
	parsed, err := s.option.Parse(text)
	if err != nil {
		return nil, hcl.Diagnostics{diagnostic(s.expr.Range(), "Invalid value", fmt.Sprintf("Option %s: %v.", s.name, err), "")}
	}
	return parsed, nil
}

// everyPoint evaluates the run and its assertions everywhere, so that what loads
// also plans. Points that fail at one place give one diagnostic.
func (l *loader) everyPoint(r *Run) {
	point := make([]AxisValue, len(r.Axes))
	index := make([]int, len(r.Axes))
	seen := map[int]bool{}
	report := func(diags hcl.Diagnostics) {
		for _, d := range diags {
			if !seen[d.Subject.Start.Byte] {
				seen[d.Subject.Start.Byte] = true
				l.diags = append(l.diags, d)
			}
		}
	}
	for {
		for i, a := range r.Axes {
			point[i] = a.Values[index[i]]
		}
		resolved, diags := r.At(point)
		report(diags)
		if !diags.HasErrors() {
			report(r.lower(resolved, point))
		}
		i := len(index) - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < len(r.Axes[i].Values) {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// lower tries the assertions at a point.
func (r *Run) lower(resolved Resolved, point []AxisValue) (diags hcl.Diagnostics) {
	scope := Scope{Options: resolved.Options, Axes: map[string]any{}}
	for i, a := range r.Axes {
		scope.Axes[a.Name] = point[i].Value
	}
	for _, a := range r.Asserts {
		ok, d := a.Matches(scope)
		diags = append(diags, d...)
		if ok {
			_, d = a.Lower(scope)
			diags = append(diags, d...)
		}
	}
	return diags
}
