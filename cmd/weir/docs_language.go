package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/grammar"
)

// docsLanguage prints the table of keys, each below the key that holds it.
func docsLanguage(w io.Writer) {
	fmt.Fprint(w, `This is the YAML form. In HCL, a scenario is scenario "NAME" { … }, a key of named
entries is one block per entry (run "NAME" { … }), and the rest is the same.

Quote a text with ${…} that contains ": " or " #", or that is inside […] or {…}: weir
reads it without quotes, but editors and other programs do not. weir validate warns of
it, weir fmt adds the quotes. YAML 1.1 readers such as PyYAML read the key on as true;
weir accepts "on" in quotes as the same key.

`)
	fmt.Fprint(w, guide, "KEYS\n\n")
	docsKeys(w, grammar.Scenario, 0)
}

func docsKeys(w io.Writer, keys []grammar.Key, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, k := range keys {
		fmt.Fprintf(w, "%s%s: %s\n", indent, k.Name, cmp.Or(k.Written, formsText(k.Forms)))
		note := k.Note()
		if k.Singular != "" {
			note += fmt.Sprintf("; in HCL %s \"NAME\" { … }", k.Singular)
		}
		fmt.Fprintf(w, "%s    %s%s\n", indent, k.Doc, note)
		docsKeys(w, innerKeys(k.Forms), depth+1)
	}
}

// innerKeys are the keys that a value may have. All forms of a value that have keys have the same ones.
func innerKeys(forms []grammar.Form) []grammar.Key {
	for _, f := range forms {
		if len(f.Keys) > 0 {
			return f.Keys
		}
		if keys := innerKeys(f.Item); keys != nil {
			return keys
		}
		if keys := innerKeys(f.Value); keys != nil {
			return keys
		}
	}
	return nil
}

// formsText describes the forms of a value.
func formsText(forms []grammar.Form) string {
	var parts []string
	for _, f := range forms {
		parts = append(parts, formText(f))
	}
	return strings.Join(parts, ", or ")
}

func formText(f grammar.Form) string {
	switch f.Shape {
	case grammar.List:
		return "list of (" + formsText(f.Item) + ")"
	case grammar.Section:
		return "keys"
	case grammar.Named:
		return "NAME: keys"
	case grammar.Map:
		return "mapping of " + f.Names + " to " + formsText(f.Value)
	case grammar.Sweep:
		return "axes"
	}
	if len(f.Values) > 0 {
		return strings.Join(f.Values, " | ")
	}
	return string(f.Type)
}

// docsFunctions prints the functions of expressions with their examples, and the forms of assertions.
func docsFunctions(w io.Writer) {
	fmt.Fprint(w, "functions of ${…} in YAML and of expressions in HCL, evaluated before anything runs\n\n")
	for _, f := range dsl.Functions() {
		fmt.Fprintf(w, "  %s\n      %s\n", f.Signature, f.Doc)
		if v, err := dsl.EvaluateExample(f.Example); f.Example != "" && err == nil {
			fmt.Fprintf(w, "      %s = %s\n", f.Example, v)
		}
	}
	fmt.Fprint(w, "\nassertions, judged after the run\n\n")
	for _, f := range dsl.AssertionForms() {
		fmt.Fprintf(w, "  %s\n      %s\n      %s\n", f.Form, f.Doc, f.Example)
	}
	fmt.Fprint(w, "\ntransports, as assertions name them\n\n"+dsl.TransportNames)
	fmt.Fprint(w, "\nfacts of providers, as assertions name them\n\n"+dsl.ProviderFacts)
}
