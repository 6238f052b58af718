// Parsing without decoding.

package dsl

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// CheckSyntax parses a file without decoding it, for programs that rewrite the file. It always
// returns the file's bytes, for diagnostics.
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
