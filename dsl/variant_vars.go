// Variables that variants set.

package dsl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/suggest"
)

// setVariables gives variables the values that variants set, converted and validated like values
// from outside.
func (vr *variantReader) setVariables() {
	v := vr.table
	v.set, v.changed = map[string]bool{}, map[string]cty.Value{}
	for _, r := range v.rows {
		for _, e := range r.vars {
			v.set[e.name] = true
		}
	}
	for _, r := range v.rows {
		vr.variables(r)
		all := maps.Clone(vr.eval.variables)
		for name, changed := range r.variables {
			all[name] = changed.value
		}
		v.changed[r.name] = cty.ObjectVal(all)
	}
	unknown := maps.Clone(vr.eval.variables)
	for name := range v.set {
		if value, ok := unknown[name]; ok {
			unknown[name] = cty.UnknownVal(value.Type())
		}
	}
	v.unknown = cty.ObjectVal(unknown)
	for _, r := range v.rows {
		vr.validate(r)
	}
}

// variables reads the variables that a variant sets.
func (vr *variantReader) variables(r *variant) {
	r.variables = map[string]*declared{}
	for _, e := range r.vars {
		i := slices.IndexFunc(vr.declared, func(d *declared) bool { return d.Name == e.name })
		if i < 0 {
			vr.error(
				e.at,
				"Unknown variable",
				fmt.Sprintf("The scenario declares no variable %s, but variant %s sets it.",
					quote(e.name), quote(r.name)),
				suggest.Sentence(e.name, slices.Sorted(maps.Keys(vr.eval.variables)), "variables")+
					" Outside of vars it is a value of the variant, as ${variant."+e.name+"}.",
			)
			continue
		}
		r.variables[e.name] = vr.variable(vr.declared[i], e)
	}
}

// variable returns the variable with the value of a variant.
func (vr *variantReader) variable(of *declared, e entry) *declared {
	v := of.withPlace(e.expr.Range())
	v.value = cty.DynamicVal
	switch later := len(runValues(e.expr)) > 0; {
	case later && (v.Type != "string" || len(v.validation) > 0):
		vr.error(v.at, "Value of a run",
			fmt.Sprintf("Variable %q cannot be checked before the run has a result.", v.Name),
			"Write the value outside of vars, and use ${variant.NAME}. Or remove type and validation of the variable.")
	case later:
		v.value = vr.valueWithRuns(e.expr)
	default:
		vr.fromFile(v, e.expr, "the value")
	}
	return v
}

// validate checks variables with the values of a variant.
func (vr *variantReader) validate(r *variant) {
	if len(r.vars) == 0 {
		return
	}
	defer vr.eval.withVariant(r)()
	for _, of := range vr.declared {
		v := r.variables[of.Name]
		if v == nil {
			v = of.withPlace(r.vars[0].at)
		}
		if !v.value.IsWhollyKnown() || !vr.eval.variables[of.Name].IsWhollyKnown() {
			continue // reported
		}
		for _, p := range v.validation {
			if vr.complete(p, grammar.Validation, "a validation") && !vr.validation(v, p) {
				break
			}
		}
	}
}

// withPlace returns the variable with its value at another place of the file.
func (v *declared) withPlace(at hcl.Range) *declared {
	of := *v.Variable
	return &declared{Variable: &of, validation: v.validation, value: v.value, at: at}
}

// withVariant gives variables the values of a variant until done is called.
func (e *evaluator) withVariant(r *variant) (done func()) {
	e.row = r
	return func() { e.row = nil }
}

// textOf reads a text of a variant, with the variables that the variant sets.
func (l *loader) textOf(r *variant, expr hcl.Expression, what string) (string, bool) {
	defer l.eval.withVariant(r)()
	return l.text(expr, what)
}

// variablesAt returns the variables as one value, at values of axes.
func (e *evaluator) variablesAt(axes map[string]cty.Value) cty.Value {
	name, swept := axes[variantAxis]
	if e.row != nil {
		name, swept = cty.StringVal(e.row.name), true
	}
	switch {
	case e.object == cty.NilVal:
		return cty.EmptyObjectVal // the variables themselves are being read
	case !swept || e.variants == nil || e.variants.changed == nil:
		return e.object
	case !name.IsKnown():
		return e.variants.unknown
	}
	text, _ := plainText(name)
	if changed, ok := e.variants.changed[text]; ok {
		return changed
	}
	return e.object // reported at the axis
}

// usesVariantVariable reports whether an expression uses a variable that variants set.
func (e *evaluator) usesVariantVariable(expr hcl.Expression) bool {
	return e.firstVariantVariable(expr) != nil
}

// firstVariantVariable returns the first use of a variable that variants set; nil if there is none.
func (e *evaluator) firstVariantVariable(expr hcl.Expression) hcl.Traversal {
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

// refuseVariantVariables reports a variable that variants set in a text that is the same for all of them.
// Within a run the error waits until it is known whether the run sweeps variants.
func (l *loader) refuseVariantVariables(expr hcl.Expression) {
	t := l.eval.firstVariantVariable(expr)
	if t == nil || l.eval.row != nil {
		return
	}
	words, _ := path(t[:2])
	d := diagnostic(t.SourceRange(), "Variable of variants",
		fmt.Sprintf("Variants set var.%s, but this text is the same for all variants.", words[1]),
		"Only options, env and services of a run that sweeps variant can use it. Write the value here, or use a variable "+
			`that no variant sets. To limit an assertion to one variant, append: where variant == "NAME".`)
	if l.within != nil {
		l.waiting = append(l.waiting, d)
	} else {
		l.diags = append(l.diags, d)
	}
}

// beginRun records that a run is being read, until done is called.
func (l *loader) beginRun(r *Run) (done func()) {
	l.within = r
	return func() {
		if r.axis(variantAxis) != nil {
			l.diags = append(l.diags, l.waiting...)
		}
		l.within, l.waiting = nil, nil
	}
}
