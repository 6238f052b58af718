// Syntax errors of HCL in the words of weir.

package dsl

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// explainHCL adds hints to syntax errors that have none.
func explainHCL(diags hcl.Diagnostics, src []byte) hcl.Diagnostics {
	for _, d := range diags {
		if d.Subject == nil || d.Extra != nil {
			continue
		}
		rest := src[min(d.Subject.Start.Byte, len(src)):]
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		switch {
		case d.Summary == "Argument or block definition required" && bytes.Contains(line, []byte(":")):
			if blockOfScenario().Match(src) {
				d.Extra = Hint("Write NAME = VALUE, with an equals sign.")
				continue
			}
			d.Summary, d.Detail = "Not HCL", "The file ends in .hcl, but this is YAML."
			d.Extra = Hint("Rename the file to .yaml, or write NAME = VALUE and blocks.")
			return hcl.Diagnostics{d}
		case d.Summary == "Invalid character":
			r, _ := utf8.DecodeRune(rest)
			d.Detail = fmt.Sprintf("%s is for texts in quotes and for comments only.", codePoint(r))
		case d.Summary == "Invalid argument name":
			d.Extra = Hint(`Write a name in quotes within a mapping: sweep = { "env.NAME" = […] }.`)
		case d.Summary == "Unterminated template string":
			pointToHeredoc(d, src)
		case slices.Contains(afterNumbers, d.Summary):
			if text := unquotedAt(src, d.Subject.Start.Byte); text != "" {
				d.Summary, d.Detail = "Text without quotes", "HCL reads only a plain number without quotes."
				d.Extra = Hint(fmt.Sprintf("Quote it: %q.", text))
			}
		}
	}
	return diags
}

var (
	blockOfScenario = lazyregexp.New(`(?m)^[ \t]*scenario[ \t]+"`)
	// unquotedText is a text that begins as a number: 5m, 0x10, 10.0.0.1, 5 GB/s, 1..8 +1.
	unquotedText = lazyregexp.New(`\d[\w.:/%+-]*(?: +[+*]?[\w./%]+)?`)
	heredoc      = lazyregexp.New(`<<-?([A-Za-z_][A-Za-z0-9_-]*)\r?\n`)
)

// afterNumbers are the errors that follow from a number with more text behind it.
var afterNumbers = []string{"Missing newline after argument", "Invalid number literal", "Missing item separator",
	"Missing attribute separator", "Invalid single-argument block definition", "Missing closing bracket"}

// unquotedAt is the unquoted text at or around a byte, or "".
func unquotedAt(src []byte, at int) string {
	start := bytes.LastIndexByte(src[:at], '\n') + 1
	line, _, _ := bytes.Cut(src[start:], []byte("\n"))
	for _, m := range unquotedText().FindAllIndex(line, -1) {
		if start+m[0] <= at && at < start+m[1] && !bytes.ContainsRune(line[:m[0]], '"') {
			return string(line[m[0]:m[1]])
		}
	}
	return ""
}

// pointToHeredoc moves the error about a text without its end from the end of the file to the beginning of the text.
func pointToHeredoc(d *hcl.Diagnostic, src []byte) {
	for _, m := range heredoc().FindAllSubmatchIndex(src, -1) {
		end := string(src[m[2]:m[3]])
		if slices.ContainsFunc(bytes.Split(src[m[1]:], []byte("\n")), func(line []byte) bool {
			return string(bytes.TrimSpace(line)) == end
		}) {
			continue
		}
		line := bytes.LastIndexByte(src[:m[0]], '\n') + 1
		from := hcl.Pos{
			Line: bytes.Count(src[:m[0]], []byte("\n")) + 1, Column: utf8.RuneCount(src[line:m[0]]) + 1, Byte: m[0],
		}
		to := from
		to.Byte, to.Column = m[3], from.Column+m[3]-m[0]
		d.Subject = &hcl.Range{Filename: d.Subject.Filename, Start: from, End: to}
		d.Summary, d.Detail = "Unclosed text", "No line of its own ends the text."
		d.Extra = Hint("Write " + end + " on a line of its own after the text.")
		return
	}
}

// untilUnclosed drops all errors after a string that is not closed: they would be misleading.
func untilUnclosed(diags hcl.Diagnostics) hcl.Diagnostics {
	i := slices.IndexFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == "Invalid multi-line string" })
	if i < 0 {
		return diags
	}
	diags[i].Summary = "Unclosed string"
	diags[i].Detail = "The string does not end on its line."
	diags[i].Extra = Hint(`Close it with ". For a line break in it write \n, or <<EOT with the text on lines of its own.`)
	return diags[:i+1]
}
