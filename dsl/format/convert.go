package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl"
	"weir/dsl/grammar"
)

// Convert writes a file in the other syntax, formatted. It works on what is
// written: expressions stay expressions and quantities keep their text. What the
// other syntax has no place for is an error at its characters.
func Convert(path string, src []byte, to string) ([]byte, hcl.Diagnostics) {
	if _, diags := dsl.CheckSyntax(path, src); diags.HasErrors() {
		return nil, diags
	}
	if SyntaxOf(path) == to {
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagError, Summary: "Nothing to convert",
			Detail: fmt.Sprintf("%s is written in %s already; weir fmt gives it its canonical layout.", path, to),
		}}
	}
	if to == HCL {
		return toHCL(path, src)
	}
	return toYAML(path, src)
}

// readNormal reads YAML in the form that HCL has too.
func readNormal(path string, src []byte) (*node, hcl.Diagnostics) {
	root, diags := readYAML(plainLines(src), path)
	if diags.HasErrors() {
		return nil, diags
	}
	z := &normalizer{}
	root = z.expand(root, false)
	if !z.diags.HasErrors() {
		z.keys(root, grammar.Scenario)
	}
	if z.diags.HasErrors() {
		return nil, z.diags
	}
	// The name comes first in HCL, so it is there for comparing too.
	if name := root.find("scenario"); name != nil {
		i := slices.Index(root.elements, name)
		root.elements = append([]*element{name}, slices.Delete(slices.Clone(root.elements), i, i+1)...)
		name.gap, name.value.template = false, false // a name is no template
	}
	return root, nil
}

func toHCL(path string, src []byte) ([]byte, hcl.Diagnostics) {
	root, diags := readNormal(path, src)
	if diags.HasErrors() {
		return nil, diags
	}
	out, diags := writeHCL(root)
	if diags.HasErrors() {
		return nil, diags
	}
	if d := limits("converted.hcl", out); d.HasErrors() {
		return nil, fault(path, "the other syntax does not take what would be written: "+d.Error())
	}
	back, diags := readHCL(out, path)
	if diags.HasErrors() {
		return nil, fault(path, "what would be written does not read: "+diags.Error())
	}
	if why := sameMeaning(root, back); why != "" {
		return nil, fault(path, why)
	}
	return out, nil
}

func toYAML(path string, src []byte) ([]byte, hcl.Diagnostics) {
	root, diags := readHCL(formatless(src), path)
	if diags.HasErrors() {
		return nil, diags
	}
	choose(root, grammar.Scenario)
	out, err := writeYAML(root)
	if err != nil {
		return nil, fault(path, err.Error())
	}
	if d := limits("converted.yaml", out); d.HasErrors() {
		return nil, fault(path, "the other syntax does not take what would be written: "+d.Error())
	}
	out, diags = formatYAML("converted.yaml", out)
	if diags.HasErrors() {
		return nil, diags
	}
	back, diags := readNormal("converted.yaml", out)
	if diags.HasErrors() {
		return nil, fault(path, "what would be written does not read: "+diags.Error())
	}
	if why := sameMeaning(withoutNothing(root), back); why != "" {
		return nil, fault(path, why)
	}
	return out, nil
}

// limits holds a result against what its syntax takes.
func limits(name string, out []byte) hcl.Diagnostics {
	_, diags := dsl.CheckSyntax(name, out)
	return diags
}

// formatless is a file of HCL as the reader wants it.
func formatless(src []byte) []byte { return []byte(strings.TrimPrefix(string(src), "\ufeff")) }

// withoutNothing gives empty values of sections the form that reading YAML gives
// them; it is there for comparing.
func withoutNothing(root *node) *node {
	z := &normalizer{}
	copied := z.expand(root, false)
	z.keys(copied, grammar.Scenario)
	return copied
}

func normalized(t string) string { return cty.NormalizeString(t) }

// choose decides how the YAML of a tree from HCL is laid out: what has keys of
// its own stands on lines of its own, and so do sentences; the rest is short.
func choose(n *node, keys []grammar.Key) {
	for _, e := range n.elements {
		k, _ := grammar.Find(keys, e.key.text)
		chooseValue(e.value, k.Forms, false)
	}
}

func chooseValue(v *node, forms []grammar.Form, inList bool) {
	if v.kind == text {
		return
	}
	if v.kind == mapping && !inList || v.kind == list && wantsLines(itemForms(forms)) {
		v.style = block
	}
	for _, e := range v.elements {
		if e.key == nil {
			chooseValue(e.value, itemForms(forms), true)
			continue
		}
		if len(forms) == 1 && forms[0].Shape == grammar.Named {
			e.value.style = block
			choose(e.value, forms[0].Keys)
			continue
		}
		chooseValue(e.value, formsOf(forms, e.key.text), inList)
	}
}
