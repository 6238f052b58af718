package output

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/docs"
	"github.com/weir-bench/weir/test/golden"
)

const docsHead = `# Outputs of other tools that weir reads

Package ` + "`output`" + ` reads the outputs of these tools as described in ` + "`interop/output/tools`" + `. This page is
generated from these files (` + "`make golden`" + `).

Numbers keep the value that the tool printed; only their unit is converted, exactly. A metric with the meaning of
one of weir's metrics has the same name, so that the two can be compared; other metrics have other names. A metric
is absent if the tool did not print it.

An output is an error, with its line, in these cases, regardless of the tool's exit status: it is truncated, a row
has fewer columns than the header, a number is invalid, two results have the same keys, or the tool reports an error.
An output without any result, as that of a server, is a separate error. The last line of an output must end with a
newline, unless it is JSON.

Columns are found by their headings, in any order. A column that is no metric is passed on: a run that declares a
metric of its name, as ` + "`CPU_Util`" + ` for ` + "`CPU_Util[%]`" + `, gets its number as printed. Colours, time
stamps and prefixes are removed, as those of ` + "`mpirun --tag-output`" + `, ` + "`srun --label`" + `, docker compose and
stern: whatever all lines begin with, if the output is read without it. Lines of other processes between rows are
passed over and counted; one within a row is an error.

Users describe two further formats. ` + "`lines`" + `: each line that matches a regular expression is a row; its named
groups are keys and metrics. ` + "`json`" + `: a path for each key and metric, as ` + "`a.b[0].c`" + `; with
` + "`a.b[*].c`" + ` each item of the list is a row, and ` + "`a[\"b c\"]`" + ` is a member with any name.
Lines of text around a JSON document are passed over; a second document is an error.
`

// TestDocs checks that docs/tools.md describes the formats.
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
		fmt.Fprintf(&b, " Versions: %s.", f.Versions)
		b.WriteString("\n\n| metric | unit | better | what the tool counts |\n|---|---|---|---|\n")
		for _, m := range f.Metrics {
			doc := strings.ReplaceAll(m.Doc, "|", "\\|")
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Unit, m.Better, doc)
		}
	}
	golden.Equal(t, "../../docs/tools.md", []byte(docs.Fill(b.String(), 100)))
}

// capital begins a sentence, but for the name of a file.
func capital(s string) string {
	if first, rest, _ := strings.Cut(s, " "); strings.Contains(first, ".") {
		return "`" + first + "` " + rest
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
