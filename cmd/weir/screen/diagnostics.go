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
// wrapped; of lines of the scenario an excerpt is shown.
func Diagnostics(w io.Writer, diags hcl.Diagnostics, sources dsl.Sources) error {
	width := Width(w)
	if width <= 0 {
		return dsl.WriteDiagnostics(w, "text", diags, sources)
	}
	var b bytes.Buffer
	if err := dsl.WriteDiagnosticsWithin(&b, width, diags, sources); err != nil {
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
