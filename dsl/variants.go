package dsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl/expression"
	"weir/suggest"
)

// variantAxis is the axis whose values are the names of variants, and the root of the names
// of their values.
const variantAxis = expression.VariantAxis

// variants are the rows of a table.
type variants struct {
	baseline string // "": the file names none
	rows     []*variant
	objects  map[string]cty.Value // by name of the variant
	changed  map[string]cty.Value // the variables that rows set, as one value, by name of the variant
	unknown  cty.Value            // the variables where it is not known which variant there is
	set      map[string]bool      // names of the variables that rows set
	// runValues are those that values of the rows mention.
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
	variables          map[string]*declared // those that it sets
}

// The keys of a variant that are no values.
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

// BaselineVariant is the variant that others of the run are held against; "": the file names
// none, or the run does not sweep it.
func (r *Run) BaselineVariant() string {
	a := r.axis(variantAxis)
	if a == nil || r.eval.variants == nil {
		return ""
	}
	name := r.eval.variants.baseline
	if !slices.ContainsFunc(a.Values, func(v AxisValue) bool { return v.Text == name }) {
		return ""
	}
	return name
}

// names are those of the values that any variant has.
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

// at has the values of the variant of a name; unknown ones while the name is not known.
func (v *variants) at(name cty.Value) cty.Value {
	if text, ok := plainText(name); ok && v != nil {
		if object, ok := v.objects[text]; ok {
			return object
		}
	}
	return cty.DynamicVal // which is reported where the axis stands
}

// checkVariants reports values of axis variant that are no variants of the file.
func (l *loader) checkVariants(r *Run) {
	a := r.axis(variantAxis)
	if a == nil || l.variants == nil {
		return
	}
	for _, v := range a.Values {
		if l.variants.row(v.Text) == nil {
			l.error(v.Range, "Unknown variant", fmt.Sprintf("There is no variant %s.", quote(v.Text)),
				suggest.Sentence(v.Text, l.variants.rowNames(), "variants"))
		}
	}
}

// optionsOfVariants has options of a run follow the variant where variants set them. What no
// variant says is as the run has it.
func (l *loader) optionsOfVariants(r *Run, byName map[string]*Setting, used map[string]bool) {
	for _, name := range l.setByVariants(r, func(v *variant) []entry { return v.options }) {
		o, ok := r.Workload.Option(name)
		switch {
		case !ok:
			continue // it is of the runs of another workload
		case r.axis(name) != nil:
			l.error(r.axis(name).Range, "Option of variants and axis",
				fmt.Sprintf("Option %q is set by variants too.", name), "Keep one of the two.")
			continue
		}
		own := byName[name]
		if own == nil && o.Default != nil {
			own = usual(o, r, byName)
		}
		contents := map[string]any{}
		for _, v := range l.variants.rows {
			for _, e := range v.options {
				if e.name != name {
					continue
				}
				text, ok := l.textOf(v, e.expr, "option "+name)
				if !ok {
					continue
				}
				value, err := o.Parse(text)
				if err != nil {
					l.error(e.expr.Range(), "Invalid value", fmt.Sprintf("Option %s: %v.", name, err),
						valueHint(o, text))
					continue
				}
				contents[v.name] = value
			}
		}
		byName[name] = r.followVariants(Setting{Name: name, Option: o, run: r}, own, contents)
		used[variantAxis] = true
	}
}

// envOfVariants has variables of a run follow the variant where variants set them.
func (l *loader) envOfVariants(r *Run, env []*Setting, used map[string]bool) []*Setting {
	for _, name := range l.setByVariants(r, func(v *variant) []entry { return v.env }) {
		contents := map[string]any{}
		for _, v := range l.variants.rows {
			for _, e := range v.env {
				if e.name != name || !l.variableName(e) {
					continue
				}
				if text, ok := l.textOf(v, e.expr, name); ok {
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
		env = append(env, r.followVariants(Setting{Name: name, Env: true, run: r}, own, contents))
		used[variantAxis] = true
	}
	return env
}

// setByVariants are the names that some variant has, of a run that sweeps variants.
func (l *loader) setByVariants(r *Run, of func(*variant) []entry) []string {
	if l.variants == nil || r.axis(variantAxis) == nil {
		return nil
	}
	all := map[string]bool{}
	for _, v := range l.variants.rows {
		for _, e := range of(v) {
			all[e.name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// followVariants is a setting with values by variant, and otherwise those of own; nil: none.
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
				d.Summary, d.Detail = "Missing value", fmt.Sprintf("Variant %s does not have it.", quote(at[i].Text))
				d.Extra = Hint("Give it to each variant that the run sweeps.")
			}
		}
	}
}
