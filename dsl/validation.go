package dsl

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl/grammar"
)

// declared is a variable in its file, with what its value is checked against.
type declared struct {
	*Variable
	validation []part
	value      cty.Value
	at         hcl.Range // of the value; of the name where it comes from outside
	given      *given    // nil: the default
}

// validate checks the values of all variables, once all are known. A value that
// does not pass is unknown to what uses it, so that the cause is told once.
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

// validation checks one condition on the value of a variable; it is false where
// the value does not satisfy it.
func (l *loader) validation(v *declared, p part) bool {
	written := argument(p.BodyContent, "condition")
	condition, text, ok := l.bare(written)
	if !ok || !l.onlyVariables(condition) {
		return true
	}
	holds := l.value(condition)
	switch {
	case !holds.IsKnown(): // a variable that failed, which has been reported
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
	case v.given.by != nil:
		v.given.by.error(v.given.at, "Invalid value", detail, hint)
	default:
		l.error(v.Range, "Invalid value", v.given.source()+": "+detail, hint)
	}
}

// bare gives the expression of a text that is one without ${…}, as YAML may
// write it. text is what the author wrote.
func (l *loader) bare(expr hcl.Expression) (_ hcl.Expression, text string, ok bool) {
	written := unquoted(string(expr.Range().SliceBytes(l.src)))
	if t, isYAML := expr.(interface{ Template() hclsyntax.Expression }); !isYAML || t.Template() != nil {
		if inner, ok := strings.CutPrefix(written, "${"); ok {
			written = strings.TrimSuffix(inner, "}")
		}
		return expr, written, true
	}
	t, ok := l.locate(expr, "condition")
	if !ok {
		return nil, "", false
	}
	if d := nestingError(l.file, []byte(t.text)); d != nil || len(t.text) > maxCondition {
		l.error(t.at, "Invalid condition", "The condition is too long, or nested too deeply.", "")
		return nil, "", false
	}
	parsed, diags := hclsyntax.ParseExpression([]byte(t.text), l.file, t.start)
	for _, d := range diags {
		if !t.verbatim {
			d.Subject, d.Context = &t.at, nil
		}
	}
	l.diags = append(l.diags, diags...)
	return parsed, t.text, !diags.HasErrors()
}

// unquoted is a text of the file without the quotes around all of it.
func unquoted(s string) string {
	if len(s) >= 2 && s[0] == s[len(s)-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : len(s)-1]
	}
	return s
}

// maxCondition bounds the text of a bare condition: the parser recurses on it.
const maxCondition = 16 << 10

// onlyVariables refuses what is not var.NAME: whether a value is valid must not
// depend on where weir runs.
func (l *loader) onlyVariables(expr hcl.Expression) bool {
	ok := true
	for _, t := range expr.Variables() {
		if root := t.RootName(); root == "env" || root == "axis" {
			l.error(t.SourceRange(), "Unknown name", fmt.Sprintf("A validation cannot use %s.", root),
				"It can use var.NAME only.")
			ok = false
		}
	}
	return ok
}
