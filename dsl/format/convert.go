package format

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// Convert writes a file in the other syntax, formatted. A construct that the other syntax lacks is
// an error at its place. Comments inside of values may be lost.
func Convert(path string, src []byte, to string) ([]byte, hcl.Diagnostics) {
	if _, diags := dsl.CheckSyntax(path, src); diags.HasErrors() {
		return nil, diags
	}
	if SyntaxOf(path) == to {
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagError, Summary: "Nothing to convert",
			Detail: fmt.Sprintf("%s is already in %s; use weir fmt for the canonical layout.", path, to),
		}}
	}
	write := toYAML
	if to == HCL {
		write = toHCL
	}
	out, diags := write(path, src)
	if diags.HasErrors() {
		return nil, diags
	}
	if _, diags := dsl.CheckSyntax("converted."+to, out); diags.HasErrors() {
		return nil, fault(path, fmt.Errorf("the converted file would be invalid: %w", diags))
	}
	return out, nil
}

func toHCL(path string, src []byte) ([]byte, hcl.Diagnostics) {
	root, diags := yamlsyntax.ParseTree(quotedNotes(path, src), path)
	if diags.HasErrors() {
		return nil, diags
	}
	return writeHCL(root)
}

func toYAML(path string, src []byte) ([]byte, hcl.Diagnostics) {
	root, diags := readHCL(src, path)
	if diags.HasErrors() {
		return nil, diags
	}
	out, err := yamlsyntax.Write(root)
	if err != nil {
		return nil, fault(path, err)
	}
	return out, nil
}
