package tooloutput

import (
	"fmt"
	"strings"
	"testing"

	"weir/test/golden"
)

const docsHead = `# What weir reads of other tools

Package ` + "`tooloutput`" + ` reads the outputs of these tools. This page is made from its tables
(` + "`make golden`" + `).

A number keeps the value that the tool printed; only its unit is converted, exactly. Where a metric means what
weir's own metric means it has the same name, so that the two can be compared; where it only looks alike it has
another one. A metric is absent if the tool did not print it.

An output is an error, with its line, if it is cut short, has a line of fewer columns than its header, a number
that is none, two results at the same place, or an error that the tool tells of itself, whatever the tool's exit
status was. An output with no result at all, as that of a server, is told from a broken one. The last line of an
output must end with a newline, unless it is JSON.

Two further formats are described by whoever uses them. ` + "`lines`" + `: each line that matches a regular expression
is a row, its named groups are keys and metrics. ` + "`json`" + `: a path for each key and metric, as
` + "`a.b[0].c`" + `; ` + "`a.b[*].c`" + ` makes each place of the list a row, and ` + "`a[\"b c\"]`" + ` is a member with any name.
`

// TestDocs holds that docs/tools.md says what the formats' tables say.
func TestDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString(docsHead)
	for _, f := range Formats() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.", f.Name, capital(f.Doc))
		if f.File {
			b.WriteString(" The tool writes it to a file.")
		}
		if len(f.Keys) > 0 {
			fmt.Fprintf(&b, " Keys of a row: `%s`.", strings.Join(f.Keys, "`, `"))
		}
		b.WriteString("\n\n| metric | unit | better | what the tool counts |\n|---|---|---|---|\n")
		for _, m := range f.Metrics {
			doc := strings.ReplaceAll(m.Doc, "|", "\\|")
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Unit, m.Better, doc)
		}
	}
	golden.Equal(t, "../docs/tools.md", []byte(b.String()))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
