package jsonschema_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/workload"
)

// assertionTexts returns the texts of the tests of assertions, right and wrong, and of their documentation.
func assertionTexts(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, f := range dsl.AssertionForms() {
		all = append(all, f.Example)
	}
	files, err := filepath.Glob("../expression/*_test.go")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil && len(text) < 400 {
					all = append(all, text)
				}
			}
			return true
		})
	}
	return all
}

// patternsOf returns whether a text is an assertion by the definition of a workload.
func patternsOf(t *testing.T, k *workload.Kind) func(text string) bool {
	t.Helper()
	type forms struct {
		Pattern string
		AllOf   []forms
		AnyOf   []forms
	}
	var doc struct {
		Defs map[string]forms `json:"$defs"`
	}
	if err := json.Unmarshal(scenarioSchema(t), &doc); err != nil {
		t.Fatal(err)
	}
	var compiled func(f forms) func(string) bool
	compiled = func(f forms) func(string) bool {
		pattern := regexp.MustCompile(f.Pattern)
		var all, any []func(string) bool
		for _, of := range f.AllOf {
			all = append(all, compiled(of))
		}
		for _, of := range f.AnyOf {
			any = append(any, compiled(of))
		}
		return func(text string) bool {
			for _, is := range all {
				if !is(text) {
					return false
				}
			}
			found := len(any) == 0
			for _, is := range any {
				found = found || is(text)
			}
			return found && pattern.MatchString(text)
		}
	}
	return compiled(doc.Defs["assertion_"+k.Name])
}

// namesOf are names that assertions of a run of the workload may use.
func namesOf(k *workload.Kind) *expression.Names {
	n := &expression.Names{Kind: k, Run: "r", Baseline: "stock", Axes: []expression.Axis{
		{Name: "n", Type: expression.Number}, {Name: "block_size"}, {Name: "fabric"}, {Name: "op"}, {Name: "host"},
		{Name: "env.A"}, {Name: "variant"}, {Name: "driver"}, {Name: "in_flight"}, {Name: "threads"},
	}}
	values := map[string]float64{}
	for _, m := range k.Metrics {
		values[m.Name] = 1
	}
	n.Reference = &expression.Reference{Name: "x", Rows: []expression.ReferenceRow{{Values: values}}}
	n.Runs = map[string]*expression.Names{"r": n}
	for _, other := range workload.Kinds() {
		for _, name := range []string{"host", "base.old", "old", "raw", "other", other.Name} {
			if n.Runs[name] == nil || name == other.Name || other.Name == "transfer" {
				n.Runs[name] = &expression.Names{Kind: other, Run: name, Axes: n.Axes}
			}
		}
	}
	return n
}

// Whatever compiles as an assertion of a workload is accepted, however its parts are spaced.
func TestAssertionsThatCompileAreAccepted(t *testing.T) {
	texts := assertionTexts(t)
	compile := 0
	for _, k := range workload.Kinds() {
		if k.DeclaresMetrics {
			continue
		}
		names, accepted := namesOf(k), patternsOf(t, k)
		for _, text := range texts {
			if _, err := names.Assertion(text); err != nil {
				continue
			}
			for _, spaced := range []string{
				text, strings.ReplaceAll(text, " ", "\n  "), strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text),
				strings.NewReplacer(" >= ", ">=", " <= ", "<=", " * ", "*", " / ", "/").Replace(text), text + "\n",
			} {
				if _, err := names.Assertion(spaced); err != nil {
					continue
				}
				compile++
				if !accepted(spaced) {
					t.Errorf("%s: %q", k.Name, spaced)
				}
			}
		}
	}
	if compile < 500 {
		t.Errorf("only %d compile", compile)
	}
	t.Logf("%d compile", compile)
}

// Each metric that an editor offers makes an assertion.
func TestExamplesOfAssertionsCompile(t *testing.T) {
	var doc struct {
		Defs map[string]struct{ Examples []any } `json:"$defs"`
	}
	if err := json.Unmarshal(scenarioSchema(t), &doc); err != nil {
		t.Fatal(err)
	}
	for _, k := range workload.Kinds() {
		if k.DeclaresMetrics {
			continue
		}
		examples := doc.Defs["assertion_"+k.Name].Examples
		if len(examples) < len(k.Metrics) {
			t.Errorf("%s: %d examples of %d metrics", k.Name, len(examples), len(k.Metrics))
		}
		accepted := patternsOf(t, k)
		for _, e := range examples {
			if _, err := namesOf(k).Assertion(e.(string)); err != nil {
				t.Errorf("%s: %v: %v", k.Name, e, err)
			}
			if !accepted(e.(string)) {
				t.Errorf("%s: %v is not accepted", k.Name, e)
			}
		}
	}
}
