package dsl

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl/yamlsyntax"
	"weir/placeholder"
)

// withValues reads an expression that mentions values of runs as a text of package placeholder.
// A name in it is an expression over these values, in which all else is a plain value.
func withValues(expr hcl.Expression, ctx *hcl.EvalContext, late []string) (string, hcl.Diagnostics) {
	return (&valueWriter{at: expr.Range(), ctx: ctx, late: late}).text(expr)
}

// valueWriter writes expressions as plans have them.
type valueWriter struct {
	marks bool // texts of variants have marked names, and are not quoted
	at    hcl.Range
	ctx   *hcl.EvalContext // with function run, whose values are unknown numbers
	late  []string
	diags hcl.Diagnostics
}

// text is what an expression is in a text of package placeholder.
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

// value evaluates a node, and says whether there is a value, which may be unknown.
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

// part is what stands for a part of a template.
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
		if text, ok = placeholders(text, w.late); !ok {
			return w.fail("A function changes a name whose value is known only when a launch runs.",
				"Use "+lateNames(w.late)+" as they are.")
		}
		return text
	}
	if t := v.Type(); t != cty.Number && t != cty.String && t != cty.DynamicPseudoType {
		return w.fail("An expression over values of runs is "+t.FriendlyName()+", not a number or a text.", "")
	}
	name := w.write(n)
	if strings.ContainsAny(name, "}\x00") {
		return w.fail("An expression over values of runs has a } in it, or a name of the launch.",
			"Such a name stands in a ${…} of its own.")
	}
	if w.marks {
		return lateMark + name + lateMark
	}
	return placeholder.Of(name)
}

var operators = map[*hclsyntax.Operation]string{
	hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpMultiply: "*", hclsyntax.OpDivide: "/",
	hclsyntax.OpModulo: "%", hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=", hclsyntax.OpLessThan: "<",
	hclsyntax.OpLessThanOrEqual: "<=", hclsyntax.OpGreaterThan: ">", hclsyntax.OpGreaterThanOrEqual: ">=",
	hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalNot: "!", hclsyntax.OpNegate: "-",
}

// write is the text of an expression over values of runs.
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
	return w.fail("A value of a run stands where it cannot be computed later.",
		`Values of runs can be used in arithmetic, functions and conditions, as floor(0.8 * run("NAME").METRIC).`)
}

// operand is written without quotes where it is the text of a number, as variables without a type are.
func (w *valueWriter) operand(n hclsyntax.Expression) string {
	text := w.write(n)
	plain, err := strconv.Unquote(text)
	if err == nil && plain != "" && strings.Trim(plain, "0123456789.") == "" {
		return plain
	}
	return text
}

// literal is a value in an expression.
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

// ValueOfRuns computes an expression over values of runs as plans have it. value gives the number
// of each that it mentions.
func ValueOfRuns(name string, value func(*RunValue) (float64, error)) (string, error) {
	expr, diags := hclsyntax.ParseExpression([]byte(yamlsyntax.QuoteConditions(name)), "", hcl.InitialPos)
	if diags.HasErrors() {
		return "", fmt.Errorf("%s names no value of a run: %s", name, diags[0].Detail)
	}
	all := runValues(expr)
	numbers := map[*RunValue]cty.Value{}
	for _, v := range all {
		n, err := value(v)
		if err != nil {
			return "", err
		}
		if math.IsInf(n, 0) || math.IsNaN(n) {
			return "", fmt.Errorf("%s is %v, which is no number to go on with", v, n)
		}
		// exactly the decimal number that reports show, and not the nearest binary one
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

// Condition is what chooses the one case; nil: the values of shared axes do.
func (v *RunValue) Condition() (*Condition, error) {
	if v.where == "" {
		return nil, nil
	}
	return CompileCondition(v.where)
}

// String is the value as plans name it.
func (v *RunValue) String() string { return valueName(v.Run, v.where, v.Metric) }
