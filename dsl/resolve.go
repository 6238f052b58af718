// Values of settings at the points of a sweep.

package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/internal/option"
)

// Unset is the value of an environment variable that a case removes from the environment.
type Unset struct{}

// MarshalJSON writes null.
func (Unset) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Value returns the setting at values of its axes (in the order of Setting.Axes): the Go type of
// its option, or a text. The value is nil after an error; diagnostics point at the source.
func (s *Setting) Value(at []AxisValue) (any, hcl.Diagnostics) {
	if len(at) != len(s.Axes) {
		panic(fmt.Sprintf("dsl: %d values for the %d axes of %s", len(at), len(s.Axes), s.Name))
	}
	switch {
	case s.matrix != nil:
		v, _ := s.matrix.Value(at) // errors are those of that setting
		text, _ := v.(string)
		if n, ok := option.Ranks(text); ok {
			return n, nil
		}
		return nil, nil
	case s.decides != nil:
		v, _ := s.decides.Value(at) // errors are those of that setting
		if text, ok := v.(string); ok && s.Option.DefaultBy.Values[text] != nil {
			return s.Option.DefaultBy.Values[text], nil
		}
		return s.Option.Default, nil
	case s.variants != nil:
		inner := s.variants[at[s.item].Text]
		if inner == nil {
			inner = s.otherwise
		}
		var own []AxisValue
		for i, a := range s.Axes {
			if slices.Contains(inner.Axes, a) {
				own = append(own, at[i])
			}
		}
		return inner.Value(own)
	case s.otherwise != nil:
		if v, ok := s.contents[at[s.item].Text]; ok {
			return v, nil
		}
		if !slices.Contains(s.otherwise.Axes, s.Axes[s.item]) {
			at = slices.Delete(slices.Clone(at), s.item, s.item+1)
		}
		return s.otherwise.Value(at)
	case s.contents != nil:
		return s.contents[at[0].Text], nil
	case s.expr == nil && len(at) == 0:
		return s.value, nil
	case s.expr == nil && s.Env && at[0].Value == nil:
		return Unset{}, nil
	case s.expr == nil && (s.Env || s.asText):
		return at[0].Text, nil
	case s.expr == nil:
		return at[0].Value, nil
	}
	axes := map[string]cty.Value{}
	for i, a := range s.Axes {
		axes[s.run.Axes[a].Name] = ctyOf(at[i].Value)
	}
	v, diags := s.evaluate(s.run.eval, axes)
	s.variantLacks(at, diags)
	for _, d := range diags {
		if len(at) > 0 {
			d.Detail += " At " + s.at(at) + "."
		}
	}
	return v, diags
}

func (s *Setting) at(at []AxisValue) string {
	var parts []string
	for i, a := range s.Axes {
		parts = append(parts, s.run.Axes[a].Name+"="+at[i].Text)
	}
	return strings.Join(parts, ",")
}

// context is the evaluation context of the setting, with unknown numbers for values of runs.
func (s *Setting) context(e *evaluator, axes map[string]cty.Value) *hcl.EvalContext {
	return withUnknownRuns(s.expr, e.context(s.expr, axes, s.Option.Late))
}

// evaluate computes the expression as the Go type of its option, or as text.
func (s *Setting) evaluate(e *evaluator, axes map[string]cty.Value) (any, hcl.Diagnostics) {
	ctx := s.context(e, axes)
	if s.Option.Type == option.Structure {
		return s.structure(ctx)
	}
	if len(runValues(s.expr)) > 0 {
		text, diags := withValues(s.expr, ctx, s.Option.Late)
		if diags.HasErrors() {
			return nil, diags
		}
		return s.deferred(text)
	}
	v, diags := s.expr.Value(ctx)
	if diags.HasErrors() {
		return nil, explain(diags)
	}
	if !v.IsWhollyKnown() {
		return nil, nil // a variable failed, which is reported
	}
	text, problem := scalarText(v)
	if problem != "" {
		hint := ""
		if s.Env && v.IsNull() {
			hint = `Write "" for an empty text, and quote a text with a comma: "a,b". An axis env.` + s.Name +
				": [null, …] leaves it unset."
		}
		if !s.Env && problem == notSingle {
			hint = "To measure several values sweep them: sweep: {" + s.Name + ": [A, B]}."
		}
		return nil, hcl.Diagnostics{diagnostic(s.expr.Range(), "Invalid value", s.Name+" "+problem+".", hint)}
	}
	ofVariant := strings.Contains(text, nameMark) && option.OfRuns(strings.ToLower(text))
	if ofVariant && len(s.Option.Late) == 0 {
		text, ok := placeholders(text, s.Option.Late)
		if !ok {
			return nil, hcl.Diagnostics{diagnostic(s.expr.Range(), "Invalid value",
				"A function changes the text of a run's value, which is known only later.",
				`Compute with it where it is mentioned, as in floor(0.8 * run("NAME").METRIC).`)}
		}
		return s.deferred(text)
	}
	if s.Option.Type == option.String && len(s.Option.Late) > 0 {
		var ok bool
		if text, ok = placeholders(text, s.Option.Late); !ok {
			called := callsFunction(s.expr) && !hasNUL(s.expr)
			return nil, hcl.Diagnostics{diagnostic(s.expr.Range(), "Invalid value", changedName(called),
				changedNameHint(called, s.Option.Late))}
		}
	}
	if s.Env {
		if strings.ContainsRune(text, 0) {
			return nil, hcl.Diagnostics{
				diagnostic(s.expr.Range(), "Invalid value",
					s.Name+" contains a NUL character, which environment variables cannot contain.", ""),
			}
		}
		return text, nil
	}
	parsed, err := s.Option.Parse(text)
	if err != nil {
		return nil, hcl.Diagnostics{
			diagnostic(s.expr.Range(), "Invalid value", fmt.Sprintf("Option %s: %v.", s.Name, err),
				valueHint(s.Option, text)),
		}
	}
	return parsed, nil
}

// deferred returns the text of a setting that is known when other runs are decided.
func (s *Setting) deferred(text string) (any, hcl.Diagnostics) {
	switch {
	case s.Option.Type == option.String && len(s.Option.Late) > 0:
		return text, nil // which may also have names of a launch
	case s.Env || s.run.Workload.MayDefer(s.Option):
		if err := s.Option.MayBe(text); !s.Env && err != nil {
			return nil, hcl.Diagnostics{diagnostic(s.expr.Range(), "Invalid value",
				fmt.Sprintf("Option %s: %v.", s.Name, err),
				"A value of a run is in the unit of its metric (weir docs metrics), as ${…}s or ${…}GB/s.")}
		}
		return option.Deferred(text), nil
	}
	return nil, hcl.Diagnostics{
		diagnostic(s.expr.Range(), "Value of a run", s.Name+" depends on the result of a run, but is needed earlier.",
			runValuesHint),
	}
}

const runValuesHint = `Values of runs, run("NAME").METRIC, can be used in env of a run, in options that are numbers and ` +
	"not fixed when its processes start (as the number of ranks is), and in texts of roles and services. " +
	`Assertions have run("NAME").METRIC without ${…}.`
