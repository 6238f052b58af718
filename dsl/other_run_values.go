// Values of runs, run("NAME", CONDITION).METRIC, in expressions.

package dsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
)

// RunValue is run("NAME", CONDITION).METRIC in a text of a run: a number that is known when the
// other run is decided.
type RunValue struct {
	Run    string
	Where  *Condition // nil: the one case at the same values of shared axes
	Metric string
	Range  hcl.Range

	where string // the text of Where
}

// runFunction is the word that such a value begins with.
const runFunction = "run"

// runValues returns the values that an expression mentions.
func runValues(expr hcl.Expression) (all []*RunValue) {
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		for _, item := range items {
			all = append(all, runValues(item)...)
		}
		return all
	}
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		for _, p := range pairs {
			all = append(all, runValues(p.Value)...)
		}
		return all
	}
	node := nodeOf(expr)
	if node == nil {
		return nil
	}
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if t, ok := n.(*hclsyntax.RelativeTraversalExpr); ok {
			if v := runValue(t, expr.Range()); v != nil {
				all = append(all, v)
			}
		}
		return nil
	})
	return all
}

func runValue(t *hclsyntax.RelativeTraversalExpr, at hcl.Range) *RunValue {
	call, ok := t.Source.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != runFunction || len(call.Args) < 1 || len(call.Args) > 2 {
		return nil
	}
	words, ok := path(t.Traversal)
	var args []string
	for _, arg := range call.Args {
		v, diags := arg.Value(nil)
		text, plain := plainText(v)
		ok = ok && !diags.HasErrors() && plain
		args = append(args, text)
	}
	if !ok {
		return nil
	}
	v := &RunValue{Run: args[0], Metric: strings.Join(words, "."), Range: at}
	if len(args) > 1 {
		v.where = args[1]
	}
	return v
}

// formatRunValue formats such a value for plans.
func formatRunValue(run, where, metric string) string {
	if where != "" {
		where = ", " + where
	}
	return fmt.Sprintf("%s(%q%s).%s", runFunction, run, where, metric)
}

// runFunctionOf returns function run for an expression: its result is an object with the metrics
// that the expression mentions, with values from leaf.
func runFunctionOf(all []*RunValue, leaf func(*RunValue) cty.Value) function.Function {
	return function.New(&function.Spec{
		Description: "a metric of a run that is decided earlier",
		Params:      []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam:    &function.Parameter{Name: "condition", Type: cty.String},
		Type:        func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			where := ""
			if len(args) > 1 {
				where = args[1].AsString()
			}
			tree := map[string]any{}
			for _, v := range all {
				if v.Run == args[0].AsString() && v.where == where {
					setLeaf(tree, strings.Split(v.Metric, "."), leaf(v))
				}
			}
			return objectOf(tree), nil
		},
	})
}

// withUnknownRuns makes function run return unknown numbers.
func withUnknownRuns(expr hcl.Expression, ctx *hcl.EvalContext) *hcl.EvalContext {
	if all := runValues(expr); len(all) > 0 {
		unknown := func(*RunValue) cty.Value { return cty.UnknownVal(cty.Number) }
		ctx.Functions = withRuns(ctx.Functions, runFunctionOf(all, unknown))
	}
	return ctx
}

// setLeaf sets a leaf of a tree of mappings. If metrics are called a and a.b, the first one mentioned
// stays.
func setLeaf(tree map[string]any, words []string, leaf cty.Value) {
	for _, w := range words[:len(words)-1] {
		if tree[w] == nil {
			tree[w] = map[string]any{}
		}
		inner, ok := tree[w].(map[string]any)
		if !ok {
			return
		}
		tree = inner
	}
	tree[words[len(words)-1]] = leaf
}

// withRuns adds function run to the functions.
func withRuns(functions map[string]function.Function, run function.Function) map[string]function.Function {
	out := maps.Clone(functions)
	out[runFunction] = run
	return out
}

// valueWithRuns evaluates a value of a variant, which may use values of runs.
func (l *loader) valueWithRuns(expr hcl.Expression) cty.Value {
	if len(runValues(expr)) == 0 {
		return l.value(expr)
	}
	_, diags := l.eval.references(expr, nil, nil)
	if !diags.HasErrors() && !l.deadlineExceeded(expr.Range()) {
		l.refuseVariantVariables(expr)
		ctx := withUnknownRuns(expr, l.eval.context(expr, nil, nil))
		var text string
		if text, diags = (&valueWriter{marks: true, at: expr.Range(), ctx: ctx}).text(expr); !diags.HasErrors() {
			return cty.StringVal(text)
		}
	}
	l.diags = append(l.diags, explain(diags)...)
	return cty.DynamicVal
}

// recordRunValues records the values of runs that a setting uses, and needs their runs.
func (l *loader) recordRunValues(s *Setting) {
	all := runValues(s.expr)
	if l.variants != nil && slices.Contains(l.eval.axesOf(s.expr, s.run), variantAxis) {
		all = append(all, l.variants.runValues...)
	}
	for _, v := range all {
		s.run.Values = append(s.run.Values, v)
		if s.run.need(v.Run) == nil {
			s.run.Needs = append(s.run.Needs, &Need{Run: v.Run, On: onSuccess, Range: v.Range})
		}
	}
}

// checkRunValues checks that the runs measure the values used.
func (l *loader) checkRunValues(own []*Run, names map[string]*expression.Names) {
	for _, r := range own {
		for _, a := range r.unused {
			if !slices.ContainsFunc(r.Values, func(v *RunValue) bool { return names[v.Run].HasAxis(a.Name) }) {
				l.settingsOf(r).reportUnusedAxis(a)
			}
		}
		for _, v := range r.Values {
			other := names[v.Run]
			if other == nil {
				continue // reported with needs
			}
			measured := other.Metrics
			if measured == nil {
				measured = other.Kind.Metrics
			}
			if _, ok := workload.FindMetric(measured, v.Metric); !ok {
				var known []string
				for _, m := range measured {
					known = append(known, m.Name)
				}
				l.error(v.Range, "Unknown metric", fmt.Sprintf("Run %q has no metric %q.", v.Run, v.Metric),
					suggest.Sentence(v.Metric, known, "metrics"))
			}
			if v.where == "" {
				continue
			}
			var err *expression.Error
			if v.Where, err = other.Where(v.where); err != nil {
				l.error(v.Range, "Invalid condition", sentence(err.Message), err.Hint)
			}
		}
	}
}
