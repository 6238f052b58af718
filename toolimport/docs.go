package toolimport

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown is docs/import.md: what becomes of each flag of each tool.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Command lines of other tools

` + "`weir import TOOL 'COMMAND LINE'|FILE`" + ` makes a scenario of a command line, or of each in a shell script. What becomes of its flags
stands here. A flag that changes what is measured and has no place in weir is an error, unless --skip-unmapped leaves it out,
or --as-command makes a scenario that runs the tool itself and reads what it prints.

This file is made from the tables of package toolimport (` + "`make golden`" + `).
`)
	for _, t := range allTools() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| flag | default | becomes |\n|---|---|---|\n", t.name, t.doc)
		for i := range t.flags {
			f := &t.flags[i]
			var all []string
			for _, n := range f.names {
				all = append(all, "`"+dashed(n)+"`")
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(all, " "), cell(f.initial), cell(f.becomes()))
		}
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// Flags is what becomes of each flag of a tool, one below the other; of all tools where it has no
// name. false: there is no such tool.
func Flags(name string) (string, bool) {
	var b strings.Builder
	for _, t := range allTools() {
		if name != "" && t.name != name && !slices.Contains(t.called(), name) {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n\n", t.name, t.doc)
		for i := range t.flags {
			f := &t.flags[i]
			var all []string
			for _, n := range f.names {
				all = append(all, dashed(n))
			}
			initial := ""
			if f.initial != "" {
				initial = " (default " + f.initial + ")"
			}
			fmt.Fprintf(&b, "  %s%s\n      %s\n", strings.Join(all, ", "), initial, plain.Replace(f.becomes()))
		}
		b.WriteString("\n")
	}
	return b.String(), b.Len() > 0
}

// plain takes what is for Markdown alone out of a text.
var plain = strings.NewReplacer("`", "", "**", "")

// becomes is what becomes of a flag, for a person.
func (f *flag) becomes() string {
	switch f.fate {
	case asOption, asVariable:
		to := "`" + f.to + "`"
		if f.fate == asVariable {
			to = "variable " + to
		}
		var values []string
		for _, from := range sortedKeys(f.values) {
			values = append(values, from+" is "+f.values[from])
		}
		if values != nil {
			to += ": " + strings.Join(values, ", ")
		}
		return to
	case used:
		return f.doc
	case ignored:
		return "nothing: " + f.doc
	case unavailable:
		return "nothing, with a warning: " + f.doc
	}
	return "**an error** unless it has its default: " + f.doc
}
