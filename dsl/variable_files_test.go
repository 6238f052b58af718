package dsl

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// Errors of values from a file of variables are at their lines.
func TestErrorsOfVariableFilesAreAtTheirLines(t *testing.T) {
	const src = "scenario: s\nvariables:\n  n: {type: number, default: 1, validation: {condition: var.n > 0}}\n" +
		"runs: {a: {workload: transfer, options: {block_size: 1}}}\n"
	for _, c := range []struct{ name, text, summary string }{
		{"m", "1", "Unknown variable"}, {"n", "x", "Invalid value"}, {"n", "0", "Invalid value"},
	} {
		line := c.name + " = " + c.text
		at := hcl.Range{Filename: "f.vars", Start: hcl.Pos{Line: 1, Column: 1}, End: hcl.Pos{Line: 1, Column: 6,
			Byte: 5}}
		_, sources, diags := Load("s.yaml", []byte(src), Options{
			Vars: map[string]string{c.name: c.text}, VarsAt: map[string]hcl.Range{c.name: at},
			VarFiles: map[string][]byte{"f.vars": []byte(line)},
		})
		if len(diags) != 1 || diags[0].Summary != c.summary || *diags[0].Subject != at {
			t.Fatalf("%s: %v", line, diags)
		}
		if r := makeReport(diags[0], sources, maxSnippet); r.Snippet != line || r.Context != "" {
			t.Errorf("%+v", r)
		}
	}
}
