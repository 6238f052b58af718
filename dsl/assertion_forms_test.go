package dsl

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl/expression"
)

// documented is the scenario of the examples of assertions.
const documented = `
scenario: x
references:
  a: [{block_size: 4KiB, bandwidth: 9 GB/s}, {block_size: 8KiB, bandwidth: 10 GB/s}]
variants: {baseline: old, old: {}, new: {env: {A: b}}}
runs:
  host: {workload: transfer, sweep: {block_size: [4KiB, 8KiB], op: [read, write]}}
  a:
    workload: transfer
    sweep: {block_size: [4KiB, 8KiB], fabric: [shm, tcp], variant: [old, new]}
    assert: [%s]
`

func TestEveryAssertionFormHasAnExampleThatCompiles(t *testing.T) {
	for _, f := range AssertionForms() {
		src := fmt.Sprintf(documented, strconv.Quote(f.Example))
		s, _, diags := Load("x.yaml", []byte(src), Options{Env: testEnv})
		if diags.HasErrors() {
			t.Errorf("%s: %v", f.Form, diags)
			continue
		}
		if f.Doc == "" || len(s.Runs[1].Asserts) != 1 || s.Runs[1].Asserts[0].Text != f.Example {
			t.Errorf("%s has the description %q and reads %+v", f.Form, f.Doc, s.Runs[1].Asserts)
		}
	}
}

// Every word of assertions must occur in an example.
func TestEveryWordOfAssertionsHasAnExample(t *testing.T) {
	var all strings.Builder
	for _, f := range AssertionForms() {
		fmt.Fprintln(&all, f.Example)
	}
	words := []string{
		" over ", " where ", "reference.", "baseline.", "within", "between", "increases with", "decreases with", ">=",
		"<=",
	}
	for _, f := range expression.Functions() {
		words = append(words, f+"(")
	}
	for _, w := range words {
		if !strings.Contains(all.String(), w) {
			t.Errorf("no example shows %q", w)
		}
	}
}

func TestSentencesBeginWithACharacter(t *testing.T) {
	for text, want := range map[string]string{
		"µs is not a size": "Μs is not a size.", "ärger!": "Ärger!", "": "", "a": "A.",
	} {
		if got := sentence(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
