package dsl

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// CheckSyntax reads a file no further than its syntax: what a program needs that
// rewrites it, whatever it means. The file's bytes are always there for
// diagnostics to point into.
func CheckSyntax(path string, src []byte) (*hcl.File, hcl.Diagnostics) {
	if len(src) > maxSource {
		d := &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "File too large",
			Detail: fmt.Sprintf("%s has %d bytes; a scenario has at most %d.", path, len(src), maxSource),
		}
		return &hcl.File{Bytes: src, Body: hcl.EmptyBody()}, hcl.Diagnostics{d}
	}
	return parse(path, src)
}
