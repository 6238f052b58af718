// Conditions on the values of variables.

package dsl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/dsl/grammar"
)

// declared is a variable of the file, with the conditions on its value.
type declared struct {
	*Variable
	validation []part
	value      cty.Value
	at         hcl.Range // of the value; of the name if the value is from outside
	given      *given    // nil: the default
}

// validate checks the values of all variables, once all are known. A value that fails is unknown
// afterwards, so that the cause is reported once.
func (l *loader) validate(all []*declared) {
	var failed []string
	for _, v := range all {
		for _, p := range v.validation {
			if l.complete(p, grammar.Validation, "a validation") && !l.validation(v, p) {
				failed = append(failed, v.Name)
				break
			}
		}
	}
	for _, name := range failed {
		l.eval.variables[name] = cty.DynamicVal
	}
	l.eval.setVariables(l.eval.variables)
}

// validation checks one condition on the value of a variable. It returns false if the value does
// not satisfy it.
func (l *loader) validation(v *declared, p part) bool {
	written := argument(p.BodyContent, "condition")
	condition, text, ok := l.bare(written)
	if !ok || !l.onlyVariables(condition) {
		return true
	}
	holds := l.value(condition)
	switch {
	case !holds.IsKnown(): // a variable failed, which is reported
		return true
	case holds.IsNull() || holds.Type() != cty.Bool:
		hint := "Write a comparison, as var." + v.Name + " > 0"
		if !l.yaml {
			hint += ", without quotes"
		}
		l.error(written.Range(), "Invalid condition", "The condition is neither true nor false.", hint+".")
		return true
	}
	message := fmt.Sprintf("The value of %s does not satisfy %s.", v.Name, text)
	if expr := argument(p.BodyContent, "message"); expr != nil {
		if message, ok = l.text(expr, "message"); !ok {
			return true
		}
	}
	if holds.False() {
		l.badVariable(v, sentence(message), fmt.Sprintf("%s is %q and must satisfy %s.", v.Name, v.Text, text))
	}
	return holds.True()
}

// badVariable reports the value of a variable where it was given.
func (l *loader) badVariable(v *declared, detail, hint string) {
	switch {
	case v.given == nil:
		l.error(v.at, "Invalid value", detail, hint)
	case v.given.inFile():
		cmp.Or(v.given.by, l).error(v.given.at, "Invalid value", detail, hint)
	default:
		l.error(v.Range, "Invalid value", v.given.source()+": "+detail, hint)
	}
}

// bare returns the expression of a text that YAML authors may write without ${…}. text is the
// source.
func (d *decoder) bare(expr hcl.Expression) (_ hcl.Expression, text string, ok bool) {
	written := unquoted(string(expr.Range().SliceBytes(d.src)))
	if t, isYAML := expr.(interface{ Template() hclsyntax.Expression }); !isYAML || t.Template() != nil {
		if inner, ok := strings.CutPrefix(written, "${"); ok {
			written = strings.TrimSuffix(inner, "}")
		}
		return expr, written, true
	}
	t, ok := d.locate(expr, "condition")
	if !ok {
		return nil, "", false
	}
	if wrong := nestingError(d.file, []byte(t.text)); wrong != nil || len(t.text) > maxCondition {
		d.error(t.at, "Invalid condition", "The condition is too long or too deeply nested.", "")
		return nil, "", false
	}
	parsed, diags := hclsyntax.ParseExpression([]byte(t.text), d.file, t.start)
	for _, wrong := range diags {
		if !t.verbatim {
			wrong.Subject, wrong.Context = &t.at, nil
		}
	}
	d.diags = append(d.diags, diags...)
	return parsed, t.text, !diags.HasErrors()
}

// unquoted removes the quotes around a text of the file.
func unquoted(s string) string {
	if len(s) >= 2 && s[0] == s[len(s)-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : len(s)-1]
	}
	return s
}

// maxCondition bounds the bytes of a bare condition, since the parser is recursive.
const maxCondition = 16 << 10

// onlyVariables refuses everything but var.NAME: whether a value is valid must not depend on where
// weir runs.
func (d *decoder) onlyVariables(expr hcl.Expression) bool {
	ok := true
	for _, t := range expr.Variables() {
		if root := t.RootName(); root == "env" || root == "axis" {
			d.error(t.SourceRange(), "Unknown name", fmt.Sprintf("A validation cannot use %s.", root),
				"It can use var.NAME only.")
			ok = false
		}
	}
	return ok
}
