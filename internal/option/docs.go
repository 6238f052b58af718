package option

import (
	"fmt"
	"slices"
	"strings"
)

// Docs are the texts of options and metrics. They are in Markdown files beside the tables, under
// headings as "# Options" and "# Metrics", each text under "## NAME".
type Docs map[string]map[string]string

// ReadDocs reads such a file. Lines of a text are joined with spaces.
func ReadDocs(markdown string) Docs {
	d, part, name := Docs{}, map[string]string(nil), ""
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "# "):
			part = map[string]string{}
			d[strings.TrimPrefix(line, "# ")] = part
		case strings.HasPrefix(line, "## "):
			name = strings.TrimPrefix(line, "## ")
		case line != "":
			part[name] = strings.TrimPrefix(part[name]+" "+line, " ")
		}
	}
	return d
}

// OfOptions fills in the texts of options. It panics for a text without option.
func (d Docs) OfOptions(options []Option) { d.Under("Options", options) }

// Under is OfOptions for the texts under another heading.
func (d Docs) Under(heading string, options []Option) {
	for i := range options {
		if text, ok := d[heading][options[i].Name]; ok {
			options[i].Doc = text
		}
	}
	for name := range d[heading] {
		if !slices.ContainsFunc(options, func(o Option) bool { return o.Name == name }) {
			panic(fmt.Sprintf("the text of option %s has no option", name))
		}
	}
}
