package dsl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl/grammar"
	"weir/suggest"
)

// variablesOfVariants gives variables the values that variants set, converted and validated as
// those from outside are.
func (l *loader) variablesOfVariants(v *variants) {
	v.set, v.changed = map[string]bool{}, map[string]cty.Value{}
	for _, r := range v.rows {
		for _, e := range r.vars {
			v.set[e.name] = true
		}
	}
	for _, r := range v.rows {
		l.changedVariables(r)
		all := maps.Clone(l.eval.variables)
		for name, changed := range r.variables {
			all[name] = changed.value
		}
		v.changed[r.name] = cty.ObjectVal(all)
	}
	unknown := maps.Clone(l.eval.variables)
	for name := range v.set {
		if value, ok := unknown[name]; ok {
			unknown[name] = cty.UnknownVal(value.Type())
		}
	}
	v.unknown = cty.ObjectVal(unknown)
	for _, r := range v.rows {
		l.validVariables(r)
	}
}

// changedVariables reads the variables that a variant sets.
func (l *loader) changedVariables(r *variant) {
	r.variables = map[string]*declared{}
	for _, e := range r.vars {
		i := slices.IndexFunc(l.declared, func(d *declared) bool { return d.Name == e.name })
		if i < 0 {
			l.error(e.at, "Unknown variable", fmt.Sprintf("The scenario declares no variable %s, which variant %s sets.",
				quote(e.name), quote(r.name)),
				suggest.Sentence(e.name, slices.Sorted(maps.Keys(l.eval.variables)), "variables")+
					" A value beside vars is of the variant alone, as ${variant."+e.name+"}.")
			continue
		}
		r.variables[e.name] = l.changedVariable(l.declared[i], e)
	}
}

// changedVariable is a variable with the value of a variant.
func (l *loader) changedVariable(of *declared, e entry) *declared {
	v := of.placed(e.expr.Range())
	v.value = cty.DynamicVal
	switch later := len(runValues(e.expr)) > 0; {
	case later && (v.Type != "string" || len(v.validation) > 0):
		l.error(v.at, "Value of a run", fmt.Sprintf("Variable %q cannot be checked before the run is decided.", v.Name),
			"Write the value beside vars, and ${variant.NAME} for it; or give the variable no type and no validation.")
	case later:
		v.value = l.valueWithRuns(e.expr)
	default:
		l.fromFile(v, e.expr, "the value")
	}
	return v
}

// validVariables holds variables to their validations as they are in a variant.
func (l *loader) validVariables(r *variant) {
	if len(r.vars) == 0 {
		return
	}
	defer l.eval.as(r)()
	for _, of := range l.declared {
		v := r.variables[of.Name]
		if v == nil {
			v = of.placed(r.vars[0].at)
		}
		if !v.value.IsWhollyKnown() || !l.eval.variables[of.Name].IsWhollyKnown() {
			continue // which has been reported
		}
		for _, p := range v.validation {
			if l.complete(p, grammar.Validation, "a validation") && !l.validation(v, p) {
				break
			}
		}
	}
}

// placed is the variable with its value given at another place of the file.
func (v *declared) placed(at hcl.Range) *declared {
	of := *v.Variable
	return &declared{Variable: &of, validation: v.validation, value: v.value, at: at}
}

// as has variables the values of a variant until the function that it gives is called.
func (e *evaluator) as(r *variant) (done func()) {
	e.row = r
	return func() { e.row = nil }
}

// textOf reads a text of a variant, in which variables are as it has them.
func (l *loader) textOf(r *variant, expr hcl.Expression, what string) (string, bool) {
	defer l.eval.as(r)()
	return l.text(expr, what)
}

// variablesAt are the variables as one value, at values of axes.
func (e *evaluator) variablesAt(axes map[string]cty.Value) cty.Value {
	name, swept := axes[variantAxis]
	if e.row != nil {
		name, swept = cty.StringVal(e.row.name), true
	}
	switch {
	case e.object == cty.NilVal:
		return cty.EmptyObjectVal // while the variables themselves are read
	case !swept || e.variants == nil || e.variants.changed == nil:
		return e.object
	case !name.IsKnown():
		return e.variants.unknown
	}
	text, _ := plainText(name)
	if changed, ok := e.variants.changed[text]; ok {
		return changed
	}
	return e.object // which is reported where the axis stands
}

// follows says whether an expression mentions a variable that variants set.
func (e *evaluator) follows(expr hcl.Expression) bool { return e.followed(expr) != nil }

// followed is the first mention of a variable that variants set; nil: there is none.
func (e *evaluator) followed(expr hcl.Expression) hcl.Traversal {
	if e.variants == nil {
		return nil
	}
	for _, t := range expr.Variables() {
		words, ok := path(t[:min(len(t), 2)])
		if ok && len(words) == 2 && words[0] == "var" && e.variants.set[words[1]] {
			return t
		}
	}
	return nil
}

// noFollowing reports a variable that variants set, in a text that is the same for all of them. In a
// run it waits until it is known whether the run sweeps variants.
func (l *loader) noFollowing(expr hcl.Expression) {
	t := l.eval.followed(expr)
	if t == nil || l.eval.row != nil {
		return
	}
	words, _ := path(t[:2])
	d := diagnostic(t.SourceRange(), "Variable of variants",
		fmt.Sprintf("Variants set var.%s, and this text is one for all of them.", words[1]),
		"Options, env and services of a run that sweeps variant follow it. Write the value here, or use a variable "+
			`that no variant sets; an assertion for one variant ends with where variant == "NAME".`)
	if l.within != nil {
		l.waiting = append(l.waiting, d)
	} else {
		l.diags = append(l.diags, d)
	}
}

// reading notes that a run is read, until the function that it gives is called.
func (l *loader) reading(r *Run) (done func()) {
	l.within = r
	return func() {
		if r.axis(variantAxis) != nil {
			l.diags = append(l.diags, l.waiting...)
		}
		l.within, l.waiting = nil, nil
	}
}
