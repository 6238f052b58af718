// Variables: declarations and values.

package dsl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
)

// given is the value of a variable from outside of its file: the command line, or a file that
// includes it.
type given struct {
	name   string // as on the command line
	text   string
	items  []string
	isList bool
	by     *loader // of the including file; nil: the command line
	at     hcl.Range
}

// source names the origin of the value, for messages.
func (g *given) source() string {
	if g.inFile() {
		return fmt.Sprintf("%s = %s", g.name, g.text)
	}
	return fmt.Sprintf("--var %s=%s", g.name, g.text)
}

// inFile reports whether the value has a place: in an including file, or in one of --var-file.
func (g *given) inFile() bool { return g.at.Filename != "" }

// variables reads the declarations and their values: from outside, otherwise the default.
func (l *loader) variables(content *hcl.BodyContent, from map[string]*given) []*Variable {
	var all []*declared
	values := map[string]cty.Value{}
	for _, b := range content.Blocks {
		if b.Type != "variable" {
			continue
		}
		v := l.variable(b, from)
		if _, twice := values[v.Name]; twice {
			l.error(v.Range, "Duplicate variable", fmt.Sprintf("Variable %q was already declared.", v.Name),
				"Rename or remove one of the two.")
			continue
		}
		values[v.Name] = v.value
		all = append(all, v)
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if _, ok := values[name]; !ok {
			l.unknownVariable(from[name], name, slices.Sorted(maps.Keys(values)))
		}
	}
	// after all defaults, since they cannot refer to one another
	l.eval.setVariables(values)
	l.validate(all)
	l.declared = all
	var out []*Variable
	for _, v := range all {
		out = append(out, v.Variable)
	}
	return out
}

func (l *loader) unknownVariable(g *given, name string, known []string) {
	hint := suggest.Sentence(name, known, "variables")
	if g.by != nil {
		g.by.error(g.at, "Unknown variable", fmt.Sprintf("%s declares no variable %q.", l.file, name), hint)
		return
	}
	if g.inFile() {
		l.error(g.at, "Unknown variable", fmt.Sprintf("The scenario declares no variable %q.", g.name), hint)
		return
	}
	d := &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Unknown variable",
		Detail: fmt.Sprintf("--var %s: the scenario declares no variable %q.", g.name, g.name),
	}
	d.Extra = Hint(hint)
	l.diags = append(l.diags, d)
}

func (l *loader) variable(b *hcl.Block, from map[string]*given) *declared {
	v := &declared{
		Variable: &Variable{Name: b.Labels[0], Type: "string", Range: b.LabelRanges[0]}, value: cty.DynamicVal,
	}
	l.places.add(b.DefRange, "variable "+v.Name)
	if !identifier().MatchString(v.Name) {
		l.error(v.Range, "Invalid name", fmt.Sprintf("%q cannot be used as var.NAME.", v.Name),
			"Use letters, digits and _.")
	}
	content := l.content(b.Body, schemaOf(grammar.Variable), "a variable")
	if expr := argument(content, "description"); expr != nil {
		v.Description, _ = l.text(expr, "description")
	}
	if expr := argument(content, "type"); expr != nil && !l.variableType(expr, v.Variable) {
		return v
	}
	v.validation = l.parts(content, "validation", schemaOf(grammar.Validation), "a validation")
	v.given, v.at = from[v.Name], v.Range
	if v.given != nil {
		l.fromOutside(v)
		return v
	}
	expr := argument(content, "default")
	if expr == nil && l.faulty[content] {
		return v
	}
	if expr == nil {
		l.error(v.Range, "Variable without value", fmt.Sprintf("Variable %q has no default.", v.Name),
			l.defaultHint(v.Name))
		return v
	}
	v.at = expr.Range()
	l.fromFile(v, expr, "the default")
	return v
}

func (l *loader) defaultHint(name string) string {
	if l.all.main == l.file || l.prefix != "" {
		return fmt.Sprintf("Give it one, or run with --var %s%s=….", l.prefix, name)
	}
	return "Give it one, or a value in variables of the include."
}

// fromOutside sets the value that was given from outside.
func (l *loader) fromOutside(v *declared) {
	switch g := v.given; {
	case v.Type == "list" && g.isList:
		v.value = listValue(v.Variable, g.items)
	case v.Type == "list":
		v.value = listValue(v.Variable, splitList(g.text))
	case g.isList:
		l.badVariable(v, fmt.Sprintf("Variable %q is a %s, not a list.", v.Name, v.Type), "Write a single value.")
	default:
		source := g.source()
		if g.by != nil {
			source = "The value of " + v.Name
		}
		l.parse(v, g.text, source)
	}
}

// fromFile sets the value that the file gives, as the default or for a variant.
func (l *loader) fromFile(v *declared, expr hcl.Expression, what string) {
	if v.Type != "list" {
		if text, ok := l.text(expr, what+" of "+v.Name); ok {
			l.parse(v, text, capital(what))
		}
		return
	}
	items, ok, whole := l.list(expr, what)
	if !ok {
		l.error(expr.Range(), "Invalid value", fmt.Sprintf("Variable %q is a list.", v.Name), "Write [a, b].")
	}
	if !ok || !whole {
		return
	}
	var texts []string
	for _, i := range items {
		texts = append(texts, i.text)
	}
	v.value = listValue(v.Variable, texts)
}

// parse reads the text of a value by the variable's type.
func (l *loader) parse(v *declared, text, source string) {
	value, canonical, err := parseVariable(v.Type, text)
	if err != nil {
		reporter, at := l, v.at
		if v.given != nil && v.given.inFile() {
			reporter, at = cmp.Or(v.given.by, l), v.given.at
		}
		reporter.error(at, "Invalid value", fmt.Sprintf("%s does not fit type %s: %v.", source, v.Type, err), "")
		return
	}
	v.value, v.Text = value, canonical
}

// otherTypes are hints for the names of types in other languages.
var otherTypes = map[string]string{
	"int": likeNumber, "integer": likeNumber, "float": likeNumber, "double": likeNumber, "num": likeNumber,
	"boolean": `Write type bool.`, "str": `Write type string.`, "text": `Write type string.`,
	"duration": `Write type time.`, "bytes": `Write type size.`, "array": `Write type list.`,
	"percentage": `Write type percent.`,
}

const likeNumber = `Write type number.`

// variableType reads the type, which HCL authors may write as a bare word.
func (l *loader) variableType(expr hcl.Expression, v *Variable) bool {
	text := hcl.ExprAsKeyword(expr)
	if text == "" {
		var ok bool
		if text, ok = l.text(expr, "type"); !ok {
			return false
		}
	}
	if !slices.Contains(grammar.VariableTypes, text) {
		l.error(expr.Range(), "Unknown type", fmt.Sprintf("There is no type %q.", text),
			cmp.Or(otherTypes[text], suggest.Sentence(text, grammar.VariableTypes, "types")))
		return false
	}
	v.Type = text
	return true
}

// parseVariable reads a value of a type. Quantities stay texts with their units; size(), rate() and
// time() convert them to numbers.
func parseVariable(kind, raw string) (value cty.Value, canonical string, err error) {
	text := strings.TrimSpace(raw)
	dims := map[string]quantity.Dimension{
		"rate": quantity.RateDim, "bandwidth": quantity.RateDim, "time": quantity.TimeDim, "percent": quantity.Number,
	}
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
