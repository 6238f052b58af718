package html

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Head   string
	Metric Link // what it shows, if that has a definition
	Right  bool // numbers
}

// Row is one row: its cells, and a verdict of which the style sheet knows the colour.
type Row struct {
	Class string // bad | doubt | good | ""
	Cells []string
}

// Table is a table that can be sorted and filtered.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
	Text    bool // cells are sentences, which may take several lines
	// Folded tables open when asked for: a reader who wants the rest of the page does not wait
	// until ten thousand rows have their places.
	Folded bool
}

// Class names the columns of numbers: with a rule for each place the style sheet
// aligns them, which costs nothing in the rows.
func (t *Table) Class() string {
	names := []string{"data"}
	if t.Text {
		names = append(names, "text")
	}
	for i, c := range t.Columns {
		if c.Right {
			names = append(names, "r"+strconv.Itoa(i+1))
		}
	}
	return strings.Join(names, " ")
}

// Body are the rows. End tags are left out, as HTML allows, and it is written here and not
// by the template because a large session has a hundred thousand cells: escaping
// is that of the template's own package for the text of an element.
func (t *Table) Body() template.HTML {
	var b strings.Builder
	for _, row := range t.Rows {
		b.WriteString("<tr")
		if slices.Contains([]string{"bad", "doubt", "good"}, row.Class) {
			b.WriteString(" class=" + row.Class)
		}
		b.WriteString(">")
		for _, cell := range row.Cells {
			b.WriteString("<td>")
			template.HTMLEscape(&b, []byte(cell))
		}
		b.WriteString("\n")
	}
	return template.HTML(b.String())
}
