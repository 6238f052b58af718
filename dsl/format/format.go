// Package format rewrites scenario files: into the canonical layout of their own
// syntax, and from one syntax into the other. It knows what a file says, not
// what that means; comments stay where they have a place, and a result is held
// against its source before anybody sees it.
package format

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// The names of the two syntaxes.
const (
	YAML = "yaml"
	HCL  = "hcl"
)

// SyntaxOf is the syntax that a file's extension names, "" if it names none.
func SyntaxOf(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return YAML
	case ".hcl":
		return HCL
	}
	return ""
}

// Format gives a file its canonical layout. Its texts, its names and their order
// stay; a file that cannot be read gives diagnostics and no bytes. Warnings are of the
// source.
func Format(path string, src []byte) ([]byte, hcl.Diagnostics) {
	_, warnings := dsl.CheckSyntax(path, src)
	if warnings.HasErrors() {
		return nil, warnings
	}
	layOut := formatYAML
	if SyntaxOf(path) == HCL {
		layOut = formatHCL
	}
	out, diags := layOut(path, src)
	return out, append(warnings, diags...)
}

func formatYAML(path string, src []byte) ([]byte, hcl.Diagnostics) {
	plain := plainLines(src)
	before, diags := readYAML(plain, path)
	if diags.HasErrors() {
		return nil, diags
	}
	out, err := writeYAML(before)
	if err != nil {
		return nil, fault(path, err.Error())
	}
	after, diags := readYAML(out, path)
	if diags.HasErrors() {
		return nil, fault(path, "what would be written does not read: "+diags.Error())
	}
	if why := different(before, after); why != "" {
		return nil, fault(path, why)
	}
	if !slices.Equal(allComments(before), allComments(after)) {
		return nil, fault(path, "a comment would be lost")
	}
	return out, nil
}

// plainLines drops the byte order mark and makes every line end in a line feed.
func plainLines(src []byte) []byte {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
}

// fault is the refusal to write what would not say the same.
func fault(path, why string) hcl.Diagnostics {
	return hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Cannot be rewritten",
		Detail: fmt.Sprintf("%s is left as it is: %s.", path, strings.TrimSuffix(why, ".")),
	}}
}

// different says where two trees of the same syntax differ, "" if they do not.
func different(a, b *node) string {
	if a.kind != b.kind || a.text != b.text || a.null != b.null || a.anchor != b.anchor ||
		len(a.elements) != len(b.elements) {
		return fmt.Sprintf("the value on line %d would change", a.at.Start.Line)
	}
	for i, e := range a.elements {
		other := b.elements[i]
		if e.key != nil {
			if e.key.text != other.key.text || e.key.anchor != other.key.anchor || e.merge != other.merge {
				return fmt.Sprintf("the key on line %d would change", e.key.at.Start.Line)
			}
		}
		if why := different(e.value, other.value); why != "" {
			return why
		}
	}
	return ""
}

// allComments are the comments of a tree, sorted, so that one that moved to its
// neighbour is not one that was lost.
func allComments(n *node) []string {
	var all []string
	add := func(lines ...string) {
		for _, l := range lines {
			if l != "" {
				all = append(all, l)
			}
		}
	}
	var walk func(n *node)
	walk = func(n *node) {
		add(n.foot...)
		for _, e := range n.elements {
			add(e.head...)
			add(e.line)
			walk(e.value)
		}
	}
	walk(n)
	slices.Sort(all)
	return all
}
