// Secrets in environment variables.

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

// errSecret is the error of evaluating secret(). An allowed secret is recognised by its form and
// never evaluated, so that no secret value enters a scenario.
var errSecret = fmt.Errorf("a secret can only be the whole value of an environment variable")

var secret = function.New(&function.Spec{
	Description: "the value of an environment variable or a file where the process starts; only as the entire value of an environment variable",
	Params: []function.Parameter{
		{Name: "name", Type: cty.String, AllowDynamicType: true, AllowNull: true, AllowUnknown: true},
	},
	Type: func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, errSecret },
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, errSecret },
})

// secretCall returns the call if a value is nothing but secret(…).
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

// secretName returns the reference of a secret: the name of an environment variable, or file:PATH.
func (d *decoder) secretName(call *hclsyntax.FunctionCallExpr, at hcl.Range) (string, bool) {
	const hint = `Write secret("NAME") for the environment variable NAME, or secret("file:PATH").`
	if len(call.Args) != 1 || call.ExpandFinal {
		d.error(at, "Invalid secret", "secret() takes one name.", hint)
		return "", false
	}
	name, ok := d.text(call.Args[0], "the name of a secret")
	if !ok {
		return "", false
	}
	path, isFile := strings.CutPrefix(name, "file:")
	if isFile && strings.TrimSpace(path) != "" && !strings.ContainsRune(path, 0) ||
		!isFile && identifier().MatchString(name) {
		return name, true
	}
	d.error(at, "Invalid secret", fmt.Sprintf("%q is neither the name of an environment variable nor file:PATH.", name),
		hint)
	return "", false
}

// envEntries returns the environment variables of a run, its own before the defaults. It moves
// secrets to r.Secrets.
func (sr *settingReader) envEntries(content *hcl.BodyContent, d defaults) []entry {
	all := sr.section(content, "env")
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
		if !sr.variableName(e) {
			continue
		}
		if a := sr.run.axis("env." + e.name); a != nil {
			if !e.inherited {
				sr.error(e.at, "Variable and axis", fmt.Sprintf("%s is also set by axis env.%s on line %d.", e.name,
					e.name, a.Range.Start.Line), "Keep one of the two.")
			}
			continue
		}
		call, isSecret := secretCall(e.expr)
		if !isSecret {
			plain = append(plain, e)
			continue
		}
		name, ok := sr.secretName(call, e.expr.Range())
		if !ok {
			continue
		}
		if sr.run.Secrets == nil {
			sr.run.Secrets = map[string]string{}
		}
		sr.run.Secrets[e.name] = name
	}
	return plain
}

// variableName checks the name of an environment variable.
func (d *decoder) variableName(e entry) bool {
	if !identifier().MatchString(e.name) {
		d.error(e.at, "Invalid name", fmt.Sprintf("%q is not the name of an environment variable.", e.name),
			"Use letters, digits and _.")
		return false
	}
	return true
}

// commandEnv reads the environment of a command.
func (d *decoder) commandEnv(entries []entry) (env, secrets map[string]string) {
	set := func(m *map[string]string, name, value string) {
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[name] = value
	}
	for _, e := range entries {
		if !d.variableName(e) {
			continue
		}
		if call, isSecret := secretCall(e.expr); isSecret {
			if name, ok := d.secretName(call, e.expr.Range()); ok {
				set(&secrets, e.name, name)
			}
			continue
		}
		text, ok := d.text(e.expr, e.name)
		if ok && strings.ContainsRune(text, 0) {
			d.error(e.expr.Range(), "Invalid value", e.name+" contains a NUL character, which environment variables cannot contain.",
				"")
		}
		if ok {
			set(&env, e.name, text)
		}
	}
	return env, secrets
}
