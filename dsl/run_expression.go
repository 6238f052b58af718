// Expressions over values of runs, in the form that plans have.

package dsl

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/internal/placeholder"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// withValues converts an expression over values of runs to a text of package placeholder. A name in
// it is an expression over these values, in which everything else is constant.
func withValues(expr hcl.Expression, ctx *hcl.EvalContext, launchNames []string) (string, hcl.Diagnostics) {
	return (&valueWriter{at: expr.Range(), ctx: ctx, launchNames: launchNames}).text(expr)
}

// valueWriter writes expressions in the form of plans.
type valueWriter struct {
	marks       bool // texts of variants have marked names, and are not quoted
	at          hcl.Range
	ctx         *hcl.EvalContext // with function run, which returns unknown numbers
	launchNames []string
	diags       hcl.Diagnostics
}

// text converts an expression to a text of package placeholder.
func (w *valueWriter) text(expr hcl.Expression) (string, hcl.Diagnostics) {
	var node hclsyntax.Expression
	if t, isText := expr.(interface{ Template() hclsyntax.Expression }); isText {
		node = t.Template()
	} else {
		node, _ = expr.(hclsyntax.Expression)
	}
	var out strings.Builder
	switch node := node.(type) {
	case *hclsyntax.TemplateExpr:
		for _, part := range node.Parts {
			out.WriteString(w.part(part))
		}
	case *hclsyntax.TemplateWrapExpr:
		out.WriteString(w.part(node.Wrapped))
	default:
		out.WriteString(w.part(node))
	}
	return out.String(), w.diags
}

func (w *valueWriter) fail(detail, hint string) string {
	if !w.diags.HasErrors() {
		w.diags = append(w.diags, diagnostic(w.at, "Invalid value", detail, hint))
	}
	return ""
}

// value evaluates a node. It returns false if evaluation fails; the value may be unknown.
func (w *valueWriter) value(n hclsyntax.Expression) (cty.Value, bool) {
	v, diags := n.Value(w.ctx)
	if diags.HasErrors() && !w.diags.HasErrors() {
		for _, d := range diags {
			d.Subject = &w.at
		}
		w.diags = append(w.diags, explain(diags)...)
	}
	return v, !diags.HasErrors()
}

// part converts a part of a template.
func (w *valueWriter) part(n hclsyntax.Expression) string {
	v, ok := w.value(n)
	if !ok {
		return ""
	}
	if len(runValues(n)) == 0 {
		text, problem := scalarText(v)
		if problem != "" {
			return w.fail("A part of it "+problem+".", "")
		}
		if w.marks {
			return text
		}
		if text, ok = placeholders(text, w.launchNames); !ok {
			return w.fail("A function changes a name that has a value only when a launch runs.",
				"Use "+launchNamesHint(w.launchNames)+" as they are.")
		}
		return text
	}
	if t := v.Type(); t != cty.Number && t != cty.String && t != cty.DynamicPseudoType {
		return w.fail("An expression over values of runs is "+t.FriendlyName()+", not a number or a text.", "")
	}
	name := w.write(n)
	if strings.ContainsAny(name, "}\x00") {
		return w.fail("An expression over values of runs contains a } or a name of the launch.",
			"Write such a name in a ${…} of its own.")
	}
	if w.marks {
		return nameMark + name + nameMark
	}
	return placeholder.Of(name)
}

var operators = map[*hclsyntax.Operation]string{
	hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpMultiply: "*", hclsyntax.OpDivide: "/",
	hclsyntax.OpModulo: "%", hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=", hclsyntax.OpLessThan: "<",
	hclsyntax.OpLessThanOrEqual: "<=", hclsyntax.OpGreaterThan: ">", hclsyntax.OpGreaterThanOrEqual: ">=",
	hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalNot: "!", hclsyntax.OpNegate: "-",
}

// write returns the text of an expression over values of runs.
func (w *valueWriter) write(n hclsyntax.Expression) string {
	if len(runValues(n)) == 0 {
		return w.literal(n)
	}
	switch n := n.(type) {
	case *hclsyntax.BinaryOpExpr:
		side := w.write
		if n.Op.Type == cty.Number {
			side = w.operand
		}
		return side(n.LHS) + " " + operators[n.Op] + " " + side(n.RHS)
	case *hclsyntax.UnaryOpExpr:
		return operators[n.Op] + w.write(n.Val)
	case *hclsyntax.ParenthesesExpr:
		return "(" + w.write(n.Expression) + ")"
	case *hclsyntax.ConditionalExpr:
		return w.write(n.Condition) + " ? " + w.write(n.TrueResult) + " : " + w.write(n.FalseResult)
	case *hclsyntax.FunctionCallExpr:
		var args []string
		for _, arg := range n.Args {
			args = append(args, w.write(arg))
		}
		last := ""
		if n.ExpandFinal {
			last = "..."
		}
		return n.Name + "(" + strings.Join(args, ", ") + last + ")"
	case *hclsyntax.RelativeTraversalExpr:
		if v := runValue(n, w.at); v != nil {
			return v.String()
		}
	}
	return w.fail("A value of a run cannot be computed here, since it is known only later.",
		`Values of runs can be used in arithmetic, functions and conditions, as floor(0.8 * run("NAME").METRIC).`)
}

// operand omits the quotes of a text that is a number, as of variables without a type.
func (w *valueWriter) operand(n hclsyntax.Expression) string {
	text := w.write(n)
	plain, err := strconv.Unquote(text)
	if err == nil && plain != "" && strings.Trim(plain, "0123456789.") == "" {
		return plain
	}
	return text
}

// literal writes a constant.
func (w *valueWriter) literal(n hclsyntax.Expression) string {
	v, ok := w.value(n)
	if !ok {
		return ""
	}
	text, problem := scalarText(v)
	if problem != "" {
		return w.fail("A part of it "+problem+".", "")
	}
	if v.Type() == cty.String {
		return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(text))
	}
	return text
}

// ValueOfRuns computes an expression over values of runs in the form of plans. value returns the
// number for each value that the expression names.
func ValueOfRuns(name string, value func(*RunValue) (float64, error)) (string, error) {
	expr, diags := hclsyntax.ParseExpression([]byte(yamlsyntax.QuoteConditions(name)), "", hcl.InitialPos)
	if diags.HasErrors() {
		return "", fmt.Errorf("%s is not an expression over values of runs: %s", name, diags[0].Detail)
	}
	all := runValues(expr)
	numbers := map[*RunValue]cty.Value{}
	for _, v := range all {
		n, err := value(v)
		if err != nil {
			return "", err
		}
		if math.IsInf(n, 0) || math.IsNaN(n) {
			return "", fmt.Errorf("%s is %v, not a finite number", v, n)
		}
		// the decimal number that reports show, not the nearest binary one
		if numbers[v], err = cty.ParseNumberVal(strconv.FormatFloat(n, 'f', -1, 64)); err != nil {
			return "", fmt.Errorf("%s: %w", v, err)
		}
	}
	run := runFunctionOf(all, func(v *RunValue) cty.Value { return numbers[v] })
	v, diags := expr.Value(&hcl.EvalContext{Functions: withRuns(functions, run)})
	if diags.HasErrors() {
		return "", fmt.Errorf("%s: %s", name, diags[0].Detail)
	}
	text, problem := scalarText(v)
	if problem != "" {
		return "", fmt.Errorf("%s %s", name, problem)
	}
	return text, nil
}

// Condition selects the one case; nil: the values of shared axes do.
func (v *RunValue) Condition() (*Condition, error) {
	if v.where == "" {
		return nil, nil
	}
	return CompileCondition(v.where)
}

// String returns the value's name in plans.
func (v *RunValue) String() string { return formatRunValue(v.Run, v.where, v.Metric) }
