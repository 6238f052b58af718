package dsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl/suggest"
	"weir/quantity"
)

var variableTypes = []string{"string", "number", "bool", "list", "size", "rate", "bandwidth", "time", "percent"}

// variables reads the declarations and gives each its value: the one from
// outside, otherwise its default.
func (l *loader) variables(content *hcl.BodyContent, given map[string]string) []*Variable {
	var out []*Variable
	values := map[string]cty.Value{}
	for _, b := range content.Blocks {
		if b.Type != "variable" {
			continue
		}
		v, value := l.variable(b, given)
		if _, twice := values[v.Name]; twice {
			l.error(v.Range, "Duplicate variable", fmt.Sprintf("Variable %q was already declared.", v.Name), "Rename or remove one of the two.")
			continue
		}
		values[v.Name] = value
		out = append(out, v)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := values[name]; !ok {
			d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unknown variable", Detail: fmt.Sprintf("--var %s: the scenario declares no variable %q.", name, name)}
			d.Extra = advice(suggest.Sentence(name, slices.Sorted(maps.Keys(values)), "variables"))
			l.diags = append(l.diags, d)
		}
	}
	// Only now: defaults do not refer to one another.
	l.eval.variables = values
	return out
}

func (l *loader) variable(b *hcl.Block, given map[string]string) (*Variable, cty.Value) {
	v := &Variable{Name: b.Labels[0], Type: "string", Range: b.LabelRanges[0]}
	l.places.add(b.DefRange, "variable "+v.Name)
	if !identifier.MatchString(v.Name) {
		l.error(v.Range, "Invalid name", fmt.Sprintf("%q cannot be used as var.NAME.", v.Name), "Use letters, digits and _.")
	}
	content := l.content(b.Body, schema{attributes: []string{"type", "default", "description"}}, "a variable")
	if a, ok := content.Attributes["description"]; ok {
		v.Description, _ = l.text(a.Expr, "description")
	}
	if a, ok := content.Attributes["type"]; ok && !l.variableType(a.Expr, v) {
		return v, cty.DynamicVal
	}
	raw, fromOutside := given[v.Name]
	a, hasDefault := content.Attributes["default"]
	at := v.Range
	switch {
	case fromOutside && v.Type == "list":
		return v, listValue(v, splitList(raw))
	case fromOutside:
	case !hasDefault:
		l.error(v.Range, "Variable without value", fmt.Sprintf("Variable %q has no default.", v.Name), fmt.Sprintf("Give it one, or run with --var %s=….", v.Name))
		return v, cty.DynamicVal
	case v.Type == "list":
		items, ok, whole := l.list(a.Expr, "the default")
		if !ok {
			l.error(a.Expr.Range(), "Invalid value", fmt.Sprintf("Variable %q is a list.", v.Name), "Write [a, b].")
		}
		if !ok || !whole {
			return v, cty.DynamicVal
		}
		var texts []string
		for _, i := range items {
			texts = append(texts, i.text)
		}
		return v, listValue(v, texts)
	default:
		var ok bool
		if raw, ok = l.text(a.Expr, "the default of "+v.Name); !ok {
			return v, cty.DynamicVal
		}
		at = a.Expr.Range()
	}
	value, text, err := parseVariable(v.Type, raw)
	if err != nil {
		source := "The default"
		if fromOutside {
			source = fmt.Sprintf("--var %s=%s", v.Name, raw)
		}
		l.error(at, "Invalid value", fmt.Sprintf("%s does not fit type %s: %v.", source, v.Type, err), "")
		return v, cty.DynamicVal
	}
	v.Text = text
	return v, value
}

// variableType reads the type, which HCL authors may write as a bare word.
func (l *loader) variableType(expr hcl.Expression, v *Variable) bool {
	text := hcl.ExprAsKeyword(expr)
	if text == "" {
		var ok bool
		if text, ok = l.text(expr, "type"); !ok {
			return false
		}
	}
	if !slices.Contains(variableTypes, text) {
		l.error(expr.Range(), "Unknown type", fmt.Sprintf("There is no type %q.", text), suggest.Sentence(text, variableTypes, "types"))
		return false
	}
	v.Type = text
	return true
}

// parseVariable reads a value by its type. Quantities stay texts with their
// units; size(), rate() and time() make numbers of them.
func parseVariable(kind, raw string) (value cty.Value, canonical string, err error) {
	text := strings.TrimSpace(raw)
	dims := map[string]quantity.Dimension{"rate": quantity.RateDim, "bandwidth": quantity.RateDim, "time": quantity.TimeDim, "percent": quantity.Number}
	switch kind {
	case "string":
		return cty.StringVal(raw), raw, nil
	case "number":
		f, ok := parseNumber(strings.ReplaceAll(text, "_", ""))
		if !ok {
			return cty.NilVal, "", fmt.Errorf("%q is not a plain number", raw)
		}
		value = cty.NumberFloatVal(f)
		canonical, _ = scalarText(value)
		return value, canonical, nil
	case "bool":
		if text != "true" && text != "false" {
			return cty.NilVal, "", fmt.Errorf("%q is neither true nor false", raw)
		}
		return cty.BoolVal(text == "true"), text, nil
	case "size":
		n, err := quantity.ParseSize(text)
		return cty.StringVal(n.String()), n.String(), err
	}
	q, err := quantity.Parse(text)
	switch {
	case err != nil:
	case kind == "percent" && q.Unit != "%":
		err = fmt.Errorf("%q is not a percentage as 10%%", raw)
	case q.Dim != dims[kind]:
		err = fmt.Errorf("%q is a %s", raw, q.Dim)
	}
	return cty.StringVal(text), text, err
}

func splitList(raw string) []string {
	raw = strings.TrimSpace(raw)
	raw = strings.TrimSuffix(strings.TrimPrefix(raw, "["), "]")
	if raw == "" {
		return nil
	}
	parts := strings.Split(raw, ",")
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return parts
}

func listValue(v *Variable, texts []string) cty.Value {
	v.Text = "[" + strings.Join(texts, ", ") + "]"
	if len(texts) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	values := make([]cty.Value, len(texts))
	for i, t := range texts {
		values[i] = cty.StringVal(t)
	}
	return cty.ListVal(values)
}
