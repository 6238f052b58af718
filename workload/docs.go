package workload

import (
	"fmt"
	"strings"
)

// Docs are the texts of options and metrics. They stand in Markdown files beside the
// tables, under the headings "# Options" and "# Metrics", each text under "## NAME".
type Docs struct {
	options, metrics map[string]string
}

// ReadDocs reads such a file. Lines of a text are joined with spaces.
func ReadDocs(markdown string) Docs {
	d := Docs{map[string]string{}, map[string]string{}}
	part, name := map[string]string(nil), ""
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		switch {
		case line == "# Options":
			part = d.options
		case line == "# Metrics":
			part = d.metrics
		case strings.HasPrefix(line, "## "):
			name = strings.TrimPrefix(line, "## ")
		case line != "":
			part[name] = strings.TrimPrefix(part[name]+" "+line, " ")
		}
	}
	return d
}

// OfOptions fills in the texts of options. Each text must have its option.
func (d Docs) OfOptions(options []Option) {
	for i := range options {
		if text, ok := d.options[options[i].Name]; ok {
			options[i].Doc = text
		}
	}
	found := func(name string) bool {
		for _, o := range options {
			if o.Name == name {
				return true
			}
		}
		return false
	}
	for name := range d.options {
		if !found(name) {
			panic(fmt.Sprintf("the text of option %s has no option", name))
		}
	}
}

// OfMetrics fills in the texts of metrics. Each text must have its metric.
func (d Docs) OfMetrics(metrics []Metric) {
	left := len(d.metrics)
	for i := range metrics {
		if text, ok := d.metrics[metrics[i].Name]; ok {
			metrics[i].Doc = text
			left--
		}
	}
	if left > 0 {
		panic(fmt.Sprintf("%d texts have no metric", left))
	}
}

// Document fills in the texts of a Kind from a file.
func (k *Kind) Document(markdown string) {
	d := ReadDocs(markdown)
	d.OfOptions(k.Options)
	d.OfMetrics(k.Metrics)
}
