// Variants, and the settings of runs that follow them.

package dsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/internal/suggest"
)

// variantAxis is the axis with the names of variants as values, and the root of the names of their
// own values.
const variantAxis = expression.VariantAxis

// variants are the rows of the table.
type variants struct {
	baselines []string // that gains are over: a run's is the first that it sweeps
	rows      []*variant
	objects   map[string]cty.Value // by name of the variant
	changed   map[string]cty.Value // the variables that rows set, as one value, by name of the variant
	unknown   cty.Value            // the variables while the variant is not known
	set       map[string]bool      // names of the variables that rows set
	// runValues are the values of runs that the rows mention.
	runValues []*RunValue
}

// variant is one row.
type variant struct {
	name               string
	values             map[string]cty.Value
	env, options, vars []entry
	services           []changedService
	fields             []entry              // values of its own
	note               hcl.Expression       // nil: it has none
	noteRest, noteText string               // what a comma cut off, and all of the note
	variables          map[string]*declared // that it sets
}

// The keys of a variant that are not values.
const (
	variantNote    = "note"
	variantEnv     = "env"
	variantOptions = "options"
	variantVars    = "vars"
	variantService = servicesName
)

func (v *variants) row(name string) *variant {
	if i := slices.IndexFunc(v.rows, func(r *variant) bool { return r.name == name }); i >= 0 {
		return v.rows[i]
	}
	return nil
}

func (v *variants) rowNames() (all []string) {
	for _, r := range v.rows {
		all = append(all, r.name)
	}
	return all
}

// BaselineVariant is the variant that the others of the run are compared with; "" if the file names
// none, or none that the run sweeps.
func (r *Run) BaselineVariant() string {
	a := r.axis(variantAxis)
	if a == nil || r.eval.variants == nil {
		return ""
	}
	for _, name := range r.eval.variants.baselines {
		if slices.ContainsFunc(a.Values, func(v AxisValue) bool { return v.Text == name }) {
			return name
		}
	}
	return ""
}

// VariantNotes are the notes of the variants that the run sweeps, by name of the variant; nil without notes.
func (r *Run) VariantNotes() (notes map[string]string) {
	a := r.axis(variantAxis)
	if a == nil || r.eval.variants == nil {
		return nil
	}
	for _, v := range a.Values {
		if row := r.eval.variants.row(v.Text); row != nil && row.noteText != "" {
			if notes == nil {
				notes = map[string]string{}
			}
			notes[row.name] = row.noteText
		}
	}
	return notes
}

// names returns the names of the values of any variant.
func (v *variants) names() []string {
	all := map[string]bool{}
	if v != nil {
		for _, r := range v.rows {
			for name := range r.values {
				all[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// at returns the values of the named variant; unknown values while the name is unknown.
func (v *variants) at(name cty.Value) cty.Value {
	if text, ok := plainText(name); ok && v != nil {
		if object, ok := v.objects[text]; ok {
			return object
		}
	}
	return cty.DynamicVal // reported at the axis
}

// checkVariants reports values of axis variant that are not variants of the file.
func (sr *settingReader) checkVariants() {
	a := sr.run.axis(variantAxis)
	if a == nil || sr.variants == nil {
		return
	}
	for _, v := range a.Values {
		if sr.variants.row(v.Text) == nil {
			sr.error(v.Range, "Unknown variant", fmt.Sprintf("There is no variant %s.", quote(v.Text)),
				suggest.Sentence(v.Text, sr.variants.rowNames(), "variants"))
		}
	}
}

// optionsOfVariants makes options of a run depend on the variant where variants set them. Other
// options keep the run's value.
func (sr *settingReader) optionsOfVariants() {
	for _, name := range sr.setByVariants(func(v *variant) []entry { return v.options }) {
		o, ok := sr.run.Workload.Option(name)
		switch {
		case !ok:
			continue // an option of another workload's runs
		case sr.run.axis(name) != nil:
			sr.error(sr.run.axis(name).Range, "Option of variants and axis",
				fmt.Sprintf("Option %q is also set by variants.", name), "Keep one of the two.")
			continue
		}
		own := sr.byName[name]
		if own == nil && o.Default != nil {
			own = defaultSetting(o, sr.run, sr.byName)
		}
		contents := map[string]any{}
		for _, v := range sr.variants.rows {
			for _, e := range v.options {
				if e.name != name {
					continue
				}
				text, ok := sr.textOf(v, e.expr, "option "+name)
				if !ok {
					continue
				}
				value, err := o.Parse(text)
				if err != nil {
					sr.error(e.expr.Range(), "Invalid value", fmt.Sprintf("Option %s: %v.", name, err),
						valueHint(o, text))
					continue
				}
				contents[v.name] = value
			}
		}
		sr.byName[name] = sr.run.followVariants(Setting{Name: name, Option: o, run: sr.run}, own, contents)
		sr.used[variantAxis] = true
	}
}

// envOfVariants makes variables of a run depend on the variant where variants set them.
func (sr *settingReader) envOfVariants(env []*Setting) []*Setting {
	for _, name := range sr.setByVariants(func(v *variant) []entry { return v.env }) {
		contents := map[string]any{}
		for _, v := range sr.variants.rows {
			for _, e := range v.env {
				if e.name != name || !sr.variableName(e) {
					continue
				}
				if text, ok := sr.textOf(v, e.expr, name); ok {
					contents[v.name] = text
				}
			}
		}
		i := slices.IndexFunc(env, func(s *Setting) bool { return s.Name == name })
		var own *Setting
		if i >= 0 {
			own = env[i]
			env = slices.Delete(env, i, i+1)
		}
		env = append(env, sr.run.followVariants(Setting{Name: name, Env: true, run: sr.run}, own, contents))
		sr.used[variantAxis] = true
	}
	return env
}

// setByVariants returns the names that some variant sets, for a run that sweeps variants.
func (sr *settingReader) setByVariants(of func(*variant) []entry) []string {
	if sr.variants == nil || sr.run.axis(variantAxis) == nil {
		return nil
	}
	all := map[string]bool{}
	for _, v := range sr.variants.rows {
		for _, e := range of(v) {
			all[e.name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// followVariants returns a setting with values by variant, and otherwise those of own; nil: none.
func (r *Run) followVariants(s Setting, own *Setting, contents map[string]any) *Setting {
	axis := r.axisIndex(variantAxis)
	s.Axes, s.contents = []int{axis}, contents
	if own == nil {
		own = &Setting{Name: s.Name, Option: s.Option, Env: s.Env, run: r}
	}
	s.Axes = append(s.Axes, own.Axes...)
	slices.Sort(s.Axes)
	s.Axes = slices.Compact(s.Axes)
	s.otherwise, s.item, s.given = own, slices.Index(s.Axes, axis), own.given
	return &s
}

// variantLacks explains that a variant lacks a value that others have.
func (s *Setting) variantLacks(at []AxisValue, diags hcl.Diagnostics) {
	for _, d := range diags {
		if d.Summary != "Unsupported attribute" {
			continue
		}
		for i, a := range s.Axes {
			if s.run.Axes[a].Name == variantAxis && strings.Contains(d.Detail, "attribute named") {
				d.Summary, d.Detail = "Missing value",
					fmt.Sprintf("Variant %s does not have this value.", quote(at[i].Text))
				d.Extra = Hint("Give it to each variant that the run sweeps.")
			}
		}
	}
}
