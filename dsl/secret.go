package dsl

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

const secretFunction = "secret"

// errSecret is what secret() gives wherever it is evaluated. Where it may stand
// it is recognised by its form and never evaluated, so that no value of a secret
// can come into a scenario.
var errSecret = fmt.Errorf("a secret can only be the whole value of an environment variable")

var secret = function.New(&function.Spec{
	Description: "the value that an environment variable or a file has where the process starts; only as the whole value of an environment variable",
	Params: []function.Parameter{
		{Name: "name", Type: cty.String, AllowDynamicType: true, AllowNull: true, AllowUnknown: true},
	},
	Type: func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, errSecret },
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, errSecret },
})

// secretCall gives the call if the whole of a value is secret(…).
func secretCall(expr hcl.Expression) (*hclsyntax.FunctionCallExpr, bool) {
	if t, ok := expr.(interface{ Template() hclsyntax.Expression }); ok {
		expr = t.Template()
	}
	for {
		switch e := expr.(type) {
		case *hclsyntax.TemplateWrapExpr:
			expr = e.Wrapped
		case *hclsyntax.ParenthesesExpr:
			expr = e.Expression
		case *hclsyntax.FunctionCallExpr:
			return e, e.Name == secretFunction
		default:
			return nil, false
		}
	}
}

// secretName gives the reference of a secret: the name of an environment
// variable, or file:PATH.
func (l *loader) secretName(call *hclsyntax.FunctionCallExpr, at hcl.Range) (string, bool) {
	const hint = `Write secret("NAME") for the environment variable NAME, or secret("file:PATH").`
	if len(call.Args) != 1 || call.ExpandFinal {
		l.error(at, "Invalid secret", "secret() takes one name.", hint)
		return "", false
	}
	name, ok := l.text(call.Args[0], "the name of a secret")
	if !ok {
		return "", false
	}
	path, isFile := strings.CutPrefix(name, "file:")
	if isFile && strings.TrimSpace(path) != "" && !strings.ContainsRune(path, 0) ||
		!isFile && identifier.MatchString(name) {
		return name, true
	}
	l.error(at, "Invalid secret", fmt.Sprintf("%q is neither the name of an environment variable nor file:PATH.", name),
		hint)
	return "", false
}

// envEntries are the environment variables of a run, its own before the
// defaults, without secrets, which it puts into r.Secrets.
func (l *loader) envEntries(content *hcl.BodyContent, r *Run, d defaults) []entry {
	all := l.section(content, "env")
	given := map[string]bool{}
	for _, e := range all {
		given[e.name] = true
	}
	for _, e := range d.env {
		if !given[e.name] {
			e.inherited = true
			all = append(all, e)
		}
	}
	var plain []entry
	for _, e := range all {
		if !l.variableName(e) {
			continue
		}
		if a := r.axis("env." + e.name); a != nil {
			if !e.inherited {
				l.error(e.at, "Variable and axis", fmt.Sprintf("%s is also set by axis env.%s on line %d.", e.name,
					e.name, a.Range.Start.Line), "Keep one of the two.")
			}
			continue
		}
		call, isSecret := secretCall(e.expr)
		if !isSecret {
			plain = append(plain, e)
			continue
		}
		name, ok := l.secretName(call, e.expr.Range())
		if !ok {
			continue
		}
		if r.Secrets == nil {
			r.Secrets = map[string]string{}
		}
		r.Secrets[e.name] = name
	}
	return plain
}

// variableName checks the name of an environment variable.
func (l *loader) variableName(e entry) bool {
	if !identifier.MatchString(e.name) {
		l.error(e.at, "Invalid name", fmt.Sprintf("%q is not the name of an environment variable.", e.name),
			"Use letters, digits and _.")
		return false
	}
	return true
}

// commandEnv reads the environment of a command.
func (l *loader) commandEnv(entries []entry) (env, secrets map[string]string) {
	set := func(m *map[string]string, name, value string) {
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[name] = value
	}
	for _, e := range entries {
		if !l.variableName(e) {
			continue
		}
		if call, isSecret := secretCall(e.expr); isSecret {
			if name, ok := l.secretName(call, e.expr.Range()); ok {
				set(&secrets, e.name, name)
			}
			continue
		}
		text, ok := l.text(e.expr, e.name)
		if ok && strings.ContainsRune(text, 0) {
			l.error(e.expr.Range(), "Invalid value", e.name+" contains a NUL character, which no environment can hold.",
				"")
		}
		if ok {
			set(&env, e.name, text)
		}
	}
	return env, secrets
}
