// Evaluation of expressions, and lists and texts read from them.

package dsl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/weir-bench/weir/internal/suggest"
)

// evaluator evaluates expressions with variables, the axes of a point, and environment variables.
type evaluator struct {
	variables map[string]cty.Value
	env       func(string) (string, bool)
	functions map[string]function.Function
	object    cty.Value // the variables as one value, cached
	variants  *variants // nil: none
	row       *variant  // the variant with the texts being read; nil if none
}

func (e *evaluator) setVariables(values map[string]cty.Value) {
	e.variables, e.object = values, cty.ObjectVal(values)
}

// references checks every name in an expression before evaluation, so that errors use the
// language's own terms. axes is nil where no point exists yet; launchNames are the names of a launch that
// the expression may use. onPoint reports whether the value depends on the point.
func (e *evaluator) references(expr hcl.Expression, axes, launchNames []string) (onPoint bool, diags hcl.Diagnostics) {
	for _, t := range expr.Variables() {
		at := t.SourceRange()
		root := t.RootName()
		var name string
		if len(t) > 1 {
			switch step := t[1].(type) {
			case hcl.TraverseAttr:
				name = step.Name
			case hcl.TraverseIndex:
				if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
					name = step.Key.AsString()
				}
			}
		}
		fail := func(detail, hint string) {
			diags = append(diags, diagnostic(at, "Unknown name", detail, hint))
		}
		switch {
		case isLaunchRoot(root, launchNames):
			if words, ok := path(t); !ok || !isLaunchName(words, launchNames) {
				fail(fmt.Sprintf("There is no %s.", quote(strings.Join(words, "."))),
					"Names with values known only when a launch runs are "+launchNamesHint(launchNames)+".")
			}
		case root != "var" && root != "env" && root != "axis" && root != variantAxis:
			known := "var.NAME, axis.NAME and env.NAME"
			if len(launchNames) > 0 {
				known = "var.NAME, axis.NAME, env.NAME, " + launchNamesHint(launchNames)
			}
			fail(fmt.Sprintf("There is no %s here.", quote(root)),
				fmt.Sprintf("For a text, write %s in quotes. Expressions can use %s.", quote(root), known))
		case name == "":
			fail(fmt.Sprintf("%s is not a value by itself.", quote(root)), fmt.Sprintf("Write %s.NAME.", root))
		case root == "var" && e.variables == nil:
			fail("A default cannot use other variables.", "Write its value, or use env.NAME.")
		case root == "var":
			if _, ok := e.variables[name]; !ok {
				fail(fmt.Sprintf("The scenario has no variable %s.", quote(name)),
					suggest.Sentence(name, slices.Sorted(maps.Keys(e.variables)), "variables"))
			}
		case root == "env":
			if _, ok := e.env(name); !ok {
				fail(fmt.Sprintf("The environment variable %s is not set.", name),
					fmt.Sprintf("Set it before weir starts (export %s=…), or use a variable of the scenario with a default.",
						name))
			}
		case root == variantAxis && (axes == nil || !slices.Contains(axes, variantAxis)):
			fail(fmt.Sprintf("variant.%s has no value here.", name),
				"Values of variants can be used in the options, env and services of a run that sweeps axis variant.")
		case root == variantAxis:
			onPoint = true
			if known := e.variants.names(); !slices.Contains(known, name) {
				fail(fmt.Sprintf("No variant has %s.", quote(name)),
					suggest.Sentence(name, known, "values of variants"))
			}
		case axes == nil:
			fail(fmt.Sprintf("axis.%s has no value here.", name),
				"Axes can be used in the options and env of a run that sweeps them.")
		case !slices.Contains(axes, name):
			fail(fmt.Sprintf("The run has no axis %s.", quote(name)), suggest.Sentence(name, axes, "axes"))
		default:
			onPoint = true
		}
	}
	return onPoint || slices.Contains(axes, variantAxis) && e.usesVariantVariable(expr), diags
}

// context returns the evaluation context of an expression with checked references.
func (e *evaluator) context(expr hcl.Expression, axes map[string]cty.Value, launchNames []string) *hcl.EvalContext {
	env := map[string]cty.Value{}
	for _, t := range expr.Variables() {
		if t.RootName() != "env" || len(t) < 2 {
			continue
		}
		var name string
		switch step := t[1].(type) {
		case hcl.TraverseAttr:
			name = step.Name
		case hcl.TraverseIndex:
			name = step.Key.AsString()
		}
		if v, ok := e.env(name); ok {
			env[name] = cty.StringVal(v)
		}
	}
	all := map[string]cty.Value{"var": e.variablesAt(axes), "axis": cty.ObjectVal(axes), "env": cty.ObjectVal(env)}
	if at, ok := axes[variantAxis]; ok {
		all[variantAxis] = e.variants.at(at)
	}
	if len(launchNames) > 0 {
		launchNameValues(expr, launchNames, all)
	}
	return &hcl.EvalContext{Variables: all, Functions: e.functions}
}

// value evaluates an expression that does not depend on a point. On failure it reports the error
// and returns an unknown value.
func (l *loader) value(expr hcl.Expression) cty.Value {
	_, diags := l.eval.references(expr, nil, nil)
	if !diags.HasErrors() && !l.deadlineExceeded(expr.Range()) {
		var v cty.Value
		l.refuseVariantVariables(expr)
		if v, diags = expr.Value(l.eval.context(expr, nil, nil)); !diags.HasErrors() {
			return v
		}
	}
	l.diags = append(l.diags, explain(diags)...)
	return cty.DynamicVal
}

// explain adds a hint to diagnostics of hcl that have none.
func explain(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Extra == nil && d.Summary == "Invalid operand" {
			d.Extra = Hint(`A quantity becomes a number by size("64MiB"), rate("46 GB/s") or time("5us").`)
		}
		if call, ok := d.Extra.(hclsyntax.FunctionCallDiagExtra); ok && errors.Is(call.FunctionCallError(), errSecret) {
			d.Summary, d.Detail = "Misplaced secret", sentence(errSecret.Error())
			d.Extra = Hint(`Write it alone, as NAME: ${secret("NAME")} or NAME = secret("NAME"), in env of a run, of the defaults or of ` +
				`a command. Roles and services of a run have the variables of its env.`)
		}
		if call, ok := d.Extra.(hclsyntax.FunctionCallUnknownDiagExtra); ok {
			name := call.CalledFunctionName()
			if name == runFunction {
				d.Summary = "Value of a run"
				d.Detail = "A value of a run cannot be used here, or .METRIC is missing after run(…)."
				d.Extra = Hint(runValuesHint)
				continue
			}
			d.Detail = fmt.Sprintf("There is no function %q.", name)
			d.Extra = Hint(suggest.Documented(name, slices.Sorted(maps.Keys(functions)), "functions",
				"weir docs functions"))
		}
	}
	return diags
}

// nullHint explains a key without a value.
const nullHint = `Write a value. Inside braces a comma begins the next key: quote a text that has one, as "a,b".`

// text reads a value as raw text. It reports an error and returns false if the value has no text.
func (d *decoder) text(expr hcl.Expression, what string) (string, bool) {
	v := d.evaluate(expr)
	if !v.IsWhollyKnown() {
		return "", false
	}
	s, problem := scalarText(v)
	if problem != "" {
		hint := ""
		if v.IsNull() {
			hint = nullHint
		}
		d.error(expr.Range(), "Invalid value", what+" "+problem+".", hint)
		return "", false
	}
	return s, true
}

// item is one value of a list.
type item struct {
	text string
	at   hcl.Range
	null bool
}

// list reads a list of texts. ok is false if the expression is not a list. Wrong items are reported
// and left out; whole is false then.
func (d *decoder) list(expr hcl.Expression, what string) (items []item, ok, whole bool) {
	return d.listOf(expr, what, false)
}

// listOf is list; with nullable, items may be null.
func (d *decoder) listOf(expr hcl.Expression, what string, nullable bool) (items []item, ok, whole bool) {
	if exprs, diags := hcl.ExprList(expr); !diags.HasErrors() {
		for _, e := range exprs {
			if i, ok := d.itemOf(e, "an item of "+what, nullable); ok {
				items = append(items, i)
			}
		}
		return items, true, len(items) == len(exprs)
	}
	v := d.evaluate(expr)
	if !v.IsWhollyKnown() {
		return nil, true, false
	}
	if v.IsNull() || !v.CanIterateElements() || v.Type().IsObjectType() || v.Type().IsMapType() {
		return nil, false, false
	}
	whole = true
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if nullable && e.IsNull() {
			items = append(items, item{text: nullText, at: expr.Range(), null: true})
			continue
		}
		s, problem := scalarText(e)
		if problem != "" {
			d.error(expr.Range(), "Invalid value", "an item of "+what+" "+problem+".", "")
			whole = false
			continue
		}
		items = append(items, item{text: s, at: expr.Range()})
	}
	return items, true, whole
}

// nullText is the text of a value that leaves an environment variable unset.
const nullText = "null"

// itemOf reads one value; with nullable, it may be null.
func (d *decoder) itemOf(expr hcl.Expression, what string, nullable bool) (item, bool) {
	if nullable {
		if v, diags := expr.Value(nil); !diags.HasErrors() && v.IsNull() {
			return item{text: nullText, at: expr.Range(), null: true}, true
		}
	}
	text, ok := d.text(expr, what)
	return item{text: text, at: expr.Range()}, ok
}
