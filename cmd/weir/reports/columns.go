package reports

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// Columns are the flags --columns and --wide of the table.
type Columns struct {
	text string
	wide bool
	set  *pflag.FlagSet
}

func (c *Columns) add(f *pflag.FlagSet) {
	c.set = f
	f.StringVar(&c.text, "columns", "",
		"show `NAME[,NAME]` in the table: axes, options, metrics, METRIC.ci, working_set, n (default: the usual ones that fit)")
	f.BoolVar(&c.wide, "wide", false, "show all columns, metrics and rows in the table, whatever the terminal's size")
}

// names are the names of --columns, nil without the flag.
func (c *Columns) names() []string {
	if c.set == nil || !c.set.Changed("columns") {
		return nil
	}
	names := strings.Split(c.text, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// parsed returns an error about flags that cannot be used.
func (c *Columns) parsed() error {
	names := c.names()
	switch {
	case names != nil && c.wide:
		return exit.Usage("--columns and --wide cannot be used together")
	case slices.Contains(names, ""):
		return exit.Usage("--columns %s: a name is empty", c.text)
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return exit.Usage("--columns %s: %s occurs twice", c.text, name)
		}
	}
	return nil
}

// Check returns an error if --columns has a name that no case of a document has.
func (c *Columns) Check(doc *results.Document) error {
	if err := reporters.CheckColumns(doc, c.names()); err != nil {
		return exit.Usage("--columns: %w", err)
	}
	return nil
}

// look is how the table is drawn in a file.
func (c *Columns) look() reporters.Look { return reporters.Look{Columns: c.names(), Wide: c.wide} }

// Table prints the terminal report with or without colours, on a terminal of a width; 0: it is none.
func (c *Columns) Table(w io.Writer, doc *results.Document, color bool, width int) error {
	look := c.look()
	look.Color, look.Width = color, width
	return Print(w, "printing the table", func(to io.Writer) error { return reporters.Table(to, doc, look) })
}
