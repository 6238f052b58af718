// Diagnostics as text, as JSON and as annotations of GitHub.

package dsl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/printable"
)

// report is a diagnostic as plain data, from which all formats are made. Lines and columns count
// from 1, columns in characters; end_column is one after the last character.
type report struct {
	Severity  string `json:"severity"`
	Summary   string `json:"summary"`
	Detail    string `json:"detail"`
	Hint      string `json:"hint,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	EndColumn int    `json:"end_column,omitempty"`
	Context   string `json:"context,omitempty"` // as "run bandwidth"
	Snippet   string `json:"snippet,omitempty"` // the source line, or the part of a long one

	cut int // characters of the line left out before the snippet
}

// maxSnippet is how many characters of a long line are shown.
const maxSnippet = 160

// WriteDiagnostics writes diagnostics in a format: text for people, json for programs, github for
// annotations of GitHub.
func WriteDiagnostics(w io.Writer, format string, diags hcl.Diagnostics, src Sources) error {
	return writeDiagnostics(w, format, diags, src, maxSnippet)
}

// WriteDiagnosticsWithin writes diagnostics for people with lines of the source that fit a number of columns.
func WriteDiagnosticsWithin(w io.Writer, columns int, diags hcl.Diagnostics, src Sources) error {
	return writeDiagnostics(w, "text", diags, src, min(maxSnippet, max(columns-maxMargin, minSnippet)))
}

// maxMargin is the number of a line and the bar before its text; minSnippet is shown of a line in any case.
const (
	maxMargin  = len("12345 | ")
	minSnippet = 20
)

// writeDiagnostics writes diagnostics. Lines of the source are cut to most characters.
func writeDiagnostics(w io.Writer, format string, diags hcl.Diagnostics, src Sources, most int) error {
	reports := make([]report, len(diags))
	for i, d := range diags {
		reports[i] = makeReport(d, src, most)
	}
	var b bytes.Buffer
	switch format {
	case "text":
		for i, r := range reports {
			if i > 0 {
				b.WriteByte('\n')
			}
			r.text(&b)
		}
	case "json":
		enc := json.NewEncoder(&printable.JSON{To: &b})
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(reports); err != nil {
			return fmt.Errorf("writing diagnostics: %w", err)
		}
	case "github":
		for _, r := range reports {
			r.github(&b)
		}
	default:
		return fmt.Errorf("unknown format %q: use text, json or github", format)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func makeReport(d *hcl.Diagnostic, src Sources, most int) report {
	r := report{Severity: "error", Summary: abridged(d.Summary), Detail: abridged(d.Detail)}
	if d.Severity == hcl.DiagWarning {
		r.Severity = "warning"
	}
	if a, ok := d.Extra.(Hint); ok {
		r.Hint = abridged(string(a))
	}
	if d.Subject == nil {
		return r
	}
	r.File = d.Subject.Filename
	r.Line, r.EndLine = d.Subject.Start.Line, d.Subject.End.Line
	r.Column, r.EndColumn = d.Subject.Start.Column, d.Subject.End.Column
	file := src[r.File]
	if file == nil {
		return r
	}
	var line []byte
	line, r.Column = lineAt(file.Bytes, d.Subject.Start.Byte)
	_, r.EndColumn = lineAt(file.Bytes, d.Subject.End.Byte)
	text := []rune(marked(printable.Line(string(line))))
	if len(text) > most {
		r.cut = min(max(r.Column-1-most/2, 0), len(text)-most)
		text = text[r.cut : r.cut+most]
	}
	r.Snippet = string(text)
	if nav, ok := file.Nav.(*places); ok {
		r.Context = named(nav.ContextString(d.Subject.Start.Byte))
	}
	return r
}

// lineAt finds the line around a byte and the byte's column in characters. hcl counts grapheme
// clusters, but editors and CI systems count characters.
func lineAt(src []byte, at int) (line []byte, column int) {
	at = min(max(at, 0), len(src))
	start := bytes.LastIndexByte(src[:at], '\n') + 1
	if start == 0 && bytes.HasPrefix(src, []byte("\uFEFF")) {
		start = min(3, at)
	}
	end := len(src)
	if n := bytes.IndexByte(src[at:], '\n'); n >= 0 {
		end = at + n
	}
	line = bytes.TrimSuffix(src[start:end], []byte("\r"))
	return line, utf8.RuneCount(src[start:at]) + 1
}

// maxText bounds a message in characters, since it may quote a long line of the file.
const maxText = 1000

func abridged(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = printable.Line(named(l))
	}
	r := []rune(strings.Join(lines, "\n"))
	if len(r) > maxText {
		return string(r[:maxText]) + "…"
	}
	return string(r)
}

func (r report) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s: %s\n", r.Severity, r.Summary)
	margin := " "
	if r.File != "" {
		number := fmt.Sprint(r.Line)
		margin = strings.Repeat(" ", len(number)+1)
		fmt.Fprintf(b, "%s--> %s:%d:%d", margin, r.File, r.Line, r.Column)
		if r.Context != "" {
			fmt.Fprintf(b, ", in %s", r.Context)
		}
		bar := strings.Repeat(" ", len(number)) // below that of the line
		fmt.Fprintf(b, "\n%s |\n%s | %s\n%s | %s\n", bar, number, r.Snippet, bar, r.carets())
	}
	if r.Detail != "" {
		fmt.Fprintf(b, "%s %s\n", margin, r.Detail)
	}
	if r.Hint != "" {
		fmt.Fprintf(b, "%s hint: %s\n", margin, r.Hint)
	}
}

// carets mark the span under the snippet. Tabs stay tabs, so that the columns line up.
func (r report) carets() string {
	line := []rune(r.Snippet)
	var b strings.Builder
	start := r.Column - 1 - r.cut
	for i := 0; i < start && i < len(line); i++ {
		if line[i] == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	width := r.EndColumn - r.Column
	if r.EndLine > r.Line || width > len(line)-start {
		width = len(line) - start
	}
	b.WriteString(strings.Repeat("^", max(width, 1)))
	return b.String()
}

var (
	githubText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// github writes a workflow command of GitHub Actions. Its end column is inclusive.
func (r report) github(b *bytes.Buffer) {
	message := r.Detail
	if r.Hint != "" {
		message += "\n" + r.Hint
	}
	fmt.Fprintf(b, "::%s ", r.Severity)
	if r.File != "" {
		fmt.Fprintf(b, "file=%s,line=%d,", githubProperty.Replace(printable.Line(r.File)), r.Line)
		if r.EndLine == r.Line {
			fmt.Fprintf(b, "col=%d,endColumn=%d,", r.Column, max(r.EndColumn-1, r.Column))
		}
	}
	fmt.Fprintf(b, "title=%s::%s\n", githubProperty.Replace(r.Summary), githubText.Replace(message))
}
