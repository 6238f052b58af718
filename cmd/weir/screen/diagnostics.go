package screen

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

// quoted is a line of a diagnostic that quotes the scenario, or marks a place below it.
var quoted = regexp.MustCompile(`^ *\d* \|`)

// Diagnostics writes errors and warnings about scenarios for a person. If w is a terminal, explanations and hints are
// wrapped; lines of the scenario are not.
func Diagnostics(w io.Writer, diags hcl.Diagnostics, sources dsl.Sources) error {
	var b bytes.Buffer
	if err := dsl.WriteDiagnostics(&b, "text", diags, sources); err != nil {
		return err
	}
	width := Width(w)
	if width <= 0 {
		_, err := w.Write(b.Bytes())
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		if !quoted.MatchString(line) {
			line = Reflow(line, width)
		}
		out.WriteString(line)
	}
	_, err := io.WriteString(w, out.String())
	return err
}
