// Package format rewrites scenario files: into the canonical layout of their own syntax,
// by hclwrite and yaml.v3, and from one syntax into the other. Expressions and quantities
// keep their text.
package format

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// The names of the two syntaxes.
const (
	YAML = "yaml"
	HCL  = "hcl"
)

// SyntaxOf returns the syntax for a file's extension, "" if there is none.
func SyntaxOf(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return YAML
	case ".hcl":
		return HCL
	}
	return ""
}

// Format rewrites a file in its canonical layout. It returns diagnostics and no bytes for an
// invalid file, and warnings of the source.
func Format(path string, src []byte) ([]byte, hcl.Diagnostics) {
	_, diags := dsl.CheckSyntax(path, src)
	if diags.HasErrors() {
		return nil, diags
	}
	if SyntaxOf(path) == HCL {
		return formatHCL(src), diags
	}
	out, err := yamlsyntax.Format(quotedNotes(path, src), path)
	if err != nil {
		return nil, fault(path, err)
	}
	return out, diags
}

// formatHCL repeats hclwrite.Format until nothing changes: it is not idempotent.
func formatHCL(src []byte) []byte {
	for range 4 {
		out := hclwrite.Format(src)
		if bytes.Equal(out, src) {
			break
		}
		src = out
	}
	return src
}

// fault returns the error of a file that is left unchanged.
func fault(path string, err error) hcl.Diagnostics {
	return hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Cannot be rewritten",
		Detail: fmt.Sprintf("%s is unchanged: %s.", path, strings.TrimSuffix(err.Error(), ".")),
	}}
}
